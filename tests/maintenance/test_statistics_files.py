"""Files of statistics and of their sketches: they go with the last state that names them, and no orphan is one."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from lakebed.errors import RefusedError
from lakebed.format.commit import commit
from lakebed.format.snapshot_change import SnapshotChange
from maintenance.worlds import ROOT, STORES, TABLE, World, every_crash


def analyzed(world: World, name: str = "stat-a", *sketches: str, branch: str = "main") -> None:
    """Commit statistics of the newest snapshot."""
    content: dict[str, Any] = {"snapshotId": 1, "schemaId": 0, "colStats": {}}
    if sketches:
        content["blobMetadata"] = [{"type": "ndv", "fileLocation": sketch} for sketch in sketches]
    world.store.replace(f"{ROOT}/statistics/{name}", json.dumps(content).encode())
    for sketch in sketches:
        world.store.replace(f"{ROOT}/statistics/{sketch}", b"sketch")
    change = SnapshotChange(commit_user=f"analyze-{world.clock()}", statistics=name)
    commit(world.place(branch).storage, change, clock=world.clock, sleep=lambda _: None)


def there(world: World) -> set[str]:
    return {entry.name for entry in world.store.list(f"{ROOT}/statistics")}


def expire(world: World) -> Any:
    return world.lake.table(TABLE).expire(retain_min=1, older_than=timedelta(0))


def test_a_snapshot_of_statistics_changes_nothing_else() -> None:
    world = World()
    before = world.commit(rows=7)
    analyzed(world)
    snapshot = world.place().snapshots.latest()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.statistics) == ("ANALYZE", "stat-a")
    assert (snapshot.delta_record_count, snapshot.total_record_count) == (0, before.total_record_count)
    # Later snapshots of the schema keep the statistics; those of a newer one have none.
    assert world.commit().statistics == "stat-a"
    world.alter()
    assert world.commit().statistics is None


def test_they_go_with_the_last_snapshot_that_names_them() -> None:
    world = World()
    world.commit()
    analyzed(world, "stat-a", "sketch-a")
    world.commit()
    assert expire(world).metadata_files > 0
    assert there(world) == {"stat-a", "sketch-a"}
    analyzed(world, "stat-b")
    expire(world)
    assert there(world) == {"stat-b"}


def test_a_tag_and_a_branch_keep_them() -> None:
    world = World()
    world.commit()
    analyzed(world, "stat-a", "sketch-a", "sketch-b")
    world.lake.tags(TABLE).create("t")
    world.lake.branches(TABLE).create("b", tag="t")
    analyzed(world, "stat-b")
    expire(world)
    assert there(world) == {"stat-a", "sketch-a", "sketch-b", "stat-b"}
    world.check_whole()


def test_orphans_are_those_that_no_statistics_name() -> None:
    world = World()
    world.commit()
    analyzed(world, "stat-a", "sketch-a")
    world.store.replace(f"{ROOT}/statistics/sketch-lost", b"sketch")
    world.later()
    found = world.lake.remove_orphans(TABLE)
    assert [file.path for file in found.files] == ["statistics/sketch-lost"]
    assert there(world) == {"stat-a", "sketch-a"}


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"schemaId": 0, "blobMetadata": [{"fileLocation": "../x"}]}'])
def test_statistics_that_cannot_be_read_keep_everything(content: bytes) -> None:
    world = World()
    world.commit()
    analyzed(world)
    world.commit()
    world.store.replace(f"{ROOT}/statistics/stat-a", content)
    world.later()
    before = world.store.snapshot()
    for act in (expire, lambda w: w.lake.remove_orphans(TABLE)):
        with pytest.raises(RefusedError) as caught:
            act(world)
        assert caught.value.code == "LB3664"
    assert world.store.snapshot() == before


@pytest.mark.parametrize("kind", STORES)
def test_a_crash_at_any_step(kind: type) -> None:
    def fresh() -> World:
        world = World(kind())
        world.commit()
        analyzed(world, "stat-a", "sketch-a")
        analyzed(world, "stat-b")
        return world

    def check(world: World) -> None:
        world.check_whole()
        named = {s.snapshot.statistics for s in world.states()} - {None}
        assert named <= there(world)
        expire(world)
        world.later()
        world.lake.remove_orphans(TABLE)
        assert there(world) == {"stat-b"}

    assert every_crash(fresh, expire, check) > 10
