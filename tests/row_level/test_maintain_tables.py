"""Maintenance: what is due by the options and nothing else, in the right order, whatever fails on the way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, NoReturn

import pytest
from pyspark.sql import SparkSession

from lakebed.errors import StoreError, UsageError
from lakebed.evolve.schema_changes import SetOption
from lakebed.lake import Lake
from lakebed.write.maintenance_report import MaintenanceReport, Step
from maintenance.worlds import DAY, ROOT, STORES, TABLE, World, every_crash
from row_level.changed_tables import Make, rows_of
from write.test_expire_partitions import AGED, days, later, world_of


def never() -> NoReturn:
    raise AssertionError("Spark was asked for")


def maintain(lake: Lake, *tables: str, **asked: Any) -> MaintenanceReport:
    return lake.maintain(never, tables or None, **asked)


def filled(commits: int, world: World | None = None) -> World:
    """A table of which only the newest snapshot stays, with more files than are compacted."""
    world = world or World()
    options = {"snapshot.num-retained.min": "1", "compaction.min.file-num": "100"}
    world.lake.tables.alter_table("lab", "t", [SetOption(key, value) for key, value in options.items()])
    for _ in range(commits):
        world.commit()
    world.later()
    return world


class TestWhatIsDue:
    def test_partitions_go_first_and_their_files_when_their_snapshot_does(self) -> None:
        world = world_of({**AGED, "snapshot.num-retained.min": "1"}, *days(0, 100, 101, 102, 103, 104))
        later(world, hours=2)
        looked = maintain(world.lake, dry_run=True)
        assert world.storage().snapshots.ids() == [1]
        assert (len(looked.tables[0].partitions.expired), looked.is_noop) == (5, False)
        found = maintain(world.lake).tables[0]
        # Nobody has compacted what goes: the files are in as many partitions.
        assert (found.partitions.write.files_removed, found.compaction.files_removed) == (5, 0)
        assert (found.snapshots.snapshots, found.freed_files) == ((), 0)
        later(world, hours=2)
        found = maintain(world.lake).tables[0]
        assert (found.partitions.is_noop, found.snapshots.snapshots, found.snapshots.data_files) == (True, (1,), 5)
        assert (found.freed_files, found.freed_bytes) == (5 + found.snapshots.metadata_files, found.snapshots.bytes)
        assert world.left() == days(0)
        assert maintain(world.lake).is_noop

    def test_partitions_stay_without_the_option(self) -> None:
        world = world_of({}, *days(0, 100))
        assert maintain(world.lake).tables[0].partitions is None
        assert len(world.left()) == 2

    def test_a_compaction_is_looked_for_without_spark(self) -> None:
        world = world_of({}, *days(1, 1, 1, 1))
        assert maintain(world.lake).is_noop
        world.add(*days(1))
        found = maintain(world.lake, dry_run=True).tables[0]
        assert (found.compaction.files_removed, found.compaction.snapshot_id) == (5, None)
        with pytest.raises(AssertionError, match="Spark was asked for"):
            maintain(world.lake)

    def test_tags_that_were_to_be_kept_for_a_time(self) -> None:
        world = World()
        world.commit()
        world.lake.tags(TABLE).create("a", retained=DAY)
        world.later()
        assert maintain(world.lake).tables[0].snapshots.tags == ("a",)

    def test_orphans_only_where_asked(self) -> None:
        world = World()
        world.commit()
        world.store.create_if_absent(f"{ROOT}/bucket-0/data-lost-0.parquet", b"lost")
        world.later()
        assert maintain(world.lake).tables[0].orphans is None
        looked = maintain(world.lake, orphans=True, dry_run=True).tables[0]
        assert (len(looked.orphans.files), looked.orphans.removed, looked.is_noop) == (1, False, False)
        found = maintain(world.lake, orphans=True)
        assert (found.tables[0].orphans.removed, found.freed_files, found.freed_bytes) == (True, 1, 4)
        world.check_whole()

    def test_all_tables_with_those_of_bad_rows_or_those_that_are_named(self) -> None:
        world = World()
        for name in ("t__quarantine", "u"):
            world.lake.tables.create_table("lab", name, ["id INT"])
        assert [t.table for t in maintain(world.lake).tables] == ["lab.t", "lab.t__quarantine", "lab.u"]
        assert [t.table for t in maintain(world.lake, "lab.u", TABLE, "lab.u").tables] == ["lab.u", TABLE]
        world.commit()
        world.lake.branches(TABLE).create("b", snapshot=1)
        assert [t.table for t in maintain(world.lake, f"{TABLE}@branch:b").tables] == ["lab.t@branch:b"]
        told: list[str] = []
        maintain(world.lake, TABLE, progress=told.append)
        assert told == ["lab.t: open", "lab.t: compact", "lab.t: expire"]

    def test_a_single_state_is_refused_before_anything_is_done(self) -> None:
        world = world_of(AGED, *days(0, 100))
        with pytest.raises(UsageError) as caught:
            maintain(world.lake, "d.t", "d.t@snap:1")
        assert (caught.value.code, len(world.left())) == ("LB3668", 2)


class TestWhatFails:
    def test_a_step_keeps_nothing_else_from_being_done(self) -> None:
        world = filled(3)
        world.lake.tables.create_table("lab", "a", ["id INT", "day STRING"], partition_keys=["day"])
        options = {"partition.expiration-time": "1 d", "partition.timestamp-formatter": "yyyy"}
        changes = [{"action": "setOption", "key": key, "value": value} for key, value in options.items()]
        world.lake.tables.alter_table("lab", "a", changes)
        found = maintain(world.lake, "lab.a", "lab.none", TABLE, dry_run=True)
        first, none, last = found.tables
        # What Lakebed does not do is no failure.
        assert [(s.step, s.problems[0].code) for s in first.skipped] == [(Step.EXPIRE_PARTITIONS, "LB5108")]
        assert (first.failed, first.snapshots is not None) == ((), True)
        assert [(s.step, s.exit_code) for s in none.failed] == [(Step.OPEN, 1)]
        assert (last.snapshots.snapshots, last.failed) == ((1, 2), ())
        assert found.failed == none.failed
        text = str(found)
        assert "lab.a: partitions not expired: dates cannot be read by the pattern 'yyyy'" in text
        assert "lab.none: not maintained: " in text
        assert ("would be freed" in text, text.endswith("; 1 step failed.")) == (True, True)

    def test_tables_that_lakebed_does_not_compact_expire(self) -> None:
        world = World()
        world.lake.tables.create_table("lab", "u", ["id INT"], options={"row-tracking.enabled": "true"})
        (found,) = maintain(world.lake, "lab.u").tables
        assert ([s.step for s in found.skipped], found.failed) == ([Step.COMPACT], ())
        assert str(found).startswith("lab.u: not compacted: rows of lab.u cannot be changed")

    @pytest.mark.parametrize("kind", STORES)
    def test_a_crash_at_any_step(self, kind: type) -> None:
        def fresh() -> World:
            world = World(kind())
            world.store.create_if_absent(f"{ROOT}/bucket-0/data-lost-0.parquet", b"lost")
            return filled(2, world)

        def check(world: World) -> None:
            world.check_whole()
            assert maintain(world.lake, orphans=True).failed == ()
            world.later()
            assert maintain(world.lake, orphans=True).failed == ()
            assert world.snapshots() == [2]
            world.check_whole()
            assert world.lake.orphan_files(TABLE, min_age=timedelta(0)).files == ()

        assert every_crash(fresh, lambda w: maintain(w.lake, orphans=True), check) > 20

    @pytest.mark.parametrize("kind", STORES)
    def test_a_storage_that_fails_at_any_step_is_told(self, kind: type) -> None:
        def fresh() -> World:
            world = filled(3, World(kind()))
            world.store.restart()
            return world

        world = fresh()
        maintain(world.lake, TABLE)
        told, steps = 0, len(world.store.operations)
        for step in range(steps):
            world = fresh()
            world.store.fail_at(step)
            try:
                told += bool(maintain(world.lake, TABLE).failed)
            except StoreError:
                pytest.fail("a failure ended the maintenance")
            world.store.restart()
            world.check_whole()
        assert told > steps / 2


def test_the_rows_stay(spark: SparkSession, make: Make) -> None:
    """With Spark: a compaction, and the expiry of what it has replaced."""
    made = make("append")
    options = {"compaction.min.file-num": "3", "snapshot.num-retained.min": "1", "snapshot.time-retained": "1 ms"}
    made.lake.tables.alter_table("db", "t", [SetOption(key, value) for key, value in options.items()])
    sessions: list[int] = []
    found = made.lake.maintain(lambda: sessions.append(1) or spark).tables[0]
    assert (found.compaction.files_removed, found.snapshots.snapshots, sessions) == (3, (1, 2, 3), [1])
    assert found.snapshots.data_files >= 3
    made.check()
    assert made.on_disk() == {name for f in made.files() for name in (f.meta.file_name, *f.meta.extra_files)}
    assert made.table.maintain(never).is_noop
    made.append(rows_of(range(30, 33)))
    made.check()
