"""What Lakebed prints keeps the rules of the published JSON Schemas of Open Data Fabric.

The rules are written down here as a JSON Schema of our own: canonical spelling, long form, no property that is not
known, attributes with a domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from lakebed.events import decode_event, encode_set_data_schema
from lakebed.manifest import TableManifest, dump_table
from lakebed.model import Schema, schema_json
from lakebed.testing import odf_manifests, schemas

UNITS = ("Second", "Millisecond", "Microsecond", "Nanosecond")
BARE = ("Bool", "Date", "Null", "String", *(f"{s}Int{w}" for s in ("", "U") for w in (8, 16, 32, 64)))
BARE += ("Float16", "Float32", "Float64")
COUNT = {"type": "integer", "minimum": 0, "maximum": 2**64 - 1}


def type_of(kind: str, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, **properties},
        "required": ["kind", *required],
        "additionalProperties": False,
    }


TYPE = {"$ref": "#/$defs/type"}
UNIT = {"enum": list(UNITS)}
TYPES = [
    *(type_of(kind) for kind in BARE),
    type_of("Binary", fixedLength=COUNT),
    type_of(
        "Decimal",
        ("precision", "scale"),
        precision={"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
        scale={"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
    ),
    type_of("Duration", unit=UNIT),
    type_of("List", ("itemType",), itemType=TYPE, fixedLength=COUNT),
    type_of("Map", ("keyType", "valueType"), keyType=TYPE, valueType=TYPE, keysSorted={"type": "boolean"}),
    type_of("Option", ("inner",), inner=TYPE),
    type_of("Struct", ("fields",), fields={"type": "array", "items": {"$ref": "#/$defs/field"}}),
    type_of("Time", unit=UNIT),
    type_of("Timestamp", unit=UNIT, timezone={"type": "string"}),
]
EXTRA = {"type": "object", "propertyNames": {"pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9_-]+$"}, "minProperties": 1}
RULES = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {
        "type": {"oneOf": TYPES},
        "field": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "type": TYPE, "extra": EXTRA},
            "required": ["name", "type"],
            "additionalProperties": False,
        },
    },
    "type": "object",
    "properties": {"fields": {"type": "array", "items": {"$ref": "#/$defs/field"}}, "extra": EXTRA},
    "required": ["fields"],
    "additionalProperties": False,
}
VALIDATOR = Draft202012Validator(RULES)


def faults(printed: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(printed)]


def test_there_are_24_types() -> None:
    Draft202012Validator.check_schema(RULES)
    assert len(TYPES) == 24


@pytest.mark.parametrize(
    "printed",
    [
        {},
        {"fields": [{"name": "a"}]},
        {"fields": [{"name": "a", "type": "String"}]},
        {"fields": [{"name": "a", "type": {"kind": "string"}}]},
        {"fields": [{"name": "a", "type": {"kind": "Decimal"}}]},
        {"fields": [{"name": "a", "type": {"kind": "Time", "unit": "millisecond"}}]},
        {"fields": [{"name": "a", "type": {"kind": "Bool", "x": 1}}]},
        {"fields": [{"name": "a", "type": {"kind": "Bool"}, "extra": {"nodomain": 1}}]},
        {"fields": [], "extra": {}},
        {"fields": [], "other": 1},
    ],
)
def test_what_breaks_the_rules_is_found(printed: Any) -> None:
    assert faults(printed)


@given(schemas())
def test_every_schema_is_printed_by_the_rules(schema: Schema) -> None:
    for normalize in (False, True):
        assert faults(schema_json(schema, normalize=normalize)) == []
    assert faults(decode_event(encode_set_data_schema(schema)).to_json()["schema"]) == []


def declared_in(node: Any) -> Iterator[Any]:
    """The schemas of a document, wherever they stand."""
    if isinstance(node, dict):
        if isinstance(node.get("schema"), dict) and "fields" in node["schema"]:
            yield node["schema"]
        for value in node.values():
            yield from declared_in(value)
    elif isinstance(node, list):
        for value in node:
            yield from declared_in(value)


@given(odf_manifests())
def test_every_document_is_printed_by_the_rules(manifest: TableManifest) -> None:
    found = list(declared_in(YAML(typ="safe", pure=True).load(dump_table(manifest))))
    assert len(found) == 1
    assert faults(found[0]) == []
