"""A crash at every operation: the table and each branch are whole, and repeating the command finishes the work."""

from __future__ import annotations

import warnings

import pytest

from lakebed.errors import AlreadyExistsError, LakebedWarning, StoreError
from maintenance.worlds import ROOT, STORES, TABLE, World, every_crash

KINDS = pytest.mark.parametrize("kind", STORES)


@KINDS
@pytest.mark.parametrize("start", ["nothing", "tag", "snapshot"])
def test_create_a_branch(kind, start):
    def fresh() -> World:
        world = World(kind())
        world.commit()
        world.alter()
        world.commit()
        if start == "tag":
            world.lake.tags(TABLE).create("t")
        return world

    def act(world: World) -> None:
        given = {"nothing": {}, "tag": {"tag": "t"}, "snapshot": {"snapshot": 2}}[start]
        world.lake.branches(TABLE).create("b", **given)

    def check(world: World) -> None:
        world.check_whole()
        branches = world.lake.branches(TABLE)
        if world.branches() == ["b"]:
            assert world.versions("b") == [0, 1]
            assert world.snapshots("b") == ([] if start == "nothing" else [2])
            return
        if world.store.exists(f"{ROOT}/branch/branch-b"):
            with pytest.raises(AlreadyExistsError) as raised:
                act(world)
            assert raised.value.code == "LB3654"
            branches.delete("b")
        act(world)
        assert world.versions("b") == [0, 1]
        world.check_whole()

    assert every_crash(fresh, act, check) > 8


def with_branch(kind: type) -> World:
    world = World(kind())
    world.commit()
    world.lake.branches(TABLE).create("b", snapshot=1)
    world.alter("b")
    world.commit("b")
    world.commit("b")
    world.lake.tags(f"{TABLE}@branch:b").create("two", snapshot=2)
    return world


@KINDS
def test_delete_a_branch(kind):
    def check(world: World) -> None:
        world.check_whole()
        if world.branches() == ["b"]:
            assert (world.versions("b"), world.snapshots("b")) == ([0, 1], [1, 2, 3])
        if world.store.exists(f"{ROOT}/branch/branch-b"):
            world.lake.branches(TABLE).delete("b")
        assert world.branches() == []
        world.lake.branches(TABLE).create("b")
        world.later()
        world.lake.remove_orphans(TABLE)
        world.check_whole()
        assert (world.snapshots(), world.versions("b")) == ([1], [0])

    every_crash(lambda: with_branch(kind), lambda world: world.lake.branches(TABLE).delete("b"), check)


@KINDS
def test_fast_forward(kind):
    def check(world: World) -> None:
        world.check_whole()
        assert world.snapshots() in ([1], [1, 2], [1, 2, 3])
        world.lake.branches(TABLE).fast_forward("b")
        assert (world.versions(), world.snapshots()) == ([0, 1], [1, 2, 3])
        assert world.place().snapshots.latest_id() == 3
        assert world.lake.tables.get_table_metadata("lab", "t").current_schema_id == 1
        assert [t.name for t in world.lake.tags(TABLE).list()] == ["b", "two"]
        world.check_whole()

    assert every_crash(lambda: with_branch(kind), lambda w: w.lake.branches(TABLE).fast_forward("b"), check) > 15


@KINDS
def test_tags(kind):
    def fresh() -> World:
        world = World(kind())
        world.commit()
        return world

    def made(world: World) -> None:
        world.check_whole()
        tags = world.lake.tags(TABLE)
        if not tags.list():
            tags.create("a")
        assert [(t.name, t.snapshot.id) for t in tags.list()] == [("a", 1)]

    def gone(world: World) -> None:
        world.check_whole()
        tags = world.lake.tags(TABLE)
        for tag in tags.list():
            tags.delete(tag.name)
        assert tags.list() == ()

    def tagged() -> World:
        world = fresh()
        world.lake.tags(TABLE).create("a")
        return world

    every_crash(fresh, lambda world: world.lake.tags(TABLE).create("a"), made)
    every_crash(tagged, lambda world: world.lake.tags(TABLE).delete("a"), gone)


@KINDS
def test_roll_back_the_schema(kind):
    def fresh() -> World:
        world = World(kind())
        world.commit()
        for _ in range(3):
            world.alter()
        return world

    def check(world: World) -> None:
        world.check_whole()
        assert world.versions() in [list(range(n)) for n in (1, 2, 3, 4)]
        world.lake.roll_back(TABLE, schema=0)
        assert world.versions() == [0]
        assert world.lake.tables.get_table_metadata("lab", "t").current_schema_id == 0
        assert world.alter() == 1

    assert every_crash(fresh, lambda world: world.lake.roll_back(TABLE, schema=0), check) > 10


@KINDS
def test_roll_back_the_rows(kind):
    def fresh() -> World:
        world = World(kind())
        for _ in range(4):
            world.commit()
        world.lake.tags(TABLE).create("keep", snapshot=1)
        world.lake.tags(TABLE).create("go", snapshot=3)
        world.expire(1, 2)
        return world

    def act(world: World) -> None:
        world.lake.roll_back(TABLE, tag="keep", delete_tags=True)

    def check(world: World) -> None:
        world.check_whole()
        assert world.snapshots() in ([3, 4], [1, 3, 4], [1, 3], [1])
        assert world.place().snapshots.latest_id() == world.snapshots()[-1]
        latest = f"{ROOT}/snapshot/LATEST"
        # Some readers fail where the hint is beyond the newest snapshot.
        assert not world.store.exists(latest) or int(world.store.read(latest)) <= world.snapshots()[-1]
        act(world)
        assert world.snapshots() == [1]
        assert [t.name for t in world.lake.tags(TABLE).list()] == ["keep"]
        assert world.commit().id == 2
        world.check_whole()

    assert every_crash(fresh, act, check) > 10


@KINDS
def test_remove_versions_and_orphans(kind):
    def fresh() -> World:
        world = World(kind())
        for _ in range(3):
            world.alter()
        world.commit()
        world.commit()
        world.lake.roll_back(TABLE, snapshot=1)
        world.store.replace(f"{ROOT}/.staging-x/part/a.parquet", b"x")
        world.later()
        return world

    def act(world: World) -> None:
        world.lake.remove_versions(TABLE)
        world.lake.remove_orphans(TABLE)

    def check(world: World) -> None:
        world.check_whole()
        assert set(world.versions()) >= {3}
        act(world)
        assert (world.versions(), world.snapshots()) == ([3], [1])
        data = [p for p in world.store.snapshot() if p.endswith(".parquet")]
        assert len(data) == 1
        world.check_whole()

    assert every_crash(fresh, act, check) > 20


@KINDS
def test_a_storage_that_fails_is_told_and_the_work_can_be_repeated(kind):
    """The same with errors instead of crashes: the caller hears of each, or it did not matter."""
    acts = {
        "fast-forward": lambda w: w.lake.branches(TABLE).fast_forward("b"),
        "delete": lambda w: w.lake.branches(TABLE).delete("b"),
        "create": lambda w: w.lake.branches(TABLE).create("c", tag="b"),
    }
    for name, act in acts.items():
        world = with_branch(kind)
        world.store.restart()
        act(world)
        steps = len(world.store.operations)
        told = 0
        for step in range(steps):
            world = with_branch(kind)
            world.store.restart()
            world.store.fail_at(step)
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always", LakebedWarning)
                try:
                    act(world)
                except StoreError:
                    told += 1
            told += len(warned)
            world.store.restart()
            world.lake = world.open()
            world.check_whole()
        assert told > steps / 2, name
