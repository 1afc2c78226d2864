"""Expiring partitions: which go, which stay and why, once only, beside others, and after a fault at any step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from lakebed.catalog import PathFactory, TableManager
from lakebed.errors import ConflictError, LakebedError, UsageError
from lakebed.lake import Lake
from lakebed.testing.memory_store import MemoryStore
from lakebed.write.partition_expiry import ExpiredPartition, PartitionExpiry
from write.test_remove_partitions import World

TODAY = 19_675  # 2023-11-14, the day of the worlds
AGED = {"partition.expiration-time": "7 d"}
UPDATED = {**AGED, "partition.expiration-strategy": "update-time"}


def world_of(options: dict[str, str], *places: tuple[Any, ...]) -> World:
    world = World(options=options)
    if places:
        world.add(*places)
    return world


def days(*ages: int) -> list[tuple[Any, ...]]:
    return [(TODAY - age, "eu") for age in ages]


def expire(world: World, **asked: Any) -> PartitionExpiry:
    return world.lake.table("d.t").expire_partitions(**asked)


def later(world: World, **time: int) -> None:
    world.now += timedelta(**time) // timedelta(milliseconds=1)


class TestByValues:
    def test_those_whose_time_has_passed_go(self) -> None:
        world = world_of(AGED, *days(0, 7, 8, 9, 100))
        found = expire(world)
        # The seventh day began more than seven days ago.
        assert world.left() == days(0)
        assert [(p.partition, p.time) for p in found.expired] == [
            ("day=2023-08-06/region=eu", datetime(2023, 8, 6)),
            ("day=2023-11-05/region=eu", datetime(2023, 11, 5)),
            ("day=2023-11-06/region=eu", datetime(2023, 11, 6)),
            ("day=2023-11-07/region=eu", datetime(2023, 11, 7)),
        ]
        assert (found.write.snapshot_id, found.write.files_removed, found.write.rows_removed) == (2, 4, 40)
        snapshot = world.storage().snapshots.load(2)
        assert (snapshot.commit_kind, snapshot.operation, snapshot.total_record_count) == ("OVERWRITE", "TRUNCATE", 10)
        assert expire(world).is_noop
        assert world.storage().snapshots.latest_id() == 2

    def test_what_is_asked_counts_before_the_option(self) -> None:
        world = world_of(AGED, *days(0, 7, 8, 100))
        assert len(expire(world, older_than=timedelta(days=30)).expired) == 1
        assert world.left() == sorted(days(0, 7, 8))
        assert len(expire(world, older_than=timedelta(0), dry_run=True).expired) == 3
        assert world.left() == sorted(days(0, 7, 8))

    def test_a_time_before_all_times(self) -> None:
        world = world_of({"partition.expiration-time": "9999999 d"}, *days(100))
        assert expire(world).is_noop
        assert expire(world, older_than=timedelta.max).is_noop

    def test_the_day_begins_where_the_lake_is(self) -> None:
        # It is 2023-11-14 22:13 in UTC, and the 15th in Tokyo.
        asked = {"older_than": timedelta(hours=1)}
        assert expire(world_of({}, *days(0, -1)), **asked).write.rows_removed == 10
        world = world_of({}, *days(0, -1))
        world.lake = Lake(world.lake.tables, world.store, time_zone="Asia/Tokyo", clock=world.clock)
        assert expire(world, **asked).write.rows_removed == 20

    def test_what_cannot_be_read_stays_and_is_named(self) -> None:
        options = {**AGED, "partition.timestamp-pattern": "$region"}
        world = world_of(options, (TODAY, "2023-1-1"), (TODAY, "eu"), (None, "2023-01-01"), (TODAY, None))
        found = expire(world)
        assert [p.partition for p in found.expired] == ["day=2023-11-14/region=2023-1-1"]
        assert [(p.partition, p.problem) for p in found.unknown] == [
            ("day=__DEFAULT_PARTITION__/region=2023-01-01", "day is NULL"),
            ("day=2023-11-14/region=__DEFAULT_PARTITION__", "region is NULL"),
            ("day=2023-11-14/region=eu", "'eu' is no time"),
        ]
        again = expire(world)
        assert (again.is_noop, again.unknown) == (True, found.unknown)

    def test_at_most_so_many_at_once_the_oldest_first(self) -> None:
        world = world_of({**AGED, "partition.expiration-max-num": "2"}, *days(10, 11, 12, 13, 14))
        counts = []
        while not (found := expire(world)).is_noop:
            counts.append((len(found.expired), found.more, world.left()))
        assert counts == [(2, 3, days(12, 11, 10)), (2, 1, days(10)), (1, 0, [])]


class TestByTheLastFile:
    def test_those_that_nobody_has_written_to_go(self) -> None:
        world = world_of(UPDATED, *days(0, 100))
        later(world, days=5)
        world.add(*days(100))
        later(world, days=3)
        found = expire(world)
        assert ([p.partition for p in found.expired], world.left()) == (["day=2023-11-14/region=eu"], days(100, 100))
        assert found.expired[0].time == datetime.fromtimestamp(1_700_000_000) + timedelta(milliseconds=1)

    def test_a_file_that_has_gone_counts(self) -> None:
        world = world_of(UPDATED, *days(0))
        later(world, days=5)
        world.add(*days(0), rows=1)
        newest = max(f.meta.creation_time or 0 for f in _live(world))
        _remove(world, newest)
        later(world, days=3)
        assert expire(world).is_noop

    def test_one_that_is_written_to_meanwhile_stays(self) -> None:
        steps = _steps(lambda: world_of(UPDATED, *days(0, 1)))
        assert steps > 5
        stayed = 0
        for step in range(steps):
            world = world_of(UPDATED, *days(0, 1))
            later(world, days=8)
            world.store.restart()
            world.store.race_at(step, lambda world=world: world.add(*days(1)))
            found = expire(world)
            gone = {p.partition for p in found.expired}
            assert "day=2023-11-14/region=eu" in gone
            if "day=2023-11-13/region=eu" not in gone:
                stayed += 1
                assert world.left() == days(1, 1)
        assert stayed >= 3


def _live(world: World) -> Any:
    from lakebed.format.live_files import plan_files

    storage = world.storage()
    latest = storage.snapshots.latest()
    assert latest is not None
    return plan_files(world.store, storage.path, latest, storage.schemas.load_latest_schema())


def _remove(world: World, created: int) -> None:
    from lakebed.format import binary_row
    from lakebed.format.commit import commit
    from lakebed.format.live_files import partition_types
    from lakebed.format.manifest import Kind, ManifestEntry
    from lakebed.format.snapshot_change import SnapshotChange

    (file,) = [f for f in _live(world) if f.meta.creation_time == created]
    types = partition_types(world.storage().schemas.load_latest_schema())
    partition = binary_row.encode(types, file.partition)
    gone = ManifestEntry(int(Kind.ADD), partition, file.bucket, file.total_buckets, file.meta)
    commit(world.storage(), SnapshotChange(commit_user="gone", deleted=(gone,)), clock=world.clock)


def _steps(fresh: Callable[[], World]) -> int:
    world = fresh()
    later(world, days=8)
    world.store.restart()
    expire(world)
    return len(world.store.operations)


class TestRuns:
    def test_a_run_is_done_once(self) -> None:
        world = world_of(AGED, *days(0, 100))
        first = expire(world, run_id="r", properties={"why": "law"})
        world.add(*days(200))
        again = expire(world, run_id="r")
        assert again.write == replace(first.write, repeated=True)
        assert again.expired == (ExpiredPartition("day=2023-08-06/region=eu", None),)
        assert (world.storage().snapshots.load(2).properties or {})["why"] == "law"
        assert world.left() == [days(200)[0], days(0)[0]]
        with pytest.raises(UsageError) as caught:
            expire(world, run_id="r", older_than=timedelta(days=1))
        assert caught.value.code == "LB5105"

    def test_a_run_that_found_nothing_counts(self) -> None:
        world = world_of(AGED, *days(0))
        assert expire(world, run_id="r").write.snapshot_id == 2
        later(world, days=30)
        assert (expire(world, run_id="r").write.repeated, world.left()) == (True, days(0))

    def test_a_fault_at_any_step(self) -> None:
        fresh = world_of(AGED, *days(0, 100))
        files, count = fresh.store.snapshot(), _steps(lambda: world_of(AGED, *days(0, 100)))
        for step in range(count):
            for after in (False, True):
                world = World()
                world.store = MemoryStore(files)
                tables = TableManager(PathFactory("/w", "paimon", store=world.store), world.store, world.clock)
                world.lake = Lake(tables, world.store, time_zone="UTC", clock=world.clock)
                world.store.fail_at(step, after=after)
                try:
                    expire(world, run_id="r")
                except LakebedError:
                    world.store.restart()
                    assert world.left() in (sorted(days(0, 100)), days(0))
                world.store.restart()
                expire(world, run_id="r")
                assert (world.left(), world.storage().snapshots.latest_id()) == (days(0), 2)

    def test_others_who_change_it_each_time_win(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = world_of(UPDATED, *days(0))
        later(world, days=30)
        import lakebed.write.partition_expiry as module

        def look(call: Any, latest: Any) -> Any:
            found = choose(call, latest)
            later(world, days=40)
            world.add((TODAY + world.count, "eu"))
            return found

        choose = module._Call._choose
        monkeypatch.setattr(module._Call, "_choose", look)
        monkeypatch.setattr(module, "_MOST_CHOICES", 3)
        monkeypatch.setattr(module._Call, "_guard", lambda *_: _refuse)
        with pytest.raises(ConflictError) as caught:
            expire(world)
        assert caught.value.code == "LB5109"


def _refuse(_: Any) -> None:
    from lakebed.write.partition_expiry import _OtherChoiceError

    raise _OtherChoiceError


class TestTables:
    def test_without_partitions(self) -> None:
        with pytest.raises(UsageError) as caught:
            expire(World(partition_keys=[]), older_than=timedelta(0))
        assert caught.value.code == "LB5100"
        assert caught.value.diagnostics[0].remedy == "`lakebed delete d.t --where ...` deletes old rows"

    def test_without_snapshots(self) -> None:
        assert expire(world_of(AGED)).is_noop

    def test_a_branch_and_no_single_state(self) -> None:
        world = world_of(AGED, *days(100))
        world.lake.branches("d.t").create("b", snapshot=1)
        assert len(world.lake.table("d.t@branch:b").expire_partitions().expired) == 1
        assert (world.left("b"), world.left()) == ([], days(100))
        with pytest.raises(UsageError):
            world.lake.table("d.t@snap:1").expire_partitions()

    def test_many_partitions(self) -> None:
        options = {**AGED, "partition.expiration-max-num": "1000"}
        world = world_of(options, *days(0, *range(10, 110)))
        assert (len(expire(world).expired), world.left()) == (100, days(0))


def test_what_is_printed() -> None:
    options = {**AGED, "partition.timestamp-pattern": "$region", "partition.expiration-max-num": "1"}
    world = world_of(options, (TODAY, "2023-01-01"), (TODAY, "2023-01-02"), (TODAY, "eu"))
    assert str(expire(world, dry_run=True)).splitlines() == [
        "d.t: would remove 10 rows, 1 file, 1 partition, 100 B",
        "  day=2023-11-14/region=2023-01-01: 2023-01-01 00:00:00",
        "  1 more partition is due and waits for the next run",
        "1 partition stays, without a time that can be read:",
        "  day=2023-11-14/region=eu: 'eu' is no time",
    ]
    assert str(expire(world)).startswith(
        "d.t: removed 10 rows, 1 file, 1 partition, 100 B (snapshot 2, schema 0)\n  day"
    )
    assert str(expire(world_of(AGED, *days(0)))) == "d.t: no partition is due."
    expire(world, run_id="r")
    assert "this run was done before; nothing was done now" in str(expire(world, run_id="r"))
    assert expire(world).to_json()["older_than_seconds"] == 7 * 86_400
