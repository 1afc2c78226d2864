from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest

from lakebed.catalog import DataType, Field
from lakebed.catalog.paths import INCOMPLETE
from lakebed.errors import AlreadyExistsError, ConflictError, NotFoundError, RefusedError, UsageError
from lakebed.lake import Lake
from lakebed.testing.memory_store import MemoryObjectStore
from maintenance.worlds import DAY, ROOT, STORES, TABLE, World


def files(world: World, below: str) -> dict[str, bytes]:
    start = len(f"{ROOT}/{below}/")
    return {path[start:]: data for path, data in world.store.snapshot().items() if path.startswith(f"{ROOT}/{below}/")}


@pytest.mark.parametrize("kind", STORES)
def test_what_lies_in_a_branch(kind):
    world = World(kind())
    world.alter()
    world.commit()
    world.alter()
    schema, snapshot = files(world, "schema"), files(world, "snapshot")
    branches = world.lake.branches(TABLE)
    empty = branches.create("empty")
    assert (empty.schema_id, empty.first_snapshot, empty.latest_snapshot) == (2, None, None)
    assert files(world, "branch/branch-empty") == {f"schema/{name}": data for name, data in schema.items()}
    world.lake.tags(TABLE).create("t", snapshot=1)
    full = branches.create("full", tag="t")
    assert (full.schema_id, full.first_snapshot, full.latest_snapshot) == (1, 1, 1)
    assert files(world, "branch/branch-full") == {
        "schema/schema-0": schema["schema-0"],
        "schema/schema-1": schema["schema-1"],
        "snapshot/snapshot-1": snapshot["snapshot-1"],
        "tag/tag-t": snapshot["snapshot-1"],
    }
    assert branches.list() == (empty, full)


@pytest.mark.parametrize("kind", STORES)
def test_a_branch_has_a_life_of_its_own(kind):
    world = World(kind())
    world.commit()
    world.lake.branches(TABLE).create("b", snapshot=1)
    assert world.alter("b", "mine") == world.alter("main", "ours") == 1
    world.commit("b")
    world.commit()
    assert world.lake.schema(f"{TABLE}@branch:b").field_names == ("id", "mine")
    assert world.lake.schema(TABLE).field_names == ("id", "ours")
    assert world.snapshots("b") == world.snapshots() == [1, 2]
    world.check_whole()


def test_every_version_that_the_rows_need_is_copied():
    """Some writers commit under the version that they started with, so that files may be of later ones."""
    world = World()
    world.commit()
    world.alter()
    world.commit()
    old = world.store.read(f"{ROOT}/snapshot/snapshot-2").replace(b'"schemaId" : 1', b'"schemaId" : 0')
    world.store.replace(f"{ROOT}/snapshot/snapshot-2", old)
    world.lake.branches(TABLE).create("b", snapshot=2)
    assert world.versions("b") == [0, 1]
    world.check_whole()


def test_a_snapshot_is_kept_by_a_tag():
    world = World()
    world.commit()
    branches, tags = world.lake.branches(TABLE), world.lake.tags(TABLE)
    branches.create("b", snapshot=1)
    assert [(t.name, t.snapshot.id) for t in tags.list()] == [("b", 1)]
    branches.delete("b")
    branches.create("b", snapshot=1)
    world.commit()
    tags.create("c", snapshot=2)
    with pytest.raises(AlreadyExistsError) as raised:
        branches.create("c", snapshot=1)
    assert raised.value.code == "LB3657"


@pytest.mark.parametrize("kind", STORES)
def test_refusals(kind):
    world = World(kind())
    world.commit()
    branches = world.lake.branches(TABLE)
    branches.create("b", snapshot=1)
    world.lake.tables.alter_table("lab", "t", [{"action": "setOption", "key": "scan.fallback-branch", "value": "b"}])
    for act, error, code in (
        (lambda: branches.create("b"), AlreadyExistsError, "LB3651"),
        (lambda: branches.create("c", tag="x"), NotFoundError, "LB5004"),
        (lambda: branches.create("c", snapshot=9), NotFoundError, "LB5003"),
        (lambda: branches.create("c", snapshot=1, tag="b"), UsageError, "LB3651"),
        (lambda: branches.delete("c"), NotFoundError, "LB3652"),
        (lambda: branches.delete("main"), RefusedError, "LB3653"),
        (lambda: branches.delete("b"), RefusedError, "LB3666"),
        (lambda: branches.fast_forward("c"), NotFoundError, "LB3652"),
        (lambda: branches.fast_forward("main"), RefusedError, "LB3653"),
        (lambda: world.lake.branches("lab.u").list(), NotFoundError, "LB3122"),
        (lambda: world.lake.branches("lab.u").create("b"), NotFoundError, "LB3122"),
    ):
        with pytest.raises(error) as raised:
            act()
        assert raised.value.code == code
    assert world.branches() == ["b"]
    assert "c" not in world.lake.tags(TABLE)._snapshots.tags()


