"""Declarations of tables in Python: types and fields in the form of a manifest, and manifests made of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

Type = str | dict[str, Any]
Field = dict[str, Any]

HINT = "paimon.apache.org/type"
RENAMED_FROM = "lakebed.dev/renamedFrom"
DESCRIPTION = "opendatafabric.org/description"


def option(inner: Type) -> Type:
    return {"kind": "Option", "inner": inner}


def decimal(precision: int, scale: int) -> Type:
    return {"kind": "Decimal", "precision": precision, "scale": scale}


def binary(length: int) -> Type:
    return {"kind": "Binary", "fixedLength": length}


def time(unit: str) -> Type:
    return {"kind": "Time", "unit": unit}


def timestamp(unit: str, zone: str | None = None) -> Type:
    return {"kind": "Timestamp", "unit": unit} | ({"timezone": zone} if zone else {})


def list_of(item: Type, length: int | None = None) -> Type:
    return {"kind": "List", "itemType": item} | ({"fixedLength": length} if length else {})


def map_of(key: Type, value: Type) -> Type:
    return {"kind": "Map", "keyType": key, "valueType": value}


def struct(*fields: Field) -> Type:
    return {"kind": "Struct", "fields": list(fields)}


def field(name: str, type_: Type, extra: Mapping[str, Any] | None = None) -> Field:
    return {"name": name, "type": type_} | ({"extra": dict(extra)} if extra else {})


def renamed(name: str, type_: Type, old: str) -> Field:
    return field(name, type_, {RENAMED_FROM: old})


def manifest(
    fields: Iterable[Field],
    *,
    name: str = "db.t",
    primary_keys: Iterable[str] = (),
    partition_keys: Iterable[str] = (),
    options: Mapping[str, str] | None = None,
    description: str | None = None,
    extra: Mapping[str, Any] | None = None,
) -> str:
    """The text of a manifest (JSON, which is YAML too)."""
    content: dict[str, Any] = {"name": name, "partitionKeys": list(partition_keys), "options": dict(options or {})}
    if keys := list(primary_keys):
        content["primaryKeys"] = keys
    if description is not None:
        content["description"] = description
    content["schema"] = {"fields": list(fields), "extra": dict(extra or {})}
    return json.dumps({"kind": "Table", "version": 1, "content": content}, indent=1, ensure_ascii=False)


# --- steps of evolution, each from fields to fields -------------------------------------------------------------------

Fields = tuple[Field, ...]


def rename(fields: Fields, **names: str) -> Fields:
    """Renames `old=new`, all at once, so that two may swap their names."""
    return tuple(renamed(names[f["name"]], f["type"], f["name"]) if f["name"] in names else f for f in fields)


def retype(fields: Fields, **types: Type) -> Fields:
    return tuple(f | {"type": types[f["name"]]} if f["name"] in types else f for f in fields)


def add(fields: Fields, new: Field, *, after: str | None = None) -> Fields:
    """Puts a field behind another one, or in front of all."""
    at = 0 if after is None else [f["name"] for f in fields].index(after) + 1
    return (*fields[:at], new, *fields[at:])


def drop(fields: Fields, *names: str) -> Fields:
    return tuple(f for f in fields if f["name"] not in names)


def reorder(fields: Fields, *names: str) -> Fields:
    by_name = {f["name"]: f for f in fields}
    assert by_name.keys() == set(names)
    return tuple(by_name[name] for name in names)
