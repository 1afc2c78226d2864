"""Deletion vectors that commits write, drop and carry forward, and index files of other kinds beside them."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import fastavro
import pyroaring
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format.building import PATH, Built, table_schema
from format.laid_out import INDEX_MANIFEST
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ConflictError, LakebedError, UnsupportedError, UsageError
from lakebed.format import binary_row
from lakebed.format.avro_schemas import index_schema, write_container
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.index_manifest import IndexFile, read_index_manifest
from lakebed.format.live_files import DataFile, partition_types
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.snapshot_change import WHOLE_TABLE, DeletedRows, matching_partitions
from lakebed.physical import parse
from lakebed.testing.memory_store import MemoryStore, SimulatedCrash

ROWS = 1000
PLAIN = table_schema([("k", "STRING"), ("v", "BIGINT")], partition_keys=["k"])
KEYED = table_schema(
    [("k", "STRING NOT NULL"), ("v", "BIGINT NOT NULL")],
    partition_keys=["k"],
    primary_keys=["k", "v"],
    options={"bucket": "2"},
)


def _with(schema: TableSchema, **options: str) -> TableSchema:
    return replace(schema, options={**schema.options, **{k.replace("_", "-"): v for k, v in options.items()}})


TABLES = {
    "plain": PLAIN,
    "buckets": KEYED,
    "beside the data": _with(PLAIN, index_file_in_data_file_dir="true"),
    "64 bits": replace(PLAIN, options={"deletion-vectors.bitmap64": "true"}),
    "small index files": replace(PLAIN, options={"deletion-vector.index-file.target-size": "64 b"}),
}


def _built(schema: TableSchema = PLAIN) -> Built:
    return Built(MemoryStore(), schema)


def _store(table: Built) -> MemoryStore:
    assert isinstance(table.store, MemoryStore)
    return table.store


def _file(table: Built, name: str, partition: str = "a", bucket: int = 0) -> ManifestEntry:
    if not table.schema.primary_keys:
        return table.new_file((partition,), name=name, rows=ROWS)
    entry = table.keyed_file((0, 9), partition=(partition,), bucket=bucket)
    return replace(entry, file=replace(entry.file, file_name=name, row_count=ROWS))


def _planned(table: Built) -> dict[str, DataFile]:
    return {f.meta.file_name: f for f in table.plan()}


def _entry(table: Built, file: DataFile) -> ManifestEntry:
    partition = binary_row.encode(partition_types(table.schema), file.partition)
    return ManifestEntry(int(Kind.ADD), partition, file.bucket, file.total_buckets, file.meta)


def _rows(positions: Iterable[int]) -> bytes:
    return bytes(pyroaring.BitMap(positions).serialize())


def _deletes(table: Built, rows: dict[str, set[int]]) -> tuple[DeletedRows, ...]:
    known = _planned(table)
    return tuple(
        DeletedRows(_entry(table, known[name]), _rows(positions), known[name].deletions)
        for name, positions in rows.items()
    )


def _deleted(table: Built) -> dict[str, set[int]]:
    """The deleted rows of each live file; a vector of a file that is not live is an error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known = _planned(table)
    vectors = {n: f.deletions for n, f in known.items() if f.deletions is not None}
    found = read_positions(table.store, list(vectors.values()))
    return {n: set(positions) for n, positions in zip(vectors, found, strict=True)}


def _index(table: Built) -> list[IndexFile]:
    latest = table.storage.snapshots.latest()
    assert latest is not None
    return read_index_manifest(table.store, PATH, latest)


@pytest.mark.parametrize("kind", TABLES)
def test_vectors_grow_and_go_with_their_files(kind: str) -> None:
    files = [(f"{n}.parquet", "ab"[n % 2], n % 2 if kind == "buckets" else 0) for n in range(6)]
    positions = st.sets(st.integers(0, ROWS - 1), min_size=1, max_size=20)
    step = st.one_of(
        st.dictionaries(st.integers(0, 5), positions, min_size=1, max_size=4),
        st.integers(0, 5),
        st.sampled_from(["a", "b"]),
    )

    @settings(max_examples=20 if kind == "plain" else 8)
    @given(st.lists(step, max_size=6))
    def law(steps: list[Any]) -> None:
        table = _built(TABLES[kind])
        table.append(*(_file(table, name, partition, bucket) for name, partition, bucket in files))
        model: dict[str, set[int]] = {name: set() for name, *_ in files}
        for step in steps:
            if isinstance(step, dict):
                rows = {files[n][0]: p for n, p in step.items() if files[n][0] in model}
                snapshot = table.commit(deleted_rows=_deletes(table, rows))
                for name, more in rows.items():
                    model[name] |= more
                assert snapshot.commit_kind == ("OVERWRITE" if rows else "APPEND")
            elif isinstance(step, str):
                table.commit(overwrite=matching_partitions(table.schema, [{"k": step}]))
                model = {n: p for n, p in model.items() if "ab"[int(n[0]) % 2] != step}
            elif files[step][0] in model:
                table.commit(deleted=(_entry(table, _planned(table)[files[step][0]]),))
                del model[files[step][0]]
            assert _deleted(table) == {n: p for n, p in model.items() if p}
            _check_index_files(table, one_a_bucket=kind == "buckets")

    law()


