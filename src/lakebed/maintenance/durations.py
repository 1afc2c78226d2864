"""Parse and print lengths of time such as `7d`."""

from __future__ import annotations

import re
from datetime import timedelta

from lakebed.errors import UsageError

BAD_DURATION = "LB3665"

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_NAMES = {"d": "day", "h": "hour", "m": "minute", "s": "second"}
_TEXT = re.compile(r"([0-9]{1,9})\s*([dhms])")


def parse_duration(text: str) -> timedelta:
    """`7d`, `12h`, `30m` or `90s`. Raises `UsageError`."""
    match = _TEXT.fullmatch(text.strip().lower())
    seconds = int(match[1]) * _UNITS[match[2]] if match else None
    if seconds is None or seconds > 10_000 * 365 * _UNITS["d"]:
        raise UsageError.of(
            BAD_DURATION,
            f"{text!r} is no length of time",
            expected="a whole number with d, h, m or s, such as 7d or 12h",
            found=text,
            remedy="Write for example 7d, 12h, 30m or 90s.",
        )
    return timedelta(seconds=seconds)


def duration_text(millis: int) -> str:
    """`3 hours`: the largest unit that fits, cut."""
    seconds = millis // 1000
    unit = next((u for u, size in _UNITS.items() if seconds >= size), "s")
    count = seconds // _UNITS[unit]
    return f"{count:,} {_NAMES[unit]}{'' if count == 1 else 's'}"


def millis_of(duration: timedelta) -> int:
    """Milliseconds of a length of time."""
    return duration // timedelta(milliseconds=1)
