"""Which type changes keep every value, judged on the stored types; `model.type_effect` judges the declared ones."""

from __future__ import annotations

from lakebed.model.type_effect import Effect, declared_effect, kept_if
from lakebed.physical import types as p

__all__ = ["Effect", "declared_effect", "stored_effect"]


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
            return kept_if(_holds_integer(old, new))
        case p.Float(), p.Double():
            return Effect.KEEPS
        case p.Decimal(), p.Decimal():
            return kept_if(new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale)
        case ((p.Char() | p.VarChar()), p.VarChar()):
            return kept_if(new.length >= old.length)
        case ((p.Char() | p.VarChar()), p.Char()):
            return Effect.PADS if new.length >= old.length else Effect.LOSES
        case ((p.Binary() | p.VarBinary()), p.VarBinary()):
            return kept_if(new.length >= old.length)
        case ((p.Binary() | p.VarBinary()), p.Binary()):
            return Effect.PADS if new.length >= old.length else Effect.LOSES
        case p.Timestamp(), p.Timestamp():
            return kept_if(new.precision >= old.precision)
        case p.LocalZonedTimestamp(), p.LocalZonedTimestamp():
            return kept_if(new.precision >= old.precision)
        case p.Time(), p.Time():
            return kept_if(new.precision >= old.precision)
        case _:
            return Effect.LOSES


def _holds_integer(old: p.DataType, new: p.DataType) -> bool:
    bits = _BITS[type(old)]
    if isinstance(new, p.Decimal):
        return new.precision - new.scale >= _DIGITS[type(old)]
    return bits <= _BITS.get(type(new), _EXACT_BITS.get(type(new), 0))
