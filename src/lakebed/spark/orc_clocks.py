"""Timestamps of ORC files.

ORC keeps a TIMESTAMP as the wall clock that its writer saw. Spark reads it as an instant: the one at which the zone of
its JVM, not of the session, shows that clock. So the wall clock is what that zone shows at the instant.

A clock that the JVM's zone skips in spring has no such instant: it comes out moved, and nobody can tell it from the
clock that it was moved to. Rows with either are refused, with the way out: run Spark's JVMs in UTC.
"""

from __future__ import annotations

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.errors import UnsupportedError
from lakebed.physical.types import Array, DataType, Map, Multiset, Row, Timestamp
from lakebed.spark.clocks import UTC, instant_to_wall

#: Names of the zone whose clocks are never put forward.
_FIXED = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT", "UCT", "Etc/UCT", "Universal", "Zulu"})
_HOUR = 3_600_000_000
_REMEDY = "start Spark with -Duser.timezone=UTC in spark.driver.extraJavaOptions and spark.executor.extraJavaOptions"


def scanned_as_instants(type_: spark_types.DataType) -> spark_types.DataType:
    """What an ORC scan is asked for where `type_` is what a Parquet scan would be asked for."""
    match type_:
        case spark_types.TimestampNTZType():
            return spark_types.TimestampType()
        case spark_types.StructType():
            fields = [spark_types.StructField(f.name, scanned_as_instants(f.dataType)) for f in type_.fields]
            return spark_types.StructType(fields)
        case spark_types.ArrayType():
            return spark_types.ArrayType(scanned_as_instants(type_.elementType))
        case spark_types.MapType():
            return spark_types.MapType(scanned_as_instants(type_.keyType), scanned_as_instants(type_.valueType))
        case _:
            return type_


def has_wall_clocks(type_: DataType) -> bool:
    """Whether a TIMESTAMP without a zone is in a type."""
    match type_:
        case Timestamp():
            return True
        case Row():
            return any(has_wall_clocks(f.type) for f in type_.fields)
        case Array() | Multiset():
            return has_wall_clocks(type_.element)
        case Map():
            return has_wall_clocks(type_.key) or has_wall_clocks(type_.value)
        case _:
            return False


def jvm_zone(spark: SparkSession) -> str:
    """The zone of the JVMs that read files. Raises UnsupportedError where they differ or do not tell."""
    tasks = max(2, int(spark.conf.get("spark.default.parallelism", "2") or "2"))
    asked = spark.range(tasks, numPartitions=tasks).select(
        F.reflect(F.lit("java.time.ZoneId"), F.lit("systemDefault")).alias("zone")
    )
    try:
        zones = {row["zone"] for row in asked.collect()}
    except Exception as e:
        raise UnsupportedError.of(
            "LB5066",
            f"the time zone of Spark's JVM cannot be known, so ORC timestamps cannot be read: {e}",
            remedy=_REMEDY,
        ) from e
    if len(zones) != 1 or None in zones:
        raise UnsupportedError.of(
            "LB5066", f"Spark's JVMs run in different time zones: {', '.join(map(str, zones))}", remedy=_REMEDY
        )
    zone: str = zones.pop()
    return zone


def as_wall_clocks(column: Column, type_: DataType, zone: str, path: str) -> Column:
    """A scanned column with its timestamps turned into wall clocks, at every level."""
    if not has_wall_clocks(type_):
        return column
    match type_:
        case Timestamp():
            return _wall(column, zone, path)
        case Row():
            members = [
                as_wall_clocks(column.getField(f.name), f.type, zone, f"{path}.{f.name}").alias(f.name)
                for f in type_.fields
            ]
            return F.when(column.isNotNull(), F.struct(*members))
        case Array():
            element = type_.element
            return F.transform(column, lambda e: as_wall_clocks(e, element, zone, f"{path}.element"))
        case Map():
            key, value = type_.key, type_.value
            entries = F.transform(
                F.map_entries(column),
                lambda e: F.struct(
                    as_wall_clocks(e.getField("key"), key, zone, f"{path}.key").alias("key"),
                    as_wall_clocks(e.getField("value"), value, zone, f"{path}.value").alias("value"),
                ),
            )
            return F.map_from_entries(entries)
        case Multiset():
            element = type_.element
            return F.transform_keys(column, lambda k, _: as_wall_clocks(k, element, zone, f"{path}.element"))
        case _:
            return column


def _wall(instant: Column, zone: str, path: str) -> Column:
    if zone in _FIXED:
        return instant_to_wall(instant, UTC)
    wall = instant_to_wall(instant, zone)
    hour_before = instant_to_wall(F.timestamp_micros(F.unix_micros(instant) - F.lit(_HOUR)), zone)
    put_forward = wall > F.timestamp_add("MICROSECOND", F.lit(_HOUR), hour_before)
    message = F.concat(
        F.lit(f"LB5067: column {path}: the clock "),
        wall.cast("string"),
        F.lit(f" cannot be read from ORC in the JVM zone {zone}, whose clocks are put forward there: {_REMEDY}"),
    )
    return F.when(put_forward, F.raise_error(message).cast("timestamp_ntz")).otherwise(wall)
