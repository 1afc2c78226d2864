from __future__ import annotations

import io
import random
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format import binary_row, snapshot
from lakebed.format.avro_schemas import entry_schema, list_schema, read_container, write_container
from lakebed.format.live_files import snapshot_manifests
from lakebed.format.manifest import (
    EMPTY_STATS,
    ColumnStatistics,
    DataFileMeta,
    Kind,
    ManifestEntry,
    ManifestFileMeta,
    SimpleStats,
    describe,
    partition_statistics,
    read_list,
    read_manifest,
    write_list,
    write_manifest,
)
from lakebed.physical import parse
from lakebed.store import LocalStore
from lakebed.testing.memory_store import MemoryStore

INT, STRING = parse("INT"), parse("STRING")


def _file(name: str = "data-1-0.parquet", **parts: Any) -> DataFileMeta:
    return replace(DataFileMeta(file_name=name, file_size=100, row_count=3, schema_id=1), **parts)


def _entry(partition: Any = 1, kind: Kind = Kind.ADD, **parts: Any) -> ManifestEntry:
    return ManifestEntry(int(kind), binary_row.encode([INT], [partition]), 0, -1, _file(**parts))


def _read(data: bytes, **parts: Any) -> list[ManifestEntry]:
    kinds = [record["_KIND"] for record in read_container(data, source="m")]
    counts = {"num_added_files": kinds.count(Kind.ADD), "num_deleted_files": kinds.count(Kind.DELETE)}
    meta = ManifestFileMeta(**{"file_name": "m", "file_size": len(data), "schema_id": 0} | counts | parts)
    return read_manifest(MemoryStore({"/t/manifest/m": data}), "/t", meta)


def _records(data: bytes) -> tuple[Any, list[Any]]:
    reader = fastavro.reader(io.BytesIO(data))
    return reader.writer_schema, list(reader)


_NAMES = st.text(min_size=1, max_size=10)
_COUNTS = st.lists(st.none() | st.integers(0, 2**63 - 1), max_size=3).map(tuple)
_STATS = st.builds(SimpleStats, st.binary(max_size=20), st.binary(max_size=20), _COUNTS)
_LONGS = st.integers(-(2**63), 2**63 - 1)
_FILES = st.builds(
    DataFileMeta,
    file_name=_NAMES,
    file_size=_LONGS,
    row_count=_LONGS,
    schema_id=_LONGS,
    value_stats=_STATS,
    min_key=st.binary(max_size=8),
    max_key=st.binary(max_size=8),
    key_stats=_STATS,
    min_sequence_number=_LONGS,
    max_sequence_number=_LONGS,
    level=st.integers(0, 5),
    extra_files=st.lists(_NAMES, max_size=2).map(tuple),
    creation_time=st.none() | st.integers(0, 4 * 10**12) | _LONGS,
    delete_row_count=st.none() | _LONGS,
    embedded_file_index=st.none() | st.binary(max_size=5),
    file_source=st.sampled_from([None, 0, 1]),
    value_stats_cols=st.none() | st.lists(_NAMES, max_size=2).map(tuple),
    external_path=st.none() | _NAMES,
    first_row_id=st.none() | _LONGS,
    write_cols=st.none() | st.lists(_NAMES, max_size=2).map(tuple),
    write_cols_sequences=st.none() | st.lists(_LONGS, max_size=2).map(tuple),
)
_ENTRIES = st.builds(
    ManifestEntry, st.sampled_from([0, 1]), st.binary(max_size=20), st.integers(-2, 9), st.integers(-2, 9), _FILES
)


@given(st.lists(_ENTRIES, max_size=4), st.sampled_from(["zstd", "deflate", "none", "lz4", ""]))
def test_reading_a_manifest_undoes_writing_it(entries: list[ManifestEntry], compression: str) -> None:
    assert _read(write_manifest(entries, compression=compression)) == entries


