from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from format.building import PATH, Built, table_schema
from lakebed.errors import (
    ConflictError,
    LakebedError,
    OutcomeUnknownError,
    StoreError,
    UnsupportedError,
    UsageError,
)
from lakebed.format import binary_row
from lakebed.format.commit import commit
from lakebed.format.live_files import delta_manifests, plan_files, snapshot_manifests
from lakebed.format.manifest import ColumnStatistics, Kind, ManifestEntry, read_list, read_manifest
from lakebed.format.snapshot import BATCH_IDENTIFIER, Snapshot, SnapshotManager
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.physical import parse
from lakebed.testing.memory_store import MemoryStore, SimulatedCrash

MONTHLY = table_schema([("month", "INT"), ("v", "BIGINT")], partition_keys=["month"])
MERGING = replace(MONTHLY, options={"manifest.merge-min-count": "3"})


def _built(schema: Any = MONTHLY, store: MemoryStore | None = None) -> Built:
    return Built(store or MemoryStore(), schema)


def _store(table: Built) -> MemoryStore:
    assert isinstance(table.store, MemoryStore)
    return table.store


def _referenced(table: Built) -> set[str]:
    """The manifests and lists that any snapshot refers to."""
    found = set()
    for snapshot in table.storage.snapshots.newest_first():
        found |= {snapshot.base_manifest_list, snapshot.delta_manifest_list}
        found |= {m.file_name for m in snapshot_manifests(table.store, PATH, snapshot)}
    return found


def _leftovers(table: Built) -> set[str]:
    """The manifests and lists that lie there for nothing."""
    return {e.name for e in table.store.list(f"{PATH}/manifest")} - _referenced(table)


def test_the_first_commit() -> None:
    table = _built()
    snapshot = table.append(
        table.new_file((1,), rows=3), table.new_file((None,), rows=4), user="run-1", properties={"k": "v"}
    )
    assert (snapshot.id, snapshot.schema_id, snapshot.commit_kind, snapshot.version) == (1, 0, "APPEND", 3)
    assert (snapshot.total_record_count, snapshot.delta_record_count) == (7, 7)
    assert (snapshot.commit_user, snapshot.commit_identifier) == ("run-1", BATCH_IDENTIFIER)
    assert snapshot.properties == {"k": "v"}
    assert snapshot.uuid is not None
    assert table.storage.snapshots.latest() == snapshot
    assert table.store.read(f"{PATH}/snapshot/LATEST") == b"1"
    assert read_list(table.store, PATH, snapshot.base_manifest_list) == []
    for name, size in (
        (snapshot.base_manifest_list, snapshot.base_manifest_list_size),
        (snapshot.delta_manifest_list, snapshot.delta_manifest_list_size),
    ):
        assert table.store.size(f"{PATH}/manifest/{name}") == size


def test_the_entries_of_an_append() -> None:
    table = _built()
    snapshot = table.append(table.new_file((1,), rows=3), table.new_file((None,), rows=4))
    (meta,) = delta_manifests(table.store, PATH, snapshot)
    assert (meta.num_added_files, meta.num_deleted_files, meta.schema_id) == (2, 0, 0)
    assert meta.file_size == table.store.size(f"{PATH}/manifest/{meta.file_name}")
    assert meta.partition_stats.decode([parse("INT")]) == (ColumnStatistics(1, 1, 1),)
    first, second = read_manifest(table.store, PATH, meta)
    assert (first.kind, first.bucket, first.total_buckets) == (Kind.ADD, 0, -1)
    file = first.file
    assert (file.level, file.extra_files, file.delete_row_count, file.file_source) == (0, (), 0, 0)
    assert (file.min_key, file.max_key, file.key_stats.null_counts) == (bytes(12), bytes(12), ())
    assert (file.min_sequence_number, file.max_sequence_number) == (0, 2)
    assert (file.value_stats_cols, file.external_path, file.first_row_id, file.write_cols) == (None,) * 4
    assert file.value_stats.null_counts == (None, None)
    assert second.file.row_count == 4


