"""Model, parse and print Paimon's data types: union, text grammar, JSON form. Pure, standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lakebed.diagnostics import Position, path_text
from lakebed.errors import TypeTextError
from lakebed.physical.json_form import TypeReader, Unknowns, parse_json
from lakebed.physical.paimon_types import (
    BYTES,
    FIRST_SYSTEM_ID,
    MAX_LENGTH,
    STRING,
    UNASSIGNED,
    Array,
    BigInt,
    Binary,
    Blob,
    Boolean,
    Char,
    DataField,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Geography,
    Geometry,
    Int,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    Unknown,
    VarBinary,
    VarChar,
    Variant,
    Vector,
    equal_ignoring_nullability,
    type_json,
    type_line,
    type_text,
    with_nullability,
)
from lakebed.physical.text import parse_text

__all__ = [
    "BYTES",
    "FIRST_SYSTEM_ID",
    "MAX_LENGTH",
    "STRING",
    "UNASSIGNED",
    "Array",
    "BigInt",
    "Binary",
    "Blob",
    "Boolean",
    "Char",
    "DataField",
    "DataType",
    "Date",
    "Decimal",
    "Double",
    "Float",
    "Geography",
    "Geometry",
    "Int",
    "LocalZonedTimestamp",
    "Map",
    "Multiset",
    "Row",
    "SmallInt",
    "Time",
    "Timestamp",
    "TinyInt",
    "TypeReader",
    "Unknown",
    "Unknowns",
    "VarBinary",
    "VarChar",
    "Variant",
    "Vector",
    "equal_ignoring_nullability",
    "parse",
    "parse_json",
    "parse_text",
    "path_text",
    "type_json",
    "type_line",
    "type_text",
    "with_nullability",
]


def parse(value: str | Mapping[str, Any], *, unknown: Unknowns = "error", allow_missing_ids: bool = False) -> DataType:
    """The data type that is meant by its text (`DECIMAL(10, 2) NOT NULL`), its JSON object, or the text of that object.

    `parse(str(t)) == t` for every type `t` whose ROW fields have ids. Options and errors as in `parse_json`.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError) as error:
            line, column = getattr(error, "lineno", 1), getattr(error, "colno", 1)
            message = f"the JSON text of a type cannot be read: {getattr(error, 'msg', error)}"
            raise TypeTextError.of("LB2005", message, position=Position(None, line, column)) from error
    return parse_json(value, unknown=unknown, allow_missing_ids=allow_missing_ids)
