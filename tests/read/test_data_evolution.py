"""Rows whose columns lie in several files, and the ids and sequence numbers of rows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from format.building import parquet_bytes, table_schema
from format.laid_out import LaidOut, Vector, file_bytes
from lakebed.errors import CorruptMetadataError, UsageError
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store import LocalStore
from read.lakes import got
from referees.client import Referees
from referees.encoding import spark_rows
from runtime.spark_settings import as_for_users

TRACKED = {"row-tracking.enabled": "true"}
EVOLVING = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
METADATA = ["_ROW_ID", "_SEQUENCE_NUMBER"]


def _table(warehouse: Path, name: str, columns: Sequence[tuple[str, Any]], **parts: Any) -> LaidOut:
    (warehouse / "lab.db").mkdir(parents=True, exist_ok=True)
    schema = table_schema(columns, **({"options": EVOLVING} | parts))
    return LaidOut(LocalStore(), str(warehouse / "lab.db" / name), schema)


def _part(table: LaidOut, name: str, start: int | None, sequence: int, columns: Mapping[str, Any], **meta: Any) -> None:
    """A file of these columns (arrays, or lists of numbers and texts) whose first row has the id `start`."""
    arrays = {}
    for column, values in columns.items():
        texts = not isinstance(values, pa.Array) and any(isinstance(v, str) for v in values)
        arrays[column] = (
            values if isinstance(values, pa.Array) else pa.array(values, pa.string() if texts else pa.int64())
        )
    data = pa.table(arrays)
    format = name.rpartition(".")[2]
    content = parquet_bytes(data) if format == "parquet" else file_bytes(format, data)
    known = {"first_row_id": start, "max_sequence_number": sequence, "min_sequence_number": sequence}
    table.add(name, content, data.num_rows, **{"write_cols": tuple(columns)} | known | meta)


# --- against another implementation -----------------------------------------------------------------------------------


def _history(chance: random.Random) -> list[dict[str, Any]]:
    """Appends of some columns, updates of some columns of some rows, and deletes."""
    steps: list[dict[str, Any]] = []
    rows, live = 0, set[int]()
    for step in range(9):
        if step in (0, 4):
            count = chance.randint(4, 9)
            live |= set(range(rows, rows + count))
            columns = ["a", "b", "c"] if step else ["a", "b"]
            made = [[n, None if n % 3 == 0 else f"b{n}", n / 4][: len(columns)] for n in range(rows, rows + count)]
            steps.append({"columns": columns, "rows": made})
            rows += count
        elif step in (3, 7):
            gone = sorted(chance.sample(sorted(live), 2))
            live -= set(gone)
            steps.append({"delete": gone})
        else:
            chosen = sorted(chance.sample(sorted(live), 3))
            column = chance.choice(["a", "b", "c"])
            values = {"a": 1000 * step, "b": chance.choice([None, f"new{step}"]), "c": float(step)}
            steps.append({"columns": ["_ROW_ID", column], "rows": [[n, values[column]] for n in chosen]})
    return steps


def test_histories_that_another_implementation_wrote(spark: Any, tmp_path: Path, referees: Referees) -> None:
    columns = [("a", "INT"), ("b", "STRING"), ("c", "DOUBLE")]
    for number, format in enumerate(("parquet", "orc")):
        options = EVOLVING | {"bucket": "-1", "deletion-vectors.enabled": "true", "file.format": format}
        referees.create(tmp_path, f"lab.{format}", columns, options=options)
        referees.change_rows(tmp_path, f"lab.{format}", _history(random.Random(number)))
        lake = lakebed.open(tmp_path)
        names = ["a", "b", "c", *METADATA]
        ours = spark_rows(lake.read(spark, f"lab.{format}", metadata_columns=METADATA))
        theirs = referees.rows("pypaimon", tmp_path, f"lab.{format}", columns=names)
        assert len(ours) > 4
        assert sorted(ours, key=lambda r: r[3]) == sorted(theirs, key=lambda r: r[3])
        third = spark_rows(lake.read(spark, f"lab.{format}", snapshot=3))
        rust = referees.rows("rust", tmp_path, f"lab.{format}", snapshot=3)
        assert sorted(third, key=str) == sorted(rust, key=str)


# --- file by file -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`lab.mixed`: ranges of rows in every way that parts can lie."""
    root = tmp_path_factory.mktemp("evolution")
    kind = {"type": "MAP", "key": "STRING", "value": "BIGINT"}
    table = _table(root, "mixed", [("id", "BIGINT"), ("s", "STRING"), ("n", "BIGINT"), ("m", kind), ("late", "INT")])
    maps = pa.array([[("k", 1)], None, [("k", 3), ("l", None)]], pa.map_(pa.string(), pa.int64()))
    # A NULL of the newest file that holds a column is its value; nobody holds `late`.
    _part(table, "a1.parquet", 0, 1, {"id": [0, 1, 2], "s": ["a", "b", "c"], "n": [5, 6, 7]})
    _part(table, "a2.parquet", 0, 3, {"n": [None, 60, None], "m": maps})
    _part(table, "a3.orc", 0, 2, {"s": ["A", None, "C"], "n": [1, 1, 1]})
    # A range of one file that holds a part of the columns.
    _part(table, "b1.avro", 3, 4, {"id": [3, 4]})
    # Between equal sequence numbers the first file wins; the sequence of a column counts before the file's.
    _part(table, "c1.parquet", 5, 5, {"id": [5, 6], "s": ["first", "first"]})
    _part(table, "c2.parquet", 5, 5, {"s": ["second", "second"], "n": [50, 60]})
    _part(table, "c3.parquet", 5, 9, {"n": [-1, -1], "id": [-1, 66]}, write_cols_sequences=(4, 9))
    # Vectors of any part delete the row, with all its columns.
    _part(table, "d1.avro", 7, 6, {"id": [7, 8, 9, 10], "s": ["x", "x", "x", "x"]})
    _part(table, "d2.orc", 7, 7, {"n": [70, 80, 90, 100]})
    table.delete({"d1.avro": Vector([0, 2]), "d2.orc": Vector([3])})
    # From before rows had ids.
    _part(table, "e1.parquet", None, 0, {"id": [100, 101], "s": ["old", "old"], "n": [1, 2]})
    # `n` gets another name and type; then parts are written under both versions.
    first = table.schema
    number = DataField(2, "number", parse("DECIMAL(20, 1)"))
    second = replace(first, id=1, fields=(*first.fields[:2], number, *first.fields[3:]))
    table.evolve(second)
    _part(table, "f2.parquet", 200, 9, {"number": pa.array([Decimal("1.5"), None], pa.decimal128(20, 1))})
    table.schema = first
    _part(table, "f1.parquet", 200, 8, {"id": [200, 201], "s": ["f", "f"], "n": [11, 12]})
    _part(table, "g1.parquet", 202, 8, {"id": [202], "n": [22]})
    table.schema = second
    table.commit()
    return root


