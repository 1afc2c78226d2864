"""Reading is the inverse of writing, for schemas, for every kind of event, and for blocks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import ConversionError
from lakebed.events import (
    Block,
    DatasetId,
    Event,
    Multihash,
    block_hash,
    decode_block,
    decode_event,
    encode_block,
    encode_event,
    encode_set_data_schema,
    event_from_json,
)
from lakebed.events.encode_event import _RANGES
from lakebed.events.flatbuffers_layout import DID, JSON, MULTIHASH, Form, Slot, Table, layout
from lakebed.events.instant import text
from lakebed.manifest import dump_table, parse_manifest
from lakebed.model import Field, Int64, List, Option, Schema, String, Struct, schema_json
from lakebed.testing import extras, odf_manifests, schemas

KINDS = [kind for kind, _ in layout().unions["MetadataEvent"]]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NANOS = st.integers(-(10**20), 10**20)


def tables(table: Table, depth: int = 0) -> st.SearchStrategy[Any]:
    """Any value that a table can hold."""
    if table.wrapper:
        return values(table.slots[0], depth)
    needed = {"DataField": ("name", "type"), "DataSchema": ("fields",), "Struct": ("fields",), "Option": ("inner",)}
    needed |= {"List": ("itemType",), "Map": ("keyType", "valueType"), "Decimal": ("precision", "scale")}
    own = {slot.name: values(slot, depth) for slot in table.slots}
    always = [s.name for s in table.slots if not s.optional and s.form in (Form.SCALAR, Form.ENUM)]
    always += needed.get(table.name, ())
    return st.fixed_dictionaries(
        {name: own[name] for name in own if name in always},
        optional={name: own[name] for name in own if name not in always},
    )


def values(slot: Slot, depth: int) -> st.SearchStrategy[Any]:
    match slot.form:
        case Form.SCALAR if slot.type == "bool":
            return st.booleans()
        case Form.SCALAR:
            return st.integers(*_RANGES[slot.type])
        case Form.ENUM:
            return st.sampled_from(layout().enums[slot.type][1])
        case Form.STRUCT:
            return NANOS.map(text)
        case Form.STRING if slot.mark == JSON:
            return extras().map(dict)
        case Form.STRING:
            return TEXT
        case Form.BYTES if slot.mark == MULTIHASH:
            return st.binary(max_size=8).map(lambda data: str(Multihash.of(data)))
        case Form.BYTES if slot.mark == DID:
            return TEXT.map(lambda word: str(DatasetId.derived(word)))
        case Form.BYTES:
            return st.binary(max_size=8)
        case Form.TABLE:
            return tables(layout().tables[slot.type], depth + 1)
        case Form.UNION:
            members = [m for m in layout().unions[slot.type] if depth < 6 or not layout().tables[m[1]].slots]
            return st.sampled_from(members).flatmap(
                lambda m: tables(layout().tables[m[1]], depth + 1).map(lambda value: {"kind": m[0], **value})
            )
        case Form.STRINGS:
            return st.lists(TEXT, max_size=2)
        case Form.TABLES:
            return st.lists(tables(layout().tables[slot.type], depth + 1), max_size=2)


OTHERS = [kind for kind in KINDS if kind != "SetDataSchema"]
EVENTS = st.sampled_from(OTHERS).flatmap(
    lambda kind: tables(layout().tables[kind]).map(lambda value: {"kind": kind, **value})
)


@given(schemas())
def test_a_schema_comes_back_as_it_was_written(schema: Schema) -> None:
    event = decode_event(encode_set_data_schema(schema))
    assert event.schema is not None
    assert event.schema == schema
    assert schema_json(event.schema) == schema_json(schema)
    assert not event.diagnostics
    assert encode_event(event) == encode_set_data_schema(schema)


@given(EVENTS, NANOS, st.integers(0, 2**64 - 1), st.none() | st.binary(max_size=4), st.sampled_from([2, 3]))
def test_every_event_comes_back_in_its_block(
    event: dict[str, Any], time: int, number: int, before: bytes | None, version: int
) -> None:
    block = Block(event_from_json(event), time, number, None if before is None else Multihash.of(before), version)
    data = encode_block(block)
    found = decode_block(data)
    assert found.event.to_json() == event
    assert (found.system_time, found.sequence_number, found.previous, found.version) == (
        time,
        number,
        block.previous,
        version,
    )
    assert encode_block(found) == data


@given(schemas(), st.sampled_from([2, 3]))
def test_a_hash_is_of_the_stored_bytes(schema: Schema, version: int) -> None:
    data = encode_block(Block(Event.set_data_schema(schema), 0, 1, Multihash.of(b""), version))
    assert block_hash(data) != block_hash(data[:-1] + bytes([data[-1] ^ 1]))
    assert decode_block(data).event.schema == schema


@given(odf_manifests())
def test_events_of_others_survive_a_rewrite_of_their_document(manifest: Any) -> None:
    again = parse_manifest(dump_table(manifest), name=manifest.name).tables[0]
    assert again.odf == manifest.odf


SNAPSHOT = """\
kind: DatasetSnapshot
version: 1
content:
  name: lab.tides
  kind: Root
  metadata:
  - {kind: SetVocab, eventTimeColumn: measured_at}
  - kind: SetInfo
    description: "Tides, no gaps"
    keywords: [tide, "no", "1e3"]
  - {kind: SetLicense, shortName: CC, name: Creative Commons, spdxId: CC-BY-4.0, websiteUrl: "https://example.org"}
  - kind: setDataSchema
    schema: {fields: [{name: id, type: int64}]}
  - kind: AddPushSource
    sourceName: default
    read: {kind: NdJson, schema: {fields: [{name: id, type: {kind: Int64}}]}}
    merge: {kind: Append}
  - kind: SetAttachments
    attachments: {kind: Embedded, items: [{path: README.md, content: "# Tides"}]}
