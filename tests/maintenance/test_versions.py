from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lakebed.errors import NotFoundError, RefusedError, UsageError
from lakebed.manifest import Manifest
from maintenance.worlds import DAY, ROOT, STORES, TABLE, World


def aged(kind=STORES[0]) -> World:
    """Versions 0 to 5 long ago; rows were written under 1 and 3, and again under 1 into the last snapshot."""
    world = World(kind())
    world.alter()
    world.commit()
    world.alter()
    world.alter()
    world.commit()
    world.alter()
    world.alter()
    world.later()
    return world


@pytest.mark.parametrize("kind", STORES)
def test_what_nothing_refers_to_goes(kind):
    world = aged(kind)
    before = world.store.snapshot()
    report = world.lake.unused_versions(TABLE)
    assert world.store.snapshot() == before
    assert report.unused == (0, 2, 4)
    reasons = {v.schema_id: v.reasons for v in report.versions}
    assert reasons[1] == ("snapshot 1", "1 manifest", "1 data file")
    assert reasons[5] == ("the newest version",)
    done = world.lake.remove_versions(TABLE)
    assert (done.removed, done.put_back) == ((0, 2, 4), ())
    assert world.versions() == [1, 3, 5]
    after = world.store.snapshot()
    assert set(before) - set(after) == {f"{ROOT}/schema/schema-{i}" for i in (0, 2, 4)}
    assert all(after[path] == data for path, data in before.items() if path in after)
    world.check_whole()
    assert world.lake.remove_versions(TABLE).removed == ()
    # The table goes on: the next id follows the newest, and the reader finds the table without a version 0.
    assert world.alter() == 6
    assert world.open().tables.exists(TABLE)
    assert [v.schema.id for v in world.lake.history(TABLE).versions] == [1, 3, 5, 6]


def test_a_file_outlives_the_snapshots_that_name_its_version():
    world = World()
    world.commit()
    world.alter()
    world.commit()
    world.later()
    world.expire(1)
    (use, _) = world.lake.unused_versions(TABLE).versions
    assert use.reasons == ("1 manifest", "1 data file")
    assert world.lake.remove_versions(TABLE).removed == ()


@pytest.mark.parametrize("keeper", ["tag", "branch", "tag of a branch", "changelog", "statistics"])
def test_each_of_these_alone_keeps_a_version(keeper):
    world = World()
    world.commit()
    world.alter()
    world.alter()
    world.later()
    snapshot = world.store.read(f"{ROOT}/snapshot/snapshot-1")
    path = {
        "tag": "tag/tag-a",
        "branch": "branch/branch-b/snapshot/snapshot-1",
        "tag of a branch": "branch/branch-b/tag/tag-a",
        "changelog": "changelog/changelog-1",
        "statistics": "snapshot/snapshot-1",
    }[keeper]
    world.expire(1)
    assert world.lake.unused_versions(TABLE).unused == (0, 1)
    if keeper == "statistics":
        # A snapshot of the newest version whose statistics are of version 1.
        world.commit()
        path = f"{ROOT}/snapshot/snapshot-1"
        content = world.store.read(path).replace(b'"timeMillis"', b'"statistics" : "stat-a", "timeMillis"')
        world.store.replace(path, content)
        world.store.replace(f"{ROOT}/statistics/stat-a", b'{"snapshotId": 1, "schemaId": 1}')
        assert world.lake.unused_versions(TABLE).unused == (0,)
        return
    world.store.replace(f"{ROOT}/{path}", snapshot)
    assert world.lake.unused_versions(TABLE).unused == (1,)


def test_a_branch_keeps_no_other_version_of_the_same_number():
    world = World()
    world.commit()
    world.lake.branches(TABLE).create("b", snapshot=1)
    world.alter("b", "mine")
    world.commit("b")
    world.alter("main", "ours")
    world.alter()
    world.later()
    main, branch = world.lake.unused_versions(TABLE), world.lake.unused_versions(f"{TABLE}@branch:b")
    assert (main.unused, branch.unused) == ((1,), ())
    world.lake.remove_versions(TABLE)
    assert (world.versions(), world.versions("b")) == ([0, 2], [0, 1])
    world.check_whole()


def test_the_minimum_age_counts_from_when_a_version_stopped_being_the_newest():
    world = World()
    world.later(timedelta(days=30))
    world.alter()
    assert world.lake.unused_versions(TABLE).unused == ()
    world.later(timedelta(hours=5))
    (use, _) = world.lake.unused_versions(TABLE).versions
    assert use.reasons == ("it was the newest until 5 hours ago",)
    assert world.lake.unused_versions(TABLE, min_age=timedelta(hours=4)).unused == (0,)
    world.later(timedelta(hours=20))
    assert world.lake.unused_versions(TABLE).unused == (0,)
    world.now -= 10 * DAY // timedelta(milliseconds=1)
    assert world.lake.unused_versions(TABLE, min_age=timedelta(0)).unused == ()