def test_of_two_that_make_the_same_branch_one_wins():
    for kind in STORES:
        world = World(kind())
        world.store.restart()
        world.lake.branches(TABLE).create("a")
        steps = len(world.store.operations)
        for step in range(steps):
            world = World(kind())
            other = world.open()
            world.store.restart()
            made: list[str] = []
            world.store.race_at(step, lambda other=other, made=made: _try_to_make(other, made))
            _try_to_make(world.lake, made)
            assert made == ["a"], (kind, step)
            assert world.branches() == ["a"]
            assert world.versions("a") == [0]
            world.check_whole()


def _try_to_make(lake: Lake, made: list[str]) -> None:
    with suppress(AlreadyExistsError):
        made.append(lake.branches(TABLE).create("a").name)


def test_half_a_branch_is_none_and_can_be_cleared():
    world = World(MemoryObjectStore())
    world.store.replace(f"{ROOT}/branch/branch-b/{INCOMPLETE}", b"")
    world.store.replace(f"{ROOT}/branch/branch-b/schema/schema-0", world.store.read(f"{ROOT}/schema/schema-0"))
    branches = world.lake.branches(TABLE)
    assert branches.list() == ()
    with pytest.raises(NotFoundError):
        world.lake.schema(f"{TABLE}@branch:b")
    with pytest.raises(AlreadyExistsError) as raised:
        branches.create("b")
    assert raised.value.code == "LB3654"
    branches.delete("b")
    branches.create("b")
    assert world.branches() == ["b"]


# -- fast-forward ------------------------------------------------------------------------------------------------------


@pytest.fixture
def grown() -> World:
    """A branch `b` from snapshot 1 with a version, two snapshots and a tag more than the table."""
    world = World()
    world.commit()
    world.lake.branches(TABLE).create("b", snapshot=1)
    world.alter("b")
    world.commit("b")
    world.commit("b")
    world.lake.tags(f"{TABLE}@branch:b").create("two", snapshot=2)
    return world


def test_the_table_takes_over_what_the_branch_gained(grown):
    gained = grown.lake.branches(TABLE).fast_forward("b")
    assert (gained.versions, gained.snapshots, gained.tags) == ((1,), (2, 3), ("two",))
    for part in ("schema", "snapshot", "tag"):
        ours = {n: d for n, d in files(grown, part).items() if n != "LATEST"}
        theirs = {n: d for n, d in files(grown, f"branch/branch-b/{part}").items() if n != "LATEST"}
        assert ours == theirs
    assert grown.store.read(f"{ROOT}/snapshot/LATEST") == b"3"
    assert grown.lake.tables.get_table_metadata("lab", "t").current_schema_id == 1
    again = grown.lake.branches(TABLE).fast_forward("b")
    assert (again.versions, again.snapshots, again.tags) == ((), (), ())
    grown.lake.branches(TABLE).delete("b")
    grown.commit()
    grown.check_whole()


@pytest.mark.parametrize("gain", ["snapshot", "schema", "newer schema", "tag"])
def test_what_the_table_gained_is_never_lost(grown, gain):
    if gain == "snapshot":
        grown.commit()
    elif gain == "schema":
        grown.alter()
    elif gain == "newer schema":
        grown.alter()
        grown.alter()
    else:
        grown.lake.tags(TABLE).create("two", snapshot=1)
    before = grown.store.snapshot()
    with pytest.raises(RefusedError) as raised:
        grown.lake.branches(TABLE).fast_forward("b")
    assert raised.value.code == "LB3655"
    assert grown.store.snapshot() == before


