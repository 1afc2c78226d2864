"""Attributes of all fields of a schema at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lakebed.model.extra import Extra
from lakebed.model.schema import Field, Schema
from lakebed.model.types import List, LogicalType, Map, Option, Struct


def without_attributes(schema: Schema, keys: Collection[str]) -> Schema:
    """The schema whose fields, at every depth, do not have these attributes; those of the schema itself stay."""
    return replace(schema, fields=_fields(schema.fields, keys))


def _fields(fields: tuple[Field, ...], keys: Collection[str]) -> tuple[Field, ...]:
    return tuple(Field(f.name, _type(f.type, keys), _without(f.extra, keys)) for f in fields)


def _without(extra: Extra, keys: Collection[str]) -> Extra:
    found = [key for key in extra if key in keys]
    return extra.without(*found) if found else extra


def _type(type_: LogicalType, keys: Collection[str]) -> LogicalType:
    match type_:
        case Struct():
            return Struct(_fields(type_.fields, keys))
        case List():
            return replace(type_, item_type=_type(type_.item_type, keys))
        case Map():
            return replace(type_, key_type=_type(type_.key_type, keys), value_type=_type(type_.value_type, keys))
        case Option():
            return Option(_type(type_.inner, keys))
        case _:
            return type_
