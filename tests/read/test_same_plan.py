"""Spark and tasks of the data source open the files that are planned; counts and cast errors are those of the read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.datasource import Filter

import lakebed
from data_source.test_data_source import REFUSED
from lakebed.arrow.join_row_parts import SideBySide
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import LakebedError, UnsupportedError
from read.generated_tables import TABLES, Made, Where, make, with_stored_texts, with_texts_in_the_fallback
from referees.corpus import SHARED, load_expected

EXPECTED = SHARED / "tables" / "expected"
SEEDS = (1, 2)
CASES = [pytest.param(kind, seed, id=f"{kind}-{seed}") for kind in TABLES for seed in SEEDS]


def planned(made: Made, where: Where | None) -> set[str]:
    """The paths of the files that a read is planned to open, by the table's name."""
    explained = made.lake.explain_read("db.t", where=where.text if where else None)
    return {file.path for state in explained.states for file in state.plan.files}


def opened_by_spark(spark: Any, made: Made, where: Where | None) -> set[str]:
    frame = made.lake.read(spark, "db.t", where=where.text if where else None)
    return {unquote(urlsplit(uri).path) for uri in frame.inputFiles()}


def opened_by_tasks(made: Made, where: Where | None) -> set[str]:
    options = {"path": "db.t", "warehouse": made.lake.warehouse, "push-filters": "true"}
    return files_of_tasks(options, where.pushed if where else [])


def files_of_tasks(options: Mapping[str, str], pushed: list[Filter]) -> set[str]:
    source = LakebedDataSource(dict(options))
    reader = source.reader(source.schema())
    if pushed:
        list(reader.pushFilters(pushed))
    works = [task.value for task in reader.partitions() if task.value]
    rules = [work.rule for work in works if isinstance(work.rule, SideBySide)]
    blobs = {file.path for rule in rules for column in rule.blobs for file in column.files}
    return blobs | {part.path for work in works for part in work.parts}


@pytest.mark.parametrize("kind", TABLES)
def test_spark_opens_the_planned_files(spark: Any, tmp_path: Path, kind: str) -> None:
    made = make(kind, 1, tmp_path)
    for where in (None, *made.wheres):
        assert opened_by_spark(spark, made, where) == planned(made, where), where


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_tasks_open_the_planned_files(tmp_path: Path, kind: str, seed: int) -> None:
    made = make(kind, seed, tmp_path)
    assert opened_by_tasks(made, None) == planned(made, None)


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_tasks_open_the_files_that_are_planned_for_a_filter(tmp_path: Path, kind: str, seed: int) -> None:
    made = make(kind, seed, tmp_path)
    for where in made.wheres:
        assert opened_by_tasks(made, where) == planned(made, where), where


@pytest.mark.parametrize("key", sorted(path.stem for path in EXPECTED.glob("*.json")) or ["none"])
def test_tasks_open_the_planned_files_of_the_tables_of_others(shared: Path, key: str) -> None:
    table = load_expected(key, shared)
    table.place_external_files()
    explained = lakebed.open(table.warehouse).explain_read(table.table, snapshot=table.snapshot, branch=table.branch)
    options = {"path": table.table, "warehouse": table.warehouse}
    options |= {} if table.snapshot is None else {"snapshot": str(table.snapshot)}
    options |= {} if table.branch is None else {"branch": table.branch}
    try:
        found = files_of_tasks(options, [])
    except UnsupportedError:
        assert key.partition("@")[0] in REFUSED
        return
    assert found == {file.path for state in explained.states for file in state.plan.files}


@pytest.mark.parametrize("kind", TABLES)
def test_a_count_is_the_number_of_rows(spark: Any, tmp_path: Path, kind: str) -> None:
    made = make(kind, 1, tmp_path)
    texts = [where.text for where in made.wheres[:2]]
    rows = made.lake.read(spark, "db.t")
    expected = list(rows.select(F.count("*"), *(F.count_if(F.expr(text)) for text in texts)).first())
    frames = [made.lake.read(spark, "db.t", where=text).select(F.lit(text).alias("where")) for text in (None, *texts)]
    union = reduce(DataFrame.union, frames).groupBy("where").count().collect()
    read = {row["where"]: row["count"] for row in union}
    assert [read.get(text, 0) for text in (None, *texts)] == expected
    assert [made.lake.count("db.t", where=text, spark=spark) for text in (None, *texts)] == expected


STORED: dict[str, Callable[[Path], lakebed.Lake]] = {
    "good": lambda warehouse: with_stored_texts(warehouse, "1", None, "-7"),
    "bad": lambda warehouse: with_stored_texts(warehouse, "1", "one"),
    "good in the fallback branch": lambda warehouse: with_texts_in_the_fallback(warehouse, "1"),
    "bad in the fallback branch": lambda warehouse: with_texts_in_the_fallback(warehouse, "one"),
}


@pytest.mark.parametrize("case", STORED)
def test_cast_errors_are_empty_exactly_where_the_strict_read_succeeds(spark: Any, tmp_path: Path, case: str) -> None:
    lake = STORED[case](tmp_path)
    try:
        lake.read(spark, "db.t").collect()
        succeeds = True
    except (LakebedError, PySparkException):
        succeeds = False
    assert succeeds == ("good" in case)
    assert lake.cast_errors(spark, "db.t").isEmpty() == succeeds


@pytest.mark.parametrize("kind", ["evolution", "partitions", "fallback", "deletes", "nested"])
def test_tables_that_can_be_read_have_no_cast_errors(spark: Any, tmp_path: Path, kind: str) -> None:
    made = make(kind, 1, tmp_path)
    made.lake.read(spark, "db.t").collect()
    assert made.lake.cast_errors(spark, "db.t").isEmpty()