_METAS = st.builds(
    ManifestFileMeta,
    file_name=_NAMES,
    file_size=_LONGS,
    num_added_files=_LONGS,
    num_deleted_files=_LONGS,
    schema_id=_LONGS,
    partition_stats=_STATS,
    min_bucket=st.none() | st.integers(0, 9),
    max_level=st.none() | st.integers(0, 9),
    max_row_id=st.none() | _LONGS,
    total_buckets=st.none() | st.integers(-2, 9),
    extra_files=st.none() | st.lists(_NAMES, max_size=2).map(tuple),
)


@given(st.lists(_METAS, max_size=4))
def test_reading_a_list_undoes_writing_it(metas: list[ManifestFileMeta]) -> None:
    data = write_list(metas)
    assert read_list(MemoryStore({"/t/manifest/l": data}), "/t", "l", len(data)) == metas


def _nullable_fields(schema: Any) -> list[Any]:
    found = []
    for field in schema["fields"]:
        kind = field["type"]
        if isinstance(kind, list):
            found.append(kind)
        elif isinstance(kind, dict) and kind["type"] == "record":
            found += _nullable_fields(kind)
    return found


def test_what_is_written_is_what_other_readers_insist_on() -> None:
    schema, records = _records(write_manifest([_entry()]))
    assert [f["name"] for f in schema["fields"]] == [
        "_VERSION", "_KIND", "_PARTITION", "_BUCKET", "_TOTAL_BUCKETS", "_FILE",
    ]  # fmt: skip
    assert records[0]["_VERSION"] == 2
    file = schema["fields"][5]["type"]
    assert [f["name"] for f in file["fields"]][16:] == [
        "_VALUE_STATS_COLS",
        "_EXTERNAL_PATH",
        "_FIRST_ROW_ID",
        "_WRITE_COLS",
    ]
    assert "_WRITE_COLS" in records[0]["_FILE"]
    longs = {"_FILE_SIZE", "_ROW_COUNT", "_MIN_SEQUENCE_NUMBER", "_MAX_SEQUENCE_NUMBER", "_SCHEMA_ID"}
    assert {f["name"] for f in file["fields"] if f["type"] == "long"} == longs
    assert records[0]["_FILE"]["_VALUE_STATS"]["_NULL_COUNTS"] == []
    for kind in _nullable_fields(schema) + _nullable_fields(_records(write_list([]))[0]):
        assert kind[0] == "null"


def test_fields_of_one_writer_only_are_written_where_they_are_known() -> None:
    plain, _ = _records(write_list([]))
    assert len(plain["fields"]) == 13
    meta = ManifestFileMeta(
        file_name="m", file_size=1, num_added_files=1, num_deleted_files=0, schema_id=0, total_buckets=4
    )
    assert len(_records(write_list([meta]))[0]["fields"]) == 15
    newest = _entry(write_cols_sequences=(1,))
    assert len(_records(write_manifest([newest]))[0]["fields"][5]["type"]["fields"]) == 21


def _narrowed(count: int, *, union: bool = False) -> Any:
    """The entry schema with the first `count` fields of a file only, as older writers have it."""
    schema = entry_schema(tail=True)
    file = schema["fields"][5]["type"]
    file["fields"] = file["fields"][:count]
    return ["null", schema] if union else schema


@pytest.mark.parametrize("union", [False, True])
@pytest.mark.parametrize("count", [12, 15, 16, 17, 18, 19, 20, 21])
def test_manifests_of_all_ages_are_read(count: int, union: bool) -> None:
    entries = [_entry(), _entry(2, Kind.DELETE, level=3)]
    _, records = _records(write_manifest([replace(e, file=replace(e.file, write_cols_sequences=())) for e in entries]))
    data = write_container(_narrowed(count, union=union), records, "zstd")
    if count == 21:
        entries = [replace(e, file=replace(e.file, write_cols_sequences=())) for e in entries]
    assert _read(data) == entries