"""


def test_the_events_of_a_snapshot_survive_and_can_be_written_as_blocks() -> None:
    manifest = parse_manifest(SNAPSHOT).tables[0]
    assert manifest.odf is not None
    assert [event.kind for event in manifest.odf.events] == [
        *("SetVocab", "SetInfo", "SetLicense", "AddPushSource", "SetAttachments")
    ]
    again = parse_manifest(dump_table(manifest)).tables[0]
    assert again == manifest
    for event in manifest.odf.events:
        stated = event.to_json()
        assert decode_event(encode_event(stated), event.kind).to_json() == stated


def nested(levels: int) -> Schema:
    type_: Any = Int64()
    for _ in range(levels):
        type_ = Option(List(type_))
    return Schema((Field("deep", type_),))


def test_what_can_be_written_can_be_read_and_no_more() -> None:
    assert decode_event(encode_set_data_schema(nested(60))).schema == nested(60)
    with pytest.raises(ConversionError, match="nested"):
        encode_set_data_schema(nested(70))
    within: Any = String()
    for _ in range(61):
        within = Struct((Field("s", within),))
    schema = Schema((Field("s", within),))
    assert decode_event(encode_set_data_schema(schema)).schema == schema


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({"kind": "SetColour"}, None),
        ({"kind": "SetInfo", "colour": "red"}, "SetInfo"),
        ({"kind": "SetInfo", "keywords": "red"}, "keywords"),
        ({"kind": "SetInfo", "description": 3}, "description"),
        ({"kind": "SetInfo", "description": "\ud800"}, "description"),
        ({"kind": "AddData", "prevOffset": -1}, "prevOffset"),
        ({"kind": "Seed", "datasetKind": "Rooot"}, "datasetKind"),
        ({"kind": "SetDataSchema", "schema": {"fields": [{"name": "a", "type": {"kind": "Int33"}}]}}, "type"),
        ({"kind": "SetDataSchema", "schema": 3}, "DataSchema"),
        ({"kind": "SetDataSchema", "rawArrowSchema": "?"}, None),
    ],
)
def test_what_the_layout_cannot_hold_is_refused(event: dict[str, Any], path: str | None) -> None:
    with pytest.raises(ConversionError) as caught:
        encode_event(event_from_json(event))
    assert caught.value.code == "LB2510"
    assert caught.value.diagnostics[0].path == path