def test_the_second_commit_builds_on_the_first() -> None:
    table = _built()
    one = table.append(table.new_file((1,), rows=3))
    two = table.append(table.new_file((2,), rows=4))
    assert (two.id, two.total_record_count, two.delta_record_count) == (2, 7, 4)
    assert read_list(table.store, PATH, two.base_manifest_list) == delta_manifests(table.store, PATH, one)
    assert _leftovers(table) == set()


def test_a_commit_without_files_keeps_its_properties() -> None:
    table = _built()
    snapshot = table.append(properties={"source": "all rows were bad"})
    assert (snapshot.delta_record_count, snapshot.total_record_count) == (0, 0)
    assert table.storage.snapshots.load(1).properties == {"source": "all rows were bad"}
    assert table.plan() == ()


def test_repeating_a_commit_changes_nothing() -> None:
    table = _built()
    files = [table.new_file((1,))]
    one = table.append(*files, user="run-1", properties={"k": "v"})
    table.append(table.new_file((2,)), user="run-2")
    before = _store(table).snapshot()
    assert table.append(*files, user="run-1") == one
    assert _store(table).snapshot() == before


def test_a_stream_commits_each_number_once() -> None:
    table = _built()
    for batch in (0, 1, 1, 0, 2):
        table.append(table.new_file((batch,), name=f"{batch}.parquet"), user="stream", commit_identifier=batch)
    assert table.names() == ["0.parquet", "1.parquet", "2.parquet"]


def test_what_a_snapshot_carries_forward() -> None:
    table = _built()
    table.append(table.new_file((1,), rows=2))
    latest = table.storage.snapshots.load(1)
    carried = {"index_manifest": "index-1", "watermark": 55, "statistics": "stat-1", "next_row_id": 9}
    table.storage.snapshots.publish(replace(latest, id=2, commit_user="other", **carried))
    third = table.append(table.new_file((1,)))
    assert {k: getattr(third, k) for k in carried} == carried
    table.evolve(replace(MONTHLY, id=1))
    fourth = table.append(table.new_file((1,)))
    assert (fourth.schema_id, fourth.index_manifest, fourth.statistics) == (1, "index-1", None)


def test_the_schema_of_a_snapshot_is_the_newest_at_the_time_of_the_commit() -> None:
    table = _built()
    old = table.new_file((1,))
    table.evolve(replace(MONTHLY, id=1))
    snapshot = table.append(old)
    assert snapshot.schema_id == 1
    assert [f.meta.schema_id for f in table.plan()] == [0]


def test_time_never_runs_backwards() -> None:
    table = _built()
    table.append(table.new_file((1,)))
    table.time = iter([5] * 10)
    one, two = table.storage.snapshots.load(1), table.append(table.new_file((1,)))
    assert two.time_millis == one.time_millis


def test_records_are_counted_where_an_old_snapshot_does_not_say() -> None:
    table = _built()
    table.append(table.new_file((1,), rows=2), table.new_file((2,), rows=3))
    latest = table.storage.snapshots.load(1)
    table.storage.snapshots.publish(replace(latest, id=2, commit_user="x", total_record_count=None))
    assert table.append(table.new_file((1,), rows=10)).total_record_count == 15


def test_many_manifests_become_one() -> None:
    table = _built(replace(MONTHLY, options={}))
    for i in range(30):
        table.append(table.new_file((i,)))
    before = table.storage.snapshots.load(30)
    assert len(snapshot_manifests(table.store, PATH, before)) == 30
    latest = table.append(table.new_file((99,)))
    base = read_list(table.store, PATH, latest.base_manifest_list)
    assert len(base) == 1
    assert (base[0].num_added_files, base[0].num_deleted_files) == (30, 0)
    assert base[0].partition_stats.decode([parse("INT")]) == (ColumnStatistics(0, 29, 0),)
    assert len(table.plan()) == 31
    assert len(delta_manifests(table.store, PATH, latest)) == 1


