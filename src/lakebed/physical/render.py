"""Canonical output of Paimon data types: SQL-like text for atomic types, a JSON object for nested ones.

Both forms are exactly what the reference implementation writes into a schema file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, assert_never

from lakebed.physical.types import (
    MAX_LENGTH,
    Array,
    AtomicType,
    BigInt,
    Binary,
    Blob,
    Boolean,
    Char,
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
)


def type_text(type_: DataType) -> str:
    """Canonical text: `DECIMAL(10, 2) NOT NULL`; for a nested type the compact text of its JSON object."""
    form = type_json(type_)
    return form if isinstance(form, str) else json.dumps(form, ensure_ascii=False, separators=(",", ":"))


def type_line(type_: DataType) -> str:
    """The type as people read it, on one line and without ids: `ARRAY<ROW<a INT NOT NULL>>`.

    Every message that shows a stored type shows it so.
    """
    null = "" if type_.nullable else " NOT NULL"
    match type_:
        case Array() | Multiset():
            return f"{type_.root}<{type_line(type_.element)}>{null}"
        case Vector():
            return f"VECTOR<{type_line(type_.element)}, {type_.length}>{null}"
        case Map():
            return f"MAP<{type_line(type_.key)}, {type_line(type_.value)}>{null}"
        case Row():
            return f"ROW<{', '.join(f'{f.name} {type_line(f.type)}' for f in type_.fields)}>{null}"
        case _:
            return type_text(type_)


def type_json(type_: DataType) -> str | dict[str, Any]:
    """What a schema file holds for the type: text, or for ARRAY, MAP, MULTISET, ROW and VECTOR an object."""
    suffix = "" if type_.nullable else " NOT NULL"
    match type_:
        case Array() | Multiset():
            return {"type": type_.root + suffix, "element": type_json(type_.element)}
        case Vector():
            return {"type": type_.root + suffix, "element": type_json(type_.element), "length": type_.length}
        case Map():
            return {"type": type_.root + suffix, "key": type_json(type_.key), "value": type_json(type_.value)}
        case Row():
            return {"type": type_.root + suffix, "fields": [f.to_json() for f in type_.fields]}
        case Unknown() if (found := json_of(type_)) is not None:
            return {**found, "type": found["type"] + suffix}
        case _:
            return _atomic_text(type_) + suffix


def json_of(type_: Unknown) -> dict[str, Any] | None:
    """The JSON object that the text of an unknown type is, None where it is a mere text."""
    if not type_.text.startswith("{"):
        return None
    try:
        found = json.loads(type_.text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("type"), str) else None


def _atomic_text(type_: AtomicType) -> str:
    match type_:
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt() | Float() | Double() | Date() | Variant() | Blob():
            return type_.root
        case Decimal():
            return f"DECIMAL({type_.precision}, {type_.scale})"
        case VarChar(length=length) if length == MAX_LENGTH:
            return "STRING"
        case VarBinary(length=length) if length == MAX_LENGTH:
            return "BYTES"
        case Char() | VarChar() | Binary() | VarBinary():
            return f"{type_.root}({type_.length})"
        case Time() | Timestamp():
            return f"{type_.root}({type_.precision})"
        case LocalZonedTimestamp():
            return f"TIMESTAMP({type_.precision}) WITH LOCAL TIME ZONE"
        case Geometry():
            return f"GEOMETRY({_crs_text(type_.crs)})"
        case Geography():
            return f"GEOGRAPHY({_crs_text(type_.crs)}, {type_.algorithm})"
        case Unknown():
            return type_.text
        case _:
            assert_never(type_)


def _crs_text(crs: str) -> str:
    if crs[0].isdigit() or any(c.isspace() or c in "<>(),.'`" for c in crs):
        return "'" + crs.replace("'", "''") + "'"
    return crs


def path_text(path: Iterable[str]) -> str:
    """A column path as people read it: parts joined by dots, a part in backticks where it would be misread."""
    return ".".join(_quoted(part) for part in path)


def _quoted(part: str) -> str:
    plain = part != "" and not any(c in ".`" or c.isspace() for c in part)
    return part if plain else "`" + part.replace("`", "``") + "`"
