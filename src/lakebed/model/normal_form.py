"""The normal form of a schema: what it says without the defaults that its author spelled out."""

from __future__ import annotations

from dataclasses import replace

from lakebed.model.from_json import field_from_json
from lakebed.model.schema import Schema, field_json


def normalize(schema: Schema) -> Schema:
    """The schema without units, zones and `keysSorted` that equal their default, at every depth.

    The result equals `schema`, since equality knows the defaults; of equal schemas the normal forms print alike.
    """
    return replace(schema, fields=tuple(field_from_json(field_json(f, normalize=True)) for f in schema.fields))
