"""Bind SQL literals to the values that columns are compared with, as Spark compares them.

Spark brings both sides to one type first, sometimes the column's values too, and not alike in its ANSI mode and without
it. A literal is bound only where every way gives what the comparison with the bound value gives; else it "cannot be
judged", and what is compared is left to Spark.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal as Number
from enum import StrEnum
from typing import Any

from lakebed.catalog.time_zone import find_zone, fixed_offset
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField, DataType


class LiteralKind(StrEnum):
    """The type of a literal, as far as it matters to how it is compared."""

    NULL = "null"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"


@dataclass(frozen=True, slots=True)
class Literal:
    """A value in SQL: None, bool, int, Decimal, float, str or bytes; a `Moment` for dates and timestamps."""

    kind: LiteralKind
    value: Any


@dataclass(frozen=True, slots=True)
class Moment:
    """A wall clock in microseconds since 1970; an instant where the offset from UTC is known, in microseconds too."""

    wall: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Bound:
    """The internal value that a column is compared with. It lies from `low` to `high`, most often one value.

    Where a named zone turns a wall clock into an instant, Spark's rules of that zone may be others than Python's.
    """

    low: Any
    high: Any

    @classmethod
    def at(cls, value: Any) -> Bound:
        """A value that is known exactly."""
        return cls(value, value)

    @property
    def exact(self) -> bool:
        return bool(self.low == self.high)


_DAY = 86_400_000_000
_HOUR = 3_600_000_000
#: How far the rules of a zone may differ between two collections of them, gaps and overlaps included; years in which
#: all are known well, and others.
_USUAL_DOUBT, _GREAT_DOUBT = 3 * _HOUR, 36 * _HOUR
_KNOWN_YEARS = range(1971, 2038)
_NANOS = 1000
_EPOCH = datetime(1970, 1, 1)
_MICRO = timedelta(microseconds=1)
_MAX_DIGITS = 38
_LONGS = range(-(2**63), 2**63)
_INTS = range(-(2**31), 2**31)
#: Digits that Spark gives the integers of a type when it makes decimals of them.
_INTEGER_DIGITS = {physical.TinyInt: 3, physical.SmallInt: 5, physical.Int: 10, physical.Time: 10, physical.BigInt: 20}
_INTEGER_BITS = {physical.TinyInt: 8, physical.SmallInt: 16, physical.Int: 32, physical.Time: 32, physical.BigInt: 64}
#: Below these all integers are exact, and those above are not rounded to below.
_EXACT_DOUBLE, _EXACT_FLOAT = 2**53, 2**24
_INTEGER_TEXT = re.compile(r"(?:0|-?[1-9][0-9]{0,18})", re.ASCII)
_DATE_TEXT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_STAMP_TEXT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ T]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)(Z|[+-][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)


def bind(field: DataField, literal: Literal, *, time_zone: str) -> Bound | None:
    """What the column's internal values are compared with in place of the literal; None where that cannot be judged.

    The column is nullable or not, all the same; the literal is no NULL. `time_zone` is that of Spark's session.
    """
    type_ = field.type
    match type_:
        case physical.TinyInt() | physical.SmallInt() | physical.Int() | physical.BigInt() | physical.Time():
            return _of_integer(type_, literal)
        case physical.Decimal():
            wide = literal.kind in (LiteralKind.INTEGER, LiteralKind.DECIMAL) and _fits_decimal(type_, (literal,))
            return Bound.at(_plain(Number(literal.value))) if wide else None
        case physical.Float() | physical.Double():
            return _of_float(type_, literal)
        case physical.Char() | physical.VarChar():
            return Bound.at(literal.value) if literal.kind is LiteralKind.STRING else None
        case physical.Binary() | physical.VarBinary():
            return Bound.at(literal.value) if literal.kind is LiteralKind.BINARY else None
        case physical.Boolean():
            return Bound.at(literal.value) if literal.kind is LiteralKind.BOOLEAN else None
        case physical.Date():
            return _of_date(literal)
        case physical.Timestamp():
            return _of_wall(literal, time_zone)
        case physical.LocalZonedTimestamp():
            return _of_instant(literal, time_zone)
        case _:
            return None


def bind_all(field: DataField, literals: Sequence[Literal], *, time_zone: str) -> tuple[Bound, ...] | None:
    """The same for literals that are compared with the column all at once, as in a list, where Spark finds one type
    for all of them; None where one of them cannot be judged. None of them is a NULL.
    """
    kinds = {literal.kind for literal in literals}
    type_ = field.type
    if len(kinds) > 1 and kinds != {LiteralKind.INTEGER, LiteralKind.DECIMAL}:
        return None
    if kinds == {LiteralKind.STRING} and isinstance(type_, (physical.Timestamp, physical.LocalZonedTimestamp)):
        return None  # Compared as texts without the ANSI mode, where `00:00:00.0` is not `00:00:00`.
    if LiteralKind.DECIMAL in kinds and not _is_floating(type_) and not _fits_decimal(type_, literals):
        return None
    found = [bind(field, literal, time_zone=time_zone) for literal in literals]
    bounds = tuple(bound for bound in found if bound is not None)
    return bounds if len(bounds) == len(found) else None


def _is_floating(type_: DataType) -> bool:
    return isinstance(type_, (physical.Float, physical.Double))


def _of_integer(type_: DataType, literal: Literal) -> Bound | None:
    value, half = literal.value, 2 ** (_INTEGER_BITS[type(type_)] - 1)
    match literal.kind:
        case LiteralKind.INTEGER:
            return Bound.at(value)
        case LiteralKind.DECIMAL if _fits_decimal(type_, (literal,)):
            # For a fraction, or beyond the type's range, Spark says true or false even where the column is NULL.
            return Bound.at(int(value)) if -half <= value < half and value == int(value) else None
        case LiteralKind.DOUBLE if abs(value) < _EXACT_DOUBLE:
            return Bound.at(_plain(Number(value)))
        case LiteralKind.FLOAT if abs(value) < _EXACT_FLOAT:
            return Bound.at(_plain(Number(value)))
        case LiteralKind.STRING if _INTEGER_TEXT.fullmatch(value):
            return Bound.at(int(value)) if -half <= int(value) < half else None
        case _:
            return None


def _of_float(type_: DataType, literal: Literal) -> Bound | None:
    value = literal.value
    match literal.kind:
        case LiteralKind.INTEGER:
            same = single(str(value)) if isinstance(type_, physical.Float) else float(value)
            return Bound.at(same) if same is not None and same == value else None
        case LiteralKind.DECIMAL:
            return _finite(float(value))
        case LiteralKind.FLOAT | LiteralKind.DOUBLE:
            return _finite(value)
        case _:
            return None


def _finite(value: float) -> Bound | None:
    """Zero has no sign in a comparison."""
    return Bound.at(value + 0.0) if math.isfinite(value) else None


def _plain(value: Number) -> int | Number:
    """A whole number as an int."""
    return int(value) if value == value.to_integral_value() else value


def _fits_decimal(type_: DataType, literals: Sequence[Literal]) -> bool:
    """Whether there is a decimal type that holds all values of the column and the literals: Spark compares in it."""
    if isinstance(type_, physical.Decimal):
        whole, scale = type_.precision - type_.scale, type_.scale
    elif type(type_) in _INTEGER_DIGITS:
        whole, scale = _INTEGER_DIGITS[type(type_)], 0
    else:
        return False
    for literal in literals:
        if literal.kind is LiteralKind.INTEGER:
            whole = max(whole, 10 if literal.value in _INTS else 20)
        elif literal.kind is LiteralKind.DECIMAL:
            digits, places = decimal_type(literal.value)
            whole, scale = max(whole, digits - places), max(scale, places)
    return whole + scale <= _MAX_DIGITS


def decimal_type(value: Number) -> tuple[int, int]:
    """Precision and scale of the decimal type that Spark gives a literal written without an exponent."""
    _, digits, exponent = value.as_tuple()
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    return max(len(digits) + (exponent if isinstance(exponent, int) and exponent > 0 else 0), places, 1), places


def single(text: str) -> float | None:
    """The FLOAT that a number's text stands for; None where it is too great, or in the middle of two."""
    value = float(text)
    try:
        below, here, above = (
            struct.unpack("<f", struct.pack("<f", near))[0]
            for near in (math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf))
        )
    except OverflowError:
        return None
    return float(here) if here == value or below == above else None


