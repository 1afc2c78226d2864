"""Encoding hints: what a schema says about Arrow buffers, not about values (RFC-016, "Logical Types vs. Encoding").

They are kept in `extra` so that conversions lose nothing, and left out where a schema is shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from lakebed.model.extra import Extra
from lakebed.model.schema import Field, Schema
from lakebed.model.types import (
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    List,
    LogicalType,
    Map,
    Null,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)

BUFFER_ENCODING = "arrow.apache.org/bufferEncoding"
DATE_ENCODING = "arrow.apache.org/dateEncoding"
DECIMAL_ENCODING = "arrow.apache.org/decimalEncoding"
#: What Arrow says and the three hints of the RFC cannot; see `lakebed.convert.arrow_hints`.
ARROW_ENCODING = "arrow.lakebed.dev/encoding"
#: Every attribute that is an encoding hint. A conversion that keeps more of them adds its own here.
ENCODING_KEYS = frozenset({BUFFER_ENCODING, DATE_ENCODING, DECIMAL_ENCODING, ARROW_ENCODING})


def is_encoding(key: str) -> bool:
    """Whether an attribute says how values are encoded, not what they mean."""
    return key in ENCODING_KEYS


def strip_encoding(schema: Schema) -> Schema:
    """The schema without the encoding hints of its fields, at every depth: in structs, lists, maps and options.

    All other attributes stay, those of the schema itself included. A stripped schema comes back as it is.
    """
    return replace(schema, fields=_fields(schema.fields))


def has_encoding(schema: Schema) -> bool:
    """Whether any field carries an encoding hint."""
    return strip_encoding(schema) != schema


def _fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(Field(f.name, _type(f.type), _without(f.extra)) for f in fields)


def _without(extra: Extra) -> Extra:
    hints = [key for key in extra if is_encoding(key)]
    return extra.without(*hints) if hints else extra


def _type(type_: LogicalType) -> LogicalType:
    match type_:
        case Struct():
            return Struct(_fields(type_.fields))
        case List():
            return replace(type_, item_type=_type(type_.item_type))
        case Map():
            return replace(type_, key_type=_type(type_.key_type), value_type=_type(type_.value_type))
        case Option():
            return Option(_type(type_.inner))
        case (
            Binary() | Bool() | Date() | Decimal() | Duration() | Float16() | Float32() | Float64() | Null() | String()
        ):
            return type_
        case Int8() | Int16() | Int32() | Int64() | UInt8() | UInt16() | UInt32() | UInt64() | Time() | Timestamp():
            return type_
        case _:
            assert_never(type_)
