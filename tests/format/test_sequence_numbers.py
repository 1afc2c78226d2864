"""The next sequence number is above all that are there, whoever wrote them, and little is read to know it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format.building import PATH, Built, table_schema
from lakebed.errors import SequenceNumbersTakenError
from lakebed.format.live_files import delta_manifests
from lakebed.format.manifest import ManifestEntry
from lakebed.format.sequence_numbers import NEXT_SEQUENCE, SequenceGuard, next_sequence
from lakebed.format.snapshot_change import WHOLE_TABLE, partitions_of
from lakebed.testing.memory_store import MemoryStore

KEYED = table_schema(
    [("p", "INT NOT NULL"), ("k", "BIGINT NOT NULL")],
    partition_keys=["p"],
    primary_keys=["p", "k"],
    options={"bucket": "4", "manifest.merge-min-count": "4"},
)


def _built() -> Built:
    return Built(MemoryStore(), KEYED)


def _store(table: Built) -> MemoryStore:
    assert isinstance(table.store, MemoryStore)
    return table.store


def _file(table: Built, first: int, last: int, *, bucket: int = 0, partition: int = 1) -> ManifestEntry:
    numbers = {"min_sequence_number": first, "max_sequence_number": last}
    return table.keyed_file((0, 9), bucket=bucket, partition=(partition,), **numbers)


def _foreign(table: Built, *files: ManifestEntry, **parts: Any) -> None:
    """What another engine commits says nothing of the next number."""
    snapshot = table.commit(added=files, **parts)
    path = table.storage.snapshots.path(snapshot.id)
    told = {k: v for k, v in (snapshot.properties or {}).items() if k != NEXT_SEQUENCE}
    table.store.replace(path, replace(snapshot, properties=told).dumps())


def _next(table: Built) -> int:
    return next_sequence(table.storage, table.storage.snapshots.latest())


_COMMIT = st.tuples(st.booleans(), st.sampled_from(["add", "overwrite", "compact", "truncate"]), st.integers(0, 60))


@settings(max_examples=20)
@given(st.lists(_COMMIT, max_size=12), st.integers(0, 20))
def test_it_is_above_every_number_whoever_wrote_it(history: list[tuple[bool, str, int]], expired: int) -> None:
    table, highest = _built(), -1
    for ours, what, top in history:
        base = _next(table)
        assert base > max((f.meta.max_sequence_number for f in table.plan()), default=-1)
        # Other engines number each bucket by itself, so that their numbers may be far below or above ours.
        file = _file(table, base, base + top) if ours else _file(table, 0, top)
        commit = table.commit if ours else lambda **parts: _foreign(table, *parts.pop("added", ()), **parts)
        match what:
            case "add":
                commit(added=(file,))
            case "overwrite":
                commit(added=(file,), overwrite=partitions_of(KEYED, [file]))
            case "compact":
                commit(added=(file,), compaction=True)
            case _:
                commit(overwrite=WHOLE_TABLE)
                continue
        highest = max(highest, file.file.max_sequence_number)
        live = max(f.meta.max_sequence_number for f in table.plan())
        latest = table.storage.snapshots.latest()
        assert latest is not None
        said = (latest.properties or {}).get(NEXT_SEQUENCE)
        assert (said is not None) == ours
        assert _next(table) > live
    # Snapshots that have expired change nothing.
    for number in table.storage.snapshots.ids()[:-1][:expired]:
        table.store.delete(table.storage.snapshots.path(number))
    assert _next(table) > max((f.meta.max_sequence_number for f in table.plan()), default=-1)


def test_a_number_of_another_writer_in_another_bucket_counts() -> None:
    """Else what a snapshot says would be below numbers that are there."""
    table = _built()
    table.append(_file(table, 0, 9))
    rival = Built(table.store, KEYED)
    copy = Built(MemoryStore(_store(table).snapshot()), KEYED)
    _store(copy).restart()
    copy.append(_file(copy, 10, 19), user="ours")
    steps = [(o.name, "/snapshot/snapshot-" in o.path) for o in _store(copy).operations]

    def race() -> None:
        _foreign(rival, _file(rival, 0, 5000, bucket=2), user="rival")

    _store(table).race_at(steps.index(("create_if_absent", True)), race)
    snapshot = table.append(_file(table, 10, 19), user="ours")
    assert snapshot.id == 3
    assert (snapshot.properties or {})[NEXT_SEQUENCE] == "5001"


def test_what_is_read_does_not_grow_with_the_table() -> None:
    table = _built()
    reads = []
    for _ in range(40):
        base = _next(table)
        _store(table).restart()
        assert base == _next(table)
        reads.append(len(_store(table).operations))
        table.append(_file(table, base, base + 9))
    assert set(reads[1:]) == {reads[1]}


def test_snapshots_of_others_are_gone_through_or_all_files_are_whatever_is_less() -> None:
    table = Built(MemoryStore(), replace(KEYED, options={"bucket": "4", "manifest.merge-min-count": "10"}))
    table.append(_file(table, 0, 9))
    for number in range(60):
        _foreign(table, _file(table, number, number + 100), compaction=True)
    _store(table).restart()
    assert _next(table) == 160
    assert len(_store(table).operations) < 60


def test_a_snapshot_that_adds_nothing_says_what_the_last_one_said() -> None:
    table = _built()
    table.append(_file(table, 0, 9))
    said = table.commit(overwrite=WHOLE_TABLE).properties
    assert said == {NEXT_SEQUENCE: "10"}
    _foreign(table, _file(table, 0, 3))
    assert table.commit(overwrite=WHOLE_TABLE).properties is None


@pytest.mark.parametrize("text", ["", "-5", "x", "1.5", "\u0663"])
def test_what_is_no_number_says_nothing(text: str) -> None:
    table = _built()
    snapshot = table.append(_file(table, 0, 9))
    path = table.storage.snapshots.path(snapshot.id)
    table.store.replace(path, replace(snapshot, properties={NEXT_SEQUENCE: text}).dumps())
    assert _next(table) == 10


def test_tables_without_a_key_say_nothing() -> None:
    table = Built(MemoryStore(), table_schema([("v", "BIGINT")]))
    assert table.append(table.new_file()).properties is None


class TestGuard:
    def _guarded(self, table: Built, files: list[ManifestEntry]) -> SequenceGuard:
        return SequenceGuard.of(table.storage, KEYED, files, table.storage.snapshots.latest())

    @pytest.mark.parametrize(
        ("last", "place", "taken"),
        [(10, {}, True), (500, {}, True), (9, {}, False), (500, {"bucket": 1}, False), (500, {"partition": 2}, False)],
    )
    @pytest.mark.parametrize("expired", [False, True])
    def test_numbers_in_our_bucket_count(self, last: int, place: dict[str, int], taken: bool, expired: bool) -> None:
        table = _built()
        table.append(_file(table, 0, 9))
        ours = [_file(table, 10, 19), _file(table, 20, 29, bucket=3)]
        guard = self._guarded(table, ours)
        table.append(_file(table, 2, last, **place))
        table.append(_file(table, 0, 1, partition=7))
        if expired:
            for number in (1, 2):
                table.store.delete(table.storage.snapshots.path(number))
        if not taken:
            table.commit(added=tuple(ours), guard=guard, after=1)
            return
        with pytest.raises(SequenceNumbersTakenError) as e:
            table.commit(added=tuple(ours), guard=guard, after=1)
        assert e.value.code == "LB5097"
        assert table.storage.snapshots.latest_id() == 3

    def test_each_snapshot_is_looked_at_once(self) -> None:
        table = _built()
        guard = self._guarded(table, [_file(table, 0, 9)])
        for number in range(4):
            table.append(_file(table, 0, 9, bucket=2, partition=1))
            latest = table.storage.snapshots.latest()
            assert latest is not None
            _store(table).restart()
            guard(list(table.storage.snapshots.newest_first(after=number)))
            lists = [o for o in _store(table).operations if o.path.endswith(latest.delta_manifest_list)]
            assert len(lists) == 1
            assert len(delta_manifests(table.store, PATH, latest)) == 1
