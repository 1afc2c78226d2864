"""First-row tables: the first row of each key stays, readers see it at once, and no file of nobody is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed import Lake
from lakebed.errors import IngestError, LakebedError, StoreError
from lakebed.format.live_files import DataFile, plan_files
from lakebed.model import Field, Int32, Option, String
from lakebed.spark.table_writer import TableWriter
from lakebed.table import Table
from referees.client import Referees
from runtime.spark_settings import QUICK, WRITES, with_settings

OPTIONS = {"bucket": "1", "merge-engine": "first-row"}


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> Iterator[SparkSession]:
    with with_settings(spark, {**WRITES, **QUICK, "spark.sql.shuffle.partitions": "1"}):
        yield spark


@pytest.fixture
def table(lake: Lake) -> Table:
    fields = (Field("p", String()), Field("k", Int32()), Field("v", Option(String())))
    lake.tables.create_table("db", "t", fields, primary_keys=["p", "k"], partition_keys=["p"], options=OPTIONS)
    return lake.table("db.t")


def frame(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows), "p string, k int, v string").coalesce(1)


def live(table: Table) -> list[DataFile]:
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    return list(plan_files(table.store, table.table_path, snapshot, table.schema()))


def rows_of(table: Table, spark: SparkSession) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, table.read(spark).collect()))


def check_disk(table: Table, before: tuple[str, ...] = ()) -> None:
    on_disk = {path.name for path in Path(table.table_path).glob("p=*/bucket-*/*")}
    assert on_disk == {Path(file.path).name for file in live(table)} | set(before)


def test_what_a_key_has_had_first_stays(spark: SparkSession, table: Table, lake: Lake) -> None:
    table.append(frame(spark, ("a", 1, "first"), ("a", 1, "late"), ("a", 2, "first"), ("b", 1, "first")))
    assert [(f.meta.level, f.meta.row_count) for f in live(table)] == [(5, 2), (5, 1)]
    result = table.upsert(frame(spark, ("a", 1, "later"), ("a", 3, "second"), ("a", 2, None), ("a", 3, "later")))
    assert (result.rows_by_kind, result.files_added, result.files_removed) == ({"+I": 4}, 1, 0)
    wanted = [("a", 1, "first"), ("a", 2, "first"), ("a", 3, "second"), ("b", 1, "first")]
    assert rows_of(table, spark) == wanted
    assert lake.count("db.t") == 4
    assert table.read(spark, where="v = 'later' OR k = 3").collect() == [("a", 3, "second")]
    assert sorted((f.partition, f.meta.level, f.meta.delete_row_count) for f in live(table)) == [
        (("a",), 4, 0),
        (("a",), 5, 0),
        (("b",), 5, 0),
    ]
    again = table.append(frame(spark, ("a", 3, "again")), run_id="one")
    assert (again.files_added, table.append(frame(spark, ("a", 9, "no")), run_id="one").repeated) == (0, True)
    check_disk(table)
    table.compact(spark, full=True)
    assert {(f.partition, f.meta.level, f.meta.row_count) for f in live(table)} == {(("a",), 5, 3), (("b",), 5, 1)}
    assert rows_of(table, spark) == wanted


def test_rows_of_whole_partitions_are_replaced(spark: SparkSession, table: Table) -> None:
    table.append(frame(spark, ("a", 1, "old"), ("b", 1, "old"), ("c", 1, "old")))
    table.overwrite(frame(spark, ("a", 1, "new"), ("a", 1, "late"), ("a", 2, "new")))
    table.overwrite(frame(spark, ("b", 1, "new")), where="p = 'b'")
    assert rows_of(table, spark) == [("a", 1, "new"), ("a", 2, "new"), ("b", 1, "new"), ("c", 1, "old")]
    assert {f.meta.level for f in live(table)} == {5}
    assert table.delete(spark, where="p = 'c'").rows_deleted == 1
    assert {row[0] for row in rows_of(table, spark)} == {"a", "b"}


def test_what_would_take_a_key_away_is_refused(spark: SparkSession, table: Table) -> None:
    table.append(frame(spark, ("a", 1, "first")))
    kinds = spark.createDataFrame([("a", 1, "x", "-D"), ("a", 2, "x", "+I")], "p string, k int, v string, kind string")
    with pytest.raises(IngestError, match="1 of 2 rows is of the kinds -U and -D") as caught:
        table.upsert(kinds, row_kinds="kind")
    assert caught.value.code == "LB6141"
    refused = {
        "LB6545": lambda: table.delete(spark, where="k = 1"),
        "LB6550": lambda: table.update(spark, where="k = 1", set={"v": "'x'"}),
    }
    for code, call in refused.items():
        with pytest.raises(LakebedError, match="first-row") as found:
            call()
        assert found.value.code == code
    assert rows_of(table, spark) == [("a", 1, "first")]
    check_disk(table)


def test_rows_that_others_have_not_compacted_come_first(
    spark: SparkSession, table: Table, lake: Lake, referees: Referees
) -> None:
    table.append(frame(spark, ("a", 1, "first"), ("b", 1, "first")))
    theirs = [["a", 1, "theirs"], ["a", 2, "theirs"], ["b", 2, "theirs"]]
    referees.append(lake.warehouse, "db.t", theirs)
    assert len(rows_of(table, spark)) == 2
    table.append(frame(spark, ("a", 2, "late"), ("a", 3, "ours")))
    wanted = [("a", 1, "first"), ("a", 2, "theirs"), ("a", 3, "ours"), ("b", 1, "first")]
    assert rows_of(table, spark) == wanted
    referees.append(lake.warehouse, "db.t", [["a", 3, "theirs"], ["a", 4, "theirs"]])
    assert table.compact(spark, dry_run=True).files_removed == 5
    table.compact(spark)
    wanted = sorted([*wanted, ("a", 4, "theirs"), ("b", 2, "theirs")])
    assert rows_of(table, spark) == wanted
    assert sorted(map(tuple, referees.rows("rust", lake.warehouse, "db.t"))) == wanted
    referees.append(lake.warehouse, "db.t", [["b", 3, "theirs"]])
    # With the rows that are seen go those that would be seen later.
    table.delete(spark, where="p = 'b'")
    table.compact(spark, full=True)
    assert {row[0] for row in rows_of(table, spark)} == {"a"}


@pytest.mark.parametrize("compacts", [False, True])
def test_who_commits_first_is_first(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch, compacts: bool
) -> None:
    table.append(frame(spark, ("a", 1, "old")))
    table.append(frame(spark, ("a", 9, "old")))
    before = tuple(Path(file.path).name for file in live(table))
    commit, was_first = TableWriter.commit, list[bool]()

    def commit_late(self: TableWriter, *parts: Any) -> Any:
        if not was_first:
            was_first.append(True)
            if compacts:
                table.compact(spark, full=True)
            table.append(frame(spark, ("a", 2, "theirs"), ("a", 3, "theirs")))
        return commit(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit_late)
    table.append(frame(spark, ("a", 1, "ours"), ("a", 2, "ours"), ("a", 4, "ours")))
    assert rows_of(table, spark) == [
        ("a", 1, "old"),
        ("a", 2, "theirs"),
        ("a", 3, "theirs"),
        ("a", 4, "ours"),
        ("a", 9, "old"),
    ]
    check_disk(table, before if compacts else ())


@pytest.mark.parametrize("run", [1, 2])
def test_a_write_that_fails_leaves_nothing(
    spark: SparkSession, table: Table, monkeypatch: pytest.MonkeyPatch, run: int
) -> None:
    table.append(frame(spark, ("a", 1, "old")))
    seen, look_for = list[int](), TableWriter._look_for

    def fail(self: TableWriter, entries: Any) -> None:
        seen.append(1)
        look_for(self, entries)
        if len(seen) == run:
            raise StoreError.of("LB9999", "out of order", path="a")

    monkeypatch.setattr(TableWriter, "_look_for", fail)
    with pytest.raises(StoreError, match="out of order"):
        table.append(frame(spark, ("a", 1, "new"), ("a", 2, "new")))
    assert len(seen) == run
    assert rows_of(table, spark) == [("a", 1, "old")]
    check_disk(table)
