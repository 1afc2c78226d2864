"""Offsets: in the order of files that are read in many pieces, and dense where runs go on at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import Row

from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError
from lakebed.ingest.numbering import BETWEEN, NumberedRows, _counted, _summed
from lakebed.model import Extra, Field, Int32, Int64
from lakebed.model.extra import SYSTEM_COLUMN
from lakebed.spark.rows_aside import RowsAside
from lakebed.store import LocalStore

FIELDS = (Field("n", Int64(), Extra({SYSTEM_COLUMN: "offset"})), Field("id", Int32()))


def csv(start: int, stop: int) -> str:
    return "id\n" + "".join(f"{i}\n" for i in range(start, stop))


def test_files_in_many_pieces_are_numbered_in_order(lake: SmallLake, conf: Callable[[Mapping[str, str]], None]) -> None:
    lake.create(*FIELDS)
    conf({"spark.sql.files.maxPartitionBytes": "1500", "spark.sql.files.openCostInBytes": "0"})
    # The larger file is read first by Spark, and the last bytes of files go into one piece of work.
    files = [
        lake.file("small.csv", csv(0, 100)),
        lake.file("large.csv", csv(100, 2000)),
        lake.file("a.csv", csv(2000, 2300)),
    ]
    lake.ingest(files)
    assert [(r["n"], r["id"]) for r in lake.rows(order="n")] == [(i, i) for i in range(2300)]


def test_runs_at_the_same_time_leave_no_gap(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    sources = [lake.file(f"{i}.csv", csv(1000 * i, 1000 * i + 50)) for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lake.ingest, sources))
    assert [r.rows_written for r in results] == [50] * 4
    rows = lake.rows(order="n")
    assert [r["n"] for r in rows] == list(range(200))
    ids = [r["id"] for r in rows]
    runs = [ids[at : at + 50] for at in range(0, 200, 50)]
    assert sorted(runs) == [list(range(1000 * i, 1000 * i + 50)) for i in range(4)]
    assert len(lake.data_files()) == len(lake.files())


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 5)), max_size=4), max_size=3), st.integers(1, 4))
def test_the_places_of_blocks_follow_from_what_tasks_count(tasks: list[list[tuple[int, int]]], size: int) -> None:
    """Each block is read in one piece, by one task; tasks number their rows, and batches end anywhere."""
    numbers, seen, counted, lengths = count(), set[str](), list[Any](), dict[str, int]()
    for task, pieces in enumerate(tasks):
        rows = []
        for part, length in pieces:
            name = BETWEEN.join((str(part), "", str(next(numbers))))
            lengths[name] = length
            rows += [name] * length
        table = pa.table({"block": pa.array(rows, pa.string()), "row": pa.array(range(len(rows)), pa.int64())})
        table = table.set_column(1, "row", pc.add(table.column("row"), task << 33))
        tables = [_counted(batch) for batch in table.to_batches(size)]
        if tables:
            counted += [Row(path=f"{task}", **row) for row in _summed(pa.concat_tables(tables)).to_pylist()]
            seen.add(f"{task}")
    numbered = NumberedRows(None, RowsAside(LocalStore(), "/t"), (), 0, [], lambda: None)  # type: ignore[arg-type,return-value]
    numbered._place(counted)
    assert numbered.aside.files == tuple(sorted(seen))
    assert numbered.rows == numbered.aside.rows == sum(lengths.values())
    # The numbers of rows that are stored become the places in the order of parts and blocks.
    order = sorted(lengths, key=lambda name: [int(n or 0) for n in name.split(BETWEEN)])
    starts = {name: min(r["first"] for r in counted if r["block"] == name) + numbered.first[name] for name in order}
    assert [starts[name] for name in order] == [sum(lengths[n] for n in order[:i]) for i in range(len(order))]
    if counted:
        with pytest.raises(IngestError) as caught:
            numbered._place([*counted, counted[0]])
        assert caught.value.code == "LB6432"
