"""Bytes that nobody vouches for: always a value or a clean error, never anything else, and never for long."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from events.newer import newer_writer
from events.reference import RAW_ARROW, block, legacy_event, schema_event
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError, UsageError
from lakebed.events import (
    Event,
    ReaderRules,
    decode_block,
    decode_event,
    encode_block,
    encode_event,
    encode_set_data_schema,
    event_from_json,
    verify_chain,
)
from lakebed.events.buffer_cursor import MAX_BYTES, MAX_TABLES
from lakebed.events.encode_event import encode
from lakebed.events.inspection import Inspection
from lakebed.events.raw_arrow import arrow_schema
from lakebed.model import Binary, Duration, Field, Option, Schema, String, Timestamp, TimeUnit
from lakebed.testing import schemas

SOURCE = {
    "kind": "AddPushSource",
    "sourceName": "s",
    "read": {"kind": "Csv", "schema": {"fields": [{"name": "a", "type": {"kind": "Int64"}}]}},
    "merge": {"kind": "Ledger", "primaryKey": ["a"]},
}
VALID = (
    encode_block(block(schema_event())),
    encode_block(block(schema_event(), version=2)),
    encode_block(block(event_from_json(SOURCE))),
    encode_event(schema_event()),
)


def look(data: bytes) -> None:
    """Everything that reads bytes; only clean errors may come out."""
    for read in (Inspection.of, decode_block, decode_event, lambda d: decode_event(d, "AddPushSource")):
        try:
            found = read(data)
        except LakebedError as error:
            assert error.code.startswith("LB2")  # noqa: PT017
        else:
            str(found)
            found.to_json()


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Valid bytes with some of them changed, taken out, repeated, or an offset set to a telling number."""
    data = bytearray(draw(st.sampled_from(VALID) | schemas(max_size=3).map(encode_set_data_schema)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(data) - 1, 0)))
        match draw(st.sampled_from(["byte", "number", "cut", "drop", "repeat"])):
            case "byte":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case "number":
                number = draw(st.sampled_from([0, 1, 4, len(data), 2**31 - 1, 2**31, 2**32 - 1, 2**32 - 4]))
                data[at // 4 * 4 : at // 4 * 4 + 4] = struct.pack("<I", number)
            case "cut":
                del data[at:]
            case "drop":
                del data[at : at + draw(st.integers(1, 8))]
            case _:
                data[at:at] = data[at : at + 16]
    return bytes(data)


@settings(max_examples=400)
@given(mutated())
def test_changed_bytes(data: bytes) -> None:
    look(data)


@settings(max_examples=200)
@given(st.binary(max_size=200))
@example(b"")
@example(b"\0" * 8)
@example(b"\xff" * 64)
def test_random_bytes(data: bytes) -> None:
    look(data)


def test_every_cut_and_every_byte() -> None:
    data = VALID[3]
    padding = len(data) - len(data.rstrip(b"\0")) - 1
    for end in range(len(data) - padding):
        with pytest.raises(LakebedError):
            decode_event(data[:end])
    for at in range(len(data)):
        for value in (0, 1, 0x7F, 0x80, 0xFF):
            look(data[:at] + bytes([value]) + data[at + 1 :])


@settings(max_examples=150)
@given(st.integers(0, len(RAW_ARROW) - 1), st.integers(0, 255), st.integers(0, len(RAW_ARROW)))
def test_changed_legacy_schemas(at: int, value: int, end: int) -> None:
    pytest.importorskip("pyarrow")
    for raw in (RAW_ARROW[:at] + bytes([value]) + RAW_ARROW[at + 1 :], RAW_ARROW[:end], b""):
        look(encode_event(Event("SetDataSchema", {"rawArrowSchema": raw})))


def test_legacy_schemas_of_pyarrow_are_read() -> None:
    pa = pytest.importorskip("pyarrow")
    schema = pa.schema([pa.field("t", pa.timestamp("us")), pa.field("l", pa.large_list(pa.string_view()), False)])
    message = schema.serialize().to_pybytes()
    start = 8
    table = start + struct.unpack_from("<I", message, start)[0]
    header = _follow(message, table, 2)
    raw = struct.pack("<I", header - start) + message[start + 4 :]
    assert arrow_schema(raw) == schema
    event = Event("SetDataSchema", {"rawArrowSchema": raw})
    found = decode_event(encode_event(event)).schema
    assert found is not None
    assert [f.type.kind for f in found.fields] == ["Option", "List"]
    assert not found.fields[0].extra
    naive = decode_event(encode_event(event), rules=ReaderRules(absent_zone="naive")).schema
    assert naive is not None
    assert naive.fields[0].extra == {"paimon.apache.org/type": "TIMESTAMP(6)"}


def _follow(data: bytes, table: int, slot: int) -> int:
    vtable = table - int(struct.unpack_from("<i", data, table)[0])
    at = table + int(struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0])
    return at + int(struct.unpack_from("<I", data, at)[0])


