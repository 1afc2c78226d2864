from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from format.building import PATH, Built, table_schema
from lakebed.errors import CorruptMetadataError
from lakebed.format import binary_row
from lakebed.format.live_files import PartitionBounds, files_of_user, live_entries, partition_types
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.manifest_writer import ManifestWriter
from lakebed.format.snapshot import Snapshot
from lakebed.physical import parse
from lakebed.testing.memory_store import MemoryStore

MONTHLY = table_schema([("month", "INT"), ("kind", "STRING"), ("v", "BIGINT")], partition_keys=["month"])
TWO_KEYS = table_schema([("month", "INT"), ("kind", "STRING"), ("v", "BIGINT")], partition_keys=["kind", "month"])


def _built(schema: Any = MONTHLY) -> Built:
    return Built(MemoryStore(), schema)


def _remove(table: Built, names: set[str]) -> Snapshot:
    """Commit DELETE entries for live files, as another engine's overwrite does."""
    latest = table.storage.snapshots.latest()
    assert latest is not None
    writer = ManifestWriter(table.store, table.path, table.schema)
    types = partition_types(table.schema)
    deletes = [
        ManifestEntry(Kind.DELETE, binary_row.encode(types, f.partition), f.bucket, f.total_buckets, f.meta)
        for f in table.plan()
        if f.meta.file_name in names
    ]
    from lakebed.format.live_files import snapshot_manifests

    base, _ = writer.write_list(snapshot_manifests(table.store, table.path, latest))
    delta, _ = writer.write_list(writer.write(deletes))
    snapshot = replace(
        latest,
        id=latest.id + 1,
        base_manifest_list=base,
        base_manifest_list_size=None,
        delta_manifest_list=delta,
        delta_manifest_list_size=None,
        commit_user="other",
        commit_kind="OVERWRITE",
        total_record_count=(latest.total_record_count or 0) - sum(e.file.row_count for e in deletes),
    )
    assert table.storage.snapshots.publish(snapshot)
    return snapshot


def test_a_table_without_partitions() -> None:
    table = _built(table_schema([("v", "BIGINT")]))
    table.append(table.new_file(name="a.parquet", rows=3))
    table.append(table.new_file(name="b.parquet"))
    first, second = table.plan()
    assert (first.path, first.size, first.partition, first.bucket, first.total_buckets) == (
        f"{PATH}/bucket-0/a.parquet", 10, (), 0, -1,
    )  # fmt: skip
    assert second.path == f"{PATH}/bucket-0/b.parquet"
    assert (first.meta.row_count, first.meta.schema_id) == (3, 0)


def test_paths_of_partitions() -> None:
    table = _built(TWO_KEYS)
    table.append(table.new_file(("a/b", 3), name="x.parquet"), table.new_file((None, 3), name="y.parquet"))
    assert [f.path for f in table.plan()] == [
        f"{PATH}/kind=a%2Fb/month=3/bucket-0/x.parquet",
        f"{PATH}/kind=__DEFAULT_PARTITION__/month=3/bucket-0/y.parquet",
    ]
    assert [f.partition for f in table.plan()] == [("a/b", 3), (None, 3)]


def test_null_and_empty_share_a_directory_and_stay_apart() -> None:
    table = _built(table_schema([("k", "STRING")], partition_keys=["k"]))
    table.append(table.new_file((None,), name="n.parquet"), table.new_file(("",), name="e.parquet"))
    assert {f.path.rsplit("/", 1)[0] for f in table.plan()} == {f"{PATH}/k=__DEFAULT_PARTITION__/bucket-0"}
    assert [f.partition for f in table.plan()] == [(None,), ("",)]
    assert table.names(partition_filter=lambda p: p == ("",)) == ["e.parquet"]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("FILE:/tmp/external/a.parquet", "/tmp/external/a.parquet"),
        ("file:///tmp/a.parquet", "/tmp/a.parquet"),
        ("s3://bucket/a.parquet", "s3://bucket/a.parquet"),
        ("/tmp/a.parquet", "/tmp/a.parquet"),
    ],
)
def test_files_outside_of_the_table(url: str, path: str) -> None:
    table = _built()
    entry = table.new_file((1,))
    table.append(replace(entry, file=replace(entry.file, external_path=url)))
    assert [f.path for f in table.plan()] == [path]


