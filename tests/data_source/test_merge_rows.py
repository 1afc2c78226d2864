"""The newest row of each key, in Arrow, against the rule as it is said: sequence fields, sequence numbers, places."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.arrow.file_part import Column, FilePart
from lakebed.arrow.newest_row import NewestRow, merged
from lakebed.format.row_kinds import SEQUENCE_NUMBER, VALUE_KIND
from lakebed.physical.paimon_types import BigInt, DataField, Int, VarChar
from lakebed.store import LocalStore

KEY, ORDER, VALUE = DataField(0, "k", Int()), DataField(1, "o", BigInt()), DataField(2, "v", VarChar(9))
FIELDS = (KEY, ORDER, VALUE, SEQUENCE_NUMBER, VALUE_KIND)
SCHEMA = pa.schema(
    [
        ("k", pa.int32()),
        ("o", pa.int64()),
        ("v", pa.string()),
        ("_SEQUENCE_NUMBER", pa.int64()),
        ("_VALUE_KIND", pa.int8()),
    ]
)
_orders = st.none() | st.integers(0, 2)
_rows = st.lists(st.tuples(st.integers(0, 3), _orders, st.integers(0, 3), st.sampled_from([0, 0, 1, 2, 3])), max_size=6)
DELETES = (1, 3)


def newest(files: list[list[dict[str, Any]]], ordered: bool, descending: bool, ignore: bool) -> dict[int, str]:
    """By key the value of the newest row, of keys whose newest row is there."""
    found: dict[int, tuple[Any, dict[str, Any]]] = {}
    for place, rows in enumerate(files):
        for row in rows:
            if ignore and row["_VALUE_KIND"] in DELETES:
                continue
            field = row["o"] if ordered else 0
            rank = (field is not None, 0 if field is None else -field if descending else field)
            age = (*rank, row["_SEQUENCE_NUMBER"], place)
            if row["k"] not in found or age >= found[row["k"]][0]:
                found[row["k"]] = age, row
    return {k: row["v"] for k, (_, row) in found.items() if row["_VALUE_KIND"] not in DELETES}


@settings(max_examples=60)
@given(st.lists(_rows, min_size=1, max_size=3), st.booleans(), st.booleans(), st.booleans())
def test_the_newest_row_of_each_key(files: list[Any], ordered: bool, descending: bool, ignore: bool) -> None:
    texts = map(str, itertools.count())
    made = [
        # A file holds a key once.
        [dict(zip(SCHEMA.names, (k, o, next(texts), n, kind), strict=True)) for k, (_, o, n, kind) in own.items()]
        for own in ({row[0]: row for row in rows} for rows in files)
    ]
    rule = NewestRow((KEY,), (ORDER,) if ordered else (), descending, ignore)
    columns = (Column("value", VALUE, VALUE), Column("key", KEY, KEY))
    with tempfile.TemporaryDirectory() as directory:
        parts = []
        for number, rows in enumerate(made):
            path = Path(directory, f"{number}.parquet")
            pq.write_table(pa.Table.from_pylist(rows, SCHEMA), path)
            parts.append(FilePart(str(path), path.stat().st_size, len(rows), FIELDS))
        batches = list(merged(LocalStore(), parts, columns, rule))
    got = [(row["key"], row["value"]) for batch in batches for row in batch.to_pylist()]
    assert sorted(got) == sorted(newest(made, ordered, descending, ignore).items())
