"""Parse dates and times by a pattern of Java's DateTimeFormatter, as options of tables have them, without Java."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta

from lakebed.errors import UnsupportedError

BAD_PATTERN = "LB5108"

_LETTERS = {"y": "year", "u": "year", "M": "month", "L": "month", "d": "day"}
_LETTERS |= {"H": "hour", "m": "minute", "s": "second", "S": "fraction"}
#: Parts of a pattern: a quoted text, a run of one letter, what is optional, and any other character.
_PARTS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(\[|\])|([^A-Za-z'\[\]{}#])", re.DOTALL)
_DATE = {"year", "month", "day"}
_LIMITS = {"month": (1, 12), "day": (1, 31), "hour": (0, 24), "minute": (0, 59), "second": (0, 59)}


@dataclass(frozen=True, slots=True)
class DateTimeFormatter:
    """A pattern such as `yyyyMMdd` or `yyyy-MM-dd HH:mm:ss`, resolved as Java's formatters are by default.

    Known are years, months, days, hours of 24, minutes, seconds and their fractions, all in digits.
    """

    pattern: str
    _text: re.Pattern[str]
    _fields: tuple[str, ...]

    @classmethod
    def of(cls, pattern: str) -> DateTimeFormatter:
        """Raises `UnsupportedError` (LB5108) for a pattern that is none, is of no day, or has other letters."""
        text, fields, depth, at, before = "", list[str](), 0, 0, ""
        while at < len(pattern):
            part = _PARTS.match(pattern, at)
            if part is None:
                raise _bad(pattern, f"{pattern[at]!r} at its place {at + 1}")
            at, number = part.end(), ""
            if part[2]:
                number = _digits(pattern, part[0], before)
                text += f"({number})"
                fields.append(_LETTERS[part[2]] if part[0] not in ("yy", "uu") else "year of 2000")
            elif part[3]:
                depth += 1 if part[3] == "[" else -1
                text += "(?:" if part[3] == "[" else ")?"
            else:
                text += re.escape((part[1] or "'").replace("''", "'") if part[4] is None else part[4])
            before = number
            if depth < 0:
                raise _bad(pattern, "a ] without a [")
        # An open bracket goes to the end, as in Java.
        text += ")?" * depth
        missing = _DATE - {field.partition(" ")[0] for field in fields}
        if missing:
            raise _bad(pattern, f"it has no {sorted(missing)[0]}")
        return cls(pattern, re.compile(text, re.ASCII), tuple(fields))

    def parse(self, text: str) -> datetime | None:
        """The time that the text says, midnight where it says a day; None where it says none of the years 1 to 9999."""
        match = self._text.fullmatch(text)
        if match is None:
            return None
        found: dict[str, int] = {}
        for field, digits in zip(self._fields, match.groups(), strict=True):
            if digits is not None:
                name, value = _value(field, digits)
                if found.setdefault(name, value) != value:
                    return None
        if any(not low <= found.get(name, low) <= high for name, (low, high) in _LIMITS.items()):
            return None
        return _resolved(found)


def _digits(pattern: str, run: str, before: str) -> str:
    """What matches a run of letters, after what matches the number just before, if there is one."""
    field, count = _LETTERS.get(run[0]), len(run)
    if field is None or count > {"year": 4, "fraction": 9}.get(field, 2) or (field == "year" and count == 3):
        raise _bad(pattern, run)
    if before.endswith("}") and "," in before:
        # How many digits are whose, Java finds in ways of its own.
        raise _bad(pattern, f"{run} right after a number of any length")
    if count == 1 and field != "fraction":
        return "[0-9]{1,19}"
    return f"[0-9]{{{count}}}"


def _value(field: str, digits: str) -> tuple[str, int]:
    if field == "fraction":
        return "microsecond", int(digits.ljust(9, "0")[:6])
    if field == "year of 2000":
        return "year", 2000 + int(digits)
    return field, int(digits)


def _resolved(found: dict[str, int]) -> datetime | None:
    """A day beyond the end of a short month is its last, 24:00 is the next day, and half a time is none."""
    year, month = found["year"], found["month"]
    if not 1 <= year <= 9999:
        return None
    day = datetime(year, month, min(found["day"], monthrange(year, month)[1]))
    hour, minute, second, micros = (found.get(n) for n in ("hour", "minute", "second", "microsecond"))
    given = [part is not None for part in (hour, minute, second, micros)]
    if hour is None or given != sorted(given, reverse=True):
        return day
    if hour == 24 and (minute or second or micros):
        return None
    try:
        return day + timedelta(hours=hour, minutes=minute or 0, seconds=second or 0, microseconds=micros or 0)
    except OverflowError:
        return None


def _bad(pattern: str, what: str) -> UnsupportedError:
    return UnsupportedError.of(
        BAD_PATTERN,
        f"dates cannot be read by the pattern {pattern!r}: {what}",
        expected="years, months and days in digits, and hours, minutes, seconds and fractions where needed",
        found=pattern,
        remedy="Write a pattern such as yyyyMMdd or yyyy-MM-dd HH:mm:ss, with other letters in single quotes.",
    )