def test_data_in_a_directory_of_its_own() -> None:
    table = _built(table_schema([("v", "INT")], options={"data-file.path-directory": "data"}))
    table.append(table.new_file(name="a.parquet"))
    assert [f.path for f in table.plan()] == [f"{PATH}/data/bucket-0/a.parquet"]


def test_files_come_in_the_order_of_their_commits() -> None:
    table = _built()
    names = [f"data-{i}.parquet" for i in (3, 1, 2)]
    for name in names:
        table.append(table.new_file((7,), name=name))
    assert table.names() == names


def test_deleted_files_are_gone_from_then_on() -> None:
    table = _built()
    first = table.append(*(table.new_file((i,), name=f"{i}.parquet") for i in range(4)))
    second = _remove(table, {"1.parquet", "3.parquet"})
    third = table.append(table.new_file((9,), name="9.parquet"))
    assert table.names(first) == ["0.parquet", "1.parquet", "2.parquet", "3.parquet"]
    assert table.names(second) == ["0.parquet", "2.parquet"]
    assert table.names(third) == ["0.parquet", "2.parquet", "9.parquet"]


def _entry(name: str, kind: Kind = Kind.ADD, partition: bytes | None = None, **parts: Any) -> ManifestEntry:
    table = _built()
    meta = replace(table.new_file((1,), name=name).file, **parts)
    return ManifestEntry(kind, partition or binary_row.encode([parse("INT")], [1]), 0, -1, meta)


INT = [parse("INT")]


def test_the_place_of_a_delete_does_not_matter() -> None:
    entries = [_entry("a"), _entry("b")]
    for gone in ([_entry("a", Kind.DELETE), *entries], [*entries, _entry("a", Kind.DELETE)]):
        assert [e.file.file_name for e in live_entries(gone, INT)] == ["b"]


@pytest.mark.parametrize(
    "other", [{"level": 1}, {"extra_files": ("x",)}, {"embedded_file_index": b"x"}, {"external_path": "/x"}]
)
def test_a_delete_of_another_identity_deletes_nothing(other: dict[str, Any]) -> None:
    assert len(live_entries([_entry("a"), _entry("a", Kind.DELETE, **other)], INT)) == 1


def test_both_encodings_of_a_null_partition_are_the_same_partition() -> None:
    types = [parse("TIMESTAMP(6)")]
    reserved = bytes.fromhex("000000010001000000000000000000001000000000000000" + "00" * 4)
    plain = binary_row.encode(types, [None])
    assert reserved != plain
    entries = [_entry("a", partition=reserved), _entry("a", Kind.DELETE, partition=plain)]
    assert live_entries(entries, types) == []


def test_a_file_that_is_added_twice_counts_once() -> None:
    assert len(live_entries([_entry("a"), _entry("a")], INT)) == 1


def _reads(table: Built, **parts: Any) -> tuple[list[str], int]:
    """The names of the plan, and how many manifests were read for it."""
    assert isinstance(table.store, MemoryStore)
    table.store.operations.clear()
    names = table.names(**parts)
    read = [o.path.rsplit("/", 1)[1] for o in table.store.operations if o.name == "read"]
    return names, sum(n.startswith("manifest-") and not n.startswith("manifest-list-") for n in read)


def test_manifests_of_one_unwanted_partition_are_not_read() -> None:
    table = _built()
    for month in range(1, 7):
        table.append(*(table.new_file((month,), name=f"{month}-{i}.parquet") for i in range(3)))
    table.append(table.new_file((None,), name="null.parquet"))
    table.append(*(table.new_file((m,), name=f"mixed-{m}.parquet") for m in (1, 9)))
    assert _reads(table)[1] == 8
    names, read = _reads(table, partition_filter=lambda p: p == (3,))
    assert names == ["3-0.parquet", "3-1.parquet", "3-2.parquet"]
    assert read == 2
    assert _reads(table, partition_filter=lambda p: p == (None,)) == (["null.parquet"], 2)


