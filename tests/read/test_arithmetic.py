"""Sums, products and their way back in a column's own type, against IEEE 754 and Python's whole numbers."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as t

from lakebed.spark.row_merge import arithmetic

FLOATS = [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan]
WHOLE = [0, 1, -1, 7, -7, 2]


def quotient(a: float, b: float) -> float:
    """IEEE 754, with a zero that has no sign: the format compares by value."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)


def same(a: Any, b: Any) -> bool:
    return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_division(spark: SparkSession, ansi: str) -> None:
    pairs = list(itertools.product(FLOATS, FLOATS))
    whole = [(a, b) for a, b in itertools.product(WHOLE, WHOLE) if b]
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        a, b = F.col("a"), F.col("b")
        floats = spark.createDataFrame(pairs, "a double, b double")
        found = [r.v for r in floats.select(arithmetic.divided(a, b, t.DoubleType(), "c").alias("v")).collect()]
        ints = spark.createDataFrame(whole, "a int, b int")
        cut = [r.v for r in ints.select(arithmetic.divided(a, b, t.IntegerType(), "c").alias("v")).collect()]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    wrong = [(x, y, v) for (x, y), v in zip(pairs, found, strict=True) if not same(v, quotient(x, y))]
    assert wrong == []
    assert cut == [int(x / y) for x, y in whole]
