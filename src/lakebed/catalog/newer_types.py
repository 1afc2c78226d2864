"""Detect columns of unknown (newer) types, and refuse new versions over them."""

from __future__ import annotations

from collections.abc import Iterable

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import UnsupportedError
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import DataField, DataType, Unknown

NOT_CHANGED = "LB4500"


def unknown_columns(fields: Iterable[DataField]) -> dict[str, str]:
    """The top-level columns that are or hold something of an unknown type, with the text of that type."""
    found = ((field.name, unknown_type(field.type)) for field in fields)
    return {name: text for name, text in found if text is not None}


def unknown_type(type_: DataType) -> str | None:
    """The text of the first unknown type at any level; None where all are known."""
    return next((t.text for t in types_inside(type_) if isinstance(t, Unknown)), None)


def refuse_unknown_types(schema: TableSchema) -> None:
    """Raise `UnsupportedError` (LB4500), naming each column, where a new version would be written over such a type."""
    found = unknown_columns(schema.fields)
    if found:
        raise UnsupportedError(
            *(
                Diagnostic(
                    NOT_CHANGED,
                    f"the table cannot be changed: the type {text} of column {name!r} is not known to this version",
                    path=name,
                    found=text,
                    remedy="use a newer Lakebed, or the engine that made the column",
                )
                for name, text in found.items()
            )
        )