def test_large_manifests_are_split_and_not_merged_again_and_again() -> None:
    options = {"manifest.merge-min-count": "3", "manifest.target-file-size": "1 kb", "manifest.compression": "none"}
    table = _built(replace(MONTHLY, options=options))
    sizes = []
    for i in range(12):
        table.append(*(table.new_file((i,)) for _ in range(8)))
        latest = table.storage.snapshots.latest()
        assert latest is not None
        sizes.append(len(snapshot_manifests(table.store, PATH, latest)))
    assert len(table.plan()) == 96
    assert sizes == sorted(sizes)
    assert _leftovers(table) == set()


def test_a_lost_race_is_run_again_and_leaves_nothing_behind() -> None:
    table = _built()
    table.append(table.new_file((1,), name="a.parquet"))
    rival = _built(store=_store(table))
    publishing = _step_of(table, "create_if_absent", "snapshot-2")
    store = _store(table)
    store.race_at(publishing, lambda: rival.append(rival.new_file((2,), name="rival.parquet"), user="rival") and None)
    waits: list[float] = []
    snapshot = table.append(table.new_file((3,), name="b.parquet"), user="me", sleep=waits.append)
    assert snapshot.id == 3
    assert table.names() == ["a.parquet", "rival.parquet", "b.parquet"]
    assert snapshot.total_record_count == 3
    assert _leftovers(table) == set()
    assert len(waits) == 1
    assert 0 < waits[0] < 0.1


def _step_of(table: Built, name: str, file: str) -> int:
    """The number of the step of a commit to a copy of the table that does `name` to `file`."""
    copy = _built(table.schema, MemoryStore(_store(table).snapshot()))
    store = _store(copy)
    store.restart()
    copy.append(copy.new_file((1,)), user="somebody")
    return next(i for i, o in enumerate(store.operations) if o.name == name and o.path.endswith(f"/{file}"))


def test_a_race_that_is_always_lost_is_a_conflict() -> None:
    table = _built(replace(MONTHLY, options={"commit.max-retries": "2"}))
    taken: list[Snapshot] = []

    class AlwaysSecond(MemoryStore):
        def create_if_absent(self, path: str, data: bytes) -> bool:
            if "/snapshot/snapshot-" in path:
                number = int(path.rsplit("-", 1)[1])
                rival = Snapshot(
                    id=number,
                    schema_id=0,
                    base_manifest_list=taken[0].base_manifest_list,
                    delta_manifest_list=taken[0].base_manifest_list,
                    commit_user="rival",
                    commit_identifier=BATCH_IDENTIFIER,
                    commit_kind="APPEND",
                    time_millis=1,
                    total_record_count=0,
                )
                super().create_if_absent(path, rival.dumps())
            return super().create_if_absent(path, data)

    taken.append(table.append())
    rivals = _built(table.schema, AlwaysSecond(_store(table).snapshot()))
    with pytest.raises(ConflictError) as e:
        rivals.append(rivals.new_file((1,)))
    assert (e.value.code, e.value.exit_code) == ("LB5070", 12)
    assert rivals.storage.snapshots.latest_id() == 4
    assert _leftovers(rivals) == set()


def test_a_success_that_the_store_reports_as_taken_is_a_success() -> None:
    """A client that repeats a conditional put by itself finds its own first success."""

    class Repeating(MemoryStore):
        def create_if_absent(self, path: str, data: bytes) -> bool:
            super().create_if_absent(path, data)
            return super().create_if_absent(path, data)

    table = _built(store=Repeating())
    snapshot = table.append(table.new_file((1,)), user="me")
    assert snapshot.id == 1
    assert len(table.plan()) == 1
    assert _leftovers(table) == set()


