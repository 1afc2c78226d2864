"""Deletes: which rows go, from which kinds of tables, which files are touched, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed import Lake
from lakebed.errors import ConflictError, LakebedError, UnsupportedError, UsageError
from lakebed.evolve.schema_changes import SetOption
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Field, Float64, Int32, Int64, Option, String
from lakebed.spark.table_writer import TableWriter
from row_level.changed_tables import FEW_KINDS, Make, rows_of


@pytest.mark.parametrize("kind", [*FEW_KINDS, "partitions, avro"])
def test_the_rows_that_a_filter_is_true_for_go(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    before = {file.path for file in made.files()}
    # NULL is not true.
    result = made.table.delete(spark, where="p = 'a' AND n > 1 OR k = 11")
    gone = made.delete(lambda r: (r["p"] == "a" and (r["n"] or 0) > 1) or r["k"] == 11)
    assert (result.operation, result.rows_deleted, result.rows_updated) == ("delete", gone, 0)
    made.check()
    now = {file.path for file in made.files()}
    rewrites = "vectors" not in kind and "key" not in kind
    assert (before <= now, len(before - now)) == (not rewrites, result.files_removed)
    # What is not there is not deleted again.
    again = made.table.delete(spark, where="k = 11 OR k > 1000")
    assert (again.rows_deleted, again.snapshot_id) == (0, None)
    assert made.on_disk() >= {Path(path).name for path in now}


class NoSpark:
    """Fails where rows are read or written."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from lakebed.row_level import delete_rows
        from lakebed.row_level.row_target import Start

        def fail(*_: Any, **__: Any) -> Any:
            raise AssertionError("a job was begun")

        monkeypatch.setattr(delete_rows, "choose_rows", fail)
        monkeypatch.setattr(TableWriter, "write", fail)
        monkeypatch.setattr(Start, "merged", fail)


def test_what_metadata_tell_starts_no_job(spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("partitions, avro")
    with monkeypatch.context() as patch:
        NoSpark(patch)
        table = made.table
        # A filter on partition columns; one that no file can hold a row for; one that all rows of a file fit.
        looked = table.delete(spark, where="p = 'a'", dry_run=True)
        first = table.delete(spark, where="p = 'a'")
        assert looked.rows_deleted == first.rows_deleted == made.delete(lambda r: r["p"] == "a")
        assert (first.files_removed, first.files_added, first.partitions) == (3, 0, ("p=a",))
        assert table.delete(spark, where="k > 1000").snapshot_id is None
        assert table.delete(spark, where="k >= 20").rows_deleted == made.delete(lambda r: r["k"] >= 20)
    made.check()
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.operation) == ("OVERWRITE", "DELETE")


@pytest.mark.parametrize("engine", ["deduplicate", "aggregation", "partial-update"])
def test_partitions_of_keyed_tables_go_with_their_files(spark: SparkSession, lake: Lake, engine: str) -> None:
    fields = (Field("k", Int64()), Field("p", String()), Field("v", Option(Int64())))
    options = {"bucket": "1", "merge-engine": engine}
    lake.tables.create_table("db", "t", fields, primary_keys=["p", "k"], partition_keys=["p"], options=options)
    table = lake.table("db.t")
    # Nothing is there yet.
    assert table.delete(spark, where="p = 'a'").snapshot_id is None
    for v in (1, 2):
        table.append(spark.createDataFrame([(1, "a", v), (2, "a", v), (3, "b", v)], "k bigint, p string, v bigint"))
    assert table.delete(spark, where="p IN ('a', 'z')", dry_run=True).rows_deleted == 2
    result = table.delete(spark, where="p IN ('a', 'z')")
    assert (result.rows_deleted, result.files_removed, result.files_added, result.rows_by_kind) == (2, 2, 0, {})
    assert [row.k for row in table.read(spark).collect()] == [3]
    table.append(spark.createDataFrame([(1, "a", 7)], "k bigint, p string, v bigint"))
    assert {(row.k, row.v) for row in table.read(spark).where("p = 'a'").collect()} == {(1, 7)}
    # Other columns are asked about, if only for some partitions: that is no filter on partitions.
    if engine != "deduplicate":
        with pytest.raises(UnsupportedError, match="cannot be deleted"):
            table.delete(spark, where="p = 'a' OR k = 3")
    assert table.delete(spark, where="true").rows_deleted == 2


