"""Recognise and strip encoding hints, which tell Arrow's layout and not values.

RFC-016, "Logical Types vs. Encoding".

They are kept in `extra` so that conversions lose nothing, and left out where a schema is shown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from lakebed.model.extra import Extra
from lakebed.model.logical_tree import map_members
from lakebed.model.types import Field, Schema

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
    return without_attributes(schema, ENCODING_KEYS)


def without_attributes(schema: Schema, keys: Collection[str]) -> Schema:
    """The schema whose fields, at every depth, do not have these attributes; those of the schema itself stay."""

    def reduced(field: Field) -> Field:
        kept = _without(field.extra, keys)
        return field if kept is field.extra else replace(field, extra=kept)

    def reduced_within(field: Field) -> Field:
        inner = map_members(field.type, reduced)
        return reduced(field if inner is field.type else replace(field, type=inner))

    return replace(schema, fields=tuple(map(reduced_within, schema.fields)))


def _without(extra: Extra, keys: Collection[str]) -> Extra:
    found = [key for key in extra if key in keys]
    return extra.without(*found) if found else extra
