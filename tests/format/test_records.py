"""Manifests and manifest lists in ORC and in every form of Avro: the same entries come out."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc

from format.building import Built, table_schema
from lakebed.errors import CorruptMetadataError
from lakebed.format import binary_row
from lakebed.format.avro_container import read_header, with_schema, without_logical_types, without_snappy
from lakebed.format.avro_schemas import entry_schema, list_schema, read_container, read_records
from lakebed.format.manifest import (
    UNKNOWN_TOTAL,
    ColumnStatistics,
    DataFileMeta,
    Kind,
    ManifestEntry,
    ManifestFileMeta,
    SimpleStats,
    describe,
    read_list,
    read_manifest,
    write_list,
    write_manifest,
)
from lakebed.format.snapshot import Snapshot
from lakebed.physical import parse
from lakebed.testing.memory_store import MemoryStore

INT, STRING = parse("INT"), parse("STRING")
_STATS = SimpleStats.of([INT, STRING], [ColumnStatistics(-1, 7, 0), ColumnStatistics(None, "é", None)])
_FULL = DataFileMeta(
    file_name="data-é-1.orc",
    file_size=2**40,
    row_count=3,
    schema_id=7,
    value_stats=_STATS,
    min_key=binary_row.encode([INT], [1]),
    max_key=binary_row.encode([INT], [9]),
    key_stats=_STATS,
    min_sequence_number=-1,
    max_sequence_number=2**62,
    level=5,
    extra_files=("a.index", "b"),
    creation_time=1_700_000_000_123,
    delete_row_count=0,
    embedded_file_index=b"\x00\xff",
    file_source=1,
    value_stats_cols=("a", "é"),
    external_path="s3://x/y",
    first_row_id=12,
    write_cols=("a",),
    write_cols_sequences=(4, 5),
)
_BARE = DataFileMeta(file_name="data-2.orc", file_size=1, row_count=0, schema_id=0)
ENTRIES = [
    ManifestEntry(Kind.ADD, binary_row.encode([INT], [1]), 0, -1, _FULL),
    ManifestEntry(Kind.DELETE, binary_row.encode([INT], [None]), 3, 4, _BARE),
]
_OPTIONAL = 12
_ARROW = {"int": pa.int32(), "long": pa.int64(), "bytes": pa.binary(), "string": pa.string()}


def records_of(data: bytes) -> tuple[Any, list[Any]]:
    reader = fastavro.reader(io.BytesIO(data))
    return reader.writer_schema, list(reader)


def arrow_type(schema: Any) -> pa.DataType:
    """The ORC form of an Avro type, as Java Paimon has it: a timestamp without a zone."""
    match schema:
        case list():
            return arrow_type(next(s for s in schema if s != "null"))
        case {"type": "record"}:
            return pa.struct([(f["name"], arrow_type(f["type"])) for f in schema["fields"]])
        case {"type": "array"}:
            return pa.list_(arrow_type(schema["items"]))
        case {"logicalType": "timestamp-millis"}:
            return pa.timestamp("ms")
        case {"type": kind}:
            return _ARROW[kind]
        case _:
            return _ARROW[schema]


def as_orc(data: bytes, *, compression: str = "zstd", drop: tuple[str, ...] = ()) -> bytes:
    """An Avro container as an ORC file, less some fields of the record or of its `_FILE`."""
    schema, records = records_of(data)
    schema["fields"] = [f for f in schema["fields"] if f["name"] not in drop]
    for field in schema["fields"]:
        if field["name"] == "_FILE":
            field["type"]["fields"] = [f for f in field["type"]["fields"] if f["name"] not in drop]
    for record in records:
        created = record.get("_FILE", {}).get("_CREATION_TIME")
        if created is not None:
            record["_FILE"]["_CREATION_TIME"] = created.replace(tzinfo=None)
    type_ = arrow_type(schema)
    columns = {f.name: pa.array([r[f.name] for r in records], f.type) for f in type_}
    out = io.BytesIO()
    orc.write_table(pa.table(columns), out, compression=compression)
    return out.getvalue()


def read(data: bytes) -> list[ManifestEntry]:
    meta = ManifestFileMeta(file_name="m", file_size=len(data), num_added_files=1, num_deleted_files=1, schema_id=0)
    return read_manifest(MemoryStore({"/t/manifest/m": data}), "/t", meta)


@pytest.mark.parametrize("compression", ["uncompressed", "zlib", "snappy", "lz4", "zstd"])
def test_entries_in_orc(compression: str) -> None:
    assert read(as_orc(write_manifest(ENTRIES), compression=compression)) == ENTRIES


@pytest.mark.parametrize("count", range(_OPTIONAL, 22))
def test_entries_in_orc_of_all_ages(count: int) -> None:
    names = [f["name"] for f in entry_schema(tail=True)["fields"][5]["type"]["fields"]]
    full, bare = read(as_orc(write_manifest(ENTRIES), drop=tuple(names[count:])))
    assert bare == ENTRIES[1]
    for name in names[:count]:
        attribute = name.lower().lstrip("_")
        assert getattr(full.file, attribute) == getattr(_FULL, attribute), name
    for name in names[count:]:
        assert getattr(full.file, name.lower().lstrip("_")) is None


def test_lists_in_orc() -> None:
    data = write_manifest(ENTRIES)
    metas = [describe("manifest-1", len(data), ENTRIES, [INT], 3)]
    for drop in ((), ("_MIN_BUCKET", "_MAX_BUCKET"), tuple(f["name"] for f in list_schema()["fields"][7:])):
        content = as_orc(write_list(metas), drop=drop)
        (found,) = read_list(MemoryStore({"/t/manifest/l": content}), "/t", "l", len(content))
        assert (found.file_name, found.file_size, found.partition_stats) == (
            "manifest-1",
            len(data),
            metas[0].partition_stats,
        )
        assert found.min_bucket == (None if drop else 0)


def test_an_empty_list_in_orc() -> None:
    content = as_orc(write_list([]))
    assert read_list(MemoryStore({"/t/manifest/l": content}), "/t", "l") == []


def test_a_damaged_orc_file_is_corrupt() -> None:
    data = as_orc(write_manifest(ENTRIES))
    for broken in (data[:-20], data[:3], b"ORC" + bytes(200)):
        with pytest.raises(CorruptMetadataError, match="manifest-1") as e:
            list(read_records(broken, source="manifest-1"))
        assert e.value.code == "LB5010"


@pytest.mark.parametrize("form", [lambda d: d, as_orc], ids=["avro", "orc"])
def test_entries_without_a_number_of_buckets(form: Callable[[bytes], bytes]) -> None:
    schema, records = records_of(write_manifest(ENTRIES))
    schema["fields"] = [f for f in schema["fields"] if f["name"] != "_TOTAL_BUCKETS"]
    out = io.BytesIO()
    fastavro.writer(out, schema, records)
    assert [e.total_buckets for e in read(form(out.getvalue()))] == [UNKNOWN_TOTAL] * 2


def as_codec(data: bytes, codec: str) -> bytes:
    schema, records = records_of(data)
    out = io.BytesIO()
    fastavro.writer(out, schema, records, codec=codec)
    return out.getvalue()


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "bzip2", "xz"])
def test_entries_in_every_codec_of_avro(codec: str) -> None:
    assert read(as_codec(write_manifest(ENTRIES), codec)) == ENTRIES


def as_snappy(data: bytes) -> bytes:
    """An uncompressed container with its blocks in Snappy; the checksum is not looked at."""

    def pack(number: int) -> bytes:
        out = b""
        number <<= 1
        while number > 0x7F:
            out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
        return out + bytes([number])

    def unpack(place: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte, place = data[place], place + 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value >> 1, place

    header = read_header(data)
    out, place = data[: header.length].replace(b"\x08null", b"\x0csnappy"), header.length
    while place < len(data):
        count, place = unpack(place)
        length, place = unpack(place)
        block = bytes(pa.Codec("snappy").compress(data[place : place + length])) + b"0000"
        out += pack(count) + pack(len(block)) + block + header.sync
        place += length + len(header.sync)
    return out


def test_snappy_needs_no_library_of_its_own() -> None:
    data = as_codec(write_manifest(ENTRIES), "null")
    assert read(as_snappy(data)) == ENTRIES
    plain = without_snappy(as_snappy(data), lambda block: bytes(pa.Codec("snappy").decompress(block, 5000)))
    assert read_header(plain).codec == "null"


def test_a_container_under_plain_types_gives_plain_numbers() -> None:
    schema = {"type": "record", "name": "r", "fields": [
        {"name": "t", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "logicalType", "type": {"type": "array", "items": {"type": "int", "logicalType": "date"}}},
    ]}  # fmt: skip
    out = io.BytesIO()
    rows = [{"t": 2**60, "logicalType": [2**30]}, {"t": None, "logicalType": []}]
    fastavro.writer(out, schema, rows, codec="deflate")
    data = out.getvalue()
    header = read_header(data)
    assert header.codec == "deflate"
    bare = with_schema(data, header, without_logical_types(header.schema))
    assert list(read_container(bare, source="x")) == rows


@pytest.mark.parametrize("length", [0, 3, 4, 5, 40, 200])
def test_a_header_that_is_cut_off(length: int) -> None:
    with pytest.raises((EOFError, ValueError)):
        read_header(write_manifest(ENTRIES)[:length])


@pytest.mark.parametrize("lists", [write_list, lambda m: as_orc(write_list(m))], ids=["avro", "orc"])
@pytest.mark.parametrize("manifests", [write_manifest, lambda e: as_orc(write_manifest(e))], ids=["avro", "orc"])
def test_a_table_may_mix_them(lists: Callable[[Any], bytes], manifests: Callable[[Any], bytes]) -> None:
    table = Built(MemoryStore(), table_schema([("id", "INT")]))
    before = table.append(table.new_file(name="data-1.parquet"))
    meta = DataFileMeta(file_name="data-2.parquet", file_size=1, row_count=1, schema_id=0)
    entries = [ManifestEntry(Kind.ADD, binary_row.EMPTY_ROW, 0, -1, meta)]
    content = manifests(entries)
    described = describe("manifest-new", len(content), entries, [], 0)
    for name, data in (("manifest-new", content), ("list-new", lists([described]))):
        table.store.create_if_absent(f"{table.path}/manifest/{name}", data)
    snapshot = Snapshot(
        id=2,
        schema_id=0,
        base_manifest_list=before.delta_manifest_list,
        delta_manifest_list="list-new",
        commit_user="u",
        commit_identifier=1,
        commit_kind="APPEND",
        time_millis=1,
        version=1,
    )
    assert table.names(snapshot) == ["data-1.parquet", "data-2.parquet"]
