"""Runs that fail at each point: nothing is visible, nothing is left, and repeating the command ends right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError, OutcomeUnknownError, StoreError, UsageError
from lakebed.ingest.quarantine_table import without_logins
from lakebed.model import Field, Int32, Option, String
from lakebed.spark.spark_errors import spark_errors, writing_rows
from lakebed.store import LocalStore

ID = Field("id", Int32())
NAME = Field("name", String())


class FaultyStore(LocalStore):
    """A local store that fails where `fails(operation, path)` says so; after the effect if `late`."""

    def __init__(self, fails: Callable[[str, str], bool], error: Callable[[], BaseException], *, late: bool = False):
        self.fails, self.error, self.late = fails, error, late
        self.armed = True

    def _strike(self, operation: str, path: str) -> None:
        if self.armed and self.fails(operation, path):
            self.armed = False
            raise self.error()

    def move(self, source: str, target: str) -> None:
        self._strike("move", target)
        super().move(source, target)

    def exists(self, path: str) -> bool:
        self._strike("exists", path)
        return super().exists(path)

    def create_if_absent(self, path: str, data: bytes) -> bool:
        if not self.late:
            self._strike("create", path)
        done = super().create_if_absent(path, data)
        if self.late:
            self._strike("create", path)
        return done


def broken_disk() -> StoreError:
    return OutcomeUnknownError.of("LB3700", "the disk is broken")


def looking_into(table: str) -> Callable[[str, str], bool]:
    """When the driver looks for the files that the workers have written."""
    return lambda operation, path: operation == "exists" and f"/{table}/bucket-" in path


def publishing(table: str) -> Callable[[str, str], bool]:
    return lambda operation, path: operation == "create" and f"/{table}/snapshot/snapshot-" in path


def manifest_of(table: str) -> Callable[[str, str], bool]:
    return lambda operation, path: operation == "create" and f"/{table}/manifest/" in path


def nothing_is_left(lake: SmallLake) -> None:
    assert lake.snapshots() == []
    assert lake.data_files() == set()
    if lake.tables.exists("db.t__quarantine"):
        assert lake.snapshots("db.t__quarantine") == []
        assert lake.data_files("db.t__quarantine") == set()


def all_is_right(lake: SmallLake) -> None:
    assert [r["id"] for r in lake.rows(order="id")] == [1, 3]
    assert [r["raw"] for r in lake.bad()] == ['{"id":"x","name":"b"}']
    assert len(lake.data_files()) == len(lake.files())
    assert len(lake.data_files("db.t__quarantine")) == len(lake.files("db.t__quarantine"))


@pytest.fixture
def source(lake: SmallLake) -> str:
    lake.create(ID, NAME)
    return lake.file("a.csv", "id,name\n1,a\nx,b\n3,c\n")


def test_a_row_that_fails_the_job(lake: SmallLake) -> None:
    lake.create(ID)
    boom = F.when(F.col("id") < 90, F.col("id").cast("int")).otherwise(F.raise_error(F.lit("boom on purpose")))
    # One task, since others may write still when Spark gives the job up.
    rows = lake.spark.range(0, 100, 1, 1)
    with pytest.raises(IngestError) as error:
        lake.ingest(rows.select(boom.alias("id")))
    assert error.value.code == "LB6118"
    assert "boom on purpose" in str(error.value)
    nothing_is_left(lake)


@pytest.mark.parametrize("fails", [looking_into("t"), looking_into("t__quarantine"), manifest_of("t__quarantine")])
@pytest.mark.parametrize("error", [broken_disk, KeyboardInterrupt])
def test_failure_before_anything_is_committed(
    lake: SmallLake, source: str, fails: Callable[[str, str], bool], error: Callable[[], BaseException]
) -> None:
    with pytest.raises(type(error())):
        lake.with_store(FaultyStore(fails, error)).ingest(source)
    nothing_is_left(lake)
    result = lake.ingest(source)
    assert (result.snapshot_id, result.quarantine_snapshot_id) == (1, 1)
    all_is_right(lake)


@pytest.mark.parametrize("fails", [manifest_of("t"), publishing("t")])
def test_a_run_that_is_cut_off_between_the_commits_is_finished(
    lake: SmallLake, source: str, fails: Callable[[str, str], bool]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        lake.with_store(FaultyStore(fails, KeyboardInterrupt)).ingest(source)
    assert lake.snapshots() == []
    assert lake.data_files() == set()
    assert len(lake.snapshots("db.t__quarantine")) == 1
    result = lake.ingest(source)
    assert (result.rows_read, result.rows_written, result.rows_quarantined) == (3, 2, 1)
    assert (result.snapshot_id, result.quarantine_snapshot_id) == (1, 1)
    assert len(lake.snapshots("db.t__quarantine")) == 1
    all_is_right(lake)
    assert lake.ingest(source).skipped_files == (source,)


def test_the_rest_of_a_run_is_checked_as_its_beginning_was(lake: SmallLake, source: str) -> None:
    with pytest.raises(StoreError):
        lake.with_store(FaultyStore(manifest_of("t"), broken_disk)).ingest(source)
    schemas = lake.tables.get_schema_manager("db", "t")
    wider = [Field("id", Int32()), Field("name", String()), Field("more", Option(String()))]
    assert schemas.create_new_schema_version(wider, (), ()).id == 1
    result = lake.ingest(source)
    assert (result.schema_id, result.rows_written, result.rows_quarantined) == (0, 2, 1)
    assert [f.meta.schema_id for f in lake.files()] == [0]
    all_is_right(lake)


def test_another_source_cannot_finish_a_run(lake: SmallLake, source: str) -> None:
    with pytest.raises(StoreError):
        lake.with_store(FaultyStore(manifest_of("t"), broken_disk)).ingest(source, run_id="r")
    with pytest.raises(UsageError) as error:
        lake.ingest(lake.file("b.csv", "id,name\n1,a\n"), run_id="r")
    assert error.value.code == "LB6400"
    assert lake.snapshots() == []
    lake.ingest(source, run_id="r")
    all_is_right(lake)


def test_a_commit_whose_outcome_is_not_known_is_found(lake: SmallLake, source: str) -> None:
    result = lake.with_store(FaultyStore(publishing("t"), broken_disk, late=True)).ingest(source)
    assert result.snapshot_id == 1
    all_is_right(lake)


def test_an_interrupt_after_the_commit_takes_nothing_back(lake: SmallLake, source: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        lake.with_store(FaultyStore(publishing("t"), KeyboardInterrupt, late=True)).ingest(source)
    all_is_right(lake)
    assert lake.ingest(source).skipped_files == (source,)


@pytest.mark.parametrize("line", ["y,d\n", "9,d\n"])
def test_a_source_that_changes_under_the_run(lake: SmallLake, source: str, line: str) -> None:
    def write_more(stage: str) -> None:
        if stage.startswith("writing bad"):
            with Path(source).open("a") as file:
                file.write(line)

    with pytest.raises(IngestError) as error:
        lake.ingest(source, progress=write_more)
    assert error.value.code == "LB6124"
    nothing_is_left(lake)


def test_two_processes_with_one_run_id(lake: SmallLake, source: str) -> None:
    inner = []

    def rival(stage: str) -> None:
        if stage == "committing" and not inner:
            inner.append(None)
            inner.append(lake.ingest(source, run_id="r"))

    outer = lake.ingest(source, run_id="r", progress=rival)
    assert outer == inner[1]
    assert len(lake.snapshots()) == len(lake.snapshots("db.t__quarantine")) == 1
    all_is_right(lake)


def test_a_file_that_cannot_be_read(lake: SmallLake) -> None:
    lake.create(ID)
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.csv.gz", b"\x1f\x8b\x08\x00broken"), options={"header": "false"})
    assert error.value.code == "LB6131"
    nothing_is_left(lake)


def test_rows_without_room_are_told_with_their_directory() -> None:
    class JavaError(Exception):
        java_exception = None

    trace = "An error occurred while calling o99.parquet.\nCaused by: java.io.IOException: No space left on device"
    with pytest.raises(StoreError) as caught, spark_errors(), writing_rows("/w/d.db/t/.staging-1"):
        raise JavaError(trace)
    assert caught.value.code == "LB3612"
    assert "/w/d.db/t/.staging-1" in str(caught.value)
    assert "No space left on device" in str(caught.value)
    with pytest.raises(IngestError), spark_errors(), writing_rows("/w/d.db/t/.staging-1"):
        raise JavaError("Caused by: java.lang.IllegalStateException: no")


def test_logins_in_the_paths_of_bad_rows_are_hidden(spark) -> None:
    paths = ["ftp://me:hunter2xyz@host/a.csv", "/plain.csv"]
    rows = spark.createDataFrame([(p,) for p in (*paths, None)], "file string")
    assert without_logins(rows, paths[1:]) is rows
    assert [r["file"] for r in without_logins(rows, paths).collect()] == ["ftp://***@host/a.csv", "/plain.csv", None]
