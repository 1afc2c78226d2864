"""Rows that deletion vectors delete are gone, whatever the format, the splits of a file and the filter of the query."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from format.building import table_schema
from format.laid_out import LaidOut, Vector, file_bytes
from lakebed.format import binary_row
from lakebed.physical import parse
from lakebed.store import LocalStore
from referees.client import Referees
from referees.encoding import spark_rows
from referees.java import JavaReferee

pytestmark = pytest.mark.usefixtures("as_for_users")

FORMATS = ("parquet", "orc", "avro")
#: Rows of each file: enough for an ORC file of many stripes.
ROWS = 6_000


def _text(number: int) -> str:
    return f"s{number * 7919 % 100_003}"


def _data(start: int, rows: int = ROWS) -> pa.Table:
    numbers = range(start, start + rows)
    return pa.table({"id": pa.array(numbers, pa.int64()), "s": [_text(n) for n in numbers]})


@contextmanager
def _small_splits(spark: Any) -> Iterator[None]:
    """Splits of about 8 KB: each file of these tests has several, but an Avro file, which is read whole."""
    settings = {"spark.sql.files.maxPartitionBytes": "8000", "spark.sql.files.openCostInBytes": "1000"}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in settings:
            spark.conf.unset(key)


def _table(warehouse: Path, name: str, **parts: Any) -> LaidOut:
    (warehouse / "lab.db").mkdir(parents=True, exist_ok=True)
    columns = [("id", "BIGINT NOT NULL"), ("s", "STRING")]
    return LaidOut(LocalStore(), str(warehouse / "lab.db" / name), table_schema(columns, **parts))


def _add(table: LaidOut, name: str, start: int, rows: int, **meta: Any) -> None:
    keys = {"min_key": _key(start), "max_key": _key(start + rows - 1)} if table.schema.primary_keys else {}
    table.add(name, file_bytes(name.rpartition(".")[2], _data(start, rows)), rows, **keys | meta)


def _key(number: int) -> bytes:
    return binary_row.encode([parse("BIGINT")], (number,))


@pytest.fixture(scope="module")
def deleted() -> dict[int, list[int]]:
    """Positions that are deleted, by the number of the file: few, many, runs, the first and the last row."""
    chance = random.Random(5)
    kinds = [
        sorted(chance.sample(range(ROWS), 40)),
        [0, *range(1, ROWS - 1, 2), ROWS - 1],
        list(range(1_000, 5_000)),
    ]
    return {number: kinds[number % 3] for number in range(6)}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory, deleted: dict[int, list[int]]) -> Path:
    """`lab.append` and `lab.keyed` of three formats and both forms of vectors, a file without any, and `lab.all`."""
    root = tmp_path_factory.mktemp("deletions")
    keyed = {"primary_keys": ["id"], "options": {"deletion-vectors.enabled": "true", "bucket": "1"}}
    for name, parts, meta in (("append", {}, {}), ("keyed", keyed, {"level": 5, "delete_row_count": 0})):
        table = _table(root, name, **parts)
        for number, positions in deleted.items():
            format = FORMATS[number // 2]
            file = f"data-{number}.{format}"
            _add(table, file, number * ROWS, ROWS, **meta)
            table.delete({file: Vector(positions, bits=(32, 64)[number % 2])})
            _add(table, f"rest-{number}.{format}", 10**6 + number * 10, 10, **meta)
        table.commit()
    gone = _table(root, "all")
    gone.add("data-0.parquet", file_bytes("parquet", _data(0, 7)), 7)
    gone.delete({"data-0.parquet": Vector(range(7))})
    gone.commit()
    return root


@pytest.fixture(scope="module")
def wanted(deleted: dict[int, list[int]]) -> list[int]:
    """The ids that are left."""
    gone = {number * ROWS + p for number, positions in deleted.items() for p in positions}
    return [*(n for n in range(6 * ROWS) if n not in gone), *range(10**6, 10**6 + 60)]


@pytest.mark.parametrize("name", ["append", "keyed"])
def test_what_is_left_of_files_with_many_splits(spark: Any, warehouse: Path, name: str, wanted: list[int]) -> None:
    lake = lakebed.open(warehouse)
    with _small_splits(spark):
        rows = lake.read(spark, f"lab.{name}")
        found = rows.toArrow()
    assert sorted(found["id"].to_pylist()) == wanted
    assert all(s == _text(i) for i, s in zip(found["id"].to_pylist(), found["s"].to_pylist(), strict=True))


def test_filters_lose_no_row(spark: Any, warehouse: Path, wanted: list[int]) -> None:
    """A pushed filter skips row groups and stripes: the places of the rows behind them must not move."""
    lake = lakebed.open(warehouse)
    conditions = ["id % 1000 = 7", "id between 3050 and 15333", f"s = '{_text(wanted[50])}'", "s is null", "id = 5999"]
    with _small_splits(spark):
        rows = lake.read(spark, "lab.append").select("id", "s")
        parts = [rows.where(c).selectExpr(f"{n} as n", "id") for n, c in enumerate(conditions)]
        union = parts[0]
        for part in parts[1:]:
            union = union.union(part)
        found = [tuple(row) for row in union.collect()]
    checks = [
        lambda i: i % 1000 == 7,
        lambda i: 3050 <= i <= 15333,
        lambda i: _text(i) == _text(wanted[50]),
        lambda i: False,
        lambda i: i == 5999,
    ]
    assert sorted(found) == sorted((n, i) for n, check in enumerate(checks) for i in wanted if check(i))


def test_a_filter_reaches_the_file_and_the_positions_are_broadcast(spark: Any, warehouse: Path) -> None:
    lake = lakebed.open(warehouse)
    plan = lake.read(spark, "lab.append").where("id = 77")._jdf.queryExecution().executedPlan().toString()
    scans = [line for line in plan.splitlines() if "FileScan parquet" in line]
    assert len(scans) == 2
    assert all("EqualTo(id,77)" in line for line in scans)
    assert "BroadcastHashJoin" in plan
    assert "SortMergeJoin" not in plan


def test_nothing_is_left_of_a_file(spark: Any, warehouse: Path) -> None:
    assert lakebed.open(warehouse).read(spark, "lab.all").count() == 0


def test_files_of_one_name_where_the_list_cannot_be_handed_over(spark: Any, tmp_path: Path) -> None:
    """Then Spark is given paths, and the partition of a row is told by its path."""
    columns = [("k", "STRING"), ("id", "BIGINT")]
    (tmp_path / "lab.db").mkdir()
    table = LaidOut(LocalStore(), str(tmp_path / "lab.db" / "t"), table_schema(columns, partition_keys=["k"]))
    for start, key in enumerate(("a b", "c+%2B", "ü")):
        content = file_bytes("parquet", pa.table({"id": pa.array([start * 10, start * 10 + 1], pa.int64())}))
        table.add("data-0.parquet", content, 2, (key,))
    table.delete({"data-0.parquet": Vector([1])}, ("c+%2B",))
    table.commit()
    key = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
    spark.conf.set(key, "true")
    try:
        rows = lakebed.open(tmp_path).read(spark, "lab.t").collect()
    finally:
        spark.conf.unset(key)
    assert sorted(map(tuple, rows)) == [("a b", 0), ("a b", 1), ("c+%2B", 10), ("ü", 20), ("ü", 21)]


def test_all_readers_agree(spark: Any, tmp_path: Path, referees: Referees, java: JavaReferee) -> None:
    table = _table(tmp_path, "t", options={"deletion-vectors.enabled": "true"})
    for number, bits in enumerate((32, 64)):
        table.add(f"data-{number}.parquet", file_bytes("parquet", _data(number * 250, 250)), 250)
        table.delete({f"data-{number}.parquet": Vector([0, 3, *range(99, 202), 249], bits=bits)})
    table.commit()
    ours = sorted(spark_rows(lakebed.open(tmp_path).read(spark, "lab.t")))
    assert len(ours) == 2 * (250 - 106)
    assert sorted(referees.rows("rust", tmp_path, "lab.t")) == ours
    # The others, in these versions, know the form of 32 bits only.
    table.indexes.pop()
    table.entries.pop()
    table.commit()
    ours = [row for row in ours if row[0] < 250]
    assert sorted(referees.rows("pypaimon", tmp_path, "lab.t")) == ours
    assert sorted(java.rows(tmp_path, "lab.t")) == ours


def test_a_hundred_thousand_positions(spark: Any, tmp_path: Path) -> None:
    table = _table(tmp_path, "t")
    table.add("data-0.orc", file_bytes("orc", _data(0, 200_000)), 200_000)
    table.delete({"data-0.orc": Vector(range(0, 200_000, 2))})
    table.commit()
    rows = lakebed.open(tmp_path).read(spark, "lab.t")
    assert rows.selectExpr("count(*)", "sum(id % 2)").first() == (100_000, 100_000)
