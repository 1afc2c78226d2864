"""Tell which Paimon types can store a logical type, and take off what such a comparison leaves out."""

from __future__ import annotations

from lakebed.model import LogicalType, required
from lakebed.model import types as logical
from lakebed.model.logical_tree import transform as transform_logical
from lakebed.physical import STRING, DataType, with_nullability
from lakebed.physical import paimon_types as physical

#: A TIME is stored as a number of milliseconds, whatever its precision says.
STORED_TIME_DIGITS = 3

#: The carriers of the logical types without parameters, and of Duration, whose unit makes no difference.
PLAIN_CARRIERS: dict[type[LogicalType], DataType] = {
    logical.Bool: physical.Boolean(),
    logical.Int8: physical.TinyInt(),
    logical.Int16: physical.SmallInt(),
    logical.Int32: physical.Int(),
    logical.Int64: physical.BigInt(),
    logical.UInt8: physical.SmallInt(),
    logical.UInt16: physical.Int(),
    logical.UInt32: physical.BigInt(),
    logical.UInt64: physical.Decimal(20, 0),
    logical.Float16: physical.Float(),
    logical.Float32: physical.Float(),
    logical.Float64: physical.Double(),
    logical.String: STRING,
    logical.Date: physical.Date(),
    logical.Duration: physical.BigInt(),
}


def bare_logical(type_: LogicalType) -> LogicalType:
    """The logical type with every Struct emptied."""
    return transform_logical(type_, lambda t: logical.Struct(()) if isinstance(t, logical.Struct) else t)


def without_options(type_: LogicalType) -> LogicalType:
    """The type with every `Option` taken off, at every level."""
    return transform_logical(type_, required)


def fits(type_: LogicalType, candidate: DataType) -> bool:
    """Whether `candidate` can store the logical type; nullability and the members of structs are not compared."""
    own = required(type_)
    match own, candidate:
        case logical.String(), physical.Char() | physical.VarChar() | physical.Variant():
            return True
        case logical.Binary(fixed_length=None), physical.VarBinary() | physical.Blob() | physical.Unknown():
            return True
        case logical.Binary(fixed_length=None), physical.Geometry() | physical.Geography():
            return True
        case logical.Binary(), physical.Binary():
            return own.fixed_length == candidate.length
        case logical.Decimal(), physical.Decimal():
            return own.precision == candidate.precision and own.scale == candidate.scale
        case logical.Time(), physical.Time():
            return own.effective_unit.digits <= min(_unit_digits(candidate.precision), STORED_TIME_DIGITS)
        case logical.Time(), physical.BigInt():
            return own.effective_unit.digits > STORED_TIME_DIGITS
        case logical.Timestamp(), physical.Timestamp() | physical.LocalZonedTimestamp():
            return own.effective_unit.digits <= _unit_digits(candidate.precision)
        case logical.List(), physical.Array():
            return fits(own.item_type, candidate.element)
        case logical.List(), physical.Vector():
            return own.fixed_length == candidate.length and fits(own.item_type, candidate.element)
        case logical.Map(), physical.Map():
            return fits(own.key_type, candidate.key) and fits(own.value_type, candidate.value)
        case logical.Map(), physical.Multiset():
            return own.value_type == logical.Int32() and fits(own.key_type, candidate.element)
        case logical.Struct(), physical.Row():
            return True
        case _:
            return PLAIN_CARRIERS.get(type(own)) == with_nullability(candidate, True)


def _unit_digits(precision: int) -> int:
    """Digits of the unit that a precision is counted to: a TIMESTAMP(1) is one of milliseconds, and so on."""
    return -(-precision // 3) * 3


def same_nullability(type_: LogicalType, candidate: DataType) -> bool:
    """Whether a type that fits is nullable in the same places; members of Structs are not compared."""
    if isinstance(type_, logical.Option) != candidate.nullable:
        return False
    match required(type_), candidate:
        case logical.List(item_type=item), physical.Array(element=element) | physical.Vector(element=element):
            return same_nullability(item, element)
        case logical.Map(key_type=key), physical.Multiset(element=element):
            return same_nullability(key, element)
        case logical.Map(key_type=key, value_type=value), physical.Map():
            return same_nullability(key, candidate.key) and same_nullability(value, candidate.value)
        case _:
            return True
