"""The editor schema says what the decoder says, but for a listed remainder."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakebed.diagnostics import Severity
from lakebed.errors import ManifestError
from lakebed.manifest import Substitutions, TableManifest, parse_manifest
from lakebed.manifest.attribute_document import parse_attributes
from lakebed.manifest.attribute_registry import AttributeRegistry
from lakebed.manifest.json_schema import REMAINDER, editor_schema
from lakebed.testing import odf_manifests, table_manifests
from manifest.document_values import document_value

SCHEMA = editor_schema()
VALIDATORS = (jsonschema.Draft7Validator(SCHEMA), jsonschema.Draft202012Validator(SCHEMA))
REGISTRY = parse_attributes("""
kind: Attributes
version: 1
content:
  domains: [example.org, x]
  attributes:
    - {name: example.org/owner, on: [schema], value: {type: string}}
    - {name: example.org/pii, on: [column, member], value: {$ref: "#/$defs/c", $defs: {c: {enum: [none, personal]}}}}
    - {name: example.org/unit, on: [column], types: [Float64], value: {type: string}}
    - {name: example.org/x-*, on: [column], value: {type: integer}}
    - {name: a.b/soft, on: [schema], value: {type: integer}, severity: warning}
""")
WITH_REGISTRY = jsonschema.Draft7Validator(editor_schema(REGISTRY))


def decoder_says(value: Any, registry: AttributeRegistry | None = None) -> set[str]:
    """The codes of the errors."""
    try:
        manifest = parse_manifest(json.dumps(value), name="x.y")
    except ManifestError as error:
        return {d.code for d in error.diagnostics if d.severity is Severity.ERROR}
    found = [d for t in manifest.tables for d in (registry.check(t.schema) if registry is not None else ())]
    return {d.code for d in found if d.severity is Severity.ERROR}


def agree(value: Any, validators: Any = VALIDATORS) -> None:
    codes = decoder_says(value)
    for validator in validators:
        valid = validator.is_valid(value)
        assert valid or codes, "the editor refuses what can be declared"
        assert not valid or codes <= REMAINDER, "the editor accepts what has no structure"


#: What a place may be changed to. A number with a fraction of zero is an integer for JSON Schema and not for YAML.
#: Copied where they are used: a later change may be one of theirs.
WORDS = "a String uint8 STRING Option Decimal null Second ODF kamu Table SetDataSchema SetInfo AddData rowkind _KEY_x"
ODD = st.sampled_from(
    [
        *(None, True, False, 0, 1, -1, 7, 2**64, 1.5, "", " ", *WORDS.split(), [], {}, [[]], ["a"]),
        *({"kind": "Option", "inner": "Int8"}, {"a.b/c": 1}, {"a": 1}, {"lakebed.dev/fieldId": 3}, {"kind": "Decimal"}),
        *({"lakebed.dev/enum": []}, {"LakeBed.dev/x": 1}, {"name": "n", "type": "Int8"}),
    ]
).map(copy.deepcopy)
KEYS = st.sampled_from(
    [
        "kind",
        "version",
        "content",
        "name",
        "type",
        "fields",
        "extra",
        "schema",
        "inner",
        "unit",
        "precision",
        "metadata",
        "fixedLength",
        "a.b/c",
        "a/b/c",
        "Kind",
        "lakebed.dev/renamedFrom",
        "lakebed.dev/primaryKeys",
        "lakebed.dev/no",
        "lakebed.dev/default",
        "lakebed.dev/onBadRow",
        "lakebed.dev/personalData",
        "opendatafabric.org/description",
        "opendatafabric.org/type",
        "$schema",
        "headers",
        "spec",
        "primaryKeys",
        "options",
        "nullable",
        "description",
        "rawArrowSchema",
    ]
)


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with each of its keys."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        yield value, key
        yield from places(member)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    value = copy.deepcopy(document_value(draw(st.one_of(table_manifests(), odf_manifests()))))
    for _ in range(draw(st.integers(1, 2))):
        found = list(places(value))
        if not found:
            return value
        # Places high up are few and matter most.
        holder, key = draw(st.sampled_from(found[:12]) | st.sampled_from(found))
        match draw(st.sampled_from(["drop", "set", "add", "rename", "spell"])):
            case "drop":
                del holder[key]
            case "set":
                holder[key] = draw(ODD)
            case "add" if isinstance(holder, dict):
                holder[draw(KEYS)] = draw(ODD)
            case "rename" if isinstance(holder, dict):
                holder[draw(KEYS)] = holder.pop(key)
            case "spell" if isinstance(holder[key], str):
                holder[key] = draw(st.sampled_from([str.lower, str.upper, lambda s: s[:1].lower() + s[1:]]))(
                    holder[key]
                )
            case _:
                holder[key] = draw(ODD)
    return value


def test_it_is_a_schema() -> None:
    for schema in (SCHEMA, editor_schema(REGISTRY)):
        jsonschema.Draft7Validator.check_schema(schema)
        jsonschema.Draft202012Validator.check_schema(schema)


@settings(max_examples=50)
@given(st.one_of(table_manifests(), odf_manifests()))
def test_what_can_be_declared_is_accepted(manifest: TableManifest) -> None:
    value = document_value(manifest)
    assert decoder_says(value) == set()
    assert VALIDATORS[0].is_valid(value)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=150)
@given(mutated(), st.sampled_from(VALIDATORS))
def test_what_is_changed_at_random_is_judged_alike(value: Any, validator: Any) -> None:
    agree(value, [validator])


ROOT: dict[str, Any] = {"kind": "Table", "version": 1}


@pytest.mark.parametrize("type_", [
    "Int8", "uInt8", "timestamp", None, "Decimal", "List", "STRING", True, 5, [], {}, {"kind": None},
    {"kind": "decimal"},
    {"kind": "Decimal", "precision": 3, "scale": -2}, {"kind": "Decimal", "precision": 0, "scale": 0},
    {"kind": "Time", "unit": "second"}, {"kind": "Time", "unit": None}, {"kind": "Time", "unit": "Day"},
    {"kind": "Timestamp", "timezone": "+07:30"}, {"kind": "Int8", "unit": "Second"}, {"kind": "Option", "inner": None},
    {"kind": "Option", "inner": {"kind": "option", "inner": "Int8"}}, {"kind": "Option", "inner": "Option"},
    {"kind": "List", "itemType": {"kind": "List", "itemType": "x"}}, {"kind": "List", "itemType": None},
    {"kind": "Map", "keyType": "String", "valueType": "Int8", "keysSorted": "true"},
    {"kind": "Struct", "fields": []}, {"kind": "Struct", "fields": [{"name": "rowkind", "type": "Int8"}]},
    {"kind": "Struct", "fields": [{"name": "x", "type": "Int8", "extra": {"foo": 1}}]}, {"kind": "Binary",
    "fixedLength": -1},
])  # fmt: skip
def test_types(type_: Any) -> None:
    agree({**ROOT, "content": {"name": "a.b", "schema": {"fields": [{"name": "c", "type": type_}]}}})


@pytest.mark.parametrize("value", [
    [], {}, None, 1, "x", [None], [{"kind": "SetInfo"}], {"kind": "Table"}, {**ROOT, "version": "1", "content": {}},
    [{"kind": "setdataschema", "schema": {"fields": []}}], [{"kind": "SetDataSchema", "schema": None}],
    {"kind": "SetDataSchema", "rawArrowSchema": "AAAA"}, {"kind": "MetadataEvent", "version": 1,
    "content": {"kind": "SetInfo"}},
    {"kind": "MetadataBlock", "version": 1, "content": {}}, {"kind": "Attributes", "version": 1, "content": {}},
    {"$schema": "https://opendatafabric.org/schemas/dataset/v1/Dataset", "headers": {"name": "a"},
    "spec": {"metadata": []}},
])  # fmt: skip
def test_envelopes(value: Any) -> None:
    agree(value)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(
    table_manifests(),
    st.dictionaries(
        st.sampled_from(
            ["example.org/owner", "example.org/pii", "example.org/unit", "example.org/x-1", "example.org/no"]
        )
        | st.sampled_from(["a.b/soft", "x/unknown", "y/free"]),
        st.sampled_from(["none", "other", 1, {}]),
        max_size=2,
    ),
    st.booleans(),
)
def test_declared_attributes_are_part_of_it(manifest: TableManifest, extra: dict[str, Any], on_schema: bool) -> None:
    value = document_value(manifest)
    schema = value["content"]["schema"]
    carrier = schema if on_schema or not schema["fields"] else schema["fields"][-1]
    carrier["extra"] = {**carrier.get("extra", {}), **extra}
    codes = decoder_says(value, REGISTRY)
    valid = WITH_REGISTRY.is_valid(value)
    assert valid or codes
    assert not valid or codes <= REMAINDER


def test_what_refers_to_a_part_of_itself_is_found() -> None:
    """A schema of draft 7 has no parts under `$defs` that an id could name; references lead there by their path."""
    for validator in (WITH_REGISTRY, jsonschema.Draft202012Validator(editor_schema(REGISTRY))):
        for said, is_allowed in (("none", True), ("other", False)):
            field = {"name": "x", "type": "Int8", "extra": {"example.org/pii": said}}
            declared = {**ROOT, "content": {"name": "t", "schema": {"fields": [field]}}}
            assert validator.is_valid(declared) == is_allowed


def test_a_required_attribute_is_asked_for() -> None:
    registry = parse_attributes(
        "kind: Attributes\nversion: 1\ncontent:\n  attributes:\n"
        "    - {name: a.b/c, on: [schema, column], required: true}\n"
    )
    schema = jsonschema.Draft7Validator(editor_schema(registry))
    field = {"name": "x", "type": "Int8", "extra": {"a.b/c": 1}}
    good = {**ROOT, "content": {"name": "t", "schema": {"fields": [field], "extra": {"a.b/c": 1}}}}
    assert schema.is_valid(good)
    del field["extra"]
    assert not schema.is_valid(good)


def test_every_property_is_described() -> None:
    """An editor shows these on hovering."""
    table = SCHEMA["$defs"]["table"]["properties"]["content"]["properties"]
    assert [name for name, s in table.items() if "description" not in s and "$ref" not in s] == []
    attributes = SCHEMA["$defs"]["column"]["properties"]["extra"]["properties"]
    assert [name for name, s in attributes.items() if "description" not in s] == []


VARIED = {
    "compatibility": ("${v}", "FULL"),
    "consumers": ([{"name": "${v}", "mode": "${v}"}], "BACKWARD"),
    "approvals": ([{"code": "LB4203", "reason": "${v}", "until": "${v}"}], "2026-01-01"),
    "systemColumns": ("${v}", "auto"),
    "ignoreOptions": (["${v}*"], "x"),
    "read": ({"format": "${v}", "include": "${v}/*.csv", "options": {"sep": "${v}"}}, "csv"),
    "options": ({"file.format": "${v}"}, "orc"),
}


@pytest.mark.parametrize("name", VARIED)
def test_a_variable_may_stand_for_any_text_but_in_columns(name: str) -> None:
    said, value = VARIED[name]
    content = {"name": "a.b", name: said, "schema": {"fields": [{"name": "x", "type": "Int8"}]}}
    declared = {**ROOT, "content": content}
    assert parse_manifest(json.dumps(declared), substitutions=Substitutions({"v": value})).tables
    assert [validator.is_valid(declared) for validator in VALIDATORS] == [True, True]
    in_columns = json.loads(json.dumps(declared).replace('"Int8"', '"${v}"'))
    assert [validator.is_valid(in_columns) for validator in VALIDATORS] == [False, False]


def test_a_variable_may_stand_for_the_value_of_an_attribute_of_the_table() -> None:
    registry = parse_attributes(
        "kind: Attributes\nversion: 1\ncontent:\n  attributes:\n"
        "    - {name: a.b/c, on: [schema, column], value: {enum: [gold, raw]}}\n"
    )
    validator = jsonschema.Draft7Validator(editor_schema(registry))
    schema: Any = {"fields": [{"name": "x", "type": "Int8"}], "extra": {"a.b/c": "${layer}"}}
    declared = {**ROOT, "content": {"name": "a.b", "schema": schema}}
    assert validator.is_valid(declared)
    schema["fields"][0]["extra"] = schema.pop("extra")
    assert not validator.is_valid(declared)
