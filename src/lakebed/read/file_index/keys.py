"""Convert a column's values to the keys that an index stores.

A key is an int or, for texts, bytes; keys compare as their values do. Where two values may share a key (an index keeps
milliseconds of what may be nanoseconds), the coding is not `exact`: rows of the same key may be less or greater.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from decimal import Context
from decimal import Decimal as Number
from typing import Any, TypeAlias

from lakebed.physical.paimon_types import (
    MAX_LENGTH,
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
    equal_ignoring_nullability,
)

Key: TypeAlias = int | bytes

_INTEGERS = {TinyInt: "b", SmallInt: "h", Int: "i", BigInt: "q"}
#: No column holds a number of more digits.
_MOST_DIGITS = 40
_EXACT = Context(prec=100)
#: The first day of the Gregorian calendar, in days since 1970.
GREGORIAN_DAY = -141_427
_NANOS_PER_MILLI, _NANOS_PER_MICRO = 1_000_000, 1_000
_MILLIS_PRECISION, _LONG_PRECISION = 3, 18


@dataclass(frozen=True, slots=True)
class Coding:
    """How the values of a column become keys.

    `code` is `struct`'s code of a key as an index stores it, None for bytes after their length. `floats` are stored as
    such and their keys are ints in the same order, NaN last and the negative zero below the positive one. Values below
    `since` have no keys.
    """

    type: DataType
    code: str | None
    exact: bool = True
    since: int | None = None

    @property
    def floats(self) -> bool:
        return self.code in {"f", "d"}

    def keys(self, value: Any) -> tuple[Key, ...]:
        """The keys that stand for a value of a filter, ascending; none where that cannot be said exactly."""
        match self.type:
            case Boolean():
                return (int(value),) if isinstance(value, bool) else ()
            case Float() | Double():
                return self._float_keys(value)
            case Char() | VarChar():
                return _text_keys(value)
            case Binary() | VarBinary():
                return (value,) if isinstance(value, bytes) else ()
            case Decimal(precision=precision, scale=scale):
                return _scaled(value, scale, 10**precision - 1)
            case TinyInt() | SmallInt() | Int() | BigInt():
                assert self.code is not None
                return _scaled(value, 0, 2 ** (8 * _width(self.code) - 1) - 1)
            case Timestamp(precision=p) | LocalZonedTimestamp(precision=p):
                unit = _NANOS_PER_MILLI if p <= _MILLIS_PRECISION else _NANOS_PER_MICRO
                return (value // unit,) if _is_int(value) else ()
            case _:
                return (value,) if _is_int(value) and (self.since is None or value >= self.since) else ()

    def _float_keys(self, value: Any) -> tuple[Key, ...]:
        """Zero has two keys. NaN has none, since engines do not agree on what it equals."""
        assert self.code is not None
        mantissa = 24 if self.code == "f" else 53
        if not (isinstance(value, float) or (_is_int(value) and abs(value) <= 2**mantissa)):
            return ()
        number = float(value)
        try:
            stored = struct.pack(f">{self.code}", number)
        except OverflowError:
            return ()
        if struct.unpack(f">{self.code}", stored)[0] != number:
            return ()
        key = float_key(stored)
        return (-1, 0) if key in {-1, 0} else (key,)


def float_key(stored: bytes) -> int:
    """The key of a big-endian float or double."""
    bits = int.from_bytes(stored, "big", signed=True)
    top = 1 << (8 * len(stored) - 1)
    infinity = 0x7F800000 if len(stored) == 4 else 0x7FF0000000000000
    if bits & (top - 1) > infinity:
        return infinity | infinity >> 1
    return bits if bits >= 0 else bits ^ (top - 1)


def float_bits(key: int, width: int) -> int:
    """The bits of the float of a key, as a signed number of `width` bytes."""
    return key if key >= 0 else key ^ ((1 << (8 * width - 1)) - 1)


def _width(code: str) -> int:
    """The bytes of a key."""
    return struct.calcsize(f">{code}")


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text_keys(value: Any) -> tuple[Key, ...]:
    if not isinstance(value, str):
        return ()
    try:
        return (value.encode(),)
    except UnicodeEncodeError:
        return ()


def _scaled(value: Any, scale: int, limit: int) -> tuple[Key, ...]:
    """A number without its decimal point, where it has no more places than `scale` and lies within the limit.

    A float is left alone: engines compare it with such numbers in floating point.
    """
    if isinstance(value, Number):
        if not value.is_finite() or value.adjusted() > _MOST_DIGITS or len(value.as_tuple().digits) > _MOST_DIGITS:
            return ()
        shifted = value.scaleb(scale, _EXACT)
        whole = int(shifted)
        if whole != shifted:
            return ()
    elif _is_int(value):
        whole = value * 10**scale
    else:
        return ()
    return (whole,) if -limit - (scale == 0) <= whole <= limit else ()


def coding(type_: DataType, *, orc: bool) -> Coding | None:
    """The coding of a column of a file, None where its values are in no index or not kept as they are indexed.

    What ORC gives back need not be what was indexed: it pads CHAR and cuts longer texts of a VARCHAR(n), has no place
    for the second before 1970, and its days before 1582-10-15 cannot all be told apart.
    """
    match type_:
        case Boolean():
            return Coding(type_, "?")
        case TinyInt() | SmallInt() | Int() | BigInt():
            return Coding(type_, _INTEGERS[type(type_)])
        case Float():
            return Coding(type_, "f")
        case Double():
            return Coding(type_, "d")
        case Date():
            return Coding(type_, "i", since=GREGORIAN_DAY if orc else None)
        case Time():
            return Coding(type_, "i")
        case Decimal(precision=precision):
            return Coding(type_, "q") if precision <= _LONG_PRECISION else None
        case Timestamp() | LocalZonedTimestamp() if not orc:
            # A file may hold finer parts than its type says, and what is read of it may be rounded.
            return Coding(type_, "q", exact=False)
        case VarChar(length=length) if not orc or length == MAX_LENGTH:
            return Coding(type_, None)
        case Char() if not orc:
            return Coding(type_, None)
        case Binary() | VarBinary():
            return Coding(type_, None)
        case _:
            return None


def keeps_values(stored: DataType, read: DataType) -> bool:
    """Whether each value of a type is the same value under another type, so that comparisons come out the same."""
    match stored, read:
        case ((TinyInt() | SmallInt() | Int() | BigInt()), (TinyInt() | SmallInt() | Int() | BigInt())):
            return _width(_INTEGERS[type(stored)]) <= _width(_INTEGERS[type(read)])
        case Decimal(precision=p, scale=s), Decimal(precision=q, scale=t):
            return s <= t and p - s <= q - t
        case VarChar(length=n), VarChar(length=m):
            return n <= m
        case VarBinary(length=n), VarBinary(length=m):
            return n <= m
        case Timestamp(precision=p), Timestamp(precision=q):
            return p <= q
        case LocalZonedTimestamp(precision=p), LocalZonedTimestamp(precision=q):
            return p <= q
        case _:
            return equal_ignoring_nullability(stored, read)
