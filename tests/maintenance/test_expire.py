"""Expiry: what stays, and that no file goes that a state which stays has live, over random histories."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakebed.errors import LakebedError, NotFoundError, RefusedError, UnsupportedError, UsageError
from lakebed.format.commit import commit
from lakebed.format.index_manifest import read_index_manifest
from lakebed.format.live_files import plan_files
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.maintenance.expiry import Expiry
from lakebed.maintenance.retention import Retention
from lakebed.testing.memory_store import MemoryStore
from maintenance.worlds import DAY, ROOT, STORES, TABLE, World, every_crash

HOUR = timedelta(hours=1)


def live(world: World, snapshot: Snapshot) -> set[str]:
    """The paths of the live files of a state; reading it touches every list and manifest that it names."""
    schema = world.place().schemas.load_latest_schema()
    read_index_manifest(world.store, ROOT, snapshot)
    return {file.path for file in plan_files(world.store, ROOT, snapshot, schema)}


def check(world: World) -> None:
    """Every state that is there has all of its files."""
    for state in world.states():
        for path in live(world, state.snapshot):
            assert world.store.exists(path), (state.kind, state.name, path)


def data_files(world: World) -> set[str]:
    return {f"{ROOT}/bucket-0/{e.name}" for e in world.store.list(f"{ROOT}/bucket-0")}


def remove(world: World, count: int = 1, branch: str = "main") -> Snapshot | None:
    """Commit that some of the oldest live files go."""
    place = world.place(branch)
    newest = place.snapshots.latest()
    assert newest is not None
    schema = place.schemas.load_latest_schema()
    files = plan_files(world.store, ROOT, newest, schema)[:count]
    if not files:
        return None
    from lakebed.format import binary_row
    from lakebed.format.manifest import Kind, ManifestEntry

    gone = tuple(
        ManifestEntry(int(Kind.ADD), binary_row.encode((), ()), f.bucket, f.total_buckets, f.meta) for f in files
    )
    change = SnapshotChange(commit_user=f"gone-{world.clock()}", deleted=gone)
    return commit(place.storage, change, clock=world.clock, sleep=lambda _: None)


def expire(world: World, **asked: Any) -> Expiry:
    return world.lake.table(TABLE).expire(**{"retain_min": 1, "older_than": timedelta(0), **asked})


class TestWhatStays:
    def test_the_newest_of_the_options_and_of_the_last_hour(self) -> None:
        world = World()
        for _ in range(13):
            world.commit()
        assert world.lake.table(TABLE).expire().is_noop
        world.later()
        found = world.lake.table(TABLE).expire()
        assert (found.snapshots, found.first, world.snapshots()) == ((1, 2, 3), 4, list(range(4, 14)))
        assert world.store.read(f"{ROOT}/snapshot/EARLIEST") == b"4"

    def test_the_state_of_every_moment_of_the_time(self) -> None:
        world = World()
        for _ in range(3):
            world.commit()
            world.later(HOUR)
        # Snapshot 2 was the newest until two hours ago, and is what was there an hour and a half ago.
        asked = {"retain_min": 1, "older_than": HOUR * 1.5}
        assert world.lake.table(TABLE).expire(**asked).snapshots == (1,)
        assert world.lake.table(TABLE).expire(**asked).is_noop

    @pytest.mark.parametrize(
        ("asked", "gone"),
        [
            ({"retain_max": 2, "older_than": DAY}, 3),
            ({"retain_max": 2}, 3),
            ({"retain_min": 4, "older_than": timedelta(0)}, 1),
            ({"retain_min": 2, "retain_max": 3, "older_than": DAY}, 2),
            ({"retain_min": 9}, 0),
        ],
    )
    def test_by_number(self, asked: dict[str, Any], gone: int) -> None:
        world = World()
        for _ in range(5):
            world.commit()
        assert len(world.lake.table(TABLE).expire(**asked).snapshots) == gone
        assert len(world.snapshots()) == 5 - gone
        check(world)

    @pytest.mark.parametrize("asked", [{"retain_min": 0}, {"retain_max": 0}, {"retain_min": 5, "retain_max": 3}])
    def test_what_cannot_be(self, asked: dict[str, Any]) -> None:
        world = World()
        with pytest.raises(UsageError) as caught:
            world.lake.table(TABLE).expire(**asked)
        assert caught.value.code == "LB3669"
        with pytest.raises(UsageError):
            world.lake.table(TABLE).expire(older_than=timedelta(seconds=-1))

    def test_a_table_without_snapshots_and_none_at_all(self) -> None:
        world = World()
        assert world.lake.table(TABLE).expire().is_noop
        with pytest.raises(NotFoundError):
            world.lake.table("lab.nothing").expire()

    def test_consumers_keep_what_they_still_read(self) -> None:
        world = World()
        for _ in range(4):
            world.commit()
        world.store.create_if_absent(f"{ROOT}/consumer/consumer-a", b'{"nextSnapshot": 3}')
        world.store.create_if_absent(f"{ROOT}/consumer/consumer-b", b'{"nextSnapshot": 9}')
        found = expire(world)
        assert (found.snapshots, found.held_by, world.snapshots()) == ((1, 2), ("a",), [3, 4])
        assert expire(world).held_by == ("a",)
        for content in (b"{", b"", b"{}", b"[]", b'{"nextSnapshot": null}', b'{"nextSnapshot": 1e400}'):
            world.store.replace(f"{ROOT}/consumer/consumer-a", content)
            with pytest.raises(RefusedError) as caught:
                expire(world)
            assert (caught.value.code, world.snapshots()) == ("LB3664", [3, 4])

    def test_consumers_that_were_silent_for_too_long_keep_nothing(self) -> None:
        world = World()
        table = world.lake.table(TABLE)
        for _ in range(4):
            world.commit()
        for name in ("old", "broken"):
            world.store.create_if_absent(f"{ROOT}/consumer/consumer-{name}", b'{"nextSnapshot": 1}')
        world.store.replace(f"{ROOT}/consumer/consumer-broken", b"{")
        world.later(DAY * 1.5)
        world.store.create_if_absent(f"{ROOT}/consumer/consumer-new", b'{"nextSnapshot": 3}')
        option = {"action": "setOption", "key": "consumer.expiration-time", "value": "1 d"}
        world.lake.tables.alter_table("lab", "t", [option])
        planned = table.expire(retain_min=1, older_than=timedelta(0), dry_run=True)
        assert (planned.consumers, planned.snapshots, planned.done) == (("broken", "old"), (1, 2), False)
        assert len(world.store.list(f"{ROOT}/consumer")) == 3
        found = expire(world)
        assert (found.consumers, found.snapshots, found.held_by) == (("broken", "old"), (1, 2), ("new",))
        assert "Removed consumers broken, old, silent for too long." in str(found)
        assert [e.name for e in world.store.list(f"{ROOT}/consumer")] == ["consumer-new"]
        # Where no snapshot goes, they do all the same.
        world.later()
        found = table.expire(retain_min=9)
        assert (found.consumers, found.snapshots, found.done) == (("new",), (), True)
        assert str(found) == "No snapshot of lab.t expires. Removed consumer new, silent for too long."
        assert (world.store.list(f"{ROOT}/consumer"), table.expire(retain_min=9).is_noop) == ([], True)

    def test_changelogs_that_are_to_outlive_snapshots_are_left_to_others(self) -> None:
        world = World()
        world.lake.tables.alter_table(
            "lab", "t", [{"action": "setOption", "key": "changelog.time-retained", "value": "7 d"}]
        )
        with pytest.raises(UnsupportedError) as caught:
            expire(world)
        assert caught.value.code == "LB3670"


class TestFiles:
    def test_those_that_were_taken_away_go_and_the_bytes_are_told(self) -> None:
        world = World()
        for _ in range(3):
            world.commit()
        before = data_files(world)
        remove(world, 2)
        world.commit()
        planned = expire(world, dry_run=True)
        assert (planned.done, len(data_files(world))) == (False, 4)
        found = expire(world)
        assert found == replace(planned, done=True)
        assert (found.data_files, len(before - data_files(world))) == (2, 2)
        assert found.bytes > 0
        check(world)

    def test_nothing_is_left_that_nothing_refers_to(self) -> None:
        world = World()
        for _ in range(4):
            world.commit()
            remove(world)
        expire(world)
        newest = world.place().snapshots.latest()
        assert newest is not None
        assert data_files(world) == live(world, newest) == set()
        world.later()
        assert world.lake.orphan_files(TABLE).files == ()

    def test_tags_and_branches_keep_their_files(self) -> None:
        world = World()
        world.commit()
        world.lake.tags(TABLE).create("one")
        world.commit()
        world.lake.branches(TABLE).create("b", snapshot=2)
        remove(world, 2)
        world.commit()
        found = expire(world)
        assert (found.snapshots, found.data_files) == ((1, 2, 3), 0)
        check(world)
        world.lake.branches(TABLE).delete("b")
        world.lake.tags(TABLE).delete("b")
        check(world)

    def test_a_tag_goes_after_its_time_with_its_files(self) -> None:
        world = World()
        world.commit()
        world.lake.tags(TABLE).create("day", retained=DAY)
        world.lake.tags(TABLE).create("ever")
        world.commit()
        world.lake.tags(TABLE).create("both", retained=DAY)
        remove(world, 2)
        assert expire(world).tags == ()
        world.later(2 * DAY)
        found = expire(world)
        assert (found.tags, found.snapshots, found.data_files) == (("both", "day"), (), 1)
        assert [t.name for t in world.lake.tags(TABLE).list()] == ["ever"]
        check(world)

    def test_a_tag_that_a_branch_was_made_from_stays(self) -> None:
        world = World()
        world.commit()
        world.lake.tags(TABLE).create("t", retained=DAY)
        world.lake.branches(TABLE).create("b", tag="t")
        world.later(2 * DAY)
        assert expire(world).is_noop

    def test_a_branch_expires_by_itself(self) -> None:
        world = World()
        world.commit()
        world.lake.branches(TABLE).create("b", snapshot=1)
        world.commit("b")
        remove(world, 2, "b")
        found = world.lake.table(f"{TABLE}@branch:b").expire(retain_min=1, older_than=timedelta(0))
        # The file of the table's own snapshot stays.
        assert (found.branch, found.snapshots, found.data_files) == ("b", (1, 2), 1)
        check(world)

    def test_what_is_tagged_meanwhile_stays(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = World()
        world.commit()
        remove(world)
        from lakebed.maintenance import expiry as module

        removing = module._remove_states

        def tag_first(*args: Any) -> None:
            world.lake.tags(TABLE).create("late", snapshot=1)
            removing(*args)

        monkeypatch.setattr(module, "_remove_states", tag_first)
        assert expire(world).snapshots == (1,)
        check(world)
        assert len(data_files(world)) == 1

    @pytest.mark.parametrize("gone_before", [0, 1, 2])
    def test_a_table_that_is_rolled_back_meanwhile_keeps_what_it_was_rolled_back_to(
        self, gone_before: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world = World()
        for _ in range(2):
            world.commit()
        remove(world)
        for _ in range(2):
            world.commit()
        inside, gone = world.place().inside.__class__, [0]
        delete = inside.delete

        def roll_back_first(self: Any, path: str) -> None:
            if gone[0] == gone_before:
                gone[0] += 1
                world.lake.roll_back(TABLE, snapshot=4)
            gone[0] += "/snapshot/snapshot-" in path
            delete(self, path)

        monkeypatch.setattr(inside, "delete", roll_back_first)
        before = data_files(world)
        with pytest.raises(LakebedError, match="LB3662"):
            expire(world)
        # The one that was about to go when the table was rolled back, and those before it.
        assert world.snapshots() == list(range(2 + gone_before, 5))
        assert data_files(world) == before
        check(world)

    def test_two_expiries_at_once_are_no_conflict(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = World()
        for _ in range(3):
            world.commit()
        remove(world)
        world.commit()
        from lakebed.maintenance import expiry as module

        removing = module._remove_states

        def expire_first(*args: Any) -> None:
            monkeypatch.setattr(module, "_remove_states", removing)
            expire(world)
            removing(*args)

        monkeypatch.setattr(module, "_remove_states", expire_first)
        assert expire(world, retain_min=3).snapshots == (1, 2)
        assert world.snapshots() == [5]
        check(world)

    def test_a_roll_back_to_what_expires_meanwhile_leaves_the_table(self, monkeypatch: pytest.MonkeyPatch) -> None:
        world = World()
        for _ in range(3):
            world.commit()
        inside = world.place().inside.__class__
        look = inside.check

        def expire_first(self: Any, path: str) -> None:
            monkeypatch.setattr(inside, "check", look)
            expire(world)
            look(self, path)

        monkeypatch.setattr(inside, "check", expire_first)
        with pytest.raises(NotFoundError):
            world.lake.roll_back(TABLE, snapshot=1)
        assert world.snapshots() == [3]
        check(world)

    @pytest.mark.parametrize("what", ["manifest", "list", "tag"])
    def test_nothing_goes_in_doubt(self, what: str) -> None:
        world = World()
        world.commit()
        world.lake.tags(TABLE).create("t")
        snapshot = world.commit()
        remove(world)
        world.commit()
        path = {
            "list": f"{ROOT}/manifest/{snapshot.delta_manifest_list}",
            "tag": f"{ROOT}/tag/tag-t",
            "manifest": next(
                f"{ROOT}/manifest/{e.name}" for e in world.store.list(f"{ROOT}/manifest") if "list" not in e.name
            ),
        }[what]
        world.store.replace(path, b"no")
        before = (data_files(world), world.snapshots())
        with pytest.raises(RefusedError) as caught:
            expire(world)
        assert (caught.value.code, data_files(world), world.snapshots()) == ("LB3664", *before)


ACTS = ["append", "append", "remove", "tag", "untag", "branch", "append b", "remove b", "expire", "expire b", "later"]


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_no_state_that_stays_loses_a_file(data: st.DataObject) -> None:
    """Over histories with tags, a branch, roll backs of nothing, and expiries of both."""
    world = World(MemoryStore())
    world.commit()
    for _ in range(data.draw(st.integers(3, 14))):
        _act(world, data.draw(st.sampled_from(ACTS)), data)
        check(world)
    expire(world)
    check(world)


def _act(world: World, act: str, data: st.DataObject) -> None:
    branch = "b" if act.endswith(" b") else "main"
    if branch == "b" and not world.branches():
        return
    tags = world.lake.tags(TABLE)
    match act.split()[0]:
        case "append":
            world.commit(branch)
        case "remove":
            remove(world, data.draw(st.integers(1, 3)), branch)
        case "tag":
            kept = data.draw(st.sampled_from([None, DAY]))
            tags.create(f"t{len(tags.list())}-{world.clock()}", snapshot=data.draw(_snapshots(world)), retained=kept)
        case "untag":
            for tag in tags.list():
                if not world.branches():
                    tags.delete(tag.name)
        case "branch" if not world.branches():
            world.lake.branches(TABLE).create("b", snapshot=data.draw(_snapshots(world)))
        case "later":
            world.later(DAY)
        case "expire":
            name = TABLE if branch == "main" else f"{TABLE}@branch:b"
            age = data.draw(st.sampled_from([timedelta(0), DAY]))
            world.lake.table(name).expire(retain_min=data.draw(st.integers(1, 3)), older_than=age)
        case _:
            pass


def _snapshots(world: World) -> st.SearchStrategy[int]:
    return st.sampled_from(world.snapshots())


@pytest.mark.parametrize("kind", STORES)
def test_a_crash_leaves_every_state_whole(kind: Callable[[], Any]) -> None:
    def fresh() -> World:
        world = World(kind())
        world.commit()
        world.lake.tags(TABLE).create("t", retained=DAY)
        world.commit()
        remove(world, 1)
        world.lake.tags(TABLE).create("keep")
        remove(world, 1)
        world.commit()
        world.later()
        return world

    def whole(world: World) -> None:
        check(world)
        expire(world)
        check(world)
        assert world.snapshots() == [5]
        world.later()
        world.lake.remove_orphans(TABLE)
        check(world)
        assert data_files(world) == {path for state in world.states() for path in live(world, state.snapshot)}

    assert every_crash(fresh, expire, whole) > 10


def test_a_foreign_consumer_file_and_links_are_no_consumers() -> None:
    world = World()
    world.commit()
    world.commit()
    world.store.create_if_absent(f"{ROOT}/consumer/other", b"x")
    assert expire(world).snapshots == (1,)


def test_retention_takes_what_is_asked_over_the_options() -> None:
    options = {"snapshot.num-retained.min": "3", "snapshot.num-retained.max": "7", "snapshot.time-retained": "2 d"}
    assert Retention.of(options) == Retention(3, 7, 2 * DAY)
    assert Retention.of(options, 1, 2, HOUR) == Retention(1, 2, HOUR)
    assert Retention.of({}) == Retention(10, 2**31 - 1, HOUR)
    with pytest.raises(LakebedError):
        Retention.of({"snapshot.time-retained": "soon"})


def test_the_json_of_it() -> None:
    world = World()
    world.commit()
    world.commit()
    found = json.loads(json.dumps(expire(world).to_json()))
    assert (found["table"], found["snapshots"], found["first_snapshot"], found["done"]) == (TABLE, [1], 2, True)
