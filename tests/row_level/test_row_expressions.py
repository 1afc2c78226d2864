"""Expressions that Spark refuses, and those that are not about one row, end a change before a row is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import pytest
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed import open as open_lake
from lakebed.errors import LakebedError, UsageError
from lakebed.model import Field, Int64, Option
from lakebed.table import Table

Call: TypeAlias = Callable[[SparkSession, Table], Any]
FIELDS = (Field("k", Int64()), Field("n", Option(Int64())))

#: Of a column: all values that are not made of one row, in every nesting.
SEVERAL = (
    "max({0})",
    "count(1)",
    "1 + sum({0})",
    "explode(array(1L, 2L))",
    "row_number() OVER (ORDER BY {0})",
    "max({0}) OVER ()",
)
#: Of a column: values that Spark does not understand.
WRONG = ("nope", "{0} +", "nope({0})", "{0}.x", "*")


@pytest.fixture(scope="module", params=["append", "key"])
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Table:
    """One for all tests, most of which change nothing."""
    lake = open_lake(tmp_path_factory.mktemp("warehouse"))
    keys = {"primary_keys": ["k"], "options": {"bucket": "1"}} if request.param == "key" else {}
    lake.tables.create_table("db", "t", FIELDS, **keys)
    table = lake.table("db.t")
    table.append(source(spark))
    return table


def source(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, 10), (2, 20), (3, None)], "k bigint, n bigint")


def giving(value: str) -> Iterator[Call]:
    """Every call that gives rows a new value."""

    def merge(spark: SparkSession, table: Table) -> Any:
        return table.merge(spark, source(spark), on="t.k = s.k")

    of = value.format
    yield lambda spark, table: table.update(spark, where="k > 0", set={"n": of("n")})
    yield lambda spark, table: merge(spark, table).when_matched_update({"n": of("s.n")}).execute()
    yield lambda spark, table: merge(spark, table).when_not_matched_insert({"k": "s.k", "n": of("s.n")}).execute()
    yield lambda spark, table: merge(spark, table).when_not_matched_by_source_update({"n": of("t.n")}).execute()


def on_condition(text: str) -> Iterator[Call]:
    """Every call with a condition."""
    of = text.format

    def merge(spark: SparkSession, table: Table, on: str = "t.k = s.k") -> Any:
        return table.merge(spark, source(spark), on=on)

    yield lambda spark, table: table.delete(spark, where=of("n"))
    yield lambda spark, table: table.delete(spark, where=of("n"), dry_run=True)
    yield lambda spark, table: table.update(spark, where=of("n"), set={"n": "1"})
    yield lambda spark, table: merge(spark, table, of("t.n")).when_matched_delete().execute()
    yield lambda spark, table: merge(spark, table).when_matched_delete(condition=of("t.n")).execute()
    yield lambda spark, table: merge(spark, table).when_not_matched_insert(condition=of("s.n")).execute()
    yield lambda spark, table: merge(spark, table).when_not_matched_by_source_delete(condition=of("t.n")).execute()


def codes_of(spark: SparkSession, table: Table, call: Call) -> set[str]:
    """What a call ends with; it changes nothing."""
    before = table.snapshots.latest()
    with pytest.raises(UsageError) as caught:
        call(spark, table)
    assert [d.message for d in caught.value.diagnostics if "\n" in d.message] == []
    assert table.snapshots.latest() == before
    return {d.code for d in caught.value.diagnostics}


def test_values_are_made_of_one_row(spark: SparkSession, table: Table) -> None:
    for value in SEVERAL:
        for call in giving(value):
            assert codes_of(spark, table, call) == {"LB6556"}, value
    # Mixed with the row's own columns Spark does not understand them.
    for call in giving("{0} - max({0})"):
        assert codes_of(spark, table, call) == {"LB6555"}


def test_values_that_spark_does_not_understand(spark: SparkSession, table: Table) -> None:
    for value in WRONG:
        for call in giving(value):
            assert codes_of(spark, table, call) == {"LB6555"}, value


def test_nothing_is_logged_beside_the_error(
    spark: SparkSession, table: Table, capfd: pytest.CaptureFixture[str]
) -> None:
    logger = PySparkLogger.getLogger("SQLQueryContextLogger")
    level = logger.level
    for call in (*giving("nope"), *on_condition("nope = 1")):
        codes_of(spark, table, call)
    assert "QueryContextLogger" not in "".join(capfd.readouterr())
    assert logger.level == level


def test_conditions_that_spark_does_not_understand(spark: SparkSession, table: Table) -> None:
    for text in ("nope = 1", "{0} = = 1", "{0}", "max({0}) = 1", "explode(array(true))", "NULL"):
        for call in on_condition(text):
            assert codes_of(spark, table, call) <= {"LB6555"}, text


def test_a_side_that_is_not_there_has_no_values(spark: SparkSession, table: Table) -> None:
    for call in (
        lambda m: m.when_not_matched_insert({"k": "s.k", "n": "t.n"}),
        lambda m: m.when_not_matched_insert(condition="t.n > 1"),
        lambda m: m.when_not_matched_by_source_update({"n": "s.n"}),
        lambda m: m.when_not_matched_by_source_delete(condition="s.n > 1"),
    ):
        build: Call = lambda spark, table, call=call: call(  # noqa: E731
            table.merge(spark, source(spark), on="t.k = s.k")
        ).execute()
        assert codes_of(spark, table, build) == {"LB6555"}


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda spark, t: t.merge(spark, source(spark), on=None).when_matched_delete().execute(), "LB6555"),
        (lambda spark, t: t.merge(spark, source(spark), on=["k"]).when_matched_delete().execute(), "LB6555"),
        (lambda spark, t: t.merge(spark, source(spark), on="k = k").when_matched_delete().execute(), "LB6555"),
        (
            lambda spark, t: t.merge(spark, source(spark), on="t.k = s.k").when_matched_delete(condition=1).execute(),
            "LB6555",
        ),
        (lambda spark, t: t.update(spark, where="true", set="n = 1"), "LB6549"),
        (lambda spark, t: t.delete(spark, where=F.col("n") == 1), "LB6544"),
        (lambda spark, t: t.ingest(spark, source(spark), run_id=5), "LB6109"),
        (lambda spark, t: t.merge(spark, [(1, 2)], on="t.k = s.k").when_matched_delete().execute(), "LB6557"),
        (lambda spark, t: t.merge(spark, stream(spark), on="t.k = s.k").when_matched_delete().execute(), "LB6558"),
        (lambda spark, t: t.append([(1, 2)]), "LB6557"),
        (lambda spark, t: t.append(stream(spark)), "LB6558"),
        (lambda spark, t: t.overwrite(stream(spark)), "LB6558"),
        (lambda spark, t: t.ingest(spark, stream(spark)), "LB6558"),
    ],
)
def test_what_is_no_expression_and_no_frame(spark: SparkSession, table: Table, call: Call, code: str) -> None:
    assert codes_of(spark, table, call) == {code}


def stream(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load().select(F.col("value").alias("k"), F.lit(1).cast("long").alias("n"))


def test_keys_are_no_stream_either(spark: SparkSession, table: Table) -> None:
    assert codes_of(spark, table, lambda s, t: t.delete(s, stream(s).select("k"))) == {"LB6558"}


def test_a_frame_that_spark_cannot_plan(spark: SparkSession, table: Table) -> None:
    folded = spark.sql("SELECT 1L DIV (k - 1) AS k, 1L AS n FROM (SELECT 1L AS k)")
    with pytest.raises(LakebedError, match="DIVIDE_BY_ZERO"):
        table.append(folded)


def test_what_python_raised_in_a_worker_is_told(spark: SparkSession, table: Table) -> None:
    fails = F.udf(lambda x: x // 0, "bigint")
    with pytest.raises(LakebedError, match="ZeroDivisionError: integer division or modulo by zero"):
        table.append(source(spark).select("k", fails("k").alias("n")))


def test_values_of_subqueries_and_functions_of_rows_are_understood(spark: SparkSession, table: Table) -> None:
    source(spark).createOrReplaceTempView("others")
    result = table.update(
        spark, where="k IN (SELECT k FROM others WHERE n > 15)", set={"n": "(SELECT max(n) FROM others) + length('x')"}
    )
    assert result.rows_updated == 1
    assert sorted(tuple(row) for row in table.read(spark).where("k = 2").collect()) == [(2, 21)]
