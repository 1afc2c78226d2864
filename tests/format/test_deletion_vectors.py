"""Deletion vectors: both forms of bitmap, damage, and how the vector of a data file is found."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format.building import PATH, table_schema
from format.laid_out import LaidOut, Vector, bitmap, framed
from lakebed.errors import CorruptMetadataError, LakebedError, LakebedWarning
from lakebed.format.deletion_vectors import DeletionVector, decode, read_positions
from lakebed.format.index_manifest import read_index_manifest
from lakebed.format.live_files import plan_files
from lakebed.format.snapshot import SnapshotManager
from lakebed.testing.memory_store import MemoryStore

BITS = (32, 64)
SMALL = st.sets(st.one_of(st.integers(0, 300), st.integers(0, 2**32 - 1)), max_size=200)
LARGE = st.sets(st.one_of(st.integers(0, 300), st.integers(0, 2**40)), max_size=200)
PARTITIONED = table_schema([("k", "STRING"), ("v", "BIGINT")], partition_keys=["k"])
PLAIN = table_schema([("v", "BIGINT")])


def _at(offset: int, **parts: Any) -> DeletionVector:
    return DeletionVector("index-0", offset, None, **{"cardinality": None} | parts)


@pytest.mark.parametrize(("bits", "positions"), [(32, SMALL), (64, LARGE)])
def test_what_is_written_is_read(bits: int, positions: Any) -> None:
    @given(positions, st.binary(max_size=9))
    def law(wanted: set[int], before: bytes) -> None:
        data = before + framed(bitmap(wanted, bits)) + b"what follows"
        assert list(decode(data, _at(len(before), cardinality=len(wanted)))) == sorted(wanted)

    law()


def test_the_bytes_of_another_implementation() -> None:
    data = bytes.fromhex("01000000165e43f2d03a300000010000000000000010000000" + "0100fa2b5192")
    assert list(decode(data, DeletionVector("index-0", 1, 22, 1))) == [1]


def test_runs_and_dense_containers() -> None:
    for bits in BITS:
        wanted = [*range(70_000), *range(100_000, 300_000, 2)]
        assert list(decode(framed(bitmap(wanted, bits)), _at(0))) == wanted


@pytest.mark.parametrize("bits", BITS)
def test_damage_is_an_error_and_never_other_positions(bits: int) -> None:
    whole = framed(bitmap([1, 5, 70_000, *range(200_000, 200_100)], bits))
    wanted = list(decode(whole, _at(0)))

    @given(st.integers(0, len(whole) - 1), st.integers(1, 255))
    def changed_byte(place: int, change: int) -> None:
        data = bytearray(whole)
        data[place] ^= change
        with pytest.raises(CorruptMetadataError) as caught:
            decode(bytes(data), _at(0))
        assert caught.value.code == "LB5010"
        assert "index-0" in str(caught.value)

    changed_byte()
    for end in range(len(whole)):
        with pytest.raises(CorruptMetadataError):
            decode(whole[:end], _at(0))
    assert list(decode(whole + b"\0", _at(0))) == wanted


@pytest.mark.parametrize("bits", BITS)
def test_a_bitmap_that_is_wrong_although_its_checksum_is_right(bits: int) -> None:
    whole = bitmap([1, 5, 70_000, *range(200_000, 200_100)], bits)

    @settings(max_examples=300)
    @given(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), min_size=1, max_size=4), st.data())
    def law(changes: list[tuple[int, int]], data: Any) -> None:
        payload = bytearray(whole)
        for place, value in changes:
            payload[place] = value
        payload = payload[: data.draw(st.integers(8, len(whole)))]
        try:
            found = decode(framed(bytes(payload)), _at(0, rows=10**6))
        except CorruptMetadataError:
            return
        assert list(found) == sorted(set(found))
        assert all(0 <= p < 10**6 for p in found)

    law()


@pytest.mark.parametrize("offset", [-1, 100, 2**31 - 1])
def test_a_vector_outside_of_its_file(offset: int) -> None:
    with pytest.raises(CorruptMetadataError):
        decode(framed(bitmap([1], 32)), _at(offset))


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"cardinality": 3}, "holds 2 positions where 3 are promised"),
        ({"rows": 9}, "deletes row 9 of a file of 9 rows"),
    ],
)
def test_promises_that_are_not_kept(parts: dict[str, int], said: str) -> None:
    with pytest.raises(CorruptMetadataError, match=said):
        decode(framed(bitmap([4, 9], 32)), _at(0, **parts))
    assert list(decode(framed(bitmap([4, 9], 32)), _at(0, cardinality=2, rows=10))) == [4, 9]


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(CorruptMetadataError, match="no bitmap of a known form"):
        decode(framed(struct.pack(">i", 7) + b"12345678"), _at(0))


def test_an_index_file_is_read_once() -> None:
    reads: list[str] = []

    class Counting(MemoryStore):
        def read(self, path: str) -> bytes:
            reads.append(path)
            return super().read(path)

    store = Counting()
    first, second = framed(bitmap([1], 32)), framed(bitmap([2, 3], 64))
    store.create_if_absent("/i", first + second)
    vectors = [DeletionVector("/i", 0, None, 1), DeletionVector("/i", len(first), None, 2)]
    assert [list(p) for p in read_positions(store, vectors)] == [[1], [2, 3]]
    assert reads == ["/i"]


# --- which vector is whose --------------------------------------------------------------------------------------------


def _deleted(table: LaidOut) -> dict[str, list[int]]:
    """The deleted positions of the planned files, by path within the table."""
    snapshot = SnapshotManager(table.store, table.path).latest()
    assert snapshot is not None
    files = plan_files(table.store, table.path, snapshot, table.schema)
    found = {}
    for file in files:
        if file.deletions is not None:
            assert file.deletions.rows == file.meta.row_count
            (positions,) = read_positions(table.store, [file.deletions])
            found[file.path.removeprefix(f"{table.path}/")] = list(positions)
    return found


def test_two_partitions_may_have_a_file_of_the_same_name() -> None:
    table = LaidOut(MemoryStore(), PATH, PARTITIONED)
    for key in ("a", "b", "c"):
        table.add("data-0.parquet", b"x", 10, (key,))
    table.delete({"data-0.parquet": Vector([1])}, ("a",))
    table.delete({"data-0.parquet": Vector([2], bits=64)}, ("b",))
    table.commit()
    assert _deleted(table) == {"k=a/bucket-0/data-0.parquet": [1], "k=b/bucket-0/data-0.parquet": [2]}


def test_vectors_beside_the_data_and_outside_of_the_table() -> None:
    beside = replace(PARTITIONED, options={"index-file-in-data-file-dir": "TRUE"})
    table = LaidOut(MemoryStore(), PATH, beside)
    for number in range(2):
        table.add(f"data-{number}.parquet", b"x", 10, ("a",))
    table.delete({"data-0.parquet": Vector([1], place="data")}, ("a",))
    table.delete({"data-1.parquet": Vector([2], place="/elsewhere/index-9")}, ("a",))
    table.commit()
    assert _deleted(table) == {"k=a/bucket-0/data-0.parquet": [1], "k=a/bucket-0/data-1.parquet": [2]}


def test_an_index_file_that_is_removed_deletes_nothing() -> None:
    table = LaidOut(MemoryStore(), PATH, PLAIN)
    table.add("data-0.parquet", b"x", 10)
    table.delete({"data-0.parquet": Vector([1])})
    table.indexes.append(table.indexes[0] | {"_KIND": 1})
    table.commit()
    assert _deleted(table) == {}
    table.indexes.pop()
    table.commit()
    assert _deleted(table) == {"bucket-0/data-0.parquet": [1]}


def test_each_snapshot_has_its_own_vectors() -> None:
    table = LaidOut(MemoryStore(), PATH, PLAIN)
    table.add("data-0.parquet", b"x", 10)
    first = table.commit()
    table.delete({"data-0.parquet": Vector([1, 2])})
    second = table.commit()
    assert read_index_manifest(table.store, PATH, first) == []
    (index,) = read_index_manifest(table.store, PATH, second)
    assert dict(index.ranges) == {"data-0.parquet": (1, len(bitmap([1, 2], 32)), 2)}


def _two_files() -> LaidOut:
    """Two files in two partitions, each with a vector; the vectors lie in one index file a partition."""
    table = LaidOut(MemoryStore(), PATH, PARTITIONED)
    for key in ("a", "b"):
        table.add(f"data-{key}.parquet", b"x", 10, (key,))
        table.delete({f"data-{key}.parquet": Vector([1])}, (key,))
    return table


def _range(table: LaidOut, **parts: Any) -> list[dict[str, Any]]:
    return [table.indexes[0]["_DELETIONS_VECTORS_RANGES"][0] | parts]


RANGES = "_DELETIONS_VECTORS_RANGES"
#: What is changed of the first entry of the index manifest, the code that says so, and a part of the message.
DAMAGES: dict[str, tuple[Callable[[LaidOut], dict[str, Any]], str, str]] = {
    "no ranges": (lambda t: {RANGES: None}, "LB5075", "ranges for 0 data files where index file index-0 holds 1"),
    "a range too few": (lambda t: {"_ROW_COUNT": 2}, "LB5075", "for 1 data files"),
    "a range twice": (lambda t: {RANGES: _range(t) * 2, "_ROW_COUNT": 2}, "LB5075", "for 1 data files"),
    "a removal of what was never added": (lambda t: {"_KIND": 1}, "LB5075", "is removed, which it does not hold"),
    "an unknown kind": (lambda t: {"_KIND": 2}, "LB5076", "an entry of kind 2"),
    "an unknown type": (lambda t: {"_INDEX_TYPE": "DELETION_VECTORX"}, "LB5076", "'DELETION_VECTORX'"),
    "vectors of a hash index": (lambda t: {"_INDEX_TYPE": "HASH"}, "LB5075", "type HASH has ranges"),
    "another version": (lambda t: {"_VERSION": 2}, "LB5076", "version 2"),
    "another bucket": (
        lambda t: {"_BUCKET": 1},
        "LB5075",
        "in bucket 1 of partition ('a',); the file is live in b",
    ),
    "another partition": (lambda t: {"_PARTITION": t.indexes[1]["_PARTITION"]}, "LB5075", "live in bucket 0 of partit"),
    "outside of its file": (lambda t: {"_FILE_SIZE": 9}, "LB5075", "which has 9"),
    "before its file": (lambda t: {RANGES: _range(t, f1=0)}, "LB5075", "from 0"),
    "too short": (lambda t: {RANGES: _range(t, f2=3)}, "LB5075", "takes 3 bytes"),
    "another length": (lambda t: {RANGES: _range(t, f2=10)}, "LB5010", "where 10 are promised"),
    "another size": (lambda t: {"_FILE_SIZE": 1000}, "LB5010", "where 1000 are promised"),
    "another cardinality": (lambda t: {RANGES: _range(t, _CARDINALITY=2)}, "LB5010", "where 2 are promised"),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_an_index_manifest_is_held_against_what_it_names(case: str) -> None:
    changed, code, said = DAMAGES[case]
    table = _two_files()
    table.commit()
    assert _deleted(table) == {"k=a/bucket-0/data-a.parquet": [1], "k=b/bucket-0/data-b.parquet": [1]}
    table.indexes[0] = table.indexes[0] | changed(table)
    table.commit()
    with pytest.raises(LakebedError) as caught:
        _deleted(table)
    assert caught.value.code == code
    assert said in str(caught.value)
    assert "index" in (caught.value.diagnostics[0].path or "")


def test_two_vectors_for_one_file() -> None:
    table = LaidOut(MemoryStore(), PATH, PLAIN)
    table.add("data-0.parquet", b"x", 10)
    table.delete({"data-0.parquet": Vector([1])})
    table.delete({"data-0.parquet": Vector([2])})
    table.commit()
    with pytest.raises(CorruptMetadataError, match="two deletion vectors for data-0") as caught:
        _deleted(table)
    assert caught.value.code == "LB5075"


def test_a_vector_that_was_left_behind_is_told_and_deletes_nothing() -> None:
    """Engines leave vectors behind when they rewrite the files."""
    table = _two_files()
    table.entries.pop(0)
    table.commit()
    with pytest.warns(LakebedWarning, match="that are not live: data-a.parquet") as caught:
        assert _deleted(table) == {"k=b/bucket-0/data-b.parquet": [1]}
    assert [w.message.diagnostic.code for w in caught if isinstance(w.message, LakebedWarning)] == ["LB5078"]


def test_vectors_of_partitions_that_are_not_looked_at_say_nothing() -> None:
    table = _two_files()
    snapshot = table.commit()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (file,) = plan_files(table.store, PATH, snapshot, PARTITIONED, partition_filter=lambda values: values == ("a",))
    assert file.deletions is not None


def test_a_snapshot_that_counts_other_rows_than_its_files_have() -> None:
    table = _two_files()
    snapshot = table.commit()
    with pytest.warns(LakebedWarning, match="have 20 rows in all, and the snapshot says 21"):
        plan_files(table.store, PATH, replace(snapshot, total_record_count=21), PARTITIONED)


def test_a_damaged_index_manifest_names_itself() -> None:
    table = LaidOut(MemoryStore(), PATH, PLAIN)
    table.add("data-0.parquet", b"x", 10)
    table.delete({"data-0.parquet": Vector([1])})
    snapshot = table.commit()
    path = f"{PATH}/manifest/{snapshot.index_manifest}"
    whole = table.store.read(path)
    for end in range(0, len(whole), 7):
        table.store.replace(path, whole[:end])
        with pytest.raises(LakebedError) as caught:
            read_index_manifest(table.store, PATH, snapshot)
        assert path in str(caught.value)
