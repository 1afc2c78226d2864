"""What killed runs leave in a warehouse beside its tables: seen, removed when it is old, and nothing else with it."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

import lakebed
from lakebed.errors import StoreError, UsageError
from lakebed.store import temporary
from lakebed.store.safe_delete import Inside
from lakebed.testing.memory_store import SimulatedCrash
from maintenance.worlds import ROOT, STORES, World

HEX = "0123456789abcdef0123456789abcdef"
JUNK = {
    f".lakebed-scratch/lakebed-{HEX}/_spark_metadata/0",
    f".lakebed-migration/{HEX}/table/schema/schema-0",
    f".lakebed-migration/{HEX}/table/bucket-0/data-0.parquet",
    f".lakebed-{HEX}",
    ".x.abc.tmp",
    f"lab.db/.lakebed-{HEX}",
    f"lab.db/.t.{HEX}.tmp",
}
#: Of tables, of others, or of nobody.
FOREIGN = {
    "README",
    ".lakebed-scratch/notes.txt",
    ".lakebed-scratch/lakebed-mine/0",
    ".lakebed-migration/notes/0",
    f".lakebed-elsewhere/{HEX}/0",
    ".hidden/.x.abc.tmp",
    "lab.db/.hidden/x.tmp",
    "lab.db/t/.staging-a/part-0",
    "lab.db/t/schema/.schema-9.abc.tmp",
}


def littered(kind=STORES[0]) -> World:
    world = World(kind())
    world.commit()
    for path in JUNK | FOREIGN:
        world.store.replace(f"/w/{path}", b"junk")
    return world


@pytest.mark.parametrize("kind", STORES)
def test_exactly_what_killed_runs_have_left_is_found_and_removed(kind):
    world = littered(kind)
    young = world.lake.orphan_files()
    assert (young.name, young.files, young.young) == (None, (), len(JUNK))
    world.later()
    before = world.store.snapshot()
    report = world.lake.orphan_files()
    assert [f.path for f in report.files] == sorted(JUNK)
    assert (report.size, report.young, report.removed) == (4 * len(JUNK), 0, False)
    assert report.to_json()["table"] is None
    assert world.store.snapshot() == before
    assert world.lake.remove_orphans().removed
    after = world.store.snapshot()
    assert set(before) - set(after) == {f"/w/{path}" for path in JUNK}
    assert all(after[path] == before[path] for path in after)
    world.check_whole()
    assert world.lake.orphan_files().files == ()


def test_what_a_run_has_made_goes_together():
    world = World()
    run = f"/w/.lakebed-migration/{HEX}/table"
    world.store.replace(f"{run}/schema/schema-0", b"x")
    world.later()
    world.store.replace(f"{run}/schema/schema-1", b"x")
    assert world.lake.remove_orphans().young == 2
    assert world.store.exists(f"{run}/schema/schema-0")


def test_an_age_below_zero():
    with pytest.raises(UsageError, match="LB3665"):
        World().lake.remove_orphans(min_age=timedelta(seconds=-1))


def test_a_crash_leaves_a_part_and_the_next_run_the_rest():
    world = littered()
    world.later()
    world.store.restart()
    world.lake.remove_orphans()
    steps = len(world.store.operations)
    for step in range(steps):
        world = littered()
        world.later()
        world.store.restart()
        world.store.crash_at(step)
        with pytest.raises(SimulatedCrash):
            world.lake.remove_orphans()
        world.store.restart()
        world.lake.remove_orphans()
        assert {f"/w/{path}" for path in FOREIGN} <= set(world.store.snapshot())
        assert not {f"/w/{path}" for path in JUNK} & set(world.store.snapshot())
        world.check_whole()


def old(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        path.write_bytes(b"x")
    then = time.time() - 7 * 86_400
    os.utime(path, (then, then))
    return path


def test_on_a_disk_directories_go_too_and_nothing_behind_a_link(tmp_path):
    (tmp_path / "w/lab.db").mkdir(parents=True)
    lake = lakebed.open(tmp_path / "w")
    elsewhere = tmp_path / "elsewhere"
    behind = [
        old(elsewhere / f"lakebed-{HEX}/_spark_metadata/0"),
        old(elsewhere / "run/table/schema/schema-0"),
        old(elsewhere / "file"),
    ]
    scratch, migration = tmp_path / "w/.lakebed-scratch", tmp_path / "w/.lakebed-migration"
    scratch.symlink_to(elsewhere)
    migration.mkdir()
    (migration / HEX).symlink_to(elsewhere / "run")
    link = tmp_path / f"w/.lakebed-{HEX}"
    link.symlink_to(elsewhere / "file")
    lake.remove_orphans(min_age=timedelta(0))
    assert all(path.exists() for path in behind)
    assert scratch.is_symlink()

    scratch.unlink()
    (migration / HEX).unlink(missing_ok=True)
    inner = old(scratch / f"lakebed-{HEX}/_spark_metadata/0")
    inside = [old(migration / f"{HEX}/table/schema/schema-0"), inner]
    (inner.parent / "link").symlink_to(elsewhere)
    assert [f.path for f in lake.orphan_files(min_age=timedelta(0)).files][-1].endswith(("/0", "/link"))
    lake.remove_orphans(min_age=timedelta(0))
    assert not any(path.exists() for path in inside)
    assert not scratch.exists()
    assert not migration.exists()
    assert all(path.exists() for path in behind)


def test_an_empty_directory_of_a_run_goes_when_it_is_old(tmp_path):
    (tmp_path / "w/lab.db").mkdir(parents=True)
    lake = lakebed.open(tmp_path / "w")
    run = tmp_path / f"w/.lakebed-scratch/lakebed-{HEX}/_spark_metadata"
    run.mkdir(parents=True)
    lake.remove_orphans()
    assert run.exists()
    for directory in (run, run.parent):
        old(directory)
    lake.remove_orphans()
    assert not run.parent.parent.exists()


def test_names_are_known_again():
    assert temporary.is_run(temporary.SCRATCH, temporary.scratch_list())
    assert temporary.is_run(temporary.MIGRATION, temporary.migration_run())
    assert not temporary.is_run(temporary.MIGRATION, temporary.scratch_list())


def test_only_what_is_inside_is_deleted():
    with pytest.raises(StoreError, match="LB3610"):
        Inside(World().store, "/w/.lakebed-scratch").delete(f"{ROOT}/schema/schema-0")
