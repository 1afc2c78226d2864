"""Statistics of a table and of its columns: what Spark finds, what Java reads, and what is committed."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.errors import LakebedError, UsageError
from lakebed.evolve.schema_changes import RenameColumn
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.spark.analyze_table import TableAnalysis
from lakebed.testing.memory_store import MemoryStore
from maintenance.worlds import ROOT, TABLE, World, every_crash
from referees.java import JavaReferee
from row_level.changed_tables import Make

COLUMNS: dict[str, Any] = {
    "id": "BIGINT",
    "flag": "BOOLEAN",
    "amount": "DECIMAL(10, 2)",
    "wide": "DECIMAL(30, 10)",
    "price": "DOUBLE",
    "day": "DATE",
    "at": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "wall": "TIMESTAMP(6)",
    "name": "STRING",
    "code": "CHAR(2)",
    "data": "BYTES",
    "nothing": "INT",
    "tags": {"type": "ARRAY", "element": "INT"},
}
ROWS: list[tuple[Any, ...]] = [
    (i, i > 2, Decimal(f"{i}.50"), Decimal(i), i / 4, date(1969 + i, 12, 31), datetime(2024, 1, i + 1, 12),
     datetime(2024, 1, i + 1, 1, 2, 3, i), None if i == 3 else "é" * (i + 1), "ab", b"x" * i, None, [i])
    for i in range(4)
]  # fmt: skip


def never() -> NoReturn:
    raise AssertionError("Spark was asked for")


@pytest.fixture(scope="module")
def analyzed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Lake, Path, TableAnalysis]:
    """A table with columns of many types, all of them analyzed by one job."""
    from lakebed import open as open_lake

    warehouse = tmp_path_factory.mktemp("warehouse")
    lake = open_lake(warehouse)
    lake.tables.create_table(
        "db", "t", [DataField(i, name, parse(kind)) for i, (name, kind) in enumerate(COLUMNS.items())]
    )
    kinds = ("bigint", "boolean", "decimal(10,2)", "decimal(30,10)", "double", "date", "timestamp", "timestamp_ntz")
    kinds += ("string", "string", "binary", "int", "array<int>")
    shape = ", ".join(f"{name} {kind}" for name, kind in zip(COLUMNS, kinds, strict=True))
    lake.table("db.t").append(spark.createDataFrame(ROWS, shape).coalesce(1))
    return lake, warehouse, lake.table("db.t").analyze(spark, "all")


def test_all_columns_are_described(analyzed: tuple[Lake, Path, TableAnalysis]) -> None:
    lake, _, found = analyzed
    assert found.statistics is not None
    said = found.statistics.to_json()
    columns = said.pop("colStats")
    size = said.pop("mergedRecordSize")
    assert said == {"snapshotId": 1, "schemaId": 0, "mergedRecordCount": 4}
    assert 0 < size < 20_000
    assert (found.left_out, found.snapshot_id) == (("tags",), 2)
    ends = {name: (column.get("min"), column.get("max")) for name, column in columns.items()}
    assert ends == {
        "id": ("0", "3"),
        "flag": ("false", "true"),
        "amount": ("0.50", "3.50"),
        "wide": ("0.0000000000", "3.0000000000"),
        "price": ("0.0", "0.75"),
        "day": ("-1", "1095"),
        "at": (ends["at"][0], ends["at"][1]),
        "wall": ("2024-01-01 01:02:03.000000", "2024-01-04 01:02:03.000003"),
        **dict.fromkeys(("name", "code", "data", "nothing"), (None, None)),
    }
    lengths = {name: (c["distinctCount"], c["nullCount"], c["avgLen"], c["maxLen"]) for name, c in columns.items()}
    assert lengths == {
        "id": (4, 0, 8, 8),
        "flag": (2, 0, 1, 1),
        "amount": (4, 0, 8, 8),
        "wide": (4, 0, 16, 16),
        "price": (4, 0, 8, 8),
        "day": (4, 0, 4, 4),
        "at": (4, 0, 8, 8),
        "wall": (4, 0, 8, 8),
        "name": (3, 1, 2, 3),
        "code": (1, 0, 2, 2),
        "data": (4, 0, 2, 3),
        "nothing": (0, 4, 4, 4),
    }
    snapshot = lake.table("db.t").snapshots.latest()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.total_record_count, snapshot.delta_record_count) == ("ANALYZE", 4, 0)
    shown = str(found).splitlines()
    assert shown[0].startswith("db.t: 4 rows, about ")
    assert shown[-1] == "Left out, since their types cannot be described: tags"


def test_java_reads_them(analyzed: tuple[Lake, Path, TableAnalysis], java: JavaReferee) -> None:
    _, warehouse, found = analyzed
    assert found.statistics is not None
    told = java.statistics(warehouse, "db.t")
    # The values go through Java's own serializers, there and back.
    assert told == found.statistics.to_json()
    assert java.rows(warehouse, "db.t", columns=["id", "name"]) == [[row[0], row[8]] for row in ROWS]


def test_a_run_is_done_once_and_rows_alone_need_no_spark(analyzed: tuple[Lake, Path, TableAnalysis]) -> None:
    lake, _, _ = analyzed
    table = lake.table("db.t")
    with pytest.raises(UsageError) as caught:
        table.analyze(never, ["id", "tags", "nmae"])
    assert [d.code for d in caught.value.diagnostics] == ["LB6580", "LB6580"]
    tags, missing = caught.value.diagnostics
    assert tags.message.startswith("column 'tags' of db.t, of type ")
    assert missing.message == "db.t has no column 'nmae' that could be analyzed"
    assert (missing.suggestions, missing.remedy) == (("name",), "`lakebed show db.t` lists the columns")
    with pytest.raises(TypeError, match="run_id"):
        table.analyze(never, run_i="x")  # type: ignore[call-arg]


def test_rows_are_counted_as_they_are_read(spark: SparkSession, make: Make) -> None:
    made = make("key")
    made.append(made.rows[:4])
    made.rows = made.rows[:-4]
    made.lake.tables.alter_table("db", "t", [RenameColumn(("n",), "number")])
    first = made.table.analyze(spark, ["number"], run_id="r")
    assert first.statistics is not None
    assert (first.statistics.rows, first.statistics.schema_id) == (len(made.rows), 2)
    assert {name: c.null_count for name, c in first.statistics.columns.items()} == {
        "number": sum(r["n"] is None for r in made.rows)
    }
    # Of the rows in files some are older than others of their keys.
    assert first.statistics.size < sum(f.size for f in made.files())
    again = made.table.analyze(never, ["number"], run_id="r")
    assert (again.repeated, again.snapshot_id) == (True, first.snapshot_id)
    with pytest.raises(UsageError) as caught:
        made.table.analyze(never, run_id="r")
    assert caught.value.code == "LB5105"


class TestCommits:
    """Without Spark: the rows come from metadata."""

    def test_a_table_without_snapshots(self) -> None:
        world = World()
        found = world.lake.table(TABLE).analyze(never)
        assert (found.snapshot_id, str(found)) == (None, "lab.t: there are no rows, nothing to analyze.")
        with pytest.raises(UsageError) as caught:
            world.lake.table(f"{TABLE}@snap:1").analyze(never)
        assert caught.value.code == "LB3668"

    def test_a_crash_at_any_step(self) -> None:
        def fresh() -> World:
            world = World(MemoryStore())
            world.commit(rows=7)
            return world

        def act(world: World) -> None:
            world.lake.table(TABLE).analyze(never, run_id="r")

        def check(world: World) -> None:
            world.check_whole()
            act(world)
            act(world)
            snapshot = world.place().snapshots.latest()
            assert snapshot is not None
            assert (world.snapshots(), snapshot.commit_kind) == ([1, 2], "ANALYZE")
            assert world.store.exists(f"{ROOT}/statistics/{snapshot.statistics}")
            world.later()
            world.lake.remove_orphans(TABLE)
            assert [e.name for e in world.store.list(f"{ROOT}/statistics")] == [snapshot.statistics]
            world.check_whole()

        assert every_crash(fresh, act, check) > 5

    def test_a_storage_that_fails_leaves_nothing_that_nobody_names(self) -> None:
        def fresh() -> World:
            world = World(MemoryStore())
            world.commit(rows=7)
            world.store.restart()
            return world

        world = fresh()
        world.lake.table(TABLE).analyze(never)
        failed = 0
        for step in range(len(world.store.operations)):
            world = fresh()
            world.store.fail_at(step)
            try:
                world.lake.table(TABLE).analyze(never)
            except LakebedError:
                failed += 1
            world.store.restart()
            world.check_whole()
            named = {s.snapshot.statistics for s in world.states()} - {None}
            assert named <= {e.name for e in world.store.list(f"{ROOT}/statistics")}
        assert failed > 5
