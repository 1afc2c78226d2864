"""Compaction: the rows stay the same, the files become few, and later writes and other engines go on from there."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ConflictError, UnsupportedError, UsageError
from lakebed.evolve.schema_changes import SetOption
from lakebed.format.live_files import plan_files
from lakebed.format.manifest import FileSource
from lakebed.model import Field, Int64, Option
from lakebed.physical.paimon_types import BigInt, DataField, VarChar
from lakebed.physical.paimon_types import Map as PaimonMap
from lakebed.row_level import compact_files
from lakebed.write.sort_order import clustering_order
from row_level.changed_tables import FEW_KINDS, KINDS, Changed, Make, rows_of


def places(made: Changed) -> dict[tuple[Any, ...], int]:
    """How many files each partition and bucket has."""
    found: dict[tuple[Any, ...], int] = {}
    for file in made.files():
        place = (*file.partition, file.bucket)
        found[place] = found.get(place, 0) + 1
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_stay_and_each_place_has_one_file(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    made.table.delete(spark, where="n = 1")
    made.delete(lambda r: r["n"] == 1)
    before, looked = made.files(), made.table.compact(spark, full=True, dry_run=True)
    result = made.table.compact(spark, full=True)
    assert (looked.snapshot_id, looked.files_removed) == (None, result.files_removed)
    assert (result.operation, result.files_removed) == ("compact", len(before))
    assert (result.rows_by_kind, result.files_added) == ({"+I": len(made.rows)}, len(made.files()))
    assert str(result).startswith(f"db.t: compacted {len(before)} files with ")
    snapshot = made.table.snapshots.latest()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.operation) == ("COMPACT", "COMPACT")
    made.check()
    assert set(places(made).values()) == {1}
    for file in made.files():
        assert file.meta.file_source == FileSource.COMPACT
        assert (file.deletions, file.meta.delete_row_count, file.meta.schema_id) == (None, 0, 1)
        assert file.meta.level == (5 if "key" in kind else 0)
    assert sum(file.meta.row_count for file in made.files()) == len(made.rows) == snapshot.total_record_count
    again = made.table.compact(spark, full=True)
    assert (again.snapshot_id, str(again)) == (None, "db.t: there is nothing to compact.")


@pytest.mark.parametrize("kind", FEW_KINDS)
def test_later_writes_go_on_from_there(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    made.table.compact(spark, full=True)
    made.append(rows_of(range(40, 44)))
    if "key" in kind:
        made.table.update(spark, where="k = 41", set={"s": "'late'"})
        made.rows = [{**r, "s": "late"} if r["k"] == 41 else r for r in made.rows]
    made.table.delete(spark, where="k IN (2, 42)")
    made.delete(lambda r: r["k"] in (2, 42))
    made.check()
    made.table.compact(spark, full=True)
    made.check()
    assert set(places(made).values()) == {1}
    made.append(rows_of(range(50, 52)))
    made.check()


def test_what_is_due_the_options_say(spark: SparkSession, make: Make) -> None:
    made = make("append")
    assert len(made.files()) == 3
    assert made.table.compact(spark).snapshot_id is None
    made.lake.tables.alter_table("db", "t", [SetOption("compaction.min.file-num", "3")])
    assert made.table.compact(spark).files_removed == 3
    made.check()
    keyed = make("key")
    assert keyed.table.compact(spark).snapshot_id is None
    keyed.append(rows_of(range(60, 64)))
    keyed.append(rows_of(range(60, 64)))
    keyed.rows = keyed.rows[:-4]
    assert keyed.table.compact(spark).files_removed == 10
    keyed.check()


def test_files_are_large_enough(spark: SparkSession, make: Make) -> None:
    made = make("append")
    made.lake.tables.alter_table("db", "t", [SetOption("target-file-size", "1 kb")])
    assert made.table.compact(spark, dry_run=True).files_removed == 0
    # Two of them have the older schema.
    assert made.table.compact(spark, full=True, dry_run=True).files_removed == 2


def test_files_of_which_much_is_deleted_are_due(spark: SparkSession, make: Make) -> None:
    made = make("vectors")
    made.table.delete(spark, where="k IN (0, 10, 11)")
    made.delete(lambda r: r["k"] in (0, 10, 11))
    # Of the first file a tenth, of the second one a third.
    assert made.table.compact(spark).files_removed == 1
    made.check()
    assert [f.deletions is None for f in made.files()].count(False) == 1
    made.table.compact(spark, full=True)
    made.check()
    assert all(f.deletions is None for f in made.files())


@pytest.mark.parametrize("kind", ["append", "vectors", "key"])
def test_what_others_do_meanwhile_stays(
    spark: SparkSession, make: Make, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that come are no conflict; where rows of the files go, it is done again on top of that."""
    made, calls = make(kind), []
    writing = compact_files.TableWriter.write

    def write(writer: Any, rows: Any) -> None:
        writing(writer, rows)
        if rows.compacted is not None and not calls:
            calls.append(1)
            made.append(rows_of(range(70, 73)))
            made.table.delete(spark, where="k = 5")
            made.delete(lambda r: r["k"] == 5)

    monkeypatch.setattr(compact_files.TableWriter, "write", write)
    made.table.compact(spark, full=True)
    made.check()
    assert calls == [1]