@pytest.mark.parametrize("from_rows", [True, False])
@pytest.mark.parametrize("kept", [1, 2])
def test_what_the_table_gained_is_not_lost_where_the_beginning_of_the_branch_has_expired(from_rows, kept):
    """The first snapshot of the branch would follow the table's newest by its number, and does not come after it."""
    world = World()
    world.commit()
    branches, branch = world.lake.branches(TABLE), f"{TABLE}@branch:b"
    branches.create("b", snapshot=1 if from_rows else None)
    while world.place("b").snapshots.latest_id() != 4:
        world.commit("b")
    while world.snapshots()[-1] + kept < 4:
        world.commit()
    world.lake.table(branch).expire(retain_max=kept, older_than=timedelta(0))
    before = world.store.snapshot()
    with pytest.raises(RefusedError, match="cannot be told") as raised:
        branches.fast_forward("b")
    assert (raised.value.code, world.store.snapshot()) == ("LB3655", before)
    assert "Roll the table back" not in str(raised.value)


def test_a_table_without_gain_is_brought_forward_where_the_first_snapshot_of_the_branch_has_expired(grown):
    grown.lake.table(f"{TABLE}@branch:b").expire(retain_max=2, older_than=timedelta(0))
    assert grown.lake.branches(TABLE).fast_forward("b").snapshots == (2, 3)
    grown.lake.table(f"{TABLE}@branch:b").expire(retain_max=1, older_than=timedelta(0))
    grown.commit("b")
    assert grown.lake.branches(TABLE).fast_forward("b").snapshots == (4,)
    grown.check_whole()


def test_after_a_roll_back_the_table_can_be_brought_forward(grown):
    grown.alter()
    grown.commit()
    with pytest.raises(RefusedError):
        grown.lake.branches(TABLE).fast_forward("b")
    grown.lake.roll_back(TABLE, snapshot=1)
    grown.lake.roll_back(TABLE, schema=0)
    assert grown.lake.branches(TABLE).fast_forward("b").snapshots == (2, 3)
    grown.check_whole()


def test_a_branch_that_cannot_lead_on():
    world = World()
    branches = world.lake.branches(TABLE)
    branches.create("b")
    world.alter("b")
    with pytest.raises(RefusedError) as empty:
        branches.fast_forward("b")
    assert empty.value.code == "LB3656"
    world.commit("b")
    world.commit("b")
    world.commit("b")
    world.commit()
    with pytest.raises(RefusedError) as other:
        branches.fast_forward("b")
    assert other.value.code == "LB3655"
    world.expire(1, 2, branch="b")
    with pytest.raises(RefusedError) as gap:
        branches.fast_forward("b")
    assert "no longer has snapshot 2" in str(gap.value)


def test_a_table_without_rows_takes_over_all():
    world = World()
    world.lake.branches(TABLE).create("b")
    world.alter("b")
    world.commit("b")
    assert world.lake.branches(TABLE).fast_forward("b").snapshots == (1,)
    assert world.versions() == [0, 1]


def test_whoever_commits_meanwhile_is_not_overwritten(grown):
    grown.store.restart()
    path = f"{ROOT}/snapshot/snapshot-2"
    grown.lake.branches(TABLE).fast_forward("b")
    step = next(i for i, o in enumerate(grown.store.operations) if (o.name, o.path) == ("create_if_absent", path))
    fresh = World()
    fresh.commit()
    fresh.lake.branches(TABLE).create("b", snapshot=1)
    fresh.alter("b")
    fresh.commit("b")
    fresh.commit("b")
    fresh.lake.tags(f"{TABLE}@branch:b").create("two", snapshot=2)
    fresh.store.restart()
    fresh.store.race_at(step, fresh.commit)
    with pytest.raises(ConflictError) as raised:
        fresh.lake.branches(TABLE).fast_forward("b")
    assert raised.value.code == "LB3662"
    assert fresh.snapshots() == [1, 2]
    assert fresh.store.read(path) != fresh.store.read(f"{ROOT}/branch/branch-b/snapshot/snapshot-2")
    fresh.check_whole()


def test_deleting_a_branch_leaves_the_table_and_the_quarantine(grown):
    grown.lake.tables.create_table("lab", "t__quarantine", [Field("raw", DataType.STRING)])
    before = {p: d for p, d in grown.store.snapshot().items() if "/branch/" not in p}
    grown.lake.branches(TABLE).delete("b")
    grown.later(2 * DAY)
    assert grown.store.snapshot() == before
    assert grown.branches() == []
