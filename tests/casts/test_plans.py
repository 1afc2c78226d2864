"""Casts that must not cost anything: filters still reach the Parquet scan, identical types are not touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed import physical
from lakebed.spark.casts import cast_column


@pytest.fixture(scope="module")
def stored_numbers(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = str(tmp_path_factory.mktemp("casts") / "numbers")
    types = ("tinyint", "smallint", "int", "bigint", "float", "decimal(10,2)", "date", "string", "binary")
    names = [f"cast({'id' if t not in ('date', 'binary') else 'null'} as {t}) as `{t}`" for t in types]
    spark.range(3).selectExpr(*names).write.parquet(path)
    return spark.read.parquet(path)


@pytest.mark.parametrize(
    ("source", "target", "literal"),
    [
        ("TINYINT", "SMALLINT", 1),
        ("SMALLINT", "INT", 1),
        ("INT", "BIGINT", 1),
        ("INT", "DOUBLE", 1.0),
        ("INT", "DECIMAL(12, 2)", 1),
        ("FLOAT", "DOUBLE", 1.0),
        ("DECIMAL(10, 2)", "DECIMAL(12, 2)", 1),
        ("DECIMAL(10, 2)", "DECIMAL(14, 4)", 1),
        ("DATE", "TIMESTAMP(3)", "2024-01-01"),
    ],
)
def test_filters_go_through_widening(
    stored_numbers: DataFrame, capsys: pytest.CaptureFixture[str], source: str, target: str, literal: object
) -> None:
    name = {"DECIMAL(10, 2)": "decimal(10,2)"}.get(source, source.lower())
    value = F.lit(literal).cast("timestamp_ntz") if source == "DATE" else F.lit(literal)
    wide = cast_column(F.col(f"`{name}`"), physical.parse(source), physical.parse(target), time_zone="UTC")
    stored_numbers.select(wide.alias("x")).where(F.col("x") > value).explain()
    (pushed,) = (line for line in capsys.readouterr().out.splitlines() if "PushedFilters" in line)
    filters = pushed.split("PushedFilters: ")[1].split("]")[0]
    assert "GreaterThan" in filters, filters


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("INT", "INT NOT NULL"),
        ("VARCHAR(3)", "VARCHAR(9)"),
        ("VARCHAR(3)", "STRING"),
        ("CHAR(3)", "STRING"),
        ("CHAR(3)", "VARCHAR(3)"),
        ("BINARY(3)", "BYTES"),
        ("VARBINARY(3)", "VARBINARY(4)"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)"),
        ("TIMESTAMP(9)", "TIMESTAMP(6)"),
        ("TIMESTAMP(0) WITH LOCAL TIME ZONE", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
    ],
)
def test_what_changes_nothing_is_the_column_itself(spark: SparkSession, source: str, target: str) -> None:
    col = F.col("c")
    assert cast_column(col, physical.parse(source), physical.parse(target), time_zone="America/New_York") is col


def test_a_bad_value_in_a_column_that_is_not_read_does_no_harm(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([("abc", 1), ("12", 2)], "s string, i int").write.parquet(str(tmp_path / "t"))
    frame = spark.read.parquet(str(tmp_path / "t"))
    number = cast_column(F.col("s"), physical.parse("STRING"), physical.parse("INT"), time_zone="UTC").alias("s")
    read = frame.select(number, "i")
    assert sorted(row.i for row in read.select("i").collect()) == [1, 2]
    assert read.where("i = 2").select("s").collect() == [(12,)]
    with pytest.raises(Exception, match="'abc' cannot be read as INT"):
        read.collect()