def test_statistics_may_be_null() -> None:
    schema = entry_schema()
    for field in schema["fields"][5]["type"]["fields"]:
        if field["name"].endswith("_STATS"):
            field["type"] = ["null", field["type"]]
    _, records = _records(write_manifest([_entry()]))
    records[0]["_FILE"] |= {"_KEY_STATS": None, "_VALUE_STATS": None}
    found = _read(write_container(schema, records, "zstd"))[0].file
    assert (found.key_stats, found.value_stats) == (EMPTY_STATS, EMPTY_STATS)


@pytest.mark.parametrize("data", [b"", b"Obj", b"Obj\x01", b"{}", b"Obj\x01" + bytes(50)])
def test_what_is_no_container_is_corrupt(data: bytes) -> None:
    with pytest.raises(CorruptMetadataError) as e:
        list(read_container(data, source="manifest-1"))
    assert e.value.code == "LB5010"
    assert "manifest-1" in str(e.value)


@pytest.mark.parametrize(("data", "found"), [(b"ORC\x11", "ORC"), (b"PAR1", "Parquet")])
def test_other_formats_are_refused_by_name(data: bytes, found: str) -> None:
    with pytest.raises(UnsupportedError, match=found) as e:
        list(read_container(data, source="manifest-1"))
    assert e.value.code == "LB5011"


def test_a_cut_off_manifest_never_loses_entries_silently() -> None:
    entries = [_entry(i, name=f"data-{i}") for i in range(40)]
    data = write_manifest(entries, compression="none")
    meta = describe("m", len(data), entries, [INT], 0)
    for length in range(0, len(data), 7):
        with pytest.raises(CorruptMetadataError):
            read_manifest(MemoryStore({"/t/manifest/m": data[:length]}), "/t", meta)
    with pytest.raises(CorruptMetadataError, match="bytes"):
        read_list(MemoryStore({"/t/manifest/l": data[:50]}), "/t", "l", len(data))


@given(st.data())
def test_a_damaged_manifest_is_an_error_or_entries_never_a_crash(data: st.DataObject) -> None:
    content = bytearray(write_manifest([_entry(), _entry(2)], compression="none"))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    meta = ManifestFileMeta(file_name="m", file_size=len(content), num_added_files=2, num_deleted_files=0, schema_id=0)
    try:
        found = read_manifest(MemoryStore({"/t/manifest/m": bytes(content)}), "/t", meta)
    except (CorruptMetadataError, UnsupportedError):
        return
    assert len(found) == 2


def test_a_manifest_with_fewer_entries_than_promised_is_corrupt() -> None:
    with pytest.raises(CorruptMetadataError, match="adds 1 files and deletes 0 where its list promises 2 and 0"):
        _read(write_manifest([_entry()]), num_added_files=2)


def test_adds_and_deletes_are_told_apart() -> None:
    data = write_manifest([_entry(), _entry(2, Kind.DELETE)])
    with pytest.raises(CorruptMetadataError, match="adds 1 files and deletes 1 where its list promises 2 and 0"):
        _read(data, num_added_files=2, num_deleted_files=0)


@pytest.mark.parametrize("kind", [-1, 2, 7])
def test_an_entry_of_an_unknown_kind_is_corrupt(kind: int) -> None:
    data = write_manifest([replace(_entry(), kind=kind)])
    with pytest.raises(CorruptMetadataError, match=f"entry of kind {kind} for "):
        _read(data, num_added_files=1)


def test_another_version_is_refused() -> None:
    _, records = _records(write_manifest([_entry()]))
    records[0]["_VERSION"] = 3
    with pytest.raises(UnsupportedError) as e:
        _read(write_container(entry_schema(), records, "zstd"))
    assert e.value.code == "LB5013"


def test_a_record_without_a_needed_part_is_corrupt() -> None:
    schema = list_schema()
    schema["fields"] = [f for f in schema["fields"] if f["name"] != "_FILE_SIZE"]
    _, records = _records(write_list([describe("m", 1, [_entry()], [INT], 0)]))
    data = write_container(schema, records, "zstd")
    with pytest.raises(CorruptMetadataError, match="_FILE_SIZE"):
        read_list(MemoryStore({"/t/manifest/l": data}), "/t", "l")