def test_only_files_with_such_a_row_are_written_anew(spark: SparkSession, make: Make) -> None:
    made = make("append")
    before = {file.path for file in made.files()}
    result = made.table.delete(spark, where="k % 10 = 3")  # rows 3 and 13, and 23: none of which metadata tell
    assert result.rows_deleted == 3
    made.append(rows_of(range(30, 32)))
    kept = {file.path for file in made.files()} - before
    made.table.delete(spark, where="s = 's31'")
    assert len({file.path for file in made.files()} & kept) == 3
    made.delete(lambda r: r["k"] % 10 == 3 or r["k"] == 31)
    made.check()


def test_vectors_grow_and_a_file_without_rows_goes(spark: SparkSession, make: Make) -> None:
    made = make("vectors")
    table = made.table
    assert [table.delete(spark, where=f"k = {k}").files_removed for k in (10, 12)] == [0, 0]
    vector = next(f.deletions for f in made.files() if f.deletions is not None)
    assert vector.cardinality == 2
    # The statistics still tell of ten to fifteen, so that each row is looked at.
    last = table.delete(spark, where="k IN (11, 13, 14, 15)")
    assert (last.rows_deleted, last.files_removed, last.files_added) == (4, 1, 0)
    made.delete(lambda r: 10 <= r["k"] < 16)
    made.check()


def test_a_run_is_done_once(spark: SparkSession, make: Make) -> None:
    made = make("vectors")
    first = made.table.delete(spark, where="k = 3", run_id="r", properties={"why": "asked for"})
    made.delete(lambda r: r["k"] == 3)
    made.append(rows_of([3]))
    again = made.table.delete(spark, where="k = 3", run_id="r")
    assert (first.repeated, again.repeated) == (False, True)
    assert again.to_json() == {**first.to_json(), "repeated": True}
    made.check()
    with pytest.raises(UsageError, match="has made snapshot"):
        made.table.delete(spark, where="k = 4", run_id="r")
    # A filter may name a person: it is told to nobody.
    snapshot = made.table.snapshots.latest()
    assert snapshot is not None
    (of_run,) = [s for s in map(made.table.snapshots.load, made.table.snapshots.ids()) if s.commit_user == "lakebed-r"]
    assert "k = 3" not in of_run.dumps().decode()
    assert (of_run.properties or {})["why"] == "asked for"


def test_rows_of_keys_go(spark: SparkSession, make: Make) -> None:
    made = make("key in partitions, avro")
    # A text is a number where the column is one, as for ingest; a key that is not there is no error.
    keys = spark.createDataFrame([("3", "b"), ("4", "b"), ("20", "a"), ("20", "a")], "k string, p string")
    result = made.table.delete(spark, keys)
    assert (result.rows_deleted, result.rows_by_kind) == (2, {"-D": 2})
    made.delete(lambda r: r["k"] in (3, 20))
    made.check()
    for bad in (spark.sql("SELECT 1L AS k, 'a' AS p, 1 AS n"), spark.sql("SELECT 1L AS k")):
        with pytest.raises(UsageError, match="primary key"):
            made.table.delete(spark, bad)
    with pytest.raises(BadRowsError, match="are no keys"):
        made.table.delete(spark, spark.sql("SELECT 'x' AS k, 'a' AS p"))


def test_zero_and_negative_zero_are_two_keys(spark: SparkSession, lake: Lake) -> None:
    """To the format; whatever finds rows by their keys has to tell them apart."""
    fields, options = (Field("k", Float64()), Field("v", Int32())), {"bucket": "1", "sequence.field": "v"}
    lake.tables.create_table("db", "t", fields, primary_keys=["k"], options=options)
    table = lake.table("db.t")

    def frame(*rows: tuple[float, int]) -> DataFrame:
        return spark.createDataFrame(list(rows), "k double, v int")

    table.append(frame((0.0, 5), (-0.0, 2)))
    # A row of the other zero is no older one of the key.
    table.overwrite(frame((-0.0, 3), (0.0, 6)), where="v < 9")
    assert table.delete(spark, frame((-0.0, 0)).select("k")).rows_deleted == 1
    assert list(map(str, table.read(spark).collect())) == ["Row(k=0.0, v=6)"]
    changes = table.read_changes(spark, since=1, mode="diff", row_kinds=True).collect()
    told = sorted(tuple(map(str, row)) for row in changes)
    assert told == [("+U", "0.0", "6"), ("-D", "-0.0", "2"), ("-U", "0.0", "5")]
    merge = table.merge(spark, frame((-0.0, 9)), on="t.k = s.k AND t.v < 0")
    assert merge.when_not_matched_insert({"k": "s.k", "v": "s.v"}).execute().rows_inserted == 1
    assert table.count(spark=spark) == 2


