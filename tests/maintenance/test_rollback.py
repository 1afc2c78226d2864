from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

import pytest

import lakebed
from lakebed.errors import ConflictError, NotFoundError, RefusedError, StalePlanError, UsageError
from lakebed.manifest import load_manifest
from maintenance.worlds import DAY, ROOT, STORES, TABLE, World


@pytest.mark.parametrize("layout", ["paimon", "mini"])
@pytest.mark.parametrize("kind", STORES)
def test_a_schema_goes_back_and_everybody_notices(kind, layout):
    world = World(kind(), layout=layout)
    other = world.open(layout)
    if layout == "mini":
        schemas = world.lake.tables.get_schema_manager("lab", "t")
        for name in ("a", "b"):
            fields = [*schemas.get_current_schema().fields, lakebed.Field(name, lakebed.DataType.INT)]
            schemas.create_new_schema_version(fields)
    else:
        world.alter(name="a")
        world.alter(name="b")
    assert other.schema(TABLE).id == 2
    dry = world.lake.roll_back(TABLE, schema=0, dry_run=True)
    assert (dry.versions, dry.done) == ((1, 2), False)
    assert len(other.tables.get_schema_manager("lab", "t").ids()) == 3
    assert world.lake.roll_back(TABLE, schema=0).versions == (1, 2)
    assert b'"currentSchemaId" : 0' in world.store.read(f"{world.lake.tables.table_path(TABLE)}/metadata")
    assert other.schema(TABLE).field_names == ("id",)
    assert other.tables.get_schema_manager("lab", "t").get_current_schema().id == 0
    assert other.tables.get_table_metadata("lab", "t").current_schema_id == 0
    assert other.tables.get_table_metadata("lab", "t") == world.lake.tables.get_table_metadata("lab", "t")
    assert world.lake.roll_back(TABLE, schema=0).is_noop


def test_ids_are_given_out_again_with_other_meanings_and_caches_see_it():
    world = World()
    world.alter(name="a")
    other = world.open()
    assert other.schema(TABLE).field_names == ("id", "a")
    world.lake.roll_back(TABLE, schema=0)
    world.alter(name="b")
    assert other.schema(TABLE).field_names == ("id", "b")
    assert [f.id for f in other.schema(TABLE).fields] == [0, 1]


def test_a_plan_from_before_is_stale(tmp_path):
    world = World()
    world.alter(name="a")
    manifest = tmp_path / "t.yaml"
    manifest.write_text(
        "kind: Table\nversion: 1\ncontent:\n  name: lab.t\n  schema:\n    fields:\n"
        "      - {name: id, type: {kind: Option, inner: Int32}}\n"
        "      - {name: a, type: {kind: Option, inner: Int32}}\n"
        "      - {name: b, type: {kind: Option, inner: Int32}}\n",
        encoding="utf-8",
    )
    plan = world.lake.plan(load_manifest(manifest))
    world.lake.roll_back(TABLE, schema=0)
    with pytest.raises(StalePlanError):
        world.lake.apply(plan)


@pytest.mark.parametrize("keeper", ["snapshot", "file", "tag", "branch", "changelog"])
def test_whatever_refers_to_a_later_version_keeps_it_and_is_named(keeper):
    world = World()
    world.commit()
    world.alter()
    world.alter()
    snapshot = world.commit()
    expected = {
        "snapshot": "snapshot 2",
        "tag": "tag x",
        "branch": "branch b (snapshot 2, tag b, ",
        "changelog": "changelog 2",
    }
    content = world.store.read(f"{ROOT}/snapshot/snapshot-2")
    if keeper == "file":
        # Another writer's snapshot that says version 0, with files of version 2.
        content = content.replace(b'"schemaId" : 2', b'"schemaId" : 0')
        world.store.replace(f"{ROOT}/snapshot/snapshot-2", content)
        expected["file"] = "data file data-"
    elif keeper == "tag":
        world.lake.tags(TABLE).create("x")
        world.expire(2)
    elif keeper == "branch":
        world.lake.branches(TABLE).create("b", snapshot=2)
        world.lake.tags(TABLE)._branch.store.delete(f"{ROOT}/tag/tag-b")
        world.expire(2)
    elif keeper == "changelog":
        world.store.replace(f"{ROOT}/changelog/changelog-2", content)
        world.expire(2)
    before = world.store.snapshot()
    with pytest.raises(RefusedError) as raised:
        world.lake.roll_back(TABLE, schema=1)
    assert raised.value.code == "LB3660"
    assert expected[keeper] in raised.value.diagnostics[0].message
    assert raised.value.diagnostics[-1].remedy
    assert world.store.snapshot() == before
    assert snapshot.id == 2


def test_a_commit_or_a_version_in_between_puts_all_back():
    def prepared() -> World:
        world = World()
        world.alter(name="a")
        world.alter(name="b")
        world.store.restart()
        return world

    world = prepared()
    world.lake.roll_back(TABLE, schema=0)
    deletes = [i for i, o in enumerate(world.store.operations) if o.name == "delete"]
    assert len(deletes) == 2
    for step in deletes:
        for after in (False, True):
            world = prepared()
            schema = world.store.snapshot()
            # A writer that had loaded version 2 commits now.
            world.store.race_at(step, lambda world=world: world.commit(schema_id=_newest(world)), after=after)
            if step == deletes[0] and not after:
                with pytest.raises(ConflictError) as raised:
                    world.lake.roll_back(TABLE, schema=0)
                assert raised.value.code == "LB3662"
                assert world.versions() == [0, 1, 2]
                assert all(world.store.snapshot()[p] == d for p, d in schema.items() if "/schema/" in p)
            else:
                # Its file's version is gone already: Lakebed's own commit refuses to publish it.
                with suppress(ConflictError):
                    world.lake.roll_back(TABLE, schema=0)
            world.check_whole()
    world = prepared()
    world.store.race_at(deletes[0], lambda: world.alter(name="c"))
    with pytest.raises(ConflictError):
        world.lake.roll_back(TABLE, schema=0)
    assert world.versions() == [0, 1, 2, 3]
    assert world.lake.schema(TABLE).field_names == ("id", "a", "b", "c")


