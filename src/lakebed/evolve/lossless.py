"""Which type changes keep every value, judged on the stored types and on the declared ones."""

from __future__ import annotations

from enum import StrEnum

from lakebed.model import LogicalType
from lakebed.model import types as logical
from lakebed.physical import types as p


class Effect(StrEnum):
    """What a type change does to values that are stored."""

    KEEPS = "keeps"
    PADS = "pads"
    LOSES = "loses"
    REREADS = "rereads"


#: Decimal digits of the integer types, and how many bits a value needs beside the sign.
_DIGITS: dict[type, int] = {p.TinyInt: 3, p.SmallInt: 5, p.Int: 10, p.BigInt: 19}
_BITS: dict[type, int] = {p.TinyInt: 7, p.SmallInt: 15, p.Int: 31, p.BigInt: 63}
_EXACT_BITS: dict[type, int] = {p.Float: 24, p.Double: 53}


def stored_effect(old: p.DataType, new: p.DataType) -> Effect:
    """What reading stored `old` values as `new` does; nullability is not looked at. `LOSES` where in doubt."""
    if p.equal_ignoring_nullability(old, new):
        return Effect.KEEPS
    match old, new:
        case ((p.TinyInt() | p.SmallInt() | p.Int() | p.BigInt()), _):
            return _kept_if(_holds_integer(old, new))
        case p.Float(), p.Double():
            return Effect.KEEPS
        case p.Decimal(), p.Decimal():
            return _kept_if(new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale)
        case ((p.Char() | p.VarChar()), p.VarChar()):
            return _kept_if(new.length >= old.length)
        case ((p.Char() | p.VarChar()), p.Char()):
            return Effect.PADS if new.length >= old.length else Effect.LOSES
        case ((p.Binary() | p.VarBinary()), p.VarBinary()):
            return _kept_if(new.length >= old.length)
        case ((p.Binary() | p.VarBinary()), p.Binary()):
            return Effect.PADS if new.length >= old.length else Effect.LOSES
        case p.Timestamp(), p.Timestamp():
            return _kept_if(new.precision >= old.precision)
        case p.LocalZonedTimestamp(), p.LocalZonedTimestamp():
            return _kept_if(new.precision >= old.precision)
        case p.Time(), p.Time():
            return _kept_if(new.precision >= old.precision)
        case _:
            return Effect.LOSES


def _kept_if(holds: bool) -> Effect:
    return Effect.KEEPS if holds else Effect.LOSES


def _holds_integer(old: p.DataType, new: p.DataType) -> bool:
    bits = _BITS[type(old)]
    if isinstance(new, p.Decimal):
        return new.precision - new.scale >= _DIGITS[type(old)]
    return bits <= _BITS.get(type(new), _EXACT_BITS.get(type(new), 0))


_RANGES: dict[type, tuple[int, int]] = {
    logical.Int8: (-(1 << 7), (1 << 7) - 1),
    logical.Int16: (-(1 << 15), (1 << 15) - 1),
    logical.Int32: (-(1 << 31), (1 << 31) - 1),
    logical.Int64: (-(1 << 63), (1 << 63) - 1),
    logical.UInt8: (0, (1 << 8) - 1),
    logical.UInt16: (0, (1 << 16) - 1),
    logical.UInt32: (0, (1 << 32) - 1),
    logical.UInt64: (0, (1 << 64) - 1),
}
_MANTISSA: dict[type, int] = {logical.Float16: 11, logical.Float32: 24, logical.Float64: 53}


def declared_effect(old: LogicalType, new: LogicalType) -> Effect:
    """What the change means for values of the declared type `old`, members and items of nested types not looked at.

    `REREADS` where a stored number would silently be taken in another unit.
    """
    if old == new:
        return Effect.KEEPS
    if type(old) in _RANGES:
        return _kept_if(_declared_integer_fits(_RANGES[type(old)], new))
    match old, new:
        case ((logical.Float16() | logical.Float32() | logical.Float64()), _) if type(new) in _MANTISSA:
            return _kept_if(_MANTISSA[type(new)] >= _MANTISSA[type(old)])
        case logical.Decimal(), logical.Decimal():
            return _kept_if(new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale)
        case logical.Binary(), logical.Binary(fixed_length=None):
            return Effect.KEEPS
        case logical.Binary(int() as before), logical.Binary(int() as after):
            return Effect.PADS if after >= before else Effect.LOSES
        case logical.Timestamp(), logical.Timestamp():
            return _kept_if(new.effective_unit.digits >= old.effective_unit.digits)
        case logical.Duration(), logical.Duration():
            return Effect.REREADS
        case logical.Time(), logical.Time():
            return _time_effect(old, new)
        case logical.List(), logical.List():
            return _kept_if(new.fixed_length in (None, old.fixed_length))
        case logical.Map(), logical.Map():
            return _kept_if(bool(old.keys_sorted) or not new.keys_sorted)
        case logical.Struct(), logical.Struct():
            return Effect.KEEPS
        case _:
            return Effect.LOSES


def _declared_integer_fits(range_: tuple[int, int], new: LogicalType) -> bool:
    low, high = range_
    if type(new) in _RANGES:
        return _RANGES[type(new)][0] <= low and high <= _RANGES[type(new)][1]
    if type(new) in _MANTISSA:
        return max(-low, high) <= 1 << _MANTISSA[type(new)]
    if isinstance(new, logical.Decimal):
        return len(str(max(-low, high))) <= new.precision - new.scale
    return False


def _time_effect(old: logical.Time, new: logical.Time) -> Effect:
    """Microseconds and nanoseconds share a carrier of plain numbers."""
    before, after = old.effective_unit.digits, new.effective_unit.digits
    if min(before, after) > 3:
        return Effect.REREADS
    return _kept_if(after >= before)
