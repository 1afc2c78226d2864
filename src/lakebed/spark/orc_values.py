"""Mend dates and timestamps that Spark's ORC reader has shifted, and refuse what it misreads.

- ORC keeps a TIMESTAMP as the wall clock that its writer saw. Spark reads it as an instant: the one at which the zone
  of its JVM, not of the session, shows it. So the wall clock is what that zone shows at the instant. A clock that a
  zone skips comes out moved, and nobody can tell it from the clock that it was moved to: rows with either are refused,
  with the way out, which is to run Spark's JVMs in UTC.
- An instant (TIMESTAMP WITH LOCAL TIME ZONE) is stored as such, or, under the option `orc.timestamp-ltz.legacy.type`,
  by Java writers as the instant at which the zone of their JVM shows the clock that UTC shows. Files say that zone.
- Writers of the table format count days without a change of calendars. Spark takes days before 1582-10-15 for days of
  the Julian calendar and moves them, so they are moved back; and instants too, but for the legacy form, for which Java
  goes by the Julian calendar as Spark expects.

Filters on these columns, and on CHAR, which ORC pads, do not reach the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.convert.spark_tree import transform
from lakebed.diagnostics import reason_of
from lakebed.errors import UnsupportedError
from lakebed.format.orc_footer import has_instants, java_writer_zone
from lakebed.physical.paimon_tree import types_inside, walk_fields
from lakebed.physical.paimon_types import (
    Char,
    DataField,
    DataType,
    Date,
    LocalZonedTimestamp,
    Timestamp,
)
from lakebed.spark.clocks import UTC, floor_div, instant_to_wall, wall_to_instant
from lakebed.spark.footers import of_each_file
from lakebed.spark.scanned_values import Change, Changes
from lakebed.store.base import Store

#: Names of the zone whose clocks are never put forward.
_FIXED = frozenset({"UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT", "UCT", "Etc/UCT", "Universal", "Zulu"})
_HOUR = 3_600_000_000
_DAY = 24 * _HOUR
#: The first day of the Gregorian calendar, in days and microseconds since 1970.
_GREGORIAN_DAY = -141_427
_GREGORIAN = _GREGORIAN_DAY * _DAY
#: 1900-01-01. Before it, zones other than UTC had local mean times, which Spark treats in ways of their own.
_ZONES_ARE_SIMPLE = -2_208_988_800_000_000
#: The days since 1970 of 0000-03-01 in the Julian calendar, from which years of it are counted.
_JULIAN_START = -719_470
_REMEDY = "start Spark with -Duser.timezone=UTC in spark.driver.extraJavaOptions and spark.executor.extraJavaOptions"
#: The first Spark whose ORC reader knows the type TIMESTAMP WITH LOCAL TIME ZONE.
_KNOWS_INSTANTS = (4, 2)


def scanned_as_instants(type_: spark_types.DataType) -> spark_types.DataType:
    """What an ORC scan is asked for where `type_` is what a Parquet scan would be asked for."""
    return transform(type_, lambda t: spark_types.TimestampType() if isinstance(t, spark_types.TimestampNTZType) else t)


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
            f"the time zone of Spark's JVM cannot be known, so ORC timestamps cannot be read: {reason_of(e)}",
            remedy=_REMEDY,
        ) from e
    if len(zones) != 1 or None in zones:
        raise UnsupportedError.of(
            "LB5066", f"Spark's JVMs run in different time zones: {', '.join(map(str, zones))}", remedy=_REMEDY
        )
    zone: str = zones.pop()
    return zone


def orc_changes(stored: tuple[DataField, ...], instants_by: str | None, jvm_zone: Callable[[], str]) -> Changes:
    """What to do to the values of an ORC scan of `stored`, the columns as files hold them.

    `instants_by` is the zone of the JVM that wrote the instants in the legacy form, None for instants as such.
    `jvm_zone` gives the zone of Spark's JVMs, and is asked where that matters.
    """
    zone = jvm_zone() if _holds(stored, Timestamp, LocalZonedTimestamp) else UTC

    def change(type_: DataType) -> Change | None:
        match type_:
            case Timestamp():
                return lambda instant, path: _wall(instant, zone, path)
            case LocalZonedTimestamp():
                if instants_by is None:
                    return lambda instant, path: _instant(instant, zone, path)
                return lambda instant, path: _legacy_instant(instant, instants_by, zone, path)
            case Date():
                return _day
            case Char():
                return lambda text, _: F.concat(text, F.lit(""))
            case _:
                return None

    return change


def refuse_orc_names(fields: Iterable[DataField]) -> None:
    """Raise UnsupportedError for a name, at any depth, of whose values Spark would read none from ORC."""
    for field in walk_fields(fields):
        if "`" in field.name:
            raise UnsupportedError.of(
                "LB5534",
                f"column {field.name!r} cannot be read from ORC files",
                path=field.name,
                remedy="leave the column out, or rename it and let an engine rewrite the files",
            )


def taken_by_place(written: Iterable[DataField]) -> bool:
    """Whether Spark takes the columns of an ORC file by their places: all have names as Hive once gave them."""
    return all(f.name.startswith("_col") for f in written)


def refuse_orc_positions(stored: Sequence[DataField], written: Sequence[DataField], path: str) -> None:
    """Raise UnsupportedError where columns of an ORC file are taken by their places, and these are others."""
    names = [f.name for f in written][: len(stored)]
    if [f.name for f in stored] != names:
        raise UnsupportedError.of(
            "LB5535",
            f"data file {path} in ORC has only columns whose names start with _col, and not all of them are wanted",
            path=path,
            remedy="rename a column and let an engine rewrite the file",
        )


def refuse_orc_instants(spark: SparkSession, store: Store, paths: Sequence[str]) -> None:
    """Raise UnsupportedError for files of whose columns one has a type that the session's Spark does not know.

    It looks at the types of all columns of a file, wanted or not.
    """
    if not paths or tuple(int(n) for n in spark.version.split(".")[:2]) >= _KNOWS_INSTANTS:
        return
    for path, unknown in zip(paths, of_each_file(lambda path: has_instants(store, path), paths), strict=True):
        if unknown:
            raise UnsupportedError.of(
                "LB6460",
                f"Spark {spark.version} cannot read {path}: an ORC file with TIMESTAMP WITH LOCAL TIME ZONE",
                path=path,
                expected=f"Spark {'.'.join(map(str, _KNOWS_INSTANTS))} or newer",
                found=spark.version,
                remedy="use a newer Spark, or let an engine rewrite the file as Parquet",
            )


def holds_instants(fields: Iterable[DataField]) -> bool:
    """Whether an instant is in columns, at any depth."""
    return _holds(fields, LocalZonedTimestamp)


def _holds(fields: Iterable[DataField], *kinds: type[DataType]) -> bool:
    return any(isinstance(t, kinds) for f in fields for t in types_inside(f.type))


def legacy_zones(store: Store, paths: Sequence[str]) -> Iterator[str | None]:
    """Of each ORC file under the legacy option, the zone that its instants are stored by; None for instants as such."""
    return of_each_file(lambda path: java_writer_zone(store, path), paths)


def _wall(instant: Column, zone: str, path: str) -> Column:
    if zone in _FIXED:
        return instant_to_wall(instant, UTC)
    wall = instant_to_wall(instant, zone)
    # The clock is moved by what was skipped, to before it or to after it: by an hour, or less, or in few places a day.
    put_forward = (
        (wall > _later(_shown(instant, -_HOUR, zone), _HOUR))
        | (_shown(instant, _HOUR, zone) > _later(wall, _HOUR))
        | (wall > _later(_shown(instant, -_DAY, zone), _DAY + _DAY // 2))
        | (_shown(instant, _DAY, zone) > _later(wall, _DAY + _DAY // 2))
    )
    message = F.concat(
        F.lit(f"LB5067: column {path}: the clock "),
        wall.cast("string"),
        F.lit(f" cannot be read from ORC by the clocks of {zone}, which were put forward there: {_REMEDY}"),
    )
    return F.when(put_forward, F.raise_error(message).cast("timestamp_ntz")).otherwise(wall)


def _shown(instant: Column, later: int, zone: str) -> Column:
    return instant_to_wall(F.timestamp_micros(F.unix_micros(instant) + F.lit(later)), zone)


def _later(wall: Column, micros: int) -> Column:
    return F.timestamp_add("MICROSECOND", F.lit(micros), wall)


def _day(day: Column, path: str) -> Column:
    old = F.unix_date(day) < F.lit(_GREGORIAN_DAY)
    moved = F.date_from_unix_date(_moved_back(day, path))
    return F.when(old, moved).otherwise(day)


def _instant(instant: Column, zone: str, path: str) -> Column:
    micros = F.unix_micros(instant)
    if zone in _FIXED:
        days = floor_div(micros, _DAY).cast("int")
        day = F.date_from_unix_date(days)
        moved = micros + (_moved_back(day, path) - days).cast("bigint") * F.lit(_DAY)
        return F.timestamp_micros(F.when(micros < F.lit(_GREGORIAN), moved).otherwise(micros))
    return _refused_if_old(micros, zone, path).otherwise(F.timestamp_micros(micros))


def _legacy_instant(instant: Column, writer: str, zone: str, path: str) -> Column:
    value = wall_to_instant(_wall(instant, writer, path), UTC)
    other = next((z for z in (writer, zone) if z not in _FIXED), None)
    return value if other is None else _refused_if_old(F.unix_micros(instant), other, path).otherwise(value)


def _refused_if_old(micros: Column, zone: str, path: str) -> Column:
    message = f"LB5530: column {path}: instants before 1900 cannot be read from ORC by the clocks of {zone}: {_REMEDY}"
    return F.when(micros < F.lit(_ZONES_ARE_SIMPLE), F.raise_error(F.lit(message)).cast("timestamp"))


def _moved_back(day: Column, path: str) -> Column:
    """The days since 1970 that were taken for a day of the Julian calendar and came out as this date.

    The leap days that only the Julian calendar has came out as the first of March, where two days cannot be told apart.
    """
    early = F.month(day) < F.lit(3)
    year = F.year(day) - early.cast("int")
    month = F.month(day) + F.when(early, F.lit(9)).otherwise(F.lit(-3))
    quarter = F.floor(year / F.lit(4)).cast("int")
    before = F.floor((month * F.lit(153) + F.lit(2)) / F.lit(5)).cast("int")
    moved = year * F.lit(365) + quarter + before + F.dayofmonth(day) - F.lit(1) + F.lit(_JULIAN_START)
    first_of_march = (F.month(day) == F.lit(3)) & (F.dayofmonth(day) == F.lit(1))
    doubtful = first_of_march & (F.year(day) % F.lit(100) == F.lit(0)) & (F.year(day) % F.lit(400) != F.lit(0))
    message = F.concat(
        F.lit(f"LB5531: column {path}: two days of an ORC file both come out of Spark as "), day.cast("string")
    )
    return F.when(doubtful, F.raise_error(message).cast("int")).otherwise(moved)
