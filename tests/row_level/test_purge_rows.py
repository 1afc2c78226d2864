"""Rows are removed from the quarantine, and it is told what still holds them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from ingest.ingest_lake import SmallLake
from ingest.test_failures import FaultyStore, publishing
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.ingest import ingest
from lakebed.maintenance.tags import Tags
from lakebed.model import Date, Field, Option
from lakebed.row_level.quarantine_rows import Quarantine

MENDED, BAD, GOOD = "2.1.2024", "soon", "2024-01-01"


@pytest.fixture
def small(tmp_path: Path, spark: SparkSession) -> SmallLake:
    """A table of which two rows are bad; one is mended."""
    small = SmallLake(tmp_path, spark)
    small.create(Field("at", Option(Date())))
    small.ingest(small.file("a.csv", f"at\n{GOOD}\n{MENDED}\n{BAD}\n"), run_id="first")
    assert Quarantine.of(small.context, "db.t").replay(spark, options={"dateFormat": "d.M.yyyy"}).rows_replayed == 1
    return small


def on_disk(small: SmallLake) -> list[str]:
    """The rows in all files of the quarantine, whoever needs them."""
    files = (small.path("db.t__quarantine") / "bucket-0").glob("*.parquet")
    return sorted({row["raw"].split('"')[3] for path in files for row in pq.ParquetFile(path).read().to_pylist()})


def test_mended_rows_go_and_then_all(small: SmallLake) -> None:
    quarantine, spark = Quarantine.of(small.context, "db.t"), small.spark
    table = TableBranch(small.tables, quarantine.name.quarantine)
    Tags(table).create("kept", snapshot=1)
    assert quarantine.purge(spark, older_than=timedelta(days=1)).rows == 0
    looked = quarantine.purge(spark, dry_run=True)
    assert (looked.rows, looked.snapshot_id, looked.dry_run) == (1, None, True)
    done = quarantine.purge(spark, older_than=timedelta(0), run_id="first")
    assert (done.rows, done.snapshot_id, done.held_by, done.tags) == (1, 3, (1, 2), ("kept",))
    assert [row.raw for row in quarantine.rows(spark, mended=True).collect()] == [f'{{"at":"{BAD}"}}']
    assert on_disk(small) == [MENDED, BAD]

    Tags(table).delete("kept")
    again = quarantine.purge(spark, expire=True)
    assert (again.rows, again.expired, again.held_by, again.tags) == (0, (1, 2), (), ())
    assert on_disk(small) == [BAD]
    small.ingest(small.file("b.csv", "at\nlater\n"), run_id="second")
    last = quarantine.purge(spark, where="raw LIKE '%soon%'", every=True, expire=True)
    assert (last.rows, last.held_by) == (1, ())
    assert on_disk(small) == ["later"]
    assert [row.run_id for row in quarantine.rows(spark).collect()] == ["second"]
    # What was ingested is remembered.
    assert small.ingest(str(small.root / "a.csv")).skipped_files == (str(small.root / "a.csv"),)


def test_what_an_interrupted_run_needs_stays(small: SmallLake) -> None:
    other = small.with_store(FaultyStore(publishing("t"), KeyboardInterrupt))
    source = small.file("b.csv", f"at\n{GOOD}\nnever\n")
    with pytest.raises(KeyboardInterrupt):
        ingest(other.context, small.spark, "db.t", source, run_id="second")
    quarantine = Quarantine.of(small.context, "db.t")
    assert quarantine.purge(small.spark, every=True).rows == 2
    assert [row.run_id for row in quarantine.rows(small.spark).collect()] == ["second"]
    assert quarantine.purge(small.spark, every=True, run_id="second").rows == 1
