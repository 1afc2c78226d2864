"""A schema for people: logical types, descriptions and attributes."""

from __future__ import annotations

from lakebed.catalog import TableSchema
from lakebed.model import Binary, Decimal, Duration, Field, List, LogicalType, Map, Option, Struct, Time, Timestamp
from lakebed.model.extra import DESCRIPTION
from lakebed.render.table_text import table_text


def schema_text(name: str, schema: TableSchema) -> str:
    """The head (version, keys, owner attributes) and one line a field; nested fields are indented."""
    logical = schema.logical
    lines = [f"{name}  schema {schema.id}"]
    if schema.comment:
        lines.append(schema.comment)
    for label, keys in (("primary keys", schema.primary_keys), ("partition keys", schema.partition_keys)):
        if keys:
            lines.append(f"{label}: {', '.join(keys)}")
    lines += [f"{k}: {_json(v)}" for k, v in logical.extra.items() if k != DESCRIPTION]
    ids = {f.name: str(f.id) for f in schema.fields}
    rows = [row for field in logical.fields for row in _rows(field, 0, ids.get(field.name, ""))]
    return "\n".join([*lines, "", table_text(("id", "column", "type", "null", "description"), rows)])


def _rows(field: Field, depth: int, id_: str) -> list[tuple[str, str, str, str, str]]:
    attributes = "; ".join(f"{k}={_json(v)}" for k, v in field.extra.items() if k != DESCRIPTION)
    notes = " ".join(part for part in (field.description or "", f"[{attributes}]" if attributes else "") if part)
    own = field.type.inner if isinstance(field.type, Option) else field.type
    rows = [(id_, "  " * depth + field.name, type_name(own), "yes" if field.nullable else "", notes)]
    for inner in _members(own):
        rows += _rows(inner, depth + 1, "")
    return rows


def _members(type_: LogicalType) -> tuple[Field, ...]:
    match type_:
        case Struct():
            return type_.fields
        case Option():
            return _members(type_.inner)
        case List():
            return _members(type_.item_type)
        case Map():
            return _members(type_.value_type)
        case _:
            return ()


def type_name(type_: LogicalType) -> str:
    """A short name: `Int32`, `Decimal(12, 2)`, `List<Option<String>>`, `Struct`."""
    match type_:
        case Decimal():
            return f"Decimal({type_.precision}, {type_.scale})"
        case Binary(fixed_length=int()):
            return f"Binary({type_.fixed_length})"
        case Time() | Duration() if type_.unit:
            return f"{type_.kind}({type_.unit.value})"
        case Timestamp() if type_.unit or type_.timezone:
            return f"Timestamp({', '.join(p for p in (type_.unit and type_.unit.value, type_.timezone) if p)})"
        case Option():
            return f"Option<{type_name(type_.inner)}>"
        case List():
            length = f", {type_.fixed_length}" if type_.fixed_length is not None else ""
            return f"List<{type_name(type_.item_type)}{length}>"
        case Map():
            return f"Map<{type_name(type_.key_type)}, {type_name(type_.value_type)}>"
        case _:
            return type_.kind


def _json(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