def test_the_description_of_a_manifest() -> None:
    entries = [_entry(3), _entry(None, level=2), replace(_entry(1, Kind.DELETE), bucket=4)]
    found = describe("m", 77, entries, [INT], 5)
    assert (found.num_added_files, found.num_deleted_files, found.schema_id, found.file_size) == (2, 1, 5, 77)
    assert (found.min_bucket, found.max_bucket, found.min_level, found.max_level) == (0, 4, 0, 2)
    assert found.partition_stats.decode([INT]) == (ColumnStatistics(1, 3, 1),)


def test_partition_statistics_leave_nulls_out_of_the_bounds() -> None:
    types = [parse("DATE"), STRING]
    rows = [(19857, "b"), (None, "a"), (19000, "b")]
    found = partition_statistics(types, [binary_row.encode(types, r) for r in rows])
    assert found.decode(types) == (ColumnStatistics(19000, 19857, 1), ColumnStatistics("a", "b", 0))
    assert found.null_counts == (1, 0)
    none = partition_statistics([STRING], [binary_row.encode([STRING], [None])] * 2)
    assert none.decode([STRING]) == (ColumnStatistics(None, None, 2),)
    assert partition_statistics([], [binary_row.EMPTY_ROW]) == EMPTY_STATS


@pytest.mark.parametrize(
    ("type_", "values", "low", "high"),
    [
        ("STRING", ["é", "z", "🦆", "\uffff"], "z", "🦆"),
        ("BYTES", [b"\xff", b"\x00"], b"\x00", b"\xff"),
        ("DECIMAL(10, 2)", [Decimal("9.00"), Decimal("10.00")], Decimal("9.00"), Decimal("10.00")),
        ("BOOLEAN", [True, False], False, True),
        ("DOUBLE", [0.0, -0.0], "-0.0", "0.0"),
        ("DOUBLE", [1.0, float("nan"), -1.0], "-1.0", "nan"),
    ],
)
def test_partition_bounds_are_in_the_order_of_the_format(type_: str, values: list[Any], low: Any, high: Any) -> None:
    types = [parse(type_)]
    random.Random(1).shuffle(values)
    (found,) = partition_statistics(types, [binary_row.encode(types, [v]) for v in values]).decode(types)
    if type_ == "DOUBLE":
        assert (str(found.minimum), str(found.maximum)) == (low, high)
    else:
        assert (found.minimum, found.maximum) == (low, high)


def _is_avro(path: Path) -> bool:
    return path.read_bytes()[:3] == b"Obj"


def test_real_manifests_are_read_and_keep_their_promises(shared: Path) -> None:
    read = 0
    for path in sorted((shared / "tables").glob("*/*/*/snapshot/snapshot-*")):
        table = str(path.parent.parent)
        found = snapshot.loads(path.read_bytes(), source=str(path))
        for meta in snapshot_manifests(LocalStore(), table, found):
            for entry in read_manifest(LocalStore(), table, meta):
                assert entry.file.file_name
                read += 1
    assert read > 100


def test_real_entries_survive_being_written_again(shared: Path) -> None:
    for path in sorted((shared / "tables").glob("*/*/*/snapshot/snapshot-*")):
        table = str(path.parent.parent)
        found = snapshot.loads(path.read_bytes(), source=str(path))
        if not _is_avro(Path(table, "manifest", found.base_manifest_list)):
            continue
        metas = snapshot_manifests(LocalStore(), table, found)
        data = write_list(metas)
        assert read_list(MemoryStore({"/t/manifest/l": data}), "/t", "l", len(data)) == metas
        for meta in metas:
            entries = read_manifest(LocalStore(), table, meta)
            assert _read(write_manifest(entries)) == entries
