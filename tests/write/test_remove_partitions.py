"""Truncating a table and dropping partitions: what goes, what stays, what is said, and what is done once only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from format.building import table_schema
from lakebed.catalog import PathFactory, TableManager, schema_file
from lakebed.errors import LakebedError, NotFoundError, UnsupportedError, UsageError
from lakebed.format.commit import commit
from lakebed.format.live_files import plan_files
from lakebed.format.manifest import ColumnStatistics, ManifestEntry, SimpleStats
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.lake import Lake
from lakebed.testing.memory_store import MemoryStore
from lakebed.write.write_result import WriteResult

DAY = 19_723  # 2024-01-01


class World:
    """A lake with a table of two partition keys; files are described only."""

    def __init__(self, **table: Any) -> None:
        self.store = MemoryStore()
        self.now = 1_700_000_000_000
        tables = TableManager(PathFactory("/w", "paimon", store=self.store), self.store, self.clock)
        columns = [("day", "DATE"), ("region", "STRING"), ("v", "INT")]
        schema = table_schema(columns, **{"partition_keys": ["day", "region"]} | table)
        self.store.create_if_absent("/w/d.db/t/schema/schema-0", schema_file.dumps(schema))
        self.lake = Lake(tables, self.store, time_zone="UTC", clock=self.clock)
        self.count = 0

    def clock(self) -> int:
        self.now += 1
        return self.now

    def storage(self, branch: str = "main") -> TableStorage:
        tables = self.lake.tables
        return TableStorage(self.store, tables.table_path("d.t"), tables.get_schema_manager("d", "t", branch), branch)

    def add(self, *places: tuple[Any, ...], rows: int = 10, branch: str = "main") -> None:
        storage = self.storage(branch)
        schema = storage.schemas.load_latest_schema()
        stats = SimpleStats.of([f.type for f in schema.fields], [ColumnStatistics()] * len(schema.fields))
        added: list[ManifestEntry] = []
        for place in places:
            self.count += 1
            name = f"data-{self.count}.parquet"
            added.append(
                new_append_file(schema, place, file_name=name, size=100, rows=rows, stats=stats, created=self.clock())
            )
        commit(storage, SnapshotChange(commit_user=f"u{self.count}", added=tuple(added)), clock=self.clock)

    def left(self, branch: str = "main") -> list[tuple[Any, ...]]:
        storage = self.storage(branch)
        latest = storage.snapshots.latest()
        schema = storage.schemas.load_latest_schema()
        assert latest is not None
        return sorted(f.partition for f in plan_files(self.store, storage.path, latest, schema))

    def drop(self, *partitions: Any, **parts: Any) -> WriteResult:
        return self.lake.table("d.t").drop_partitions(partitions, **parts)


PLACES = [(DAY, "eu"), (DAY, "us"), (DAY + 1, "eu"), (DAY + 1, "eu")]


@pytest.fixture
def world() -> World:
    made = World()
    made.add(*PLACES)
    return made


def test_truncate(world: World) -> None:
    result = world.lake.table("d.t").truncate(properties={"why": "reload"})
    assert world.left() == []
    assert result == WriteResult(
        table="d.t",
        operation="truncate",
        schema_id=0,
        duration_ms=result.duration_ms,
        snapshot_id=2,
        rows_removed=40,
        files_removed=4,
        bytes_removed=400,
        partitions=("day=2024-01-01/region=eu", "day=2024-01-01/region=us", "day=2024-01-02/region=eu"),
    )
    snapshot = world.storage().snapshots.load(2)
    assert (snapshot.commit_kind, snapshot.operation, snapshot.total_record_count) == ("OVERWRITE", "TRUNCATE", 0)
    assert (snapshot.properties or {})["why"] == "reload"
    assert snapshot.time_millis == world.now or snapshot.time_millis < world.now
    # The rows are where they were for those who travel.
    before = world.storage().snapshots.load(1)
    assert len(plan_files(world.store, world.storage().path, before, world.storage().schemas.load_schema(0))) == 4


@pytest.mark.parametrize(
    ("partitions", "left", "said"),
    [
        (["day=2024-01-01"], PLACES[2:], 2),
        ([{"day": "2024-01-01", "region": "eu"}], PLACES[1:], 1),
        ([{"region": "eu"}], PLACES[1:2], 2),
        (["day=2024-01-02/region=eu", "day=2024-01-01/region=us"], PLACES[:1], 2),
        (["day=2023-01-01", "region=us"], [PLACES[0], *PLACES[2:]], 1),
    ],
)
def test_drop_partitions(world: World, partitions: list[Any], left: list[Any], said: int) -> None:
    result = world.drop(*partitions)
    assert world.left() == left
    gone = 4 - len(left)
    assert (result.files_removed, result.rows_removed, result.bytes_removed) == (gone, 10 * gone, 100 * gone)
    assert (result.operation, result.snapshot_id, len(result.partitions)) == ("drop-partitions", 2, said)


def test_nulls_and_empty_texts_are_partitions_of_their_own() -> None:
    world = World()
    world.add((None, "eu"), (None, ""), (None, None), (DAY, None))
    assert world.drop({"region": None}).partitions == (
        "day=2024-01-01/region=__DEFAULT_PARTITION__",
        "day=__DEFAULT_PARTITION__/region=__DEFAULT_PARTITION__",
    )
    assert world.left() == [(None, ""), (None, "eu")] or sorted(p[1] for p in world.left()) == ["", "eu"]


def test_nothing_to_do_commits_nothing(world: World) -> None:
    for act in (lambda **kw: world.drop("day=2020-01-01", **kw), lambda **kw: World().lake.table("d.t").truncate(**kw)):
        for parts in ({}, {"dry_run": True}):
            result = act(**parts)
            assert (result.snapshot_id, result.files_removed, result.partitions) == (None, 0, ())
    assert world.storage().snapshots.latest_id() == 1


def test_a_dry_run_says_what_would_go(world: World) -> None:
    before = world.store.snapshot()
    result = world.drop("day=2024-01-02", dry_run=True)
    assert (result.snapshot_id, result.files_removed, result.partitions) == (None, 2, ("day=2024-01-02/region=eu",))
    assert world.lake.table("d.t").truncate(dry_run=True).rows_removed == 40
    assert world.store.snapshot() == before


def test_a_branch_is_emptied_by_itself(world: World) -> None:
    world.lake.tags("d.t").create("a", snapshot=1)
    world.lake.branches("d.t").create("b", tag="a")
    result = world.lake.table("d.t@branch:b").truncate()
    assert (result.table, result.rows_removed) == ("d.t@branch:b", 40)
    assert (world.left("b"), world.left()) == ([], PLACES)


class TestOnce:
    def test_a_run_is_done_once_whatever_comes_after(self, world: World) -> None:
        first = world.drop("day=2024-01-01", run_id="r")
        world.add((DAY, "eu"))
        again = world.drop("day=2024-01-01", run_id="r")
        assert again == replace(first, repeated=True)
        assert (world.left(), world.storage().snapshots.latest_id()) == ([(DAY, "eu"), *PLACES[2:]], 3)
        assert world.storage().snapshots.load(2).commit_user == "lakebed-r"

    def test_a_run_that_found_nothing_counts(self) -> None:
        world = World()
        assert world.lake.table("d.t").truncate(run_id="r").snapshot_id == 1
        world.add((DAY, "eu"))
        assert world.lake.table("d.t").truncate(run_id="r").repeated
        assert world.left() == [(DAY, "eu")]

    def test_a_commit_user_counts_too(self, world: World) -> None:
        assert world.lake.table("d.t").truncate(commit_user="me").snapshot_id == 2
        assert world.storage().snapshots.load(2).commit_user == "me"
        world.add((DAY, "eu"))
        assert world.lake.table("d.t").truncate(commit_user="me").repeated

    def test_runs_without_an_id_are_runs_of_their_own(self, world: World) -> None:
        world.lake.table("d.t").truncate()
        world.add((DAY, "eu"))
        assert world.lake.table("d.t").truncate().rows_removed == 10

    def test_an_id_is_not_taken_for_another_operation(self, world: World) -> None:
        world.drop("day=2024-01-01", run_id="r")
        for act in (
            lambda: world.lake.table("d.t").truncate(run_id="r"),
            lambda: world.drop("day=2024-01-02", run_id="r"),
        ):
            with pytest.raises(UsageError) as e:
                act()
            assert e.value.code == "LB5105"
        assert world.left() == PLACES[2:]

    @pytest.mark.parametrize(
        "parts",
        [
            {"run_id": "a", "commit_user": "b"},
            {"run_id": " "},
            {"commit_user": ""},
            {"properties": {"lakebed.asked": "x"}},
            # What other engines could not read in the snapshot.
            {"properties": {"n": 1}},
            {"properties": {"n": None}},
            {"properties": {"n": {"m": "x"}}},
            {"properties": {1: "x"}},
            {"properties": "n=1"},
            {"run_id": 5},
            {"commit_user": b"x"},
        ],
    )
    def test_arguments_that_make_no_sense(self, world: World, parts: dict[str, Any]) -> None:
        with pytest.raises(UsageError) as e:
            world.lake.table("d.t").truncate(**parts)
        assert e.value.code == "LB5104"

    def test_keywords_that_are_not_known(self, world: World) -> None:
        with pytest.raises(TypeError, match="run_id"):
            world.lake.table("d.t").truncate(run_i="x")  # type: ignore[call-arg]

    def test_a_fault_at_any_step_and_the_run_is_done_once(self, world: World) -> None:
        files = world.store.snapshot()
        world.store.restart()
        world.drop("day=2024-01-01", run_id="r")
        for step in range(len(world.store.operations)):
            for after in (False, True):
                broken = World()
                broken.store = MemoryStore(files)
                tables = TableManager(PathFactory("/w", "paimon", store=broken.store), broken.store, broken.clock)
                broken.lake = Lake(tables, broken.store, time_zone="UTC", clock=broken.clock)
                broken.store.fail_at(step, after=after)
                try:
                    broken.drop("day=2024-01-01", run_id="r")
                except LakebedError:
                    broken.store.restart()
                    assert broken.left() in (PLACES, PLACES[2:])
                broken.store.restart()
                broken.drop("day=2024-01-01", run_id="r")
                assert (broken.left(), broken.storage().snapshots.latest_id()) == (PLACES[2:], 2)


class TestRefusals:
    def test_a_state_is_not_written(self, world: World) -> None:
        with pytest.raises(UsageError) as e:
            world.lake.table("d.t@snap:1").truncate()
        assert e.value.code == "LB3668"

    @pytest.mark.parametrize(("option", "value"), [("scan.primary-branch", "b"), ("manifest.format", "orc")])
    def test_tables_that_cannot_be_committed_to(self, option: str, value: str) -> None:
        world = World(options={option: value})
        before = world.store.snapshot()
        for act in (lambda: world.lake.table("d.t").truncate(), lambda: world.drop("region=eu")):
            with pytest.raises(UnsupportedError):
                act()
        assert world.store.snapshot() == before

    @pytest.mark.parametrize(
        "options",
        [
            {"deletion-vectors.enabled": "true"},
            {"row-tracking.enabled": "true"},
            {"file.format": "orc"},
            {"bucket": "4", "bucket-key": "v"},
        ],
    )
    def test_tables_whose_rows_others_write_can_be_emptied(self, options: dict[str, str]) -> None:
        world = World(options=options)
        assert world.lake.table("d.t").truncate(run_id="r").snapshot_id == 1

    def test_a_table_without_partitions(self) -> None:
        world = World(partition_keys=[])
        with pytest.raises(UsageError) as e:
            world.drop("day=2024-01-01")
        assert e.value.code == "LB5100"
        world.add(())
        assert world.lake.table("d.t").truncate().partitions == ()

    def test_a_table_that_is_not_there(self, world: World) -> None:
        with pytest.raises(NotFoundError):
            world.lake.table("d.none").truncate()


def test_what_is_printed(world: World) -> None:
    assert str(world.drop("day=2020-01-01")) == "d.t: no partition matches, nothing to remove."
    assert str(world.drop("day=2024-01-02", dry_run=True)).splitlines() == [
        "d.t: would remove 20 rows, 2 files, 1 partition, 200 B",
        "  day=2024-01-02/region=eu",
    ]
    assert str(world.lake.table("d.t").truncate()) == "d.t: removed 40 rows, 4 files, 400 B (snapshot 2, schema 0)"
    assert str(world.lake.table("d.t").truncate()) == "d.t: there are no rows, nothing to remove."
    for day in range(30):
        world.add((DAY + day, "eu"), rows=1)
    lines = str(world.drop("region=eu", run_id="r")).splitlines()
    assert (len(lines), lines[-1]) == (22, "  and 10 more")
    assert str(world.drop("region=eu", run_id="r")).splitlines()[-1] == "this run was done before; nothing was done now"
