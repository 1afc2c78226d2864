"""The normal form of a schema: what it says without the defaults that its author spelled out."""

from __future__ import annotations

from dataclasses import replace

from lakebed.model.schema import Field, Schema
from lakebed.model.types import Duration, List, LogicalType, Map, Option, Struct, Time, Timestamp, TimeUnit

_UNIT, _ZONE = TimeUnit.MILLISECOND, "UTC"


def normalize(schema: Schema) -> Schema:
    """The schema without units, zones and `keysSorted` that equal their default, at every depth.

    The result equals `schema`, since equality knows the defaults; of equal schemas the normal forms print alike.
    """
    return replace(schema, fields=tuple(map(_field, schema.fields)))


def _field(field: Field) -> Field:
    return replace(field, type=_type(field.type))


def _type(type_: LogicalType) -> LogicalType:
    match type_:
        case Duration() | Time():
            return replace(type_, unit=None) if type_.unit is _UNIT else type_
        case Timestamp():
            unit = None if type_.unit is _UNIT else type_.unit
            return replace(type_, unit=unit, timezone=None if type_.timezone == _ZONE else type_.timezone)
        case List():
            return replace(type_, item_type=_type(type_.item_type))
        case Map():
            key, value = _type(type_.key_type), _type(type_.value_type)
            return replace(type_, key_type=key, value_type=value, keys_sorted=type_.keys_sorted or None)
        case Option():
            return replace(type_, inner=_type(type_.inner))
        case Struct():
            return replace(type_, fields=tuple(map(_field, type_.fields)))
        case _:
            return type_