def test_parts_that_are_shared_do_not_multiply() -> None:
    """Each Struct holds the next one many times over; read naively, that is 40 to the power of 12."""
    data = _shared_structs(levels=12, width=40)
    started = time.monotonic()
    with pytest.raises(CorruptMetadataError, match="shared too often"):
        decode_event(data)
    assert time.monotonic() - started < 5
    assert len(data) < 20_000


def _shared_structs(levels: int, width: int) -> bytes:
    from flatbuffers import Builder

    builder = Builder(1024)
    name = builder.CreateString("s")
    builder.StartObject(0)
    type_, tag = builder.EndObject(), 12
    for _ in range(levels):
        builder.StartObject(4)
        builder.PrependUOffsetTRelativeSlot(0, name, 0)
        builder.PrependUint8Slot(1, tag, 0)
        builder.PrependUOffsetTRelativeSlot(2, type_, 0)
        field = builder.EndObject()
        builder.StartVector(4, width, 4)
        for _ in range(width):
            builder.PrependUOffsetTRelative(field)
        fields = builder.EndVector()
        builder.StartObject(1)
        builder.PrependUOffsetTRelativeSlot(0, fields, 0)
        type_, tag = builder.EndObject(), 21
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, fields, 0)
    schema = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(1, schema, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def test_one_large_table_that_is_shared_is_looked_at_a_few_times_only() -> None:
    """Each of many fields is the same table, which says that it has 60,000 bytes; read naively, 180 MB."""
    for size, times in ((60_000, 3_000), (60_000, 6), (40, 3_000)):
        data = _one_field_shared(size, times)
        assert len(data) < 100_000
        if size * times > 4 * len(data):
            with pytest.raises(CorruptMetadataError, match="shared too often"):
                decode_event(data)
        else:
            schema = decode_event(data).schema
            assert schema is not None
            assert len(schema.fields) == times


def _one_field_shared(size: int, times: int) -> bytes:
    """An event whose schema holds one field `times` times over; the table of the field claims `size` bytes."""
    from flatbuffers import Builder

    builder = Builder(1024)
    builder.CreateString("x" * 65_000)
    name = builder.CreateString("s")
    builder.StartObject(0)
    type_ = builder.EndObject()
    builder.StartObject(4)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependUint8Slot(1, 12, 0)
    builder.PrependUOffsetTRelativeSlot(2, type_, 0)
    field = builder.EndObject()
    builder.StartVector(4, times, 4)
    for _ in range(times):
        builder.PrependUOffsetTRelative(field)
    fields = builder.EndVector()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, fields, 0)
    schema = builder.EndObject()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(1, schema, 0)
    builder.Finish(builder.EndObject())
    data = bytearray(builder.Output())
    at = len(data) - field
    vtable = at - int(struct.unpack_from("<i", data, at)[0])
    struct.pack_into("<H", data, vtable + 2, size)
    return bytes(data)