@pytest.mark.parametrize("after", [False, True])
def test_an_unknown_outcome_is_found_out(after: bool) -> None:
    table = _built()
    table.append(table.new_file((1,), name="a.parquet"))
    publishing = _step_of(table, "create_if_absent", "snapshot-2")
    _store(table).fail_at(publishing, after=after)
    snapshot = table.append(table.new_file((2,), name="b.parquet"), user="me")
    assert snapshot.id == 2
    assert table.names() == ["a.parquet", "b.parquet"]
    assert [s.commit_user for s in table.storage.snapshots.newest_first()].count("me") == 1


def test_an_outcome_that_stays_unknown_says_so_and_can_be_repeated() -> None:
    table = _built(replace(MONTHLY, options={"commit.max-retries": "1"}))

    class Broken(MemoryStore):
        broken = True

        def create_if_absent(self, path: str, data: bytes) -> bool:
            if self.broken and "/snapshot/" in path:
                raise OutcomeUnknownError.of("LB3700", "the network is down")
            return super().create_if_absent(path, data)

    store = Broken()
    table = _built(table.schema, store)
    file = table.new_file((1,))
    with pytest.raises(StoreError) as e:
        table.append(file, user="me")
    assert e.value.code == "LB5071"
    assert "the network is down" in str(e.value)
    store.broken = False
    assert table.append(file, user="me").id == 1
    assert len(table.plan()) == 1


def test_a_failure_before_publishing_leaves_nothing_behind() -> None:
    table = _built(MERGING)
    for i in range(4):
        table.append(table.new_file((i,)))
    files = _store(table).snapshot()
    steps = _step_of(table, "create_if_absent", "snapshot-5")
    for step in range(steps):
        copy = _built(MERGING, MemoryStore(files))
        _store(copy).restart()
        _store(copy).fail_at(step)
        with pytest.raises(LakebedError):
            copy.append(copy.new_file((9,)), user="me")
        assert _store(copy).snapshot() == files


def _copy_with(table: Built, files: dict[str, bytes]) -> Built:
    copy = _built(table.schema, MemoryStore(files))
    _store(copy).restart()
    return copy


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("commits", [0, 4])
def test_a_crash_at_any_step_leaves_the_old_or_the_new_state(commits: int, after: bool) -> None:
    table = _built(MERGING)
    for i in range(commits):
        table.append(table.new_file((i,), name=f"{i}.parquet"))
    files, old = _store(table).snapshot(), table.names()
    sample = _copy_with(table, files)
    sample.append(sample.new_file((9,), name="new.parquet"), user="me")
    steps = len(_store(sample).operations)
    assert steps > 6
    for step in range(steps):
        crashed = _copy_with(table, files)
        store = _store(crashed)
        store.crash_at(step, after=after)
        # A step that finds nothing has no effect after which to die.
        with suppress(SimulatedCrash):
            crashed.append(crashed.new_file((9,), name="new.parquet"), user="me")
        store.restart()
        assert crashed.names() in (old, [*old, "new.parquet"])
        again = crashed.append(crashed.new_file((9,), name="new.parquet"), user="me")
        assert again.id == commits + 1
        assert crashed.names() == [*old, "new.parquet"]
        assert [s.commit_user for s in crashed.storage.snapshots.newest_first()].count("me") == 1


@pytest.mark.parametrize("after", [False, True])
def test_a_failing_step_never_makes_a_commit_twice_or_half(after: bool) -> None:
    table = _built(MERGING)
    for i in range(4):
        table.append(table.new_file((i,), name=f"{i}.parquet"))
    files, old = _store(table).snapshot(), table.names()
    sample = _copy_with(table, files)
    sample.append(sample.new_file((9,), name="new.parquet"), user="me")
    for step in range(len(_store(sample).operations)):
        failing = _copy_with(table, files)
        _store(failing).fail_at(step, after=after)
        try:
            failing.append(failing.new_file((9,), name="new.parquet"), user="me")
        except LakebedError:
            assert failing.names() in (old, [*old, "new.parquet"])
        failing.append(failing.new_file((9,), name="new.parquet"), user="me")
        assert failing.names() == [*old, "new.parquet"]


