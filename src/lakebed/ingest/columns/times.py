"""Convert a source's values to dates, times of day and timestamps.

Text is ISO 8601 with a blank or a `T` before the time, unless the source's options give a pattern. A timestamp with an
offset or a zone is an instant; without one it is a wall clock, which the lake's time zone turns into an instant where
the column is one. A column without zone takes no text with one. Digits beyond the declared unit are a fault, as in
numbers.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.arrow.plain_problems import NOT_CASTABLE, OUT_OF_RANGE
from lakebed.ingest.columns.values import (
    DIGITS_LOST,
    WHOLE_TYPES,
    Conversion,
    Converter,
    Fault,
    Rules,
    Target,
    is_plain,
    is_text,
    unconverted,
)
from lakebed.ingest.sources.source_types import Clock, SourceType, Ticks
from lakebed.model import types as logical
from lakebed.physical import paimon_types as physical
from lakebed.spark.clocks import UTC, instant_to_wall, wall_to_instant

_MICROS = 6
_NANOS = 9
#: What a TIME column counts: milliseconds.
_STORED_DIGITS = 3
_DAY_SECONDS = 86_400
_DATE = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_CLOCK = r"[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]*)?)?"
_ONLY_DATE = rf"^\s*{_DATE}\s*\z"
_WALL = rf"^\s*{_DATE}(?:[ T]{_CLOCK})?\s*\z"
_ZONED = rf"^\s*{_DATE}[ T]{_CLOCK} ?[A-Za-z+-]"
_TIME = r"^\s*([01]?[0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?\s*\z"
#: Letters of Spark's datetime patterns that stand for a zone or an offset.
_ZONE_LETTERS = frozenset("VzOXxZ")

Stamp = physical.Timestamp | physical.LocalZonedTimestamp


def moment_converter(source: SourceType, target: Target, rules: Rules) -> Converter | None:
    """How values of `source` become `target`; None where values of that type never do, and for other targets."""
    stored, meant = target.stored, target.meant
    match stored:
        case physical.Date():
            return _date(source, rules)
        case physical.Timestamp() | physical.LocalZonedTimestamp():
            return _stamp(source, stored, rules)
        case physical.Time():
            digits = meant.effective_unit.digits if isinstance(meant, logical.Time) else stored.precision
            return _time(source, min(digits, _STORED_DIGITS), _STORED_DIGITS, "int")
        case physical.BigInt() if isinstance(meant, logical.Time):
            digits = meant.effective_unit.digits
            return _time(source, digits, digits, "bigint")
        case _:
            return None


def _date(source: SourceType, rules: Rules) -> Converter | None:
    pattern = rules.formats.date

    def from_text(x: Column) -> Conversion:
        if pattern is not None:
            walls = (_parsed_wall(x, one) for one in pattern.splitlines())
            return Conversion(F.coalesce(*walls).cast("date"), unconverted)
        # The cast also takes `2024`, `2024-05` and whatever follows a blank or a T.
        shape = Fault(NOT_CASTABLE, ~(_is_usual_date(x) | x.rlike(_ONLY_DATE)))
        return Conversion(x.try_cast("date"), lambda v: (*unconverted(v), shape))

    def from_wall(wall: Column) -> Conversion:
        return Conversion(wall.cast("date"), lambda v: (Fault(DIGITS_LOST, v.cast("timestamp_ntz") != wall),))

    if is_text(source):
        return from_text
    if is_plain(source, spark.DateType):
        return lambda x: Conversion(x, lambda _: ())
    if is_plain(source, spark.TimestampNTZType):
        return from_wall
    if is_plain(source, spark.TimestampType):
        return lambda x: from_wall(instant_to_wall(x, rules.time_zone))
    return None


def _stamp(source: SourceType, stored: Stamp, rules: Rules) -> Converter | None:
    zone = rules.time_zone
    if is_text(source):
        return lambda x: _stamp_from_text(x, stored, rules)
    if is_plain(source, spark.TimestampType):
        return lambda x: _stamp_of(F.unix_micros(x), x, instant_to_wall(x, zone), stored)
    if is_plain(source, spark.TimestampNTZType):
        return lambda x: _stamp_of(F.unix_micros(wall_to_instant(x, UTC)), wall_to_instant(x, zone), x, stored)
    if is_plain(source, spark.DateType):
        return lambda x: _stamp_of(
            F.lit(0).cast("bigint"),
            wall_to_instant(x.cast("timestamp_ntz"), zone),
            x.cast("timestamp_ntz"),
            stored,
        )
    if isinstance(source, Ticks):
        return _stamp_from_ticks(source, stored, rules)
    return None


def _stamp_of(micros: Column, instant: Column, wall: Column, stored: Stamp) -> Conversion:
    """From the two readings of a value and its microseconds, which tell whether it has digits too many."""
    value = instant if isinstance(stored, physical.LocalZonedTimestamp) else wall
    if stored.precision >= _MICROS:
        return Conversion(value, lambda _: ())
    finer = F.pmod(micros, F.lit(10 ** (_MICROS - stored.precision)).cast("bigint")) != F.lit(0)
    return Conversion(value, lambda _: (Fault(DIGITS_LOST, finer),))


def _stamp_from_ticks(source: Ticks, stored: Stamp, rules: Rules) -> Converter:
    digits = min(stored.precision, _MICROS)
    unit = F.lit(10 ** max(source.digits - digits, 0)).cast("bigint")

    def convert(x: Column) -> Conversion:
        micros = micros_of_ticks(x, source.digits)
        instant = F.timestamp_micros(micros)
        wall = instant_to_wall(instant, UTC)
        if source.zoned:
            wall = instant_to_wall(instant, rules.time_zone)
        else:
            instant = wall_to_instant(wall, rules.time_zone)
        value = _stamp_of(micros, instant, wall, stored).value
        outside, too_fine = Fault(OUT_OF_RANGE, micros.isNull()), Fault(DIGITS_LOST, F.pmod(x, unit) != F.lit(0))
        return Conversion(value, lambda _: (outside, too_fine))

    return convert


def micros_of_ticks(ticks: Column, digits: int) -> Column:
    """Microseconds, rounded down; NULL where 64 bits do not hold them."""
    factor = F.lit(10 ** abs(digits - _MICROS)).cast("bigint")
    if digits <= _MICROS:
        return F.try_multiply(ticks, factor)
    # Division cuts towards zero; before 1970 the microsecond that a value lies in is one less.
    return F.call_function("div", ticks, factor) - F.when(F.pmod(ticks, factor) == F.lit(0), 0).otherwise(
        F.when(ticks < F.lit(0), 1).otherwise(0)
    )


def _stamp_from_text(x: Column, stored: Stamp, rules: Rules) -> Conversion:
    formats = rules.formats
    zoned = isinstance(stored, physical.LocalZonedTimestamp)
    pattern = formats.timestamp if zoned else formats.wall_clock or formats.timestamp
    if pattern is not None:
        return _stamp_from_pattern(x, pattern, stored, rules)
    wall = F.when(x.rlike(_WALL), x.try_cast("timestamp_ntz"))
    too_fine = Fault(DIGITS_LOST, _has_digits_beyond(x, min(stored.precision, _MICROS)))
    if isinstance(stored, physical.LocalZonedTimestamp):
        instant = F.coalesce(
            F.when(_is_usual_instant(x) | x.rlike(_ZONED), x.try_cast("timestamp")),
            wall_to_instant(wall, rules.time_zone),
        )
        value = instant
    else:
        value = wall
    return Conversion(value, lambda v: (*unconverted(v), too_fine))


def _is_usual_date(x: Column) -> Column:
    """Whether a text that Spark takes for a date is written `yyyy-MM-dd`; cheaper than the pattern."""
    dashes = (F.instr(x, F.lit("-")) == 5) & (F.locate("-", x, 6) == 8)
    return (F.length(x) == 10) & dashes & F.substring(x, 10, 1).between("0", "9")


def _is_usual_instant(x: Column) -> Column:
    """Whether a text that Spark takes for a timestamp starts `yyyy-MM-dd HH:` and ends with `Z`."""
    return x.endswith("Z") & (F.instr(x, F.lit("-")) == 5) & (F.instr(x, F.lit(":")) == 14)


def _has_digits_beyond(x: Column, digits: int) -> Column:
    """Whether the fraction of a second has digits other than 0 beyond so many."""
    return x.contains(".") & x.rlike(rf"\.[0-9]{{{digits}}}[0-9]*[1-9]")


def _stamp_from_pattern(x: Column, patterns: str, stored: Stamp, rules: Rules) -> Conversion:
    """By the first pattern, of one a line, that fits."""
    walls, instants = [], []
    for pattern in patterns.splitlines():
        if _has_zone(pattern):
            instants.append(F.try_to_timestamp(x, F.lit(pattern)))
            walls.append(instant_to_wall(instants[-1], rules.time_zone))
        else:
            walls.append(_parsed_wall(x, pattern))
            instants.append(wall_to_instant(walls[-1], rules.time_zone))
    wall, instant = F.coalesce(*walls), F.coalesce(*instants)
    built = _stamp_of(F.unix_micros(wall_to_instant(wall, UTC)), instant, wall, stored)
    return Conversion(built.value, lambda v: (*unconverted(v), *built.faults(v)))


def _has_zone(pattern: str) -> bool:
    """Whether a datetime pattern has a letter for the zone outside of quotes."""
    return any(letter in _ZONE_LETTERS for part in pattern.split("'")[::2] for letter in part)


def _parsed_wall(x: Column, pattern: str) -> Column:
    """The wall clock that a text says by a pattern. Read as UTC, so that the session's zone has no influence."""
    if _has_zone(pattern):
        return instant_to_wall(F.try_to_timestamp(x, F.lit(pattern)), UTC)
    return instant_to_wall(F.try_to_timestamp(F.concat(x, F.lit(" Z")), F.lit(pattern + " X")), UTC)


