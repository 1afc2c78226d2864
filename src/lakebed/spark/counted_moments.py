"""Convert dates and timestamps to numbers before rows are fetched: PySpark fails at years that Python lacks."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.convert.spark_tree import fold
from lakebed.spark.clocks import UTC, wall_to_instant

_Count = Callable[[Column], Column]


def with_counted_moments(frame: DataFrame) -> DataFrame:
    """The rows of a frame, by position: dates as days, timestamps as microseconds since 1970, at every depth.

    Wall clocks are counted as if they were of UTC. What has no moments inside stays as it is.
    """
    counts = [fold(f.dataType, _count) for f in frame.schema.fields]
    if all(count is None for count in counts):
        return frame
    plain = frame.toDF(*(f"c{i}" for i in range(len(counts))))
    columns = ((F.col(f"c{i}"), count) for i, count in enumerate(counts))
    return plain.select(*((c if count is None else count(c)).alias(f"c{i}") for i, (c, count) in enumerate(columns)))


def _count(type_: spark.DataType, inner: tuple[_Count | None, ...]) -> _Count | None:
    match type_:
        case spark.DateType():
            return F.unix_date
        case spark.TimestampType():
            return F.unix_micros
        case spark.TimestampNTZType():
            return lambda x: F.unix_micros(wall_to_instant(x, UTC))
        case spark.ArrayType():
            (item,) = inner
            return None if item is None else lambda x: F.transform(x, item)
        case spark.MapType():
            return _count_entries(*inner)
        case spark.StructType():
            return _count_members(tuple(zip(type_.names, inner, strict=True)))
        case _:
            return None


def _count_entries(key: _Count | None, value: _Count | None) -> _Count | None:
    def count(x: Column) -> Column:
        x = x if value is None else F.transform_values(x, lambda _, v: value(v))
        return x if key is None else F.transform_keys(x, lambda k, _: key(k))

    return None if key is None and value is None else count


def _count_members(counts: tuple[tuple[str, _Count | None], ...]) -> _Count | None:
    def member(x: Column, name: str, count: _Count | None) -> Column:
        value = x.getField(name)
        return (value if count is None else count(value)).alias(name)

    if all(count is None for _, count in counts):
        return None
    return lambda x: F.when(x.isNotNull(), F.struct(*(member(x, name, count) for name, count in counts)))
