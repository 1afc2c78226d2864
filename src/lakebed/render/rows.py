"""Rows as a table for people and as JSON for programs."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any


def json_value(value: Any) -> Any:
    """A value of a Spark row as JSON: decimals and instants as text, bytes as base64, maps as lists of pairs."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal() | timedelta():
            return str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case bytes() | bytearray():
            return base64.b64encode(bytes(value)).decode()
        case dict():
            if all(isinstance(k, str) for k in value):
                return {k: json_value(v) for k, v in value.items()}
            return [[json_value(k), json_value(v)] for k, v in value.items()]
        case tuple() if hasattr(value, "asDict"):
            return json_row(value)
        case list() | tuple():
            return [json_value(v) for v in value]
        case _:
            return str(value)


def json_row(row: Any) -> dict[str, Any]:
    """One Spark row as a JSON object, columns in order."""
    return {k: json_value(v) for k, v in zip(row.__fields__, row, strict=True)}


def rows_text(columns: Sequence[str], rows: Sequence[Any]) -> str:
    """Rows as an aligned table, with their number below."""
    from lakebed.render.table_text import table_text

    shown = [[_cell(v) for v in row] for row in rows]
    return f"{table_text(columns, shown)}\n({len(rows)} row{'' if len(rows) == 1 else 's'})"


def _cell(value: Any) -> str:
    import json

    if value is None:
        return "NULL"
    plain = json_value(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