@pytest.mark.parametrize("kind", ["append", "vectors", "key"])
def test_what_others_commit_meanwhile_is_looked_at_again(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = make(kind)
    real, raced = TableWriter.commit, list[str]()

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not raced:
            raced.append("other")
            # Another delete of the same files, and a row that is appended: of a keyed table into the same bucket.
            with monkeypatch.context() as patch:
                patch.setattr(TableWriter, "commit", real)
                made.table.delete(spark, where="k = 4")
                made.append(rows_of([40]))
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    result = made.table.delete(spark, where="k IN (2, 4, 6)")
    made.delete(lambda r: r["k"] in (2, 4, 6))
    # The other one deleted row 4 before.
    assert result.rows_deleted == 2
    made.check()
    live = {Path(path).name for file in made.files() for path in file.paths}
    assert live <= made.on_disk()


def test_whoever_is_always_second_gives_up(spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("partitions, avro")
    calls = list[int]()

    def lost(*_: Any) -> Any:
        calls.append(1)
        raise ConflictError.of("LB5090", "a file is gone")

    monkeypatch.setattr(TableWriter, "commit", lost)
    with pytest.raises(ConflictError, match="10 times while it was made: a file is gone"):
        made.table.delete(spark, where="p = 'a'")
    assert len(calls) == 10


@pytest.mark.parametrize("kind", ["append", "key"])
def test_a_failure_before_the_commit_leaves_no_file(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = make(kind)
    before = made.on_disk()

    def fail(self: TableWriter, *_: Any) -> Any:
        assert self.entries
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(TableWriter, "commit", fail)
        with pytest.raises(KeyboardInterrupt):
            made.table.delete(spark, where="k = 3")
    assert made.on_disk() == before
    made.check()


def test_branches_have_rows_of_their_own(spark: SparkSession, make: Make) -> None:
    made = make("append")
    made.table.tags().create("start")
    made.lake.branches("db.t").create("dev", tag="start")
    branch = made.lake.table("db.t@branch:dev")
    assert branch.delete(spark, where="k < 5").rows_deleted == 5
    made.check()
    assert branch.count() == len(made.rows) - 5
    with pytest.raises(UsageError, match="one state"):
        made.lake.table("db.t@tag:start").delete(spark, where="true")


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"options": {"row-tracking.enabled": "true"}}, "LB5060"),
        ({"options": {"chain-table.enabled": "true"}}, "LB6541"),
        ({"primary_keys": ["k"], "options": {"bucket": "1", "ignore-delete": "true"}}, "LB6545"),
        ({"primary_keys": ["k"], "options": {"bucket": "1", "merge-engine": "aggregation"}}, "LB6545"),
        ({"primary_keys": ["k"], "options": {"bucket": "-2"}}, "LB5050"),
    ],
)
def test_tables_whose_rows_are_not_deleted(spark: SparkSession, lake: Lake, parts: dict[str, Any], code: str) -> None:
    fields = (Field("k", Int64()), Field("v", Option(String())))
    lake.tables.create_table("db", "t", fields, **parts)
    with pytest.raises(LakebedError) as caught:
        lake.table("db.t").delete(spark, where="k = 1")
    assert caught.value.code == code


def test_a_table_that_another_branch_shows_through_is_refused(spark: SparkSession, lake: Lake) -> None:
    lake.tables.create_table("db", "t", (Field("k", Int64()),))
    lake.branches("db.t").create("other")
    lake.tables.alter_table("db", "t", [SetOption("scan.fallback-branch", "other")])
    with pytest.raises(UnsupportedError, match="read from branch 'other'"):
        lake.table("db.t").delete(spark, where="k = 1")
    assert lake.table("db.t@branch:other").delete(spark, where="k = 1").rows_deleted == 0


def test_what_is_not_said_is_refused(spark: SparkSession, lake: Lake) -> None:
    lake.tables.create_table("db", "t", (Field("k", Int64()),))
    table = lake.table("db.t")
    for arguments in ({}, {"where": " "}, {"where": "k = 1", "keys": spark.range(1)}):
        with pytest.raises(UsageError) as caught:
            table.delete(spark, **arguments)
        assert caught.value.code == "LB6544"
    with pytest.raises(TypeError, match="did you mean 'where'"):
        table.delete(spark, **{"were": "k = 1"})
