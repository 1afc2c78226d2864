"""Print dates and timestamps of any year as ISO 8601 text; Python's own end at 9999.

Years beyond have a sign, as Spark writes them: `-0044-03-15`, `0000-01-01`, `+10000-01-01`. The calendar repeats itself
after 400 years, so that such a moment is written as one that Python has, under its own year. Offsets of zones are those
of that other year.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

_CYCLE_YEARS = 400
_DAY = 86_400_000_000
_CYCLE = 146_097 * _DAY
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Microseconds since 1970 of what is a year or more within the bounds of Python, also in any zone.
_FIRST, _LAST = (int((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()) * 10**6 for year in (2, 9999))


def day_text(days: int) -> str:
    """A day, from the number of days since 1970-01-01."""
    return moment_text(days * _DAY, None).partition("T")[0]


def moment_text(micros: int, zone: tzinfo | None) -> str:
    """A moment, from the microseconds since 1970: an instant, shown in `zone` with its offset, or a wall clock."""
    cycles = -((micros - _FIRST) // _CYCLE) if micros < _FIRST else 0
    if micros > _LAST:
        cycles = (_LAST - micros) // _CYCLE
    moment = _EPOCH + timedelta(microseconds=micros + cycles * _CYCLE)
    moment = moment.replace(tzinfo=None) if zone is None else moment.astimezone(zone)
    year, rest = moment.year - cycles * _CYCLE_YEARS, moment.isoformat()[4:]
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}{rest}"


def time_text(millis: int, zone: tzinfo) -> str:
    """A time that a file says in milliseconds since 1970, in `zone` to the second: `2013-01-01 00:00:00`.

    Years outside of 1 to 9999 are no likely times, so the number is shown.
    """
    try:
        return datetime.fromtimestamp(millis / 1000, zone).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{millis} ms".ljust(len("2013-01-01 00:00:00"))