#: By row id; those without any at the end.
MIXED = [
    (0, "A", None, {"k": 1}, None, 0, 3),
    (1, None, 60, None, None, 1, 3),
    (2, "C", None, {"k": 3, "l": None}, None, 2, 3),
    (3, None, None, None, None, 3, 4),
    (4, None, None, None, None, 4, 4),
    (-1, "first", 50, None, None, 5, 9),
    (66, "first", 60, None, None, 6, 9),
    (8, "x", 80, None, None, 8, 7),
    (200, "f", 1.5, None, None, 200, 9),
    (201, "f", None, None, None, 201, 9),
    (202, None, 22, None, None, 202, 8),
    (100, "old", 1, None, None, None, 0),
    (101, "old", 2, None, None, None, 0),
]


def test_every_way_in_which_parts_can_lie(spark: Any, warehouse: Path) -> None:
    with as_for_users(spark):
        rows = lakebed.open(warehouse).read(spark, "lab.mixed", metadata_columns=METADATA)
        assert rows.columns == ["id", "s", "number", "m", "late", *METADATA]
        found = [(*r[:2], None if r[2] is None else float(r[2]), *r[3:]) for r in got(rows)]
    assert sorted(found, key=lambda r: (r[5] is None, r[5], r[0])) == MIXED


def test_parts_of_versions_with_other_members(spark: Any, tmp_path: Path) -> None:
    """A struct comes whole from the newest file that holds it, under the names and types of that file's version."""

    def struct(*members: tuple[int, str, str]) -> DataField:
        fields = [{"id": i, "name": name, "type": kind} for i, name, kind in members]
        return DataField(1, "r", parse({"type": "ROW", "fields": fields}))

    table = _table(tmp_path, "t", [("id", "BIGINT"), ("r", "INT")])
    first = replace(table.schema, id=1, fields=(table.schema.fields[0], struct((2, "x", "BIGINT"), (3, "y", "STRING"))))
    second = replace(
        first, id=2, fields=(first.fields[0], struct((4, "z", "INT"), (2, "y", "STRING"))), highest_field_id=4
    )
    table.evolve(replace(first, highest_field_id=3))
    old = pa.array([{"x": 1, "y": "a"}, {"x": 2, "y": "b"}, None], pa.struct([("x", pa.int64()), ("y", pa.string())]))
    _part(table, "a.parquet", 0, 1, {"id": [0, 1, 2], "r": old})
    _part(table, "c.parquet", 10, 1, {"id": [10, 11, 12]})
    _part(table, "d.parquet", 10, 2, {"r": old})
    table.evolve(second)
    new = pa.array(
        [{"z": 5, "y": "n"}, None, {"z": None, "y": None}], pa.struct([("z", pa.int32()), ("y", pa.string())])
    )
    _part(table, "b.parquet", 0, 2, {"r": new})
    table.commit()
    rows = got(lakebed.open(tmp_path).read(spark, "lab.t"))
    assert rows == [(0, (5, "n")), (1, None), (2, (None, None)), (10, (None, "1")), (11, (None, "2")), (12, None)]