def test_limits() -> None:
    with pytest.raises(CorruptMetadataError) as caught:
        decode_event(bytes(MAX_BYTES + 1))
    assert caught.value.code == "LB2505"
    assert MAX_TABLES >= 100_000


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "",
        "nothing",
        '{"a/b": NaN}',
        '{"a/b": 1e999}',
        '{"a/b": 1, "a/b": 2}',
        '{"a/b": "\\ud800"}',
        '{"a/b": ' + "[" * 200 + "]" * 200 + "}",
        '{"a/b": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"a/b": ' + "9" * 10_000 + "}",
    ],
    ids=lambda text: text[:24],
)
def test_attributes_that_are_no_json_object(text: str) -> None:
    fields = [{"name": "a", "type": {"kind": "String"}, "extra": {"x/y": "PLACE"}}]
    with_text = _with_extra(encode_event({"kind": "SetDataSchema", "schema": {"fields": fields}}), text)
    with pytest.raises(CorruptMetadataError) as caught:
        decode_event(with_text)
    assert caught.value.code == "LB2504"
    assert caught.value.diagnostics[0].path == "schema.fields[0].extra.entries"


def test_attributes_in_any_order_are_read() -> None:
    fields = [{"name": "a", "type": {"kind": "String"}, "extra": {"x/y": "PLACE"}}]
    data = _with_extra(encode_event({"kind": "SetDataSchema", "schema": {"fields": fields}}), '{"z/z": 1 , "a/a": [ ]}')
    schema = decode_event(data).schema
    assert schema is not None
    assert schema.fields[0].extra == {"a/a": [], "z/z": 1}


def _with_extra(data: bytes, text: str) -> bytes:
    """The event with another JSON text: a new string at the end that the offset of the old one leads to."""
    old = b'{"x/y":"PLACE"}'
    string = data.index(old) - 4
    offset_at = next(at for at in range(0, string, 4) if at + struct.unpack_from("<I", data, at)[0] == string)
    added = text.encode("utf-8", errors="surrogatepass")
    changed = data[:offset_at] + struct.pack("<I", len(data) - offset_at) + data[offset_at + 4 :]
    return changed + struct.pack("<I", len(added)) + added + b"\0"


@pytest.mark.parametrize(
    ("version", "kind", "code", "error"),
    [
        (1, 0x400000, "LB2502", UnsupportedError),
        (4, 0x400000, "LB2502", UnsupportedError),
        (3, 0x400001, "LB2501", CorruptMetadataError),
        (3, 7, "LB2501", CorruptMetadataError),
    ],
)
def test_other_envelopes(version: int, kind: int, code: str, error: type[LakebedError]) -> None:
    with pytest.raises(error) as caught:
        decode_block(encode("Manifest", {"kind": kind, "version": version, "content": b""}))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({}, "the block has no time"),
        ({"systemTime": 0}, "the block has no event"),
        ({"systemTime": 0, "event": {"kind": "SetDataSchema"}}, "the event holds no schema"),
        ({"systemTime": 0, "event": {"kind": "SetDataSchema", "schema": {}}}, "a schema has no `fields`"),
        ({"systemTime": 0, "event": {"kind": "SetDataSchema", "schema": {"fields": [{}]}}}, "a field has no `name`"),
        (
            {"systemTime": 0, "event": {"kind": "SetDataSchema", "schema": {"fields": [{"name": "a"}]}}},
            "the field 'a' has no `type`",
        ),
        (
            {
                "systemTime": 0,
                "event": {
                    "kind": "SetDataSchema",
                    "schema": {"fields": [{"name": "a", "type": {"kind": "List"}}]},
                },
            },
            "the type List of a has no `itemType`",
        ),
    ],
)
def test_missing_parts(value: dict[str, object], says: str) -> None:
    inner = encode("MetadataBlock", value)
    with pytest.raises(CorruptMetadataError) as caught:
        decode_block(encode("Manifest", {"kind": 0x400000, "version": 3, "content": inner}))
    assert (caught.value.code, caught.value.diagnostics[0].message) == ("LB2503", says)