def test_two_compactions_at_once_leave_the_rows(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, calls = make("key"), []
    writing = compact_files.TableWriter.write

    def write(writer: Any, rows: Any) -> None:
        writing(writer, rows)
        if not calls:
            calls.append(1)
            made.table.compact(spark, full=True)

    monkeypatch.setattr(compact_files.TableWriter, "write", write)
    assert made.table.compact(spark, full=True).snapshot_id is None
    made.check()
    assert {Path(path).name for f in made.files() for path in f.paths} < made.on_disk()


@pytest.mark.parametrize(
    "options",
    [
        {"merge-engine": "partial-update"},
        {"merge-engine": "partial-update", "fields.g.sequence-group": "a"},
        {"merge-engine": "aggregation", "fields.a.aggregate-function": "sum", "fields.g.aggregate-function": "max"},
        {"sequence.field": "g", "sequence.field.sort-order": "descending"},
        {"changelog-producer": "input"},
    ],
    ids=lambda o: "-".join(o.values()),
)
def test_every_merge_engine_goes_on_as_if_nothing_had_been(
    spark: SparkSession, tmp_path: Path, options: dict[str, str]
) -> None:
    lakes = []
    for compacted in (False, True):
        warehouse = tmp_path / str(compacted)
        warehouse.mkdir()
        lake = _merged(spark, warehouse, options, compacted=compacted)
        lakes.append(sorted(map(tuple, lake.read(spark, "db.t").collect())))
    assert lakes[0] == lakes[1]


def _merged(spark: SparkSession, warehouse: Path, options: dict[str, str], *, compacted: bool) -> Lake:
    from lakebed import open as open_lake

    lake = open_lake(warehouse)
    fields = [Field("k", Int64()), Field("g", Option(Int64())), Field("a", Option(Int64()))]
    lake.tables.create_table("db", "t", fields, primary_keys=["k"], options={"bucket": "2", **options})
    table = lake.table("db.t")
    for step in range(4):
        rows = [(k, (step * 7 + k) % 5, None if (k + step) % 3 == 0 else k * 10 + step) for k in range(6)]
        table.upsert(spark.createDataFrame(rows, "k bigint, g bigint, a bigint"))
        if compacted and step in (1, 2):
            assert table.compact(spark, full=True).snapshot_id
    return lake


@pytest.mark.parametrize(
    ("options", "partitions", "several"),
    [
        ({"clustering.columns": "a"}, [], ("a",)),
        ({"sink.clustering.by-columns": "a, b", "sink.clustering.strategy": "ORDER"}, ["p"], ("a",)),
        ({"clustering.columns": "a,b"}, [], ("a", "b")),
    ],
    ids=["a column", "columns in partitions", "a curve"],
)
def test_rows_are_kept_in_the_order_that_the_options_declare(
    spark: SparkSession, lake: Lake, options: dict[str, str], partitions: list[str], several: tuple[str, ...]
) -> None:
    """Small files of mixed rows become files with ranges of their own."""
    fields = [Field("p", Int64()), Field("a", Int64()), Field("b", Int64())]
    sizes = {"target-file-size": "12 kb", "compaction.small-file-ratio": "1", "target-file-row-num": "1000"}
    lake.tables.create_table("db", "t", fields, partition_keys=partitions, options={**options, **sizes})
    table = lake.table("db.t")
    rows = spark.range(3600).selectExpr("id % 2 AS p", "(id * 7919) % 3607 AS a", "(id * 104729) % 3593 AS b")
    table.append(rows.repartition(6) if not partitions else rows)
    before = sorted(map(tuple, table.read(spark).collect()))
    assert table.compact(spark, full=True).snapshot_id is not None
    assert sorted(map(tuple, table.read(spark).collect())) == before
    files = [pq.read_table(path) for path in _live_paths(lake)]
    for column in several:
        # Sorted by one column after the other each file would have all of the range of the second one.
        widths = [high - low for low, high in (_span(file.column(column).to_pylist()) for file in files)]
        assert sum(widths) < len(files) * 3600 * 0.85
    if several == ("a",):
        for p in (0, 1) if partitions else (None,):
            own = sorted(_span(f.column("a").to_pylist()) for f in files if p is None or f.column("p")[0].as_py() == p)
            assert len(own) > 1
            assert all(high <= low for (_, high), (low, _) in pairwise(own))


def _live_paths(lake: Lake) -> list[str]:
    table = lake.table("db.t")
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    return [file.path for file in plan_files(lake.store, table.table_path, snapshot, table.schema())]


def _span(values: list[int]) -> tuple[int, int]:
    return min(values), max(values)


@pytest.mark.parametrize(
    ("options", "code", "path"),
    [
        ({"clustering.columns": "a,gone"}, "LB6512", "clustering.columns"),
        ({"sink.clustering.by-columns": "m"}, "LB6512", "sink.clustering.by-columns"),
    ],
)
def test_an_order_that_is_none_is_told_by_the_option(options: dict[str, str], code: str, path: str) -> None:
    fields = (DataField(0, "a", BigInt()), DataField(1, "m", PaimonMap(VarChar(), BigInt())))
    with pytest.raises(UsageError) as caught:
        clustering_order(TableSchema(0, fields, 1, (), (), options, time_millis=0))
    assert (caught.value.code, caught.value.diagnostics[0].path) == (code, path)


def test_what_is_refused_and_done_once(spark: SparkSession, make: Make, lake: Lake) -> None:
    made = make("append")
    first = made.table.compact(spark, full=True, run_id="r")
    assert (first.repeated, made.table.compact(spark, full=True, run_id="r").repeated) == (False, True)
    lake.tables.create_table("db", "ids", [Field("id", Int64())], options={"row-tracking.enabled": "true"})
    with pytest.raises(UnsupportedError) as caught:
        lake.table("db.ids").compact(spark)
    assert caught.value.code == "LB5060"


def test_partitions_of_another_number_of_buckets_are_left(spark: SparkSession, make: Make) -> None:
    made = make("buckets")
    made.lake.tables.alter_table("db", "t", [SetOption("bucket", "4")])
    assert made.table.compact(spark, full=True).snapshot_id is None
    made.check()


def test_it_gives_up_where_others_are_always_first(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make("append")

    def fail(*_: Any) -> None:
        raise ConflictError.of("LB5090", "no")

    monkeypatch.setattr(compact_files.TableWriter, "commit", fail)
    with pytest.raises(ConflictError) as caught:
        made.table.compact(spark, full=True)
    assert caught.value.code == "LB6543"
    made.check()