def test_filters_lose_no_row(spark: Any, warehouse: Path) -> None:
    """What an older part says, or what a part lacks, must not decide whether a row is kept."""
    rows = lakebed.open(warehouse).read(spark, "lab.mixed", metadata_columns=["_ROW_ID"])
    conditions = {
        "number is null": lambda r: r[2] is None,
        "number = 60": lambda r: r[2] == 60,
        "s = 'a'": lambda r: r[1] == "a",
        "s is null and id < 5": lambda r: r[1] is None and r[0] < 5,
        "late is null and number > 50": lambda r: r[2] is not None and r[2] > 50,
        "_ROW_ID between 2 and 8": lambda r: r[5] is not None and 2 <= r[5] <= 8,
        "_ROW_ID is null": lambda r: r[5] is None,
    }
    parts = [rows.where(c).selectExpr(f"{n} as n", "id") for n, c in enumerate(conditions)]
    found = sorted(tuple(row) for row in reduce(type(rows).union, parts).collect())
    assert found == sorted((n, r[0]) for n, check in enumerate(conditions.values()) for r in MIXED if check(r))


def test_one_shuffle_for_parts_and_none_for_whole_files(spark: Any, warehouse: Path, tmp_path: Path) -> None:
    lake = lakebed.open(warehouse)
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("s", "STRING")])
    for number in range(3):
        _part(table, f"{number}.parquet", number * 2, number, {"id": [1, 2], "s": ["a", "b"]})
    table.commit()
    whole = lakebed.open(tmp_path).read(spark, "lab.t")
    plans = [f._jdf.queryExecution().executedPlan().toString() for f in (whole, lake.read(spark, "lab.mixed"))]
    assert [plan.count("Exchange hashpartitioning(_LAKEBED_GROUP") for plan in plans] == [0, 1]
    assert "Exchange" not in plans[0]


def test_parts_that_do_not_fit_are_refused(spark: Any, tmp_path: Path) -> None:
    table = _table(tmp_path, "t", [("id", "BIGINT"), ("s", "STRING")])
    _part(table, "a.parquet", 0, 1, {"id": [1, 2]})
    _part(table, "b.parquet", 1, 1, {"s": ["a", "b"]})
    table.commit()
    with pytest.raises(CorruptMetadataError) as caught:
        lakebed.open(tmp_path).read(spark, "lab.t")
    assert caught.value.code == "LB5560"


# --- row tracking -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["parquet", "orc", "avro"])
def test_what_a_file_stores_of_a_row_wins(spark: Any, tmp_path: Path, format: str) -> None:
    """A file that was written anew keeps ids and sequence numbers of its rows; NULL means those of the file."""
    table = _table(tmp_path, "t", [("k", "STRING"), ("id", "BIGINT")], options=TRACKED, partition_keys=["k"])
    kept = {"id": [1, 2, 3], "_ROW_ID": [40, None, 7], "_SEQUENCE_NUMBER": [None, 3, 4]}
    content = file_bytes(format, pa.table({c: pa.array(v, pa.int64()) for c, v in kept.items()}))
    table.add(f"kept.{format}", content, 3, ("p",), first_row_id=100, max_sequence_number=9)
    plain = file_bytes(format, pa.table({"id": pa.array([4, 5, 6], pa.int64())}))
    table.add(f"plain.{format}", plain, 3, ("q",), first_row_id=200, max_sequence_number=8)
    table.add(f"old.{format}", plain, 3, ("r",), max_sequence_number=2)
    table.delete({f"plain.{format}": Vector([0])}, ("q",))
    table.commit()
    lake = lakebed.open(tmp_path)
    with as_for_users(spark):
        found = lake.read(spark, "lab.t", metadata_columns=["_SEQUENCE_NUMBER", "_ROW_ID"]).collect()
    assert sorted(map(tuple, found)) == [
        *[("p", 1, 9, 40), ("p", 2, 3, 101), ("p", 3, 4, 7)],
        *[("q", 5, 8, 201), ("q", 6, 8, 202)],
        *[("r", 4, 2, None), ("r", 5, 2, None), ("r", 6, 2, None)],
    ]


def test_metadata_columns_that_are_not_there(spark: Any, tmp_path: Path) -> None:
    columns = [("id", "BIGINT NOT NULL")]
    _table(tmp_path, "plain", columns, options={})
    _table(tmp_path, "keyed", columns, options={"bucket": "1"}, primary_keys=["id"])
    _table(tmp_path, "tracked", columns, options=TRACKED)
    lake = lakebed.open(tmp_path)
    for name, wanted in (("plain", ["_ROW_ID"]), ("keyed", ["_ROW_ID"]), ("tracked", ["_row_id"])):
        with pytest.raises(UsageError) as caught:
            lake.read(spark, f"lab.{name}", metadata_columns=wanted)
        assert caught.value.code == "LB5566"
    assert lake.read(spark, "lab.tracked", metadata_columns="_ROW_ID").columns == ["id", "_ROW_ID"]