def test_both_forms_at_once() -> None:
    both = Event("SetDataSchema", {**schema_event().value, "rawArrowSchema": b"nothing"})
    event = decode_event(encode_event(both))
    assert event.schema == schema_event().schema
    assert [d.code for d in event.diagnostics] == ["LB2507"]
    assert not event.is_legacy


def newer_columns() -> bytes:
    fields = [
        {"name": "a", "type": {"kind": "Int64"}},
        {"name": "shape", "type": {"kind": "Option", "inner": {"kind": "Geometry", "timezone": "x"}}},
        {
            "name": "s",
            "type": {
                "kind": "Struct",
                "fields": [
                    {"name": "shapes", "type": {"kind": "List", "itemType": {"kind": "Geometry"}}},
                    {"name": "kept", "type": {"kind": "Bool"}},
                ],
            },
        },
        {"name": "tick", "type": {"kind": "Timestamp", "unit": "Picosecond"}},
        {"name": "z", "type": {"kind": "String"}, "extra": {"x/y": 1}},
    ]
    with newer_writer():
        return encode_event({"kind": "SetDataSchema", "schema": {"fields": fields}})


def test_types_of_a_newer_writer_are_named_and_the_others_read() -> None:
    event = decode_event(newer_columns())
    assert event.schema is not None
    assert [f.name for f in event.schema.fields] == ["a", "s", "z"]
    assert event.schema.to_json()["fields"][1]["type"]["fields"] == [{"name": "kept", "type": {"kind": "Bool"}}]
    assert [(u.path, u.what) for u in event.unknown] == [
        ("shape", "data type 25"),
        ("s.shapes", "data type 25"),
        ("tick", "time unit 4"),
    ]
    assert [d.code for d in event.diagnostics] == ["LB2506"] * 3
    assert "the column s.shapes has a data type 25" in event.diagnostics[1].message


def test_events_and_parts_of_a_newer_writer_are_named() -> None:
    with newer_writer():
        colour = encode_block(block(Event("SetColour", {"description": "red"})))
        source = encode_event({"kind": "AddPushSource", "sourceName": "s", "read": {"kind": "Xml"}})
    found = decode_block(colour)
    assert (found.event.kind, found.sequence_number) == ("metadata event 14", 117)
    assert found.event.schema is None
    read = decode_event(source, "AddPushSource")
    assert read.to_json() == {"kind": "AddPushSource", "sourceName": "s"}
    assert [(u.path, u.what) for u in read.unknown] == [("read", "read step 8")]


def test_an_event_of_no_known_kind_cannot_be_asked_for() -> None:
    with pytest.raises(UsageError) as caught:
        decode_event(b"", "SetSchema")
    assert "SetDataSchema" in caught.value.diagnostics[0].suggestions


def old_event(*types: dict[str, object]) -> bytes:
    fields = [{"name": f"c{i}", "type": type_} for i, type_ in enumerate(types)]
    return encode_event({"kind": "SetDataSchema", "schema": {"fields": fields}})


