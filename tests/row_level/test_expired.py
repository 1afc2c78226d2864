"""Tables whose rows were changed and whose older snapshots have expired are read, and nothing is left over."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.model import Field, Int64
from row_level.changed_tables import KINDS, Changed, Make

NOW = timedelta(0)


def left_over(made: Changed) -> list[str]:
    """What lies in the table and belongs to nothing."""
    return [file.path for file in made.lake.orphan_files("db.t", min_age=NOW).files]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_left_is_read_and_nothing_is_left_over(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    made.table.delete(spark, where="k < 4")
    made.delete(lambda r: r["k"] < 4)
    made.table.delete(spark, where="p = 'b' AND n = 1")
    made.delete(lambda r: r["p"] == "b" and r["n"] == 1)
    found = made.table.expire(retain_min=1, older_than=NOW)
    assert found.snapshots == tuple(range(1, (made.table.snapshots.latest_id() or 0)))
    made.check()
    assert left_over(made) == []
    # A file that no row was left of went with its snapshot; what deletion vectors or keys hide stays.
    assert {Path(path).name for file in made.files() for path in file.paths} == made.on_disk()
    made.append([{"k": 50, "p": "a", "n": 1, "s": "new"}])
    made.table.delete(spark, where="k = 50")
    made.rows = [row for row in made.rows if row["k"] != 50]
    made.table.expire(retain_min=1, older_than=NOW)
    made.check()
    assert left_over(made) == []


def test_what_was_ingested_stays_known(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    lake.tables.create_table("db", "t", [Field("id", Int64())])
    for number, name in enumerate("ab"):
        (tmp_path / f"{name}.csv").write_text(f"id\n{number}\n")
        lake.ingest(spark, "db.t", str(tmp_path / f"{name}.csv"))
    first = lake.ingest(spark, "db.t", spark.sql("select 5L as id"), run_id="once")
    lake.table("db.t").append(spark.sql("select 6L as id"))
    assert lake.table("db.t").expire(retain_min=1, older_than=NOW).snapshots == (1, 2, 3)
    again = lake.ingest(spark, "db.t", [str(tmp_path / f"{name}.csv") for name in "ab"])
    assert (len(again.skipped_files), again.rows_written) == (2, 0)
    assert lake.ingest(spark, "db.t", spark.sql("select 5L as id"), run_id="once").repeated
    assert (first.rows_written, lake.count("db.t")) == (1, 4)
