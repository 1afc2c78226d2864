"""Arrow types as plain values, so that nothing that PyArrow's equality passes over is passed over by tests."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def whole(schema: pa.Schema) -> Any:
    """Everything in an Arrow schema: types, nullability, metadata, and the names of items, keys and values."""
    return [_field(field) for field in schema], schema.metadata


def _field(field: pa.Field) -> Any:
    return field.name, field.nullable, field.metadata or None, _type(field.type)


def _type(type_: pa.DataType) -> Any:
    children = [_field(type_.field(i)) for i in range(type_.num_fields)]
    if pa.types.is_dictionary(type_):
        return "dictionary", type_.index_type, _type(type_.value_type), type_.ordered
    if pa.types.is_map(type_):
        return "map", _field(type_.key_field), _field(type_.item_field), type_.keys_sorted
    if not children:
        return type_
    return type_.id, getattr(type_, "list_size", None), children