@pytest.mark.parametrize(
    ("rules", "unit", "zone", "extra"),
    [
        (ReaderRules(), None, None, {}),
        (ReaderRules(absent_unit=TimeUnit.SECOND), TimeUnit.SECOND, None, {}),
        (ReaderRules(absent_zone="Europe/Paris"), None, "Europe/Paris", {}),
        (ReaderRules(absent_zone="naive"), None, None, {"paimon.apache.org/type": "TIMESTAMP(3)"}),
        (
            ReaderRules(TimeUnit.SECOND, "naive"),
            TimeUnit.SECOND,
            None,
            {"paimon.apache.org/type": "TIMESTAMP(0)"},
        ),
    ],
)
def test_what_old_writers_left_out_is_read_as_they_meant_it_when_asked(
    rules: ReaderRules, unit: TimeUnit | None, zone: str | None, extra: dict[str, str]
) -> None:
    stated = {"kind": "Timestamp", "unit": "Microsecond", "timezone": "UTC"}
    data = old_event({"kind": "Option", "inner": {"kind": "Timestamp"}}, stated, {"kind": "Duration"})
    schema = decode_event(data, rules=rules).schema
    assert schema is not None
    absent, present, duration = schema.fields
    assert isinstance(absent.type, Option)
    assert isinstance(absent.type.inner, Timestamp)
    assert (absent.type.inner.unit, absent.type.inner.timezone, absent.extra) == (unit, zone, extra)
    assert present == Field("c1", Timestamp(TimeUnit.MICROSECOND, "UTC"))
    assert isinstance(duration.type, Duration)
    assert duration.type.unit == unit
    stated_again = event_from_json(decode_event(data).to_json())
    assert decode_block(encode_block(block(stated_again)), rules=rules).event.schema == schema


def test_a_naive_timestamp_that_cannot_be_marked_is_told() -> None:
    data = old_event({"kind": "List", "itemType": {"kind": "Timestamp"}})
    event = decode_event(data, rules=ReaderRules(absent_zone="naive"))
    assert [(d.code, d.path) for d in event.diagnostics] == [("LB2508", "c0")]
    assert not decode_event(data).diagnostics


def test_what_a_manifest_could_not_say_is_told_and_kept() -> None:
    optional = {"kind": "Option", "inner": {"kind": "Option", "inner": {"kind": "Bool"}}}
    fields = [
        {"name": "a", "type": {"kind": "Bool"}, "extra": {"nodomain": 1}},
        {"name": "a", "type": optional},
        {"name": "", "type": {"kind": "Bool"}},
    ]
    event = decode_event(encode_event({"kind": "SetDataSchema", "schema": {"fields": fields}}))
    assert event.schema is not None
    assert event.schema.to_json()["fields"] == fields
    assert [d.code for d in event.diagnostics] == ["LB2508"] * 4


def test_a_day_that_does_not_exist() -> None:
    data = bytearray(encode_block(block(schema_event())))
    at = data.index(bytes.fromhex("e4070000 0100"))
    data[at + 4 : at + 6] = struct.pack("<H", 367)
    with pytest.raises(CorruptMetadataError, match="there is no such time") as caught:
        decode_block(bytes(data))
    assert caught.value.diagnostics[0].path == "systemTime"


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=8), st.binary(max_size=40), max_size=3), st.binary(max_size=40))
def test_a_directory_of_anything_is_reported_on(files: dict[str, bytes], head: bytes) -> None:
    report = verify_chain(files, head)
    assert not report.is_valid
    report.to_json()


def test_fixed_lengths_are_kept_up_to_64_bits() -> None:
    schema = Schema((Field("b", Binary(2**64 - 1)), Field("z", Binary(0)), Field("s", String())))
    assert decode_event(encode_set_data_schema(schema)).schema == schema


READERS: tuple[Callable[[bytes], object], ...] = (decode_block, decode_event)


@pytest.mark.parametrize("read", READERS)
def test_a_text_file_is_no_event(read: Callable[[bytes], object]) -> None:
    with pytest.raises(CorruptMetadataError) as caught:
        read(b"kind: DatasetSnapshot\nversion: 1\n")
    assert caught.value.code == "LB2500"


def test_the_legacy_form_needs_pyarrow_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "lakebed.convert.arrow", None)
    with pytest.raises(UnsupportedError) as caught:
        decode_event(encode_event(legacy_event()))
    assert caught.value.code == "LB2509"
    assert "extra `arrow`" in str(caught.value)