def _of_date(literal: Literal) -> Bound | None:
    moment = literal.value
    if literal.kind is LiteralKind.STRING:
        moment = day(literal.value)
    elif literal.kind is not LiteralKind.DATE:
        return None
    return None if moment is None else Bound.at(moment.wall // _DAY)


def _of_wall(literal: Literal, time_zone: str) -> Bound | None:
    """A TIMESTAMP without zone: as it is, or by way of the instants that the session's zone makes of both sides."""
    moment = _moment(literal)
    if moment is None or moment.offset is not None:
        return None
    doubt = 0
    if literal.kind is LiteralKind.TIMESTAMP:
        zone = find_zone(time_zone)
        if zone is None:
            return None
        doubt = 0 if isinstance(zone, timezone) else _doubt(moment.wall)
    return _around(moment.wall, doubt)


def _of_instant(literal: Literal, time_zone: str) -> Bound | None:
    moment = _moment(literal)
    if moment is None:
        return None
    if moment.offset is not None:
        return _around(moment.wall - moment.offset, 0)
    zone = find_zone(time_zone)
    if zone is None:
        return None
    offset = (_EPOCH + timedelta(microseconds=moment.wall)).replace(tzinfo=zone).utcoffset() or timedelta()
    return _around(moment.wall - offset // _MICRO, 0 if isinstance(zone, timezone) else _doubt(moment.wall))


def _around(micros: int, doubt: int) -> Bound:
    return Bound((micros - doubt) * _NANOS, (micros + doubt) * _NANOS)


def _doubt(wall: int) -> int:
    year = (_EPOCH + timedelta(microseconds=wall)).year
    return _USUAL_DOUBT if year in _KNOWN_YEARS else _GREAT_DOUBT


def _moment(literal: Literal) -> Moment | None:
    """What a literal says of a time; None for other literals and for texts that are not plainly one."""
    match literal.kind:
        case LiteralKind.STRING:
            return stamp(literal.value)
        case LiteralKind.DATE | LiteralKind.TIMESTAMP | LiteralKind.TIMESTAMP_NTZ:
            return literal.value if isinstance(literal.value, Moment) else None
        case _:
            return None


def day(text: str) -> Moment | None:
    """A text `yyyy-mm-dd`; None for all others, some of which Spark understands."""
    if not _DATE_TEXT.fullmatch(text):
        return None
    try:
        return from_python(date.fromisoformat(text))
    except ValueError:
        return None


def stamp(text: str) -> Moment | None:
    """A text `yyyy-mm-dd[ hh:mm:ss[.ffffff][Z|+hh:mm]]`; None for all others, some of which Spark understands."""
    found = _STAMP_TEXT.fullmatch(text)
    if found is None:
        return None
    on, at, zone = found.groups()
    whole, _, part = (at or "00:00:00").partition(".")
    offset = None if zone is None else fixed_offset(zone)
    try:
        wall = datetime.fromisoformat(f"{on} {whole}").replace(microsecond=int(part.ljust(6, "0") or "0"))
    except ValueError:
        return None
    if zone is not None and offset is None:
        return None
    return Moment((wall - _EPOCH) // _MICRO, None if offset is None else offset // _MICRO)


def from_python(value: date) -> Moment:
    """The moment of a `date` (its midnight) or `datetime`; an aware one is an instant."""
    if not isinstance(value, datetime):
        return Moment((value - _EPOCH.date()).days * _DAY)
    offset = value.utcoffset()
    wall = (value.replace(tzinfo=None) - _EPOCH) // _MICRO
    return Moment(wall, None if offset is None else offset // _MICRO)
