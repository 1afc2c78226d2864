"""What is written is, byte for byte, what the reference implementation writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from events.reference import RAW_ARROW, SCHEMA_EVENT, block, empty_data, legacy_event, schema_event
from lakebed.events import Event, block_hash, decode_block, decode_event, encode_block, encode_event, event_from_json
from lakebed.events.inspection import Inspection
from lakebed.manifest.node_values import json_value
from lakebed.manifest.parse_yaml import compose
from lakebed.manifest.problems import Problems

VECTORS = ("v1_system_columns", "v4_legacy_raw_arrow", "v5_kamu_reference")


@pytest.mark.parametrize(
    ("event", "version", "digest"),
    [
        (schema_event, 3, "80865248519d55fa04598e24ba42884728efe70956e640dca4df5ec8043c69ca"),
        (schema_event, 2, "33d0a65cfb9853f14830fc84e443767d9acfedd24d13c3c22bdc82f3be1b507f"),
        (legacy_event, 3, "a7e79d088ca7bac689f12d71ae64b93e7bab62a7db2fec83ea89e9bf90dd89ed"),
        (legacy_event, 2, "44d64d764fb207713407b9a761566409404c907f765993105608299cd6f5bebf"),
        (empty_data, 3, "a93874702479f83ddff1e7a660ca78085def333c86501b0d895fa3aec79c7189"),
    ],
)
def test_the_asserted_hashes(event: Callable[[], Event], version: int, digest: str) -> None:
    data = encode_block(block(event(), version))
    assert str(block_hash(data)) == "f1620" + digest
    found = decode_block(data)
    assert (found.version, found.sequence_number, found.system_time) == (version, 117, block(event()).system_time)
    assert found.event.to_json() == event().to_json()
    assert encode_block(found) == data


def test_the_instant_of_version_2_is_where_old_writers_put_it() -> None:
    old, new = (encode_block(block(legacy_event(), version)) for version in (2, 3))
    content = old.index(bytes.fromhex("e4070000 0100"))
    assert (content - _start_of_content(old)) == 50
    assert (new.index(bytes.fromhex("e4070000 0100")) - _start_of_content(new)) % 4 == 0


def _start_of_content(envelope: bytes) -> int:
    from lakebed.events.buffer_cursor import Cursor

    cursor = Cursor(envelope)
    slot = cursor.slot(cursor.root(), 2, 4)
    assert slot is not None
    return cursor.follow(slot) + 4


@pytest.mark.parametrize("name", VECTORS)
def test_the_vectors(shared: Path, name: str) -> None:
    manifest = _yaml(shared / "vectors" / "odf" / f"{name}.yaml")
    event_bytes, block_bytes = (
        bytes.fromhex((shared / "vectors" / "odf" / f"{name}.{part}.hex").read_text()) for part in ("event", "block")
    )
    stated = manifest["content"]["event"]
    assert encode_event(event_from_json(stated)) == event_bytes
    assert decode_event(event_bytes).to_json() == stated
    found = decode_block(block_bytes)
    assert found.to_json() == manifest
    assert encode_block(found) == block_bytes
    assert Inspection.of(block_bytes).to_json(encodings=True)["manifest"] == manifest
    assert Inspection.of(event_bytes).to_json(encodings=True)["manifest"]["content"] == stated


def test_a_block_in_yaml_prints_as_the_reference_prints_it() -> None:
    printed = block(schema_event(), number=123).to_json()
    assert printed == {
        "kind": "MetadataBlock",
        "version": 3,
        "content": {
            "systemTime": "2020-01-01T12:00:00Z",
            "prevBlockHash": "f16209eb949bd8ff0bb1d827f11809aebc6bd0d5955c7f368469a913c70d196620272",
            "sequenceNumber": 123,
            "event": SCHEMA_EVENT,
        },
    }
    assert list(printed["content"]) == ["systemTime", "prevBlockHash", "sequenceNumber", "event"]


def test_the_legacy_form_is_upgraded_without_encodings() -> None:
    pytest.importorskip("pyarrow")
    event = decode_event(encode_event(legacy_event()))
    assert event.is_legacy
    assert event.value["rawArrowSchema"] == RAW_ARROW
    assert event.schema is not None
    assert event.schema.to_json() == {
        "fields": [{"name": "a", "type": {"kind": "Int64"}}, {"name": "b", "type": {"kind": "Bool"}}]
    }


def test_omitted_defaults_and_stated_ones_are_different_bytes_of_equal_schemas() -> None:
    omitted, stated = (
        {"kind": "SetDataSchema", "schema": {"fields": [{"name": "t", "type": type_}]}}
        for type_ in ({"kind": "Timestamp"}, {"kind": "Timestamp", "unit": "Millisecond", "timezone": "UTC"})
    )
    short, long = encode_event(omitted), encode_event(stated)
    assert (len(short), len(long)) == (88, 108)
    assert decode_event(short).schema == decode_event(long).schema
    assert decode_event(long).to_json() == stated


def test_one_annotated_column_is_116_bytes() -> None:
    schema = {"fields": [{"name": "a", "type": {"kind": "String"}, "extra": {"x.y/z": 1}}]}
    data = encode_event({"kind": "SetDataSchema", "schema": schema})
    assert len(data) == 116
    assert data[84:100] == bytes.fromhex("0b000000 7b22782e792f7a223a317d 00")
    assert data[63] == 24


def _yaml(path: Path) -> Any:
    problems = Problems()
    (document,) = compose(path.read_text(encoding="utf-8"), str(path), problems)
    assert not problems.errors
    return json_value(document, problems)
