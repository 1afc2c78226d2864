"""Tell which type may become which, as data (Paimon `DataTypeCasts` and the executors behind it).

A cell is two letters. The first is the permission: `I` implicit, `E` explicit only (refused where the table's option
`disable-explicit-type-casting` is true), `-` none. The second says whether readers can convert stored values: `x` yes,
`.` no. A type change needs a permission and an executor. Length, precision and scale do not matter here.
"""

from __future__ import annotations

from lakebed.model.type_effect import Effect, declared_effect, kept_if
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    DataType,
    Date,
    LocalZonedTimestamp,
    Time,
    Timestamp,
    VarChar,
)

_COLUMNS = "CHAR VARCHAR STRING BOOLEAN BINARY BYTES DECIMAL TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DATE TIME TS LTZ"

_TABLE = """
CHAR     Ix Ix Ix Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex
VARCHAR  Ex Ix Ix Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex
STRING   Ex Ix Ix Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex Ex
BOOLEAN  Ex Ex Ex I. -. -. Ex Ex Ex Ex Ex Ex Ex -. -. -. -.
BINARY   Ex Ex Ex -. Ix Ix -. -. -. -. -. -. -. -. -. -. -.
BYTES    Ex Ex Ex -. Ex Ix -. -. -. -. -. -. -. -. -. -. -.
DECIMAL  Ex Ex Ex -. -. -. Ix Ex Ex Ex Ex Ix Ix -. -. E. E.
TINYINT  Ex Ex Ex Ex -. -. Ix Ix Ix Ix Ix Ix Ix -. -. E. E.
SMALLINT Ex Ex Ex Ex -. -. Ix Ex Ix Ix Ix Ix Ix -. -. E. E.
INT      Ex Ex Ex Ex -. -. Ix Ex Ex Ix Ix Ix Ix -. -. Ex Ex
BIGINT   Ex Ex Ex Ex -. -. Ix Ex Ex Ex Ix Ix Ix -. -. Ex Ex
FLOAT    Ex Ex Ex -. -. -. Ix Ex Ex Ex Ex Ix Ix -. -. E. E.
DOUBLE   Ex Ex Ex -. -. -. Ix Ex Ex Ex Ex Ex Ix -. -. E. E.
DATE     E. E. Ex -. -. -. -. -. -. -. -. -. -. I. -. Ex Ex
TIME     E. E. Ex -. -. -. -. -. -. -. -. -. -. -. I. Ex Ex
TS       E. E. Ex -. -. -. E. E. E. Ex Ex E. E. Ix Ix Ix Ix
LTZ      E. E. Ex -. -. -. E. E. E. Ex Ex E. E. Ex Ex Ix Ix
VARIANT  E. E. E. -. -. -. -. -. -. -. -. -. -. -. -. -. -.
BLOB     E. E. E. -. -. -. -. -. -. -. -. -. -. -. -. -. -.
ARRAY    Ex Ex Ex -. -. -. -. -. -. -. -. -. -. -. -. -. -.
MAP      Ex Ex Ex -. -. -. -. -. -. -. -. -. -. -. -. -. -.
ROW      Ex Ex Ex -. -. -. -. -. -. -. -. -. -. -. -. -. -.
MULTISET E. E. E. -. -. -. -. -. -. -. -. -. -. -. -. -. -.
VECTOR   E. E. E. -. -. -. -. -. -. -. -. -. -. -. -. -. -.
"""

MATRIX: dict[tuple[str, str], str] = {
    (row.split()[0], column): letters
    for row in _TABLE.strip().splitlines()
    for column, letters in zip(_COLUMNS.split(), row.split()[1:], strict=True)
}

_NAMES = {"VARBINARY": "BYTES", "TIMESTAMP": "TS", "TIMESTAMP_LTZ": "LTZ"}


def _name(type_: DataType) -> str:
    if isinstance(type_, VarChar) and type_.length == MAX_LENGTH:
        return "STRING"
    return _NAMES.get(type_.root, type_.root)


def cell(source: DataType, target: DataType) -> str:
    """The cell for a pair of types. A type that the table does not list may only stay what it is, without executor."""
    a, b = _name(source), _name(target)
    found = MATRIX.get((a, b), "I." if a == b else "-.")
    if isinstance(source, Date | Time | Timestamp | LocalZonedTimestamp) and b == "STRING" and not target.nullable:
        # Other readers look the executor up by exactly the nullable STRING.
        return found[0] + "."
    return found


def readable(source: DataType, target: DataType) -> bool:
    """Whether readers can convert stored values of `source` to `target`."""
    return cell(source, target)[1] == "x"


def castable(source: DataType, target: DataType, *, explicit: bool = True) -> bool:
    """Whether a column may change from `source` to `target`; without `explicit` only by an implicit cast."""
    letters = cell(source, target)
    return letters == "Ix" or (explicit and letters == "Ex")


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
