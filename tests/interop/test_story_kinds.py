"""A table with a primary key and one with buckets, in three formats each: after each stage all readers agree."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakebed
from interop.agreement import READERS, rows
from interop.story_kinds import FORMATS, STAGES, Rows, Told, tell
from referees.client import Referees
from referees.comparison import assert_same_rows
from referees.java import JavaReferee

#: What Java 0.9 fails to read, of its own files too.
JAVA_CANNOT = {"rows_o"}
#: pypaimon reads no struct from ORC with a member that is NOT NULL: ORC knows no such thing.
PYPAIMON_CANNOT = {"bucketed": {"rows_o"}, "keyed": set[str]()}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> dict[str, dict[str, Told]]:
    """Each table after each stage."""
    root = tmp_path_factory.mktemp("kinds")
    (root / "now").mkdir()
    lake = lakebed.open(root / "now")
    found: dict[str, dict[str, Told]] = {name: {} for name in FORMATS}
    known: dict[str, Rows] = {name: {} for name in FORMATS}
    for stage in STAGES:
        for name in FORMATS:
            known[name] = tell(spark, lake, name, stage, known[name])
        copy = shutil.copytree(root / "now", root / stage)
        for name in FORMATS:
            columns = lake.schema(f"db.{name}").field_names
            found[name][stage] = Told(copy, {n: dict(row) for n, row in known[name].items()}, columns)
    return found


@pytest.mark.parametrize("table", FORMATS)
def test_a_bucket_has_files_of_each_format(told: dict[str, dict[str, Told]], table: str) -> None:
    found = told[table][STAGES[-1]].warehouse / "db.db" / table
    endings = {place: {file.suffix[1:] for file in place.iterdir()} for place in found.glob("p=*/bucket-*")}
    assert any(kinds == set(FORMATS[table]) for kinds in endings.values())


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("table", FORMATS)
def test_every_reader_reads_what_was_said(
    table: str,
    stage: str,
    told: dict[str, dict[str, Told]],
    spark: SparkSession,
    referees: Referees,
    java: JavaReferee,
) -> None:
    now, name = told[table][stage], f"db.{table}"
    columns = referees.columns(now.warehouse, name)
    assert_same_rows(now.encoded(), rows(lakebed.open(now.warehouse), spark, name), columns)
    assert_same_rows(now.encoded(), referees.rows("rust", now.warehouse, name), columns)

    chosen = [column for column in columns if column[0] not in PYPAIMON_CANNOT[table]]
    names = [column for column, _ in chosen]
    assert_same_rows(now.encoded(names), referees.rows("pypaimon", now.warehouse, name, columns=names), chosen)

    chosen = [column for column in columns if column[0] not in JAVA_CANNOT]
    names = [column for column, _ in chosen]
    assert_same_rows(now.encoded(names), java.rows(now.warehouse, name, columns=names), chosen)


@pytest.mark.parametrize("table", FORMATS)
def test_filters_keep_the_same_rows(
    table: str, told: dict[str, dict[str, Told]], referees: Referees, java: JavaReferee
) -> None:
    """By the statistics of three formats, and by buckets."""
    now, name = told[table][STAGES[-1]], f"db.{table}"
    for number in (0, 1, 2, 4, 10, 20, 99):
        wanted = [[number]] if number in now.rows else []
        condition = ["id", "=", number]
        reader: Any
        for reader in READERS:
            assert referees.rows(reader, now.warehouse, name, filter=condition, columns=["id"]) == wanted
        assert [row[:1] for row in java.rows(now.warehouse, name, filter=condition, columns=["id"])] == wanted