def test_a_version_without_a_time_says_nothing_of_the_age():
    world = World()
    world.alter()
    world.later()
    path = f"{ROOT}/schema/schema-1"
    text = world.store.read(path).decode()
    world.store.replace(path, text[: text.index(',\n  "timeMillis"')].encode() + b"\n}")
    assert world.lake.unused_versions(TABLE).unused == ()


@pytest.mark.parametrize("step_from_end", [0, 1])
def test_a_commit_under_an_old_version_in_between_keeps_it(step_from_end):
    """A writer that began under version 0 and took very long commits before, or right after, version 0 is removed."""
    world = World()
    world.alter()
    world.later()
    world.store.restart()
    world.lake.remove_versions(TABLE)
    step = next(i for i, o in enumerate(world.store.operations) if o.name == "delete")
    world = World()
    world.alter()
    world.later()
    world.store.restart()
    world.store.race_at(step, lambda: world.commit(schema_id=0), after=bool(step_from_end))
    report = world.lake.remove_versions(TABLE)
    assert (report.removed, report.put_back) == ((), (0,))
    assert world.versions() == [0, 1]
    world.check_whole()


@pytest.mark.parametrize(
    ("path", "damage"),
    [
        *((path, "junk") for path in ("snapshot/snapshot-1", "tag/tag-a", "schema/schema-1", "changelog/changelog-9")),
        *((f"manifest/{name}", damage) for name in ("manifest-", "manifest-list-") for damage in ("junk", "missing")),
    ],
)
def test_nothing_goes_where_something_cannot_be_read(path, damage):
    world = aged()
    world.lake.tags(TABLE).create("a", snapshot=1)
    known = sorted(p for p in world.store.snapshot() if p.startswith(f"{ROOT}/{path}"))
    full = next((p for p in known if "-list-" in path or "-list-" not in p), f"{ROOT}/{path}")
    if damage == "missing":
        world.store.delete(full)
    else:
        world.store.replace(full, b"{")
    before = world.store.snapshot()
    with pytest.raises(RefusedError) as raised:
        world.lake.remove_versions(TABLE)
    assert raised.value.code == "LB3664"
    assert full in str(raised.value.diagnostics[0].message)
    assert world.store.snapshot() == before


def test_statistics_that_cannot_be_read():
    world = aged()
    content = world.store.read(f"{ROOT}/snapshot/snapshot-2").replace(b'"timeMillis"', b'"statistics":"s","timeMillis"')
    world.store.replace(f"{ROOT}/snapshot/snapshot-2", content)
    assert world.lake.unused_versions(TABLE).unused == (0, 2, 4)
    world.store.replace(f"{ROOT}/statistics/s", b"[]")
    with pytest.raises(RefusedError) as raised:
        world.lake.remove_versions(TABLE)
    assert raised.value.code == "LB3664"


def test_what_expiry_takes_from_a_changelog_may_be_missing():
    """A long-lived changelog keeps its own list; its snapshot's other lists go with the snapshot."""
    world = aged()
    path = f"{ROOT}/snapshot/snapshot-1"
    text = world.store.read(path).decode()
    lists = [line.split('"')[3] for line in text.splitlines() if 'ManifestList"' in line]
    own = text.replace('"commitUser"', f'"changelogManifestList" : "{lists[1]}",\n  "commitUser"', 1)
    world.store.replace(f"{ROOT}/changelog/changelog-1", own.encode())
    world.expire(1)
    world.store.delete(f"{ROOT}/manifest/{lists[0]}")
    assert world.lake.unused_versions(TABLE).unused == (0, 2, 4)
    world.store.delete(f"{ROOT}/manifest/{lists[1]}")
    with pytest.raises(RefusedError):
        world.lake.unused_versions(TABLE)


def test_refusals():
    mini = World(layout="mini")
    with pytest.raises(UsageError) as raised:
        mini.lake.unused_versions(TABLE)
    assert raised.value.code == "LB3663"
    world = World()
    for act, error, code in (
        (lambda: world.lake.unused_versions(TABLE, min_age=-DAY), UsageError, "LB3665"),
        (lambda: world.lake.unused_versions("lab.u"), NotFoundError, "LB3122"),
        (lambda: world.lake.remove_versions(f"{TABLE}@3"), UsageError, "LB3668"),
    ):
        with pytest.raises(error) as raised:
            act()
        assert raised.value.code == code


def test_the_version_that_apply_made_last_stays():
    world = World()
    declared = replace(world.lake.infer(TABLE), options={"note-x": "1"})
    world.lake.apply(world.lake.plan(Manifest((declared,))))
    applied = world.versions()[-1]
    world.alter()
    world.alter()
    world.later()
    reasons = {v.schema_id: v.reasons for v in world.lake.unused_versions(TABLE).versions}
    assert reasons[applied] == ("the last version that `apply` made",)
    assert reasons[applied + 1] == ()
    world.lake.remove_versions(TABLE)
    (table,) = world.lake.plan(Manifest((declared,))).tables
    assert table.drift is not None
    assert (table.drift.applied, table.drift.last) == (applied, applied + 2)
    assert table.drift.changes
