"""Typed access to known attributes; their values are interpreted when they are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from lakebed.errors import ConversionError
from lakebed.manifest import parse_manifest
from lakebed.model import Extra, String, Timestamp, TimeUnit
from lakebed.model.known_attributes import (
    ARCHETYPE,
    LINKED_OBJECTS,
    Archetype,
    Core,
    Did,
    ExtendedType,
    LinkedObjects,
    Multihash,
    ObjectLink,
    archetype,
    description,
    extended_type,
    extended_type_json,
    linked_objects,
)

TYPE = "opendatafabric.org/type"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"kind": "Did"}, Did()),
        ({"kind": "did"}, Did()),
        ("Multihash", Multihash()),
        ({"kind": "objectLink", "linkType": {"kind": "multihash"}}, ObjectLink(Multihash())),
        ({"kind": "string"}, Core(String())),
        ({"kind": "Timestamp", "unit": "Second"}, Core(Timestamp(TimeUnit.SECOND))),
    ],
)
def test_extended_types(value: Any, expected: ExtendedType) -> None:
    assert extended_type(Extra({TYPE: value})) == expected
    assert extended_type(Extra({TYPE: extended_type_json(expected)})) == expected


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, [], {}, {"kind": "Foobar"}, {"kind": "DID"}, {"kind": "Did", "x": 1}, {"kind": "ObjectLink"}),
        *({"kind": "ObjectLink", "linkType": {"kind": "x"}}, {"kind": "Decimal"}, {"kind": None}),
    ],
)
def test_malformed_types_fail_on_access_only(value: Any) -> None:
    extra = Extra({TYPE: value})
    with pytest.raises(ConversionError) as error:
        extended_type(extra)
    assert error.value.code == "LB1620"


def test_a_long_chain_of_links_ends() -> None:
    value: Any = {"kind": "Did"}
    for _ in range(2000):
        value = {"kind": "ObjectLink", "linkType": value}
    with pytest.raises((ConversionError, RecursionError)):
        extended_type(Extra({TYPE: value}))


def test_the_others() -> None:
    assert archetype(Extra({ARCHETYPE: "versionedFile"})) is Archetype.VERSIONED_FILE
    assert archetype(Extra({ARCHETYPE: "collection"})) is Archetype.COLLECTION
    assert linked_objects(Extra({LINKED_OBJECTS: {"numObjectsNaive": 2, "sizeNaive": 5}})) == LinkedObjects(2, 5)
    assert description(Extra({"opendatafabric.org/description": "x"})) == "x"
    for read in (archetype, linked_objects, description, extended_type):
        assert read(Extra()) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (ARCHETYPE, "Foobar"),
        (ARCHETYPE, ["Collection"]),
        (LINKED_OBJECTS, {"numObjectsNaive": 2}),
        (LINKED_OBJECTS, {"numObjectsNaive": True, "sizeNaive": 1}),
        (LINKED_OBJECTS, {"numObjectsNaive": 2, "sizeNaive": 1 << 64}),
        (LINKED_OBJECTS, {"numObjectsNaive": 2, "sizeNaive": 5, "x": 1}),
        ("opendatafabric.org/description", 1),
    ],
)
def test_malformed_others(key: str, value: Any) -> None:
    read = {ARCHETYPE: archetype, LINKED_OBJECTS: linked_objects}.get(key, description)
    with pytest.raises(ConversionError):
        read(Extra({key: value}))


@pytest.mark.parametrize(
    ("type_", "value"), [("String", "{kind: Multihsh}"), ("Int64", "{kind: Did}"), ("String", "{kind: Did, x: 1}")]
)
def test_a_manifest_warns_and_keeps_it(type_: str, value: str) -> None:
    field = f"{{name: a, type: {type_}, extra: {{opendatafabric.org/type: {value}}}}}"
    text = f"kind: Table\nversion: 1\ncontent:\n  name: t\n  schema: {{fields: [{field}]}}\n"
    manifest = parse_manifest(text)
    assert [(d.code, d.position is not None) for d in manifest.diagnostics] == [("LB1620", True)]
    assert TYPE in manifest.tables[0].schema.fields[0].extra
