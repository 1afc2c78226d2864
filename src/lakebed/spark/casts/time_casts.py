"""Cast DATE, TIME and both timestamps: from and to text, among each other, epoch seconds.

A wall clock is a `timestamp_ntz`, an instant a `timestamp`; every step between the two names its zone, so that the
session's zone has no influence. Spark keeps microseconds: what is finer is cut. Below, `micros` are microseconds since
1970-01-01 00:00:00 of the wall clock, or of UTC for an instant.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import BigInt, Int, LocalZonedTimestamp, Time, Timestamp
from lakebed.spark.casts.conversion import Conversion, Guarded, Partial, Total
from lakebed.spark.casts.number_casts import wrap

Stamp = Timestamp | LocalZonedTimestamp

_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_UTC = frozenset({"UTC", "Z", "GMT", "Etc/UTC", "Etc/GMT", "+00:00"})
#: The last whole second whose microseconds fit 64 bits.
_LAST_SECOND = (2**63 - 1) // _SECOND - 1

_DIGITS = r"\A[0-9]+\z"
# Blanks and control characters, which are allowed around the numbers of dates and times.
_B = r"[\x00-\x20]*"
_DATE = rf"\Ax{_B}0*([0-9]{{1,4}}){_B}-{_B}0*([0-9]{{1,2}}){_B}-{_B}0*([0-9]{{1,2}}){_B}(?:-1){{0,2}}\z"
_TIMESTAMP = (
    r"\A(?!0000)[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]{0,9})?"
    r"|T[0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2}(?:\.[0-9]{0,9})?)?)?\z"
)
_N = rf"{_B}([0-9]+){_B}"
# Hours, minutes, seconds, fraction, then the sign, hours and minutes to add. Minutes to add need seconds before them.
_TIME = (
    rf"\Ax(?![^:+-]*(?::[^:+-]*)?[+-][^:]*:)"
    rf"{_N}(?::{_N}(?::{_N}(?:\.{_B}([0-9]*){_B})?)?)?(?:([+-]){_N}(?::{_N})?)?\z"
)


def _micros(wall: Column) -> Column:
    # Functions that take a TIMESTAMP would read the wall clock in the session's zone; the difference of two wall clocks
    # does not.
    return ((wall - F.expr(_EPOCH)).cast("decimal(20,6)") * F.lit(_SECOND)).cast("bigint")


def _wall(micros: Column) -> Column:
    return F.timestamp_add("MICROSECOND", micros, F.expr(_EPOCH))


def _down_to(micros: Column, unit: int) -> Column:
    return micros - F.pmod(micros, F.lit(unit))


def _towards_zero(value: Column, unit: int) -> Column:
    return F.call_function("div", value, F.lit(unit).cast("bigint"))


def _wall_micros(col: Column, source: Stamp, time_zone: str) -> Column:
    """The microseconds of a wall clock, or of the one that `time_zone` shows at an instant."""
    if isinstance(source, Timestamp):
        return _micros(col)
    return F.unix_micros(col if time_zone in _UTC else F.from_utc_timestamp(col, time_zone))


def _shown_as(wall_in_utc: Column, time_zone: str) -> Column:
    """The instant at which `time_zone` shows what UTC shows at `wall_in_utc`.

    In an overlap it is the first of two, in a gap the clock is taken as not yet put forward.
    """
    return wall_in_utc if time_zone in _UTC else F.to_utc_timestamp(wall_in_utc, time_zone)


def _instant(wall: Column, time_zone: str) -> Column:
    return _shown_as(F.timestamp_micros(_micros(wall)), time_zone)


def _cut(micros: Column, precision: int) -> Column:
    """Microseconds with a lower precision: below three digits, whole milliseconds are cut towards zero."""
    if precision >= 6:
        return micros
    if precision >= 3:
        return _down_to(micros, 10 ** (6 - precision))
    unit = 10 ** (6 - precision)
    return _towards_zero(_down_to(micros, 1000), unit) * F.lit(unit)


def stamp_to_stamp(col: Column, source: Stamp, target: Stamp, time_zone: str) -> Column:
    """Among timestamps: through the wall clock of the zone between the two kinds, then cut to the precision."""
    cut = target.precision < min(source.precision, 6)
    match source, target:
        case Timestamp(), LocalZonedTimestamp():
            col = _instant(col, time_zone)
        case LocalZonedTimestamp(), Timestamp():
            return _wall(_cut(_wall_micros(col, source, time_zone), target.precision if cut else 6))
    if not cut:
        return col
    if isinstance(target, Timestamp):
        return _wall(_cut(_micros(col), target.precision))
    return F.timestamp_micros(_cut(F.unix_micros(col), target.precision))


def stamp_to_date(col: Column, source: Stamp, time_zone: str) -> Column:
    """The day of a wall clock, or of an instant in the zone."""
    if isinstance(source, Timestamp):
        return col.cast("date")
    midnight = _down_to(_wall_micros(col, source, time_zone), _DAY)
    return F.date_from_unix_date(_towards_zero(midnight, _DAY).cast("int"))


def stamp_to_time(col: Column, source: Stamp, time_zone: str) -> Column:
    """The milliseconds of the day of a wall clock, or of an instant in the zone."""
    of_day = F.pmod(_wall_micros(col, source, time_zone), F.lit(_DAY))
    return _towards_zero(of_day, 1000).cast("int")


def stamp_to_seconds(col: Column, source: Stamp, target: Int | BigInt) -> Column:
    """Seconds since the epoch, whole milliseconds divided towards zero; INT keeps the low bits."""
    micros = F.unix_micros(col) if isinstance(source, LocalZonedTimestamp) else _micros(col)
    return wrap(_towards_zero(_down_to(micros, 1000), _SECOND), BigInt(), target)


def seconds_to_stamp(col: Column, source: Int | BigInt, target: Stamp) -> Conversion:
    """Seconds since the epoch. BIGINT values whose microseconds do not fit 64 bits cannot be converted."""
    if isinstance(target, Timestamp):
        stamp = F.timestamp_add("SECOND", col, F.expr(_EPOCH))
    else:
        stamp = F.timestamp_seconds(col)
    if isinstance(source, Int):
        return Total(stamp)
    return Guarded(stamp, (col > F.lit(_LAST_SECOND)) | (col < F.lit(-_LAST_SECOND)))


def date_to_stamp(col: Column, target: Stamp, time_zone: str) -> Column:
    """Midnight of a day, for an instant in the zone."""
    if isinstance(target, Timestamp):
        return col.cast("timestamp_ntz")
    return _shown_as(F.timestamp_seconds(F.unix_date(col).cast("bigint") * F.lit(86_400)), time_zone)


def time_to_stamp(col: Column, target: Stamp) -> Column:
    """A time on 1970-01-01; for an instant, of UTC."""
    if isinstance(target, Timestamp):
        return F.timestamp_add("MILLISECOND", col, F.expr(_EPOCH))
    return F.timestamp_millis(col)


def date_to_text(col: Column) -> Column:
    """`yyyy-MM-dd`."""
    return col.cast("string")


def time_to_text(col: Column, source: Time) -> Column:
    """`HH:mm:ss`, then up to as many digits as the precision, without the zeros at the end but with one digit."""
    millis = F.when(col < 0, col + F.lit(86_400_000)).otherwise(col)
    hours = _towards_zero(millis, 3_600_000)
    minutes, seconds = (_towards_zero(millis, unit) % F.lit(60) for unit in (60_000, 1000))
    if source.precision == 0:
        return F.when(col.isNotNull(), F.format_string("%02d:%02d:%02d", hours, minutes, seconds))
    text = F.format_string("%02d:%02d:%02d.%03d", hours, minutes, seconds, millis % F.lit(1000))
    text = F.regexp_replace(text, r"(?<=\.\d{1,2})0+\z", "")
    return F.when(col.isNotNull(), text if source.precision > 2 else F.substring(text, 1, 9 + source.precision))


def stamp_to_text(col: Column, source: Stamp, time_zone: str) -> Column:
    """`yyyy-MM-dd HH:mm:ss`, then as many digits as the fraction needs, and at least as many as the precision."""
    wall = col if isinstance(source, Timestamp) else _wall(_wall_micros(col, source, time_zone))
    text = wall.cast("string")
    if source.precision == 0:
        return text
    zeros = F.lit("." + "0" * source.precision)
    written = F.length(text) - F.length(F.substring_index(text, ".", 1))
    return F.concat(text, F.substring(zeros, written + F.lit(1), F.lit(source.precision + 1)))


def text_to_date(col: Column) -> Conversion:
    """`y[-m[-d]]`, text after a blank ignored; digits alone are days since the epoch."""
    days = F.date_from_unix_date(col.try_cast("int"))
    day = F.when(col.startswith(" "), col).otherwise(F.substring_index(col, " ", 1))
    # The missing parts are appended and what is left of them is dropped; the mark in front keeps what does not match
    # from being read as a date.
    full = F.regexp_replace(F.concat(F.lit("x"), day, F.lit("-1-1")), _DATE, "000$1-$2-$3")
    return Partial(F.when(col.rlike(_DIGITS), days).otherwise(full.try_cast("date")))


def text_to_time(col: Column) -> Conversion:
    """`h[:m[:s[.f]]]`, then perhaps `+h[:m]` or `-h[:m]` to add; digits alone are milliseconds. No range is checked."""
    marked = F.concat(F.lit("x"), col)
    parts = F.split(F.regexp_replace(marked, _TIME, "0$1:0$2:0$3.$4:$50$6:$50$7"), ":")
    weights = F.array(*(F.lit(seconds) for seconds in (3600, 60, 1, 3600, 60)))
    terms = F.zip_with(parts, weights, lambda part, weight: part.try_cast("decimal(18,3)") * weight)
    seconds = F.aggregate(
        terms, F.lit(0).cast("decimal(38,3)"), lambda total, term: (total + term).cast("decimal(38,3)")
    )
    millis = (seconds * F.lit(1000)).try_cast("int")
    return Partial(F.when(col.rlike(_DIGITS), col.try_cast("int")).otherwise(millis))


def text_to_stamp(col: Column, target: Stamp, time_zone: str) -> Conversion:
    """`yyyy-M-d[ H:m:s[.f]]` or `yyyy-M-d[TH:m[:s[.f]]]`, the fraction cut to the precision.

    For TIMESTAMP, digits alone are the time since the epoch in units of its precision, which has to be 0, 3, 6 or 9.
    """
    wall = col.try_cast("timestamp_ntz")
    if target.precision < 6:
        wall = _wall(_down_to(_micros(wall), 10 ** (6 - target.precision)))
    if isinstance(target, LocalZonedTimestamp):
        return Partial(F.when(col.rlike(_TIMESTAMP), _instant(wall, time_zone)))
    read = F.when(col.rlike(_TIMESTAMP), wall)
    if target.precision % 3 == 0:
        read = read.when(col.rlike(_DIGITS), _wall(_epoch_text(col, target.precision)))
    return Partial(read)


def _epoch_text(col: Column, precision: int) -> Column:
    number = col.try_cast("bigint")
    if precision >= 6:
        return number if precision == 6 else _towards_zero(number, 1000)
    unit = 10 ** (6 - precision)
    return F.when(number <= F.lit((2**63 - 1) // unit), number * F.lit(unit))
