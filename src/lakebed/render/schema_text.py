"""Show a schema: logical types, descriptions and attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable

from lakebed.catalog import TableSchema
from lakebed.catalog.annotations import OPTION
from lakebed.model import Field, Schema, required
from lakebed.model.encoding import strip_encoding
from lakebed.model.extra import DESCRIPTION, PAIMON_TYPE
from lakebed.model.logical_tree import outer_structs
from lakebed.model.type_name import type_name
from lakebed.physical import DataField
from lakebed.physical.paimon_tree import KEY, outer_rows_at
from lakebed.printable import one_line
from lakebed.render.table_text import table_text

HEADING = ("id", "column", "type", "null", "description")
_Row = tuple[str, str, str, str, str]


def schema_text(name: str, schema: TableSchema, logical: Schema | None = None, *, width: int | None = None) -> str:
    """The head (version, keys, options, attributes) and one line a field; nested fields are indented.

    Logical types only: encoding hints are left out, unless `logical` is given and holds them.

    In `width` columns of a terminal the descriptions are wrapped.
    """
    logical = logical if logical is not None else strip_encoding(schema.logical)
    lines = [f"{name}  schema {schema.id}"]
    if schema.comment:
        lines.append(schema.comment)
    for label, keys in (("primary keys", schema.primary_keys), ("partition keys", schema.partition_keys)):
        if keys:
            lines.append(f"{label}: {', '.join(keys)}")
    lines += [f"option {k}: {v}" for k, v in shown_options(schema)]
    lines += [f"{k}: {attribute_text(v)}" for k, v in logical.extra.items() if k != DESCRIPTION]
    rows = stored_rows(schema, logical)
    return "\n".join([*map(one_line, lines), "", table_text(HEADING, rows, right={0}, width=width)])


def shown_options(schema: TableSchema) -> list[tuple[str, str]]:
    """The options of a table by name, without the one that holds the annotations."""
    return [(key, value) for key, value in sorted(schema.options.items()) if key != OPTION]


def stored_rows(schema: TableSchema, logical: Schema) -> list[_Row]:
    """A line for each field of a stored schema and each member, with their ids; see `field_rows`."""
    return [row for field in logical.fields for row in field_rows(field, _named(field, schema.fields))]


def version_text(schema: TableSchema) -> str:
    """One version of a schema, whose table it does not say."""
    return schema_text("", schema).lstrip()


def field_rows(field: Field, column: DataField | None = None, depth: int = 0) -> list[_Row]:
    """A line for a field and each member: id (empty without a `column`), name, type, null, description."""
    attributes = "; ".join(f"{k}={attribute_text(v)}" for k, v in field.extra.items() if k != DESCRIPTION)
    notes = " ".join(part for part in (field.description or "", f"[{attributes}]" if attributes else "") if part)
    own = required(field.type)
    number = "" if column is None else str(column.id)
    cells = (
        "  " * depth + field.name,
        type_name(own, members=False, hint=field.extra.get(PAIMON_TYPE)),
        "yes" if field.nullable else "",
        " ".join(notes.split()),
    )
    name, type_, null, description = map(one_line, cells)
    rows = [(number, name, type_, null, description)]
    stored = () if column is None else outer_rows_at(column.type, ())
    columns = [member for path, row in stored if KEY not in path for member in row.fields]
    for path, struct in outer_structs(own):
        # Members of the keys of maps are not listed.
        for inner in struct.fields if KEY not in path else ():
            rows += field_rows(inner, _named(inner, columns), depth + 1)
    return rows


def _named(field: Field, columns: Iterable[DataField]) -> DataField | None:
    return next((c for c in columns if c.name == field.name), None)


def attribute_text(value: object) -> str:
    """The value of an attribute: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
