"""Convert UTC instants between nanoseconds since 1970, RFC 3339 text and their FlatBuffers struct."""

from __future__ import annotations

import re
import struct
from datetime import date

from lakebed.errors import CorruptMetadataError

NANOS = 1_000_000_000
DAY = 86_400
STRUCT = struct.Struct("<iHxxII")

_TEXT = re.compile(
    r"(-?\d{4}|[+-]\d{5,10})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|([+-])(\d\d):(\d\d))", re.ASCII
)
_YEARS_IN_CYCLE, _DAYS_IN_CYCLE = 400, 146_097
_EPOCH_DAY = date(1970, 1, 1).toordinal()


def pack(nanos: int) -> bytes:
    """The 16 bytes of the struct. Raises `CorruptMetadataError` for a year beyond 32 bits."""
    seconds, fraction = divmod(nanos, NANOS)
    days, of_day = divmod(seconds, DAY)
    year, ordinal = _year_of(days)
    if not -(2**31) <= year < 2**31:
        raise _faulty(f"the year {year} is beyond what a block can say", str(nanos))
    return STRUCT.pack(year, ordinal, of_day, fraction)


def unpack(data: bytes) -> int:
    """Nanoseconds since 1970 of the 16 bytes. Raises `CorruptMetadataError` for a day or time that does not exist."""
    year, ordinal, of_day, fraction = STRUCT.unpack(data)
    if not 1 <= ordinal <= (366 if _is_leap(year) else 365) or of_day >= DAY or fraction >= 2 * NANOS:
        found = f"day {ordinal} of year {year}, second {of_day}, nanosecond {fraction}"
        raise _faulty(f"{found}: there is no such time", found)
    seconds: int = _day_of(year, ordinal) * DAY + of_day
    return seconds * NANOS + int(fraction)


def text(nanos: int) -> str:
    """RFC 3339 in UTC, with as many digits of a second (0, 3, 6 or 9) as are needed."""
    seconds, fraction = divmod(nanos, NANOS)
    days, of_day = divmod(seconds, DAY)
    year, ordinal = _year_of(days)
    like = date.fromordinal(date(2000 if _is_leap(year) else 2001, 1, 1).toordinal() + ordinal - 1)
    digits = f"{fraction:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    written = f"{year:04}" if 0 <= year <= 9999 else f"{year:+06}"
    clock = f"{of_day // 3600:02}:{of_day // 60 % 60:02}:{of_day % 60:02}"
    return f"{written}-{like.month:02}-{like.day:02}T{clock}{'.' + digits if digits else ''}Z"


def parse(written: str) -> int:
    """Nanoseconds since 1970 of an RFC 3339 text with a zone. Raises `CorruptMetadataError`."""
    found = _TEXT.fullmatch(written)
    if found is None:
        raise _faulty(f"{written[:40]!r} is not a time such as 2020-01-01T12:00:00Z", written[:40])
    year = int(found[1])
    try:
        day = date(2000 if _is_leap(year) else 2001, int(found[2]), int(found[3]))
    except ValueError as error:
        raise _faulty(f"{written!r}: {error}", written) from error
    hour, minute, second = int(found[4]), int(found[5]), int(found[6])
    if hour > 23 or minute > 59 or second > 59:
        raise _faulty(f"{written!r}: there is no such time of day", written)
    offset = 0 if found[9] is None else int(found[9] + "1") * (int(found[10]) * 60 + int(found[11])) * 60
    seconds = _day_of(year, day.timetuple().tm_yday) * DAY + hour * 3600 + minute * 60 + second - offset
    return seconds * NANOS + int((found[7] or "").ljust(9, "0"))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _day_of(year: int, ordinal: int) -> int:
    """Days since 1970 of a day of a year, of any year: the calendar repeats after 400 of them."""
    cycles, within = divmod(year - 1, _YEARS_IN_CYCLE)
    return cycles * _DAYS_IN_CYCLE + date(within + 1, 1, 1).toordinal() - _EPOCH_DAY + ordinal - 1


def _year_of(days: int) -> tuple[int, int]:
    """The year and the day within it, counted from 1, of a number of days since 1970."""
    cycles, within = divmod(days + _EPOCH_DAY - 1, _DAYS_IN_CYCLE)
    found = date.fromordinal(within + 1)
    return cycles * _YEARS_IN_CYCLE + found.year, found.timetuple().tm_yday


def _faulty(message: str, found: str) -> CorruptMetadataError:
    return CorruptMetadataError.of("LB2504", message, found=found)
