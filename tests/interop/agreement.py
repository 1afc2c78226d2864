"""Asking Lakebed what the referees are asked: all rows, or those that filters keep, in the same encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DecimalType

import lakebed
from lakebed.convert.scan_types import scan_schema
from referees.encoding import Row, spark_rows
from referees.filters import Filter, build
from runtime.spark_settings import as_for_users

READERS: tuple[Any, ...] = ("pypaimon", "rust")

_LEAVES = {
    "equal": lambda c, v: c == v[0],
    "notEqual": lambda c, v: c != v[0],
    "lessThan": lambda c, v: c < v[0],
    "lessOrEqual": lambda c, v: c <= v[0],
    "greaterThan": lambda c, v: c > v[0],
    "greaterOrEqual": lambda c, v: c >= v[0],
    "isNull": lambda c, v: c.isNull(),
    "isNotNull": lambda c, v: c.isNotNull(),
    "in": lambda c, v: c.isin(*v),
    "notIn": lambda c, v: ~c.isin(*v),
    "between": lambda c, v: c.between(*v),
    "startsWith": lambda c, v: c.startswith(v[0]),
    "endsWith": lambda c, v: c.endswith(v[0]),
    "contains": lambda c, v: c.contains(v[0]),
}


def declare(lake: lakebed.Lake, text: str) -> None:
    """Plan and apply a manifest, with leave for all that is breaking; applying it again must change nothing."""
    path = Path(lake.warehouse).parent / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    plan = lake.plan(path)
    lake.apply(plan, allow=plan.leave_needed())
    assert lake.plan(path).is_noop


def put(lake: lakebed.Lake, spark: SparkSession, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Ingest rows as a DataFrame of the table's types and of those columns that any row has; all are good."""
    named = dict.fromkeys(name for row in rows for name in row)
    fields = lake.schema(table).fields
    columns = scan_schema(f for f in fields if f.name in named)
    assert len(columns) == len(named)
    data = [tuple(_decimal(row.get(f.name), f.dataType) for f in columns) for row in rows]
    result = lake.ingest(spark, table, spark.createDataFrame(data, columns))
    assert (result.rows_written, result.rows_quarantined) == (len(rows), 0)


def _decimal(value: Any, kind: DataType) -> Any:
    """Spark takes no integer for a decimal."""
    return Decimal(value) if isinstance(value, int) and isinstance(kind, DecimalType) else value


def condition(frame: DataFrame, text: Filter) -> Column:
    """A filter of the referees as one of Spark; literals are cast to the column's type."""

    def leaf(name: str, method: str, values: list[Any]) -> Column:
        kind = frame.schema[name].dataType
        literals = [F.lit(Decimal(v) if isinstance(v, int) and abs(v) >= 2**63 else v).cast(kind) for v in values]
        return _LEAVES[method](F.col(name), literals)

    def combine(word: str, parts: list[Column]) -> Column:
        return reduce(Column.__and__ if word == "and" else Column.__or__, parts)

    return build(text, leaf, combine)


def rows(lake: lakebed.Lake, spark: SparkSession, table: str) -> list[Row]:
    """All rows that Lakebed reads."""
    with as_for_users(spark):
        return spark_rows(lake.read(spark, table))


def keys_kept(
    lake: lakebed.Lake, spark: SparkSession, table: str, filters: Sequence[Filter], key: str = "id"
) -> list[list[Any]]:
    """For each filter the sorted keys of the rows that it keeps in Lakebed's read. One query for all of them."""
    frame = lake.read(spark, table)
    asked = [frame.where(condition(frame, f)).select(F.lit(i), F.col(key)) for i, f in enumerate(filters)]
    found: list[list[Any]] = [[] for _ in filters]
    with as_for_users(spark):
        kept = reduce(DataFrame.union, asked).collect()
    for number, value in kept:
        found[number].append(value)
    return [sorted(keys) for keys in found]