def _check_index_files(table: Built, *, one_a_bucket: bool) -> None:
    """What readers insist on."""
    names: set[str] = set()
    for file in _index(table):
        assert file.row_count == len(file.ranges) > 0
        assert file.name not in names
        names.add(file.name)
        if table.schema.options.get("deletion-vector.index-file.target-size"):
            assert len(file.ranges) == 1 or file.size <= 65
    places = [(f.partition, f.bucket) for f in _index(table)]
    assert not one_a_bucket or len(set(places)) == len(places)


def test_an_index_file_that_does_not_change_is_kept() -> None:
    table = _built()
    table.append(*(_file(table, f"{n}.parquet") for n in range(3)))
    for n in range(3):
        table.commit(deleted_rows=_deletes(table, {f"{n}.parquet": {n}}))
    first, second, third = _index(table)
    table.commit(deleted_rows=_deletes(table, {"1.parquet": {7}}))
    assert [f.name for f in _index(table)][:2] == [first.name, third.name]
    before = table.storage.snapshots.latest()
    after = table.append(_file(table, "new.parquet"))
    assert before is not None
    assert after.index_manifest == before.index_manifest
    assert second.name not in {f.name for f in _index(table)}


class TestConflicts:
    def _two(self) -> tuple[Built, tuple[DeletedRows, ...]]:
        table = _built()
        table.append(_file(table, "a.parquet"), _file(table, "b.parquet"))
        table.commit(deleted_rows=_deletes(table, {"a.parquet": {1}}))
        return table, _deletes(table, {"a.parquet": {2}})

    def test_other_rows_of_the_file_were_deleted_meanwhile(self) -> None:
        table, ours = self._two()
        table.commit(deleted_rows=_deletes(table, {"a.parquet": {3}}))
        with pytest.raises(ConflictError) as e:
            table.commit(deleted_rows=ours)
        assert (e.value.code, e.value.diagnostics[0].path) == ("LB5095", "a.parquet")
        assert _deleted(table) == {"a.parquet": {1, 3}}

    def test_a_first_vector_was_written_meanwhile(self) -> None:
        table, _ = self._two()
        ours = _deletes(table, {"b.parquet": {2}})
        table.commit(deleted_rows=_deletes(table, {"b.parquet": {3}}))
        with pytest.raises(ConflictError) as e:
            table.commit(deleted_rows=ours)
        assert e.value.code == "LB5095"

    @pytest.mark.parametrize("schema", [PLAIN, KEYED])
    def test_a_vector_that_only_moved_is_the_same(self, schema: TableSchema) -> None:
        table = _built(schema)
        table.append(_file(table, "a.parquet"), _file(table, "b.parquet"))
        table.commit(deleted_rows=_deletes(table, {"a.parquet": {1}, "b.parquet": {2}}))
        ours = _deletes(table, {"a.parquet": {4}})
        table.commit(deleted_rows=_deletes(table, {"b.parquet": {3}}))
        table.commit(deleted_rows=ours)
        assert _deleted(table) == {"a.parquet": {1, 4}, "b.parquet": {2, 3}}

    @pytest.mark.parametrize("how", ["deleted", "overwritten", "now"])
    def test_the_file_is_gone(self, how: str) -> None:
        table, ours = self._two()
        change: dict[str, Any] = {}
        if how == "deleted":
            table.commit(deleted=(_entry(table, _planned(table)["a.parquet"]),))
        elif how == "overwritten":
            table.commit(overwrite=WHOLE_TABLE)
        else:
            change = {"overwrite": WHOLE_TABLE}
        with pytest.raises(ConflictError) as e:
            table.commit(deleted_rows=ours, **change)
        assert e.value.code == "LB5090"

    def test_rows_that_the_file_does_not_have(self) -> None:
        table, _ = self._two()
        with pytest.raises(UsageError) as e:
            table.commit(deleted_rows=_deletes(table, {"b.parquet": {ROWS}}))
        assert e.value.code == "LB5072"

    def test_a_file_twice_or_deleted_too(self) -> None:
        table, ours = self._two()
        for change in ({"deleted_rows": ours * 2}, {"deleted_rows": ours, "deleted": (ours[0].entry,)}):
            with pytest.raises(UsageError) as e:
                table.commit(**change)
            assert e.value.code == "LB5072"


def _publish_index(table: Built, content: bytes) -> None:
    """Let the newest snapshot name this index manifest."""
    latest = table.storage.snapshots.latest()
    assert latest is not None
    table.store.create_if_absent(f"{PATH}/manifest/index-manifest-foreign", content)
    table.storage.snapshots.publish(
        replace(latest, id=latest.id + 1, commit_user="foreign", index_manifest="index-manifest-foreign")
    )


