"""Spell internal values as text as the table format does: Java's own forms, and casts to STRING.

Partition directories are named by them, so a wrong character is a file that nobody finds.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Context
from decimal import Decimal as Number
from typing import Any

from lakebed.catalog.time_zone import zone_of
from lakebed.errors import UnsupportedError
from lakebed.physical.paimon_types import (
    BigInt,
    Binary,
    Boolean,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
)

_EXACT = Context(prec=100)
_SECOND = 1_000_000_000
_DAY = 86_400 * _SECOND
_CYCLE = 146_097 * 86_400
#: The seconds since 1970 of the years 2 to 9998, which Python has in every zone; and where whole cycles within start.
_FIRST_SECOND, _LAST_SECOND = -62_104_060_800, 253_370_764_800
_EARLY_CYCLE, _LATE_CYCLE = -4 * _CYCLE, 19 * _CYCLE
_FLOAT_DIGITS = 9


def legacy_text(type_: DataType, value: Any) -> str:
    """A value as Java prints its internal form: a date is its days since 1970, a timestamp has a `T`.

    Raises UnsupportedError where that text says nothing, as for bytes.
    """
    match type_:
        case Date() | Time():
            return str(value)
        case Timestamp() | LocalZonedTimestamp():
            return _iso_timestamp(value)
        case Binary() | VarBinary():
            raise _no_text(type_, "partition.legacy-name=true names the directory by a memory address")
        case _:
            return _plain_text(type_, value)


def cast_text(type_: DataType, value: Any, *, time_zone: str = "UTC") -> str:
    """A value as a cast to STRING gives it; an instant is shown in `time_zone`."""
    match type_:
        case Date():
            return _date(value)
        case Time(precision=p):
            return _time(value, p)
        case Timestamp(precision=p):
            return _sql_timestamp(value, p)
        case LocalZonedTimestamp(precision=p):
            return _sql_timestamp(value + zone_offset(value, time_zone), p)
        case Binary() | VarBinary():
            return bytes(value).decode(errors="replace")
        case _:
            return _plain_text(type_, value)


def shown_text(type_: DataType, value: Any, *, time_zone: str = "UTC") -> str:
    """A value for people: as a cast to STRING gives it, or somehow where that says nothing."""
    try:
        return cast_text(type_, value, time_zone=time_zone)
    except UnsupportedError:
        return str(value)


def _plain_text(type_: DataType, value: Any) -> str:
    match type_:
        case Boolean():
            return "true" if value else "false"
        case TinyInt() | SmallInt() | Int() | BigInt():
            return str(value)
        case Char() | VarChar():
            return str(value)
        case Decimal(scale=scale):
            return format(value.quantize(Number(1).scaleb(-scale), context=_EXACT), "f")
        case Float():
            return java_number(value, _shortest_float)
        case Double():
            return java_number(value, repr)
        case _:
            raise _no_text(type_, "a nested or unknown type cannot name a directory")


def _no_text(type_: DataType, why: str) -> Exception:
    return UnsupportedError.of("LB5030", f"a value of type {type_.root} has no text: {why}", found=type_.root)


def _shortest_float(value: float) -> str:
    """The fewest digits that read back as the same 32-bit float."""
    for digits in range(1, _FLOAT_DIGITS + 1):
        text = f"{value:.{digits - 1}e}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            return text
    return repr(value)


def java_number(value: float, shortest: Callable[[float], str] = repr) -> str:
    """A float as Java prints it: `1.0`, `1.0E10`, `1.0E-4`, `NaN`, `-Infinity`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    number = Number(shortest(value))
    if len(number.as_tuple().digits) == 1:
        # Java never stops before two digits: the smallest double is 4.9E-324.
        number = Number(f"{value:.1e}")
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent if any(digits) else 1
    if -3 < point <= 7:
        whole, fraction = text[: max(point, 0)].ljust(max(point, 0), "0"), text[max(point, 0) :]
        body = f"{whole or '0'}.{'0' * -min(point, 0)}{fraction or '0'}"
    else:
        body = f"{text[0]}.{text[1:] or '0'}E{point - 1}"
    return "-" + body if sign else body


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since 1970 in the proleptic Gregorian calendar, for every year.

    Counted in eras of 400 years that start on March 1st, so that the leap day is the last of its year.
    """
    era, day = divmod(days + 719_468, 146_097)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    return era * 400 + year + (month >= 10), month + 3 - 12 * (month >= 10), day + 1


def _date(days: int) -> str:
    year, month, day = _civil(days)
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}"


def _clock(nanos: int) -> tuple[str, int, int]:
    """`HH:mm`, the second and the nanosecond of a time of day."""
    seconds, nano = divmod(nanos, _SECOND)
    minutes, second = divmod(seconds, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}", second, nano


def _iso_timestamp(value: int) -> str:
    days, rest = divmod(value, _DAY)
    text, second, nano = _clock(rest)
    if second or nano:
        text += f":{second:02d}"
    if nano:
        fraction = f"{nano:09d}"
        text += "." + (fraction[:3] if nano % 1_000_000 == 0 else fraction[:6] if nano % 1_000 == 0 else fraction)
    return f"{_date(days)}T{text}"


def _sql_timestamp(value: int, precision: int) -> str:
    days, rest = divmod(value, _DAY)
    text, second, nano = _clock(rest)
    fraction = f"{nano:09d}".rstrip("0").ljust(precision, "0")
    return f"{_date(days)} {text}:{second:02d}" + (f".{fraction}" if fraction else "")


def _time(millis: int, precision: int) -> str:
    text, second, nano = _clock(millis * 1_000_000)
    fraction = f"{nano // 1_000_000:03d}"[:precision]
    fraction = fraction.rstrip("0") or fraction[:1]
    return f"{text}:{second:02d}" + (f".{fraction}" if fraction else "")


def zone_offset(value: int, time_zone: str) -> int:
    """Nanoseconds by which the wall clock of `time_zone` is ahead of UTC at an instant.

    Beyond the years of Python it is that of the same day in another cycle of 400 years, after which days repeat.
    """
    seconds = value // _SECOND
    if not _FIRST_SECOND <= seconds < _LAST_SECOND:
        seconds = seconds % _CYCLE + (_LATE_CYCLE if seconds > 0 else _EARLY_CYCLE)
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    offset = instant.astimezone(zone_of(time_zone)).utcoffset() or timedelta()
    return int(offset.total_seconds()) * _SECOND
