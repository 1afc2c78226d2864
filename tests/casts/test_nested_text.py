"""ROW, ARRAY and MAP as text."""

from __future__ import annotations

import datetime
import decimal

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from casts.evaluation import session_settings
from lakebed.errors import UnsupportedError
from lakebed.physical import paimon_types as p
from lakebed.spark.casts import cast_column


def row(*types: p.DataType) -> p.Row:
    return p.Row(tuple(p.DataField(i, f"f.{i}", type_) for i, type_ in enumerate(types)))


ARRAY = p.Array(p.Int())
CASES: list[tuple[p.DataType, str, object, str | None]] = [
    (ARRAY, "array<int>", [1, None, 3], "[1, null, 3]"),
    (ARRAY, "array<int>", [], "[]"),
    (ARRAY, "array<int>", None, None),
    (p.Array(p.VarChar()), "array<string>", ["a, b", "null", None, ""], "[a, b, null, null, ]"),
    (p.Array(p.Array(p.Double())), "array<array<double>>", [[1.0, 1e10], None, []], "[[1.0, 1.0E10], null, []]"),
    (p.Map(p.VarChar(), p.Int()), "map<string,int>", {"k": 1}, "{k -> 1}"),
    (p.Map(p.VarChar(), p.Int()), "map<string,int>", {"l": None}, "{l -> null}"),
    (p.Map(p.VarChar(), p.Int()), "map<string,int>", {}, "{}"),
    (p.Map(p.VarChar(), p.Int()), "map<string,int>", None, None),
    (row(p.Int(), p.VarChar()), "struct<`f.0`:int,`f.1`:string>", (None, None), "{null, null}"),
    (row(p.Int(), p.VarChar()), "struct<`f.0`:int,`f.1`:string>", None, None),
    (
        row(p.Boolean(), p.Decimal(12, 9), p.Date(), p.Time(3), p.Timestamp(3), p.VarBinary(), row(p.Int())),
        "struct<`f.0`:boolean,`f.1`:decimal(12,9),`f.2`:date,`f.3`:int,`f.4`:timestamp_ntz,`f.5`:binary,"
        "`f.6`:struct<`f.0`:int>>",
        (
            True,
            decimal.Decimal("1E-9"),
            datetime.date(2024, 2, 29),
            36_672_345,
            datetime.datetime(2024, 2, 29, 10, 11, 12),
            b"ab",
            (7,),
        ),
        "{true, 0.000000001, 2024-02-29, 10:11:12.345, 2024-02-29 10:11:12.000, ab, {7}}",
    ),
    (
        p.Map(p.Int(), row(p.LocalZonedTimestamp(0))),
        "map<int,struct<`f.0`:timestamp>>",
        {1: (datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC),)},
        "{1 -> {2024-07-01 08:00:00}}",
    ),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("target", [p.VarChar(), p.VarChar(2), p.Char(99)], ids=str)
def test_nested_values_as_text(spark: SparkSession, target: p.DataType, ansi: str) -> None:
    schema = ", ".join(f"c{i} {ddl}" for i, (_, ddl, _, _) in enumerate(CASES))
    with session_settings(spark, ansi=ansi, time_zone="Asia/Tokyo"):
        frame = spark.createDataFrame([tuple(value for _, _, value, _ in CASES)], schema)
        columns = [
            cast_column(F.col(f"c{i}"), type_, target, time_zone="America/New_York").alias(f"c{i}")
            for i, (type_, _, _, _) in enumerate(CASES)
        ]
        (found,) = frame.select(*columns).collect()
    assert list(found) == [text for _, _, _, text in CASES]


def test_the_entries_of_a_map_keep_their_order(spark: SparkSession) -> None:
    entries = F.create_map(*(F.lit(n) for n in (3, 30, 1, 10, 2, 20)))
    text = cast_column(entries, p.Map(p.Int(), p.Int()), p.VarChar(), time_zone="UTC")
    assert spark.range(1).select(text).collect() == [("{3 -> 30, 1 -> 10, 2 -> 20}",)]


def test_nested_values_with_parts_that_have_no_text(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedError, match="LB6902"):
        cast_column(F.col("c"), p.Array(p.Multiset(p.Int())), p.VarChar(), time_zone="UTC")