def test_a_rival_at_any_step_loses_nothing() -> None:
    table = _built(MERGING)
    for i in range(4):
        table.append(table.new_file((i,), name=f"{i}.parquet"))
    files, old = _store(table).snapshot(), table.names()
    sample = _copy_with(table, files)
    sample.append(sample.new_file((9,), name="new.parquet"), user="me")
    for step in range(len(_store(sample).operations)):
        raced = _copy_with(table, files)
        rival = _built(MERGING, _store(raced))

        def interfere(rival: Built = rival) -> None:
            rival.append(rival.new_file((8,), name="rival.parquet"), user="rival")

        _store(raced).race_at(step, interfere)
        raced.append(raced.new_file((9,), name="new.parquet"), user="me")
        assert sorted(raced.names()) == sorted([*old, "new.parquet", "rival.parquet"])
        assert raced.storage.snapshots.ids() == [1, 2, 3, 4, 5, 6]
        assert _leftovers(raced) == set()


def _named(entry: ManifestEntry, name: str, **meta: Any) -> ManifestEntry:
    return replace(entry, file=replace(entry.file, file_name=name, **meta))


def test_files_that_do_not_fit_are_all_named() -> None:
    table = _built()
    good = table.new_file((1,))
    bad = [
        replace(_named(good, "a"), partition=binary_row.EMPTY_ROW),
        replace(_named(good, "b"), partition=b"x"),
        replace(_named(good, "c"), bucket=3),
        _named(good, "d", schema_id=7),
        _named(good, "e", level=1),
        _named(good, "f", row_count=-1),
        replace(_named(good, "g"), kind=int(Kind.DELETE)),
        replace(_named(good, "h"), total_buckets=4),
        good,
    ]
    before = _store(table).snapshot()
    with pytest.raises(UsageError) as e:
        table.append(good, *bad)
    assert [d.path for d in e.value.diagnostics] == [*"abcdefgh", good.file.file_name]
    assert {d.code for d in e.value.diagnostics} == {"LB5072"}
    assert _store(table).snapshot() == before


@pytest.mark.parametrize(
    ("option", "value", "code"), [("type", "format-table", "LB5051"), ("manifest.format", "orc", "LB5011")]
)
def test_a_table_that_cannot_be_committed_to_is_refused_before_anything_is_written(
    option: str, value: str, code: str
) -> None:
    table = _built(table_schema([("id", "INT")], options={option: value}))
    before = _store(table).snapshot()
    with pytest.raises(UnsupportedError) as e:
        table.append(table.new_file())
    assert e.value.code == code
    assert _store(table).snapshot() == before


def test_a_partition_without_a_path_is_refused() -> None:
    table = _built(table_schema([("b", "BYTES")], partition_keys=["b"]))
    with pytest.raises(UnsupportedError) as e:
        table.append(table.new_file((b"x",)))
    assert e.value.code == "LB5030"


@pytest.mark.parametrize("option", ["commit.max-retries", "manifest.target-file-size"])
def test_an_option_that_is_no_number_is_an_error(option: str) -> None:
    table = _built(replace(MONTHLY, options={option: "eight"}))
    with pytest.raises(UsageError) as e:
        table.append(table.new_file((1,)))
    assert e.value.code == "LB5073"


def test_branches_commit_beside_the_main_line() -> None:
    table = _built()
    table.append(table.new_file((1,), name="main.parquet"))
    branch = replace(table.storage, branch="b")
    snapshot = commit(
        branch, SnapshotChange(commit_user="u", added=(table.new_file((2,), name="b.parquet"),)), clock=table.clock
    )
    assert snapshot.id == 1
    assert SnapshotManager(table.store, PATH, "b").latest_id() == 1
    files = plan_files(table.store, PATH, snapshot, table.schema)
    assert [f.path for f in files] == [f"{PATH}/month=2/bucket-0/b.parquet"]
    assert table.names() == ["main.parquet"]