def _time(source: SourceType, digits: int, stored_digits: int, name: str) -> Converter | None:
    """A time of day. `digits` is the declared unit's, `stored_digits` what the stored number counts in."""
    limit = _DAY_SECONDS * 10**stored_digits
    unit = F.lit(10 ** (stored_digits - digits)).cast("bigint")

    def from_count(count: Column, own_digits: int) -> Conversion:
        up = stored_digits - own_digits
        factor = F.lit(10 ** abs(up)).cast("bigint")
        wide = count.cast("bigint")
        value = wide * factor if up >= 0 else F.call_function("div", wide, factor)
        cut = F.lit(False) if up >= 0 else F.pmod(wide, factor) != F.lit(0)
        return Conversion(
            value.try_cast(name),
            lambda v: (
                *unconverted(v, OUT_OF_RANGE),
                Fault(OUT_OF_RANGE, (v < F.lit(0)) | (v >= F.lit(limit))),
                Fault(DIGITS_LOST, cut | (F.pmod(v.cast("bigint"), unit) != F.lit(0))),
            ),
        )

    def from_text(x: Column) -> Conversion:
        part = [F.regexp_extract(x, _TIME, i) for i in range(1, 5)]
        hours, minutes = part[0].try_cast("bigint"), part[1].try_cast("bigint")
        seconds = F.coalesce(part[2].try_cast("bigint"), F.lit(0).cast("bigint"))
        fraction = F.rpad(part[3], stored_digits, "0") if stored_digits else F.lit("0")
        whole = (hours * F.lit(3600) + minutes * F.lit(60) + seconds) * F.lit(10**stored_digits).cast("bigint")
        value = (whole + fraction.try_cast("bigint")).try_cast(name)
        too_fine = Fault(DIGITS_LOST, _has_digits_beyond(x, digits))
        return Conversion(value, lambda v: (*unconverted(v), too_fine))

    if is_text(source):
        return from_text
    if isinstance(source, Clock):
        return lambda x: from_count(x, source.digits)
    if is_plain(source, *WHOLE_TYPES):
        return lambda x: from_count(x, stored_digits)
    return None
