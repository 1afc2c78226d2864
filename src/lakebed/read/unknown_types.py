"""Leave columns of unknown (newer) types out of a read, with a warning that names them."""

from __future__ import annotations

import warnings
from dataclasses import replace

from lakebed.catalog.names import TableName
from lakebed.catalog.newer_types import unknown_columns
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedWarning, UnsupportedError
from lakebed.read.travel import TableState

LEFT_OUT = "LB4507"


def without_unknown(state: TableState, name: TableName) -> TableState:
    """The state with a schema of the columns whose types are known; warns of the others (`LakebedWarning`, LB4507).

    Raises `UnsupportedError` (LB4507) where a key, or every column, is of an unknown type: no rows are left to tell.
    """
    found = unknown_columns(state.schema.fields)
    if not found:
        return state
    kept = tuple(f for f in state.schema.fields if f.name not in found)
    keys = {*state.schema.primary_keys, *state.schema.partition_keys}
    if not kept or keys & found.keys():
        raise UnsupportedError(*(_left_out(name, c, text, Severity.ERROR) for c, text in found.items()))
    for column, text in found.items():
        warnings.warn(LakebedWarning(_left_out(name, column, text, Severity.WARNING)), stacklevel=4)
    return replace(state, schema=replace(state.schema, fields=kept))


def _left_out(name: TableName, column: str, text: str, severity: Severity) -> Diagnostic:
    left = "is not read" if severity is Severity.ERROR else "is left out"
    return Diagnostic(
        LEFT_OUT,
        f"table {name}: column {column!r} {left}: its type {text} is not known to this version",
        severity,
        path=column,
        found=text,
        remedy="read it with a newer Lakebed",
    )