def _record(table: Built, name: str, type_: str, partition: str = "a", **parts: Any) -> dict[str, Any]:
    return {
        "_VERSION": 1,
        "_KIND": 0,
        "_PARTITION": binary_row.encode([parse("STRING")], [partition]),
        "_BUCKET": 0,
        "_INDEX_TYPE": type_,
        "_FILE_NAME": name,
        "_FILE_SIZE": 8,
        "_ROW_COUNT": 2,
        "_DELETIONS_VECTORS_RANGES": None,
        "_EXTERNAL_PATH": None,
        **parts,
    }


def test_index_files_of_other_kinds_are_carried_and_go_with_their_partition() -> None:
    table = _built(KEYED)
    table.append(_file(table, "a.parquet"), _file(table, "b.parquet", "b"))
    covers: dict[str, Any] = {"_ROW_RANGE_START": 0, "_ROW_RANGE_END": 9, "_INDEX_FIELD_ID": 1}
    covers |= {"_EXTRA_FIELD_IDS": [2], "_INDEX_META": b"m"}
    records = [
        _record(table, "hash-a", "HASH"),
        _record(table, "hash-b", "HASH", "b"),
        _record(table, "global", "bitmap", _GLOBAL_INDEX=covers, _EXTERNAL_PATH="s3://x/global"),
    ]
    _publish_index(table, write_container(index_schema(tail=True), records, "none"))
    before = _index(table)
    table.commit(deleted_rows=_deletes(table, {"a.parquet": {5}}))
    kept = [f for f in _index(table) if f.type != "DELETION_VECTORS"]
    assert kept == before
    table.commit(overwrite=matching_partitions(KEYED, [{"k": "a"}]))
    assert [f.name for f in _index(table)] == ["hash-b"]
    last = table.commit(overwrite=WHOLE_TABLE)
    assert last.index_manifest is None


def test_what_an_index_says_that_is_not_known_is_not_lost() -> None:
    table = _built()
    table.append(_file(table, "a.parquet"))
    fields = [*INDEX_MANIFEST["fields"], {"name": "_NEWER", "type": ["null", "int"], "default": None}]  # type: ignore[index]
    schema = {"type": "record", "name": "newer", "fields": fields}
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), [_record(table, "hash", "HASH", _NEWER=3)])
    _publish_index(table, out.getvalue())
    table.append(_file(table, "b.parquet"))
    with pytest.raises(UnsupportedError) as e:
        table.commit(deleted_rows=_deletes(table, {"a.parquet": {5}}))
    assert e.value.code == "LB5096"
    assert "_NEWER" in str(e.value)


@pytest.mark.parametrize("fault", ["crash before", "crash after", "fail before", "fail after"])
def test_a_fault_at_any_step_leaves_the_old_or_the_new_vectors(fault: str) -> None:
    table = _built()
    table.append(_file(table, "a.parquet"), _file(table, "b.parquet"))
    table.commit(deleted_rows=_deletes(table, {"a.parquet": {1}, "b.parquet": {2}}))
    old, new = _deleted(table), {"a.parquet": {1, 9}, "b.parquet": {2}}
    files, ours = _store(table).snapshot(), _deletes(table, {"a.parquet": {9}})

    def fresh() -> Built:
        copy = Built(MemoryStore(files), PLAIN)
        _store(copy).restart()
        return copy

    sample = fresh()
    sample.commit("me", deleted_rows=ours)
    for step in range(len(_store(sample).operations)):
        broken = fresh()
        store = _store(broken)
        (store.crash_at if fault.startswith("crash") else store.fail_at)(step, after=fault.endswith("after"))
        failed = False
        try:
            broken.commit("me", deleted_rows=ours)
        except (SimulatedCrash, LakebedError) as e:
            failed = not isinstance(e, SimulatedCrash)
        store.restart()
        assert _deleted(broken) in (old, new)
        if failed:
            # What an attempt has written that comes to nothing is taken away.
            assert store.snapshot() == files
        broken.commit("me", deleted_rows=ours)
        assert _deleted(broken) == new


def test_an_attempt_that_lost_the_race_leaves_no_index_file() -> None:
    table = _built()
    table.append(_file(table, "a.parquet"))
    ours = _deletes(table, {"a.parquet": {9}})
    copy = Built(MemoryStore(_store(table).snapshot()), PLAIN)
    _store(copy).restart()
    copy.commit("me", deleted_rows=ours)
    steps = [(o.name, "/snapshot/snapshot-" in o.path) for o in _store(copy).operations]
    rival = Built(table.store, PLAIN)

    def race() -> None:
        rival.append(_file(rival, "b.parquet"), user="rival")

    _store(table).race_at(steps.index(("create_if_absent", True)), race)
    with suppress(LakebedError):
        table.commit("me", deleted_rows=ours)
    assert [f.name for f in _index(table)] == [e.name for e in table.store.list(f"{PATH}/index")]
    assert _deleted(table) == {"a.parquet": {9}}
