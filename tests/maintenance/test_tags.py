from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest

from lakebed.errors import AlreadyExistsError, ConflictError, NotFoundError, RefusedError, UsageError, ValidationError
from maintenance.worlds import ROOT, TABLE, World


def world_with(snapshots: int) -> World:
    world = World()
    for _ in range(snapshots):
        world.commit()
    return world


def test_a_tag_is_a_copy_of_the_snapshot():
    world = world_with(2)
    tags = world.lake.tags(TABLE)
    assert tags.create("first", snapshot=1).snapshot.id == 1
    assert tags.create("newest").snapshot.id == 2
    for name, number in (("first", 1), ("newest", 2)):
        assert world.store.read(f"{ROOT}/tag/tag-{name}") == world.store.read(f"{ROOT}/snapshot/snapshot-{number}")
    assert [(t.name, t.snapshot.id, t.created, t.retained) for t in tags.list()] == [
        ("first", 1, None, None),
        ("newest", 2, None, None),
    ]


def test_retention_is_written_as_java_does():
    """The local date and time in parts without trailing zeros, and seconds."""
    world = world_with(1)
    made = world.lake.tags(TABLE).create("kept", retained=timedelta(days=90))
    content = json.loads(world.store.read(f"{ROOT}/tag/tag-kept"))
    snapshot = json.loads(world.store.read(f"{ROOT}/snapshot/snapshot-1"))
    assert {k: v for k, v in content.items() if not k.startswith("tag")} == snapshot
    assert content["tagTimeRetained"] == 7_776_000.0
    wall = made.created
    assert wall is not None
    assert abs(wall.timestamp() * 1000 - world.now) < 10
    assert content["tagCreateTime"][:5] == [wall.year, wall.month, wall.day, wall.hour, wall.minute]
    assert world.lake.tags(TABLE).get("kept") == made
    assert made.retained == timedelta(days=90)


@pytest.mark.parametrize(
    ("parts", "time"),
    [
        ([2024, 2, 29, 10, 11], datetime(2024, 2, 29, 10, 11)),
        ([2024, 2, 29, 10, 11, 12], datetime(2024, 2, 29, 10, 11, 12)),
        ([2024, 2, 29, 10, 11, 12, 345_000_999], datetime(2024, 2, 29, 10, 11, 12, 345_000)),
        (["x"], None),
        (None, None),
    ],
)
def test_times_that_others_wrote(parts, time):
    world = world_with(1)
    snapshot = json.loads(world.store.read(f"{ROOT}/snapshot/snapshot-1"))
    content = snapshot | {"tagCreateTime": parts, "tagTimeRetained": 3600}
    world.store.replace(f"{ROOT}/tag/tag-t", json.dumps(content).encode())
    found = world.lake.tags(TABLE).get("t")
    assert (found.created, found.retained) == (time, timedelta(hours=1))


def test_refusals():
    world = World()
    tags = world.lake.tags(TABLE)
    with pytest.raises(NotFoundError) as none:
        tags.create("a")
    assert none.value.code == "LB3658"
    world.commit()
    tags.create("a")
    for act, error, code in (
        (lambda: tags.create("a"), AlreadyExistsError, "LB3657"),
        (lambda: tags.create("b", snapshot=7), NotFoundError, "LB5003"),
        (lambda: tags.create("b", retained=timedelta(0)), UsageError, "LB3665"),
        (lambda: tags.delete("A"), NotFoundError, "LB5004"),
        (lambda: world.lake.tags("lab.u").list(), NotFoundError, "LB3122"),
        (lambda: world.lake.tags(f"{TABLE}@branch:x").list(), NotFoundError, "LB3122"),
        (lambda: world.lake.tags(f"{TABLE}@snap:1"), UsageError, "LB3668"),
    ):
        with pytest.raises(error) as raised:
            act()
        assert raised.value.code == code
    assert [t.name for t in tags.list()] == ["a"]


@pytest.mark.parametrize("name", ["", " ", "2024", "a/b", "..", "a\\b", "a\nb", "x" * 249, " a", "\ud800"])
def test_names_that_engines_cannot_have(name):
    world = world_with(1)
    for make in (world.lake.tags(TABLE).create, world.lake.branches(TABLE).create):
        with pytest.raises(ValidationError) as raised:
            make(name)
        assert raised.value.code == "LB3650"


@pytest.mark.parametrize("name", ["v1.0", "é", "a b", "2024-01", "x" * 248])
def test_names_that_they_can(name):
    world = world_with(1)
    world.lake.tags(TABLE).create(name)
    world.lake.branches(TABLE).create(name, tag=name)
    assert world.branches() == [name]
    assert world.lake.schema(f"{TABLE}@tag:{name}").id == 0


def test_a_snapshot_that_expires_meanwhile_leaves_no_tag():
    world = world_with(2)
    tags = world.lake.tags(TABLE)
    path = f"{ROOT}/tag/tag-a"
    world.store.restart()
    tags.create("a", snapshot=1)
    step = next(i for i, o in enumerate(world.store.operations) if (o.name, o.path) == ("create_if_absent", path))
    tags.delete("a")
    world.store.restart()
    world.store.race_at(step, lambda: world.expire(1))
    with pytest.raises(ConflictError) as raised:
        tags.create("a", snapshot=1)
    assert raised.value.code == "LB3667"
    assert tags.list() == ()


def test_a_tag_outlives_its_snapshot_and_a_branch_keeps_the_tag():
    world = world_with(2)
    tags, branches = world.lake.tags(TABLE), world.lake.branches(TABLE)
    tags.create("a", snapshot=1)
    world.expire(1)
    branches.create("b", tag="a")
    with pytest.raises(RefusedError) as raised:
        tags.delete("a")
    assert raised.value.code == "LB3659"
    branches.delete("b")
    assert tags.delete("a").snapshot.id == 1
    assert tags.list() == ()


def test_tags_of_a_branch_are_its_own():
    world = world_with(1)
    world.lake.branches(TABLE).create("b", snapshot=1)
    world.commit("b")
    of_branch = world.lake.tags(f"{TABLE}@branch:b")
    of_branch.create("mine")
    assert [(t.name, t.snapshot.id) for t in of_branch.list()] == [("b", 1), ("mine", 2)]
    assert [t.name for t in world.lake.tags(TABLE).list()] == ["b"]
    of_branch.delete("mine")
