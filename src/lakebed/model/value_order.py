"""Find the place of a declared value among those of its column's type, such as of `lakebed.dev/minimum`.

Numbers are numbers, all else is the text that a source would have: what is found here, an ingest reads the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal as Number
from typing import Any

from lakebed.model import types as logical
from lakebed.model.types import LogicalType, required

#: The least and the greatest value of each whole type.
RANGES: dict[str, tuple[int, int]] = {
    "Int8": (-(2**7), 2**7 - 1),
    "Int16": (-(2**15), 2**15 - 1),
    "Int32": (-(2**31), 2**31 - 1),
    "Int64": (-(2**63), 2**63 - 1),
    "UInt8": (0, 2**8 - 1),
    "UInt16": (0, 2**16 - 1),
    "UInt32": (0, 2**32 - 1),
    "UInt64": (0, 2**64 - 1),
    "Duration": (-(2**63), 2**63 - 1),
}

_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})", re.ASCII)
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?", re.ASCII)
_OFFSET = re.compile(r"Z|([+-])([0-9]{2}):([0-9]{2})", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_DAY_SECONDS, _NANOS = 86_400, 9
_SECOND = 1_000_000_000
#: Digits of a second that Spark's timestamps have.
_SPARK_DIGITS = 6
_MOST_OFFSET = 18 * 3600
_LARGEST: dict[type[LogicalType], float] = {
    logical.Float16: 65504.0,
    logical.Float32: 3.4028234663852886e38,
    logical.Float64: math.inf,
}


@dataclass(frozen=True, slots=True)
class Ranked:
    """The place of a value: those of one `scale` are in the order of `place`. Others cannot be compared here."""

    scale: str
    place: Any


@dataclass(frozen=True, slots=True)
class Order:
    """How values of a type are ordered: `expected` says what they look like, `rank` finds the place of one."""

    expected: str
    rank: Callable[[Any], Ranked | None]


def order_of(type_: LogicalType) -> Order | None:
    """The order of a type, or of what an Option holds; None for truth values, texts, bytes and nested types."""
    inner = required(type_)
    match inner:
        case logical.Float16() | logical.Float32() | logical.Float64():
            largest = _LARGEST[type(inner)]
            return Order(f"a number that {inner.kind} holds", lambda v: _float(v, largest))
        case logical.Decimal(precision=precision, scale=scale):
            expected = f"a number of {scale} digits or fewer after the point and {precision - scale} before it"
            return Order(expected, lambda v: _decimal(v, precision, scale))
        case logical.Date():
            return Order("a date, such as 2024-05-31", lambda v: None if (d := _day(v)) is None else Ranked("date", d))
        case logical.Time():
            digits = inner.effective_unit.digits
            expected = f"a time of day, such as 08:30:00, with {digits} digits of a second or fewer"
            return Order(expected, lambda v: _time(v, digits))
        case logical.Timestamp():
            digits = min(inner.effective_unit.digits, _SPARK_DIGITS)
            expected = f"a timestamp, such as 2024-05-31T08:30:00Z, with {digits} digits of a second or fewer"
            return Order(expected, lambda v: _stamp(v, digits))
        case _ if inner.kind in RANGES:
            low, high = RANGES[inner.kind]
            return Order(f"an integer from {low} to {high}", lambda v: _whole(v, low, high))
        case _:
            return None


def _whole(value: Any, low: int, high: int) -> Ranked | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    return Ranked("number", value) if fits else None


def _float(value: Any, largest: float) -> Ranked | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return Ranked("number", value) if is_number and abs(value) <= largest and abs(value) < math.inf else None


def _decimal(value: Any, precision: int, scale: int) -> Ranked | None:
    # A manifest keeps the digits as text; attributes that come in other forms may have numbers.
    text = str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        return None
    number = Number(text)
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    kept = "".join(map(str, digits)).lstrip("0").rstrip("0")
    behind = -exponent - len(digits) + len("".join(map(str, digits)).rstrip("0"))
    fits = not kept or (behind <= scale and len(kept) - behind <= precision - scale)
    return Ranked("number", number) if fits else None


def _day(text: Any) -> int | None:
    found = _DATE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        return date(*map(int, found.groups())).toordinal()
    except ValueError:
        return None


def _nanos(text: Any, digits: int) -> int | None:
    """Nanoseconds since midnight; None for what is no time of day, or has more digits other than 0."""
    found = _CLOCK.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    hours, minutes, seconds = int(found[1]), int(found[2]), int(found[3] or 0)
    fraction = found[4] or ""
    if hours > 23 or minutes > 59 or seconds > 59 or fraction[digits:].strip("0"):
        return None
    return ((hours * 60 + minutes) * 60 + seconds) * _SECOND + int(fraction.ljust(_NANOS, "0"))


def _time(text: Any, digits: int) -> Ranked | None:
    found = _nanos(text, digits)
    return None if found is None else Ranked("time", found)


def _stamp(text: Any, digits: int) -> Ranked | None:
    """A wall clock, or an instant where the text has an offset."""
    if not isinstance(text, str):
        return None
    on, *rest = re.split("[ T]", text, maxsplit=1)
    at = rest[0] if rest else "00:00"
    zone = re.search(r"(?:Z|[+-][0-9:]*)\Z", at)
    day, offset = _day(on), 0 if zone is None else _seconds_of_offset(zone[0])
    nanos = _nanos(at if zone is None else at[: zone.start()], digits)
    if day is None or offset is None or nanos is None:
        return None
    place = (day * _DAY_SECONDS - offset) * _SECOND + nanos
    return Ranked("wall clock" if zone is None else "instant", place)


def _seconds_of_offset(text: str) -> int | None:
    found = _OFFSET.fullmatch(text)
    if found is None:
        return None
    seconds = 0 if found[1] is None else int(f"{found[1]}1") * (int(found[2]) * 3600 + int(found[3]) * 60)
    return seconds if abs(seconds) <= _MOST_OFFSET and int(found[3] or 0) < 60 else None