def test_manifests_are_dropped_by_the_bounds_of_their_partitions() -> None:
    table = _built()
    for low in (0, 10, 20):
        table.append(*(table.new_file((low + i,), name=f"{low + i}.parquet") for i in range(3)))
    seen: list[PartitionBounds] = []

    def may_match(bounds: PartitionBounds) -> bool:
        seen.append(bounds)
        return bool(bounds.maximum[0] >= 21)

    assert _reads(table, manifest_filter=may_match, partition_filter=lambda p: p[0] >= 21) == (
        ["21.parquet", "22.parquet"],
        1,
    )
    assert seen[0] == PartitionBounds((0,), (2,), (0,), 3)


@pytest.mark.parametrize(
    ("bounds", "only"),
    [
        (PartitionBounds((1,), (1,), (0,), 2), (1,)),
        (PartitionBounds((None,), (None,), (2,), 2), (None,)),
        (PartitionBounds((1,), (1,), (1,), 2), None),
        (PartitionBounds((1,), (2,), (0,), 2), None),
        (PartitionBounds((1,), (1,), (None,), 2), None),
        (PartitionBounds((None,), (None,), (None,), 2), None),
        (PartitionBounds((None,), (None,), (1,), 2), None),
        (PartitionBounds((1, "a"), (1, "b"), (0, 0), 2), None),
        (PartitionBounds((), (), (), 2), ()),
    ],
)
def test_the_only_partition_of_a_manifest(bounds: PartitionBounds, only: Any) -> None:
    assert bounds.only == only


_PARTITIONS = st.tuples(st.none() | st.sampled_from(["", "a", "b"]), st.none() | st.integers(0, 3))


@given(st.lists(st.lists(_PARTITIONS, min_size=1, max_size=3), max_size=4), st.sets(_PARTITIONS, max_size=4))
def test_a_filter_gives_what_filtering_the_whole_plan_gives(commits: list[Any], wanted: set[Any]) -> None:
    table = _built(TWO_KEYS)
    for partitions in commits:
        table.append(*(table.new_file(p) for p in partitions))
    expected = [f for f in table.plan() if f.partition in wanted]
    assert list(table.plan(partition_filter=lambda p: p in wanted)) == expected


def test_a_plan_survives_the_merging_of_manifests() -> None:
    table = _built(
        table_schema([("month", "INT")], partition_keys=["month"], options={"manifest.merge-min-count": "3"})
    )
    expected = []
    for i in range(10):
        table.append(table.new_file((i % 2,), name=f"{i}.parquet"))
        expected.append(f"{i}.parquet")
        assert table.names() == expected
    _remove(table, {"4.parquet"})
    table.append(table.new_file((0,), name="last.parquet"))
    assert table.names() == [n for n in expected if n != "4.parquet"] + ["last.parquet"]


def test_the_files_of_a_user() -> None:
    table = _built()
    table.append(table.new_file((1,), name="a.parquet"), user="one")
    table.append(table.new_file((2,), name="b.parquet"), user="two")
    table.append(table.new_file((3,), name="c.parquet"), user="one", commit_identifier=1)
    found = files_of_user(table.storage.snapshots, table.path, table.schema, "one")
    assert [(f.meta.file_name, f.partition) for f in found] == [("a.parquet", (1,)), ("c.parquet", (3,))]
    assert files_of_user(table.storage.snapshots, table.path, table.schema, "nobody") == ()


def test_a_partition_key_that_is_no_column_is_an_error() -> None:
    with pytest.raises(CorruptMetadataError) as e:
        partition_types(table_schema([("v", "INT")], partition_keys=["dt"]))
    assert e.value.code == "LB5015"
