"""Judge whether a change of a logical type keeps every value. Pure."""

from __future__ import annotations

from enum import StrEnum

from lakebed.model import types as logical
from lakebed.model.types import LogicalType


class Effect(StrEnum):
    """What a type change does to the values there are."""

    KEEPS = "keeps"
    PADS = "pads"
    LOSES = "loses"
    REREADS = "rereads"


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
        return kept_if(_declared_integer_fits(_RANGES[type(old)], new))
    match old, new:
        case ((logical.Float16() | logical.Float32() | logical.Float64()), _) if type(new) in _MANTISSA:
            return kept_if(_MANTISSA[type(new)] >= _MANTISSA[type(old)])
        case logical.Decimal(), logical.Decimal():
            return kept_if(new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale)
        case logical.Binary(), logical.Binary(fixed_length=None):
            return Effect.KEEPS
        case logical.Binary(int() as before), logical.Binary(int() as after):
            return Effect.PADS if after >= before else Effect.LOSES
        case logical.Timestamp(), logical.Timestamp():
            return kept_if(new.effective_unit.digits >= old.effective_unit.digits)
        case logical.Duration(), logical.Duration():
            return Effect.REREADS
        case logical.Time(), logical.Time():
            return _time_effect(old, new)
        case logical.List(), logical.List():
            return kept_if(new.fixed_length in (None, old.fixed_length))
        case logical.Map(), logical.Map():
            return kept_if(bool(old.keys_sorted) or not new.keys_sorted)
        case logical.Struct(), logical.Struct():
            return Effect.KEEPS
        case _:
            return Effect.LOSES


def kept_if(holds: bool) -> Effect:
    """`KEEPS` where the new type holds every value, else `LOSES`."""
    return Effect.KEEPS if holds else Effect.LOSES


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
    return kept_if(after >= before)