def _newest(world: World) -> int:
    return world.place().schemas.ids()[-1]


# -- snapshots ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", STORES)
def test_rows_go_back_and_the_schema_stays(kind):
    world = World(kind())
    world.commit()
    world.commit()
    world.alter()
    world.commit()
    done = world.lake.roll_back(TABLE, snapshot=2)
    assert (done.snapshots, done.tags, done.versions, done.done) == ((3,), (), (), True)
    assert (world.snapshots(), world.versions()) == ([1, 2], [0, 1])
    assert world.store.read(f"{ROOT}/snapshot/LATEST") == b"2"
    assert world.lake.roll_back(TABLE, schema=0).done
    assert world.commit().id == 3
    world.check_whole()


def test_an_expired_snapshot_comes_back_from_its_tag():
    world = World()
    for _ in range(4):
        world.commit()
    world.lake.tags(TABLE).create("a", snapshot=1, retained=timedelta(days=9))
    world.expire(1, 2)
    for target in ({"tag": "a"}, {"snapshot": 1}):
        before = world.store.snapshot()
        found = world.lake.roll_back(TABLE, **target, dry_run=True)
        assert found.snapshots == (3, 4)
        assert world.store.snapshot() == before
    world.lake.roll_back(TABLE, tag="a")
    assert world.snapshots() == [1]
    assert b"tagCreateTime" not in world.store.read(f"{ROOT}/snapshot/snapshot-1")
    assert world.place().snapshots.earliest_id() == 1
    assert [world.commit().id, world.commit().id] == [2, 3]
    world.check_whole()


def test_later_tags_go_only_with_leave_and_never_from_under_a_branch():
    world = World()
    world.commit()
    world.commit()
    world.lake.tags(TABLE).create("a")
    with pytest.raises(RefusedError) as raised:
        world.lake.roll_back(TABLE, snapshot=1)
    assert raised.value.code == "LB3661"
    world.lake.branches(TABLE).create("b", tag="a")
    with pytest.raises(RefusedError) as raised:
        world.lake.roll_back(TABLE, snapshot=1, delete_tags=True)
    assert raised.value.code == "LB3659"
    world.lake.branches(TABLE).delete("b")
    assert world.lake.roll_back(TABLE, snapshot=1, delete_tags=True).tags == ("a",)
    assert world.lake.tags(TABLE).list() == ()


def test_later_changelogs_go_too():
    world = World()
    for _ in range(3):
        world.commit()
    world.lake.tags(TABLE).create("a", snapshot=1)
    for number in (1, 2):
        content = world.store.read(f"{ROOT}/snapshot/snapshot-{number}")
        world.store.replace(f"{ROOT}/changelog/changelog-{number}", content)
    world.store.replace(f"{ROOT}/changelog/LATEST", b"2")
    world.expire(1, 2)
    assert world.lake.roll_back(TABLE, tag="a").changelogs == (2,)
    assert not world.store.exists(f"{ROOT}/changelog/LATEST")
    assert world.store.exists(f"{ROOT}/changelog/changelog-1")


def test_a_commit_in_between_is_told():
    world = World()
    world.commit()
    world.commit()
    world.store.restart()
    path = f"{ROOT}/snapshot/snapshot-2"
    other = World()
    other.commit()
    other.commit()
    other.store.restart()
    other.lake.roll_back(TABLE, snapshot=1)
    step = next(i for i, o in enumerate(other.store.operations) if (o.name, o.path) == ("delete", path))
    world.store.race_at(step, world.commit)
    with pytest.raises(ConflictError) as raised:
        world.lake.roll_back(TABLE, snapshot=1)
    assert raised.value.code == "LB3662"
    assert world.lake.roll_back(TABLE, snapshot=1).done
    assert world.snapshots() == [1]


def test_branches_roll_back_alone():
    world = World()
    world.commit()
    world.lake.branches(TABLE).create("b", snapshot=1)
    world.alter("b")
    world.commit("b")
    world.commit()
    world.lake.roll_back(f"{TABLE}@branch:b", snapshot=1)
    world.lake.roll_back(f"{TABLE}@branch:b", schema=0)
    assert (world.snapshots("b"), world.versions("b"), world.snapshots()) == ([1], [0], [1, 2])
    world.check_whole()


def test_refusals():
    world = World()
    world.commit()
    for target, error, code in (
        ({}, UsageError, "LB3668"),
        ({"schema": 0, "snapshot": 1}, UsageError, "LB3668"),
        ({"schema": 7}, NotFoundError, "LB3201"),
        ({"snapshot": 7}, NotFoundError, "LB5003"),
        ({"tag": "a"}, NotFoundError, "LB5004"),
    ):
        with pytest.raises(error) as raised:
            world.lake.roll_back(TABLE, **target)
        assert raised.value.code == code
    with pytest.raises(NotFoundError):
        world.lake.roll_back("lab.u", snapshot=1)
    world.later(DAY)
    assert world.lake.roll_back(TABLE, snapshot=1).is_noop
