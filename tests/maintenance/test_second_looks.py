"""What a clean-up must look at, and in which order, so that a writer that is at work at the same time loses nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from lakebed.format.manifest import ManifestFileMeta, read_list, read_manifest, write_list, write_manifest
from lakebed.store.base import Entry
from lakebed.testing.memory_store import MemoryStore
from maintenance.worlds import DAY, ROOT, TABLE, World

NOW = timedelta(0)


@pytest.mark.parametrize("act", ["orphan_files", "remove_orphans"])
def test_files_are_listed_before_what_refers_to_them_is_read(act: str) -> None:
    """Without a minimum age nothing but this order protects a file that is committed in between.

    The store's clock is behind: no time of a file tells that it came after the clean-up began.
    """

    def world() -> World:
        found = World()
        found.store.clock = lambda: found.clock() - DAY // timedelta(milliseconds=1)
        found.commit()
        found.later()
        found.store.restart()
        return found

    counted = world()
    getattr(counted.lake, act)(TABLE, min_age=NOW)
    for step in range(len(counted.store.operations)):
        tried = world()
        tried.store.race_at(step, tried.commit)
        assert getattr(tried.lake, act)(TABLE, min_age=NOW).files == ()
        tried.check_whole()


def _with_extra_files(world: World, of_file: str, of_manifest: str) -> None:
    """Let the newest commit's data file and manifest name a file that goes with them."""
    path = f"{ROOT}/snapshot/snapshot-{world.snapshots()[-1]}"
    snapshot = json.loads(world.store.read(path))
    name = snapshot["deltaManifestList"]
    (meta,) = read_list(world.store, ROOT, name)
    (entry,) = read_manifest(world.store, ROOT, meta)
    data = write_manifest([replace(entry, file=replace(entry.file, extra_files=(of_file,)))])
    world.store.replace(f"{ROOT}/manifest/{meta.file_name}", data)
    changed: ManifestFileMeta = replace(meta, file_size=len(data), extra_files=(of_manifest,), total_buckets=-1)
    listed = write_list([changed])
    world.store.replace(f"{ROOT}/manifest/{name}", listed)
    snapshot["deltaManifestListSize"] = len(listed)
    world.store.replace(path, json.dumps(snapshot).encode())


def test_what_goes_with_a_data_file_or_a_manifest_is_used() -> None:
    """Changelogs and file indexes of a data file stand beside it, and only its entry names them."""
    world = World()
    world.commit()
    _with_extra_files(world, "data-x.index", "manifest-x.index")
    for name in ("bucket-0/data-x.index", "manifest/manifest-x.index", "bucket-0/data-y.index"):
        world.store.replace(f"{ROOT}/{name}", b"x")
    world.later()
    assert [f.path for f in world.lake.orphan_files(TABLE).files] == ["bucket-0/data-y.index"]


class _Ageless(MemoryStore):
    """A storage that does not say when some files were changed."""

    ageless: frozenset[str] = frozenset()

    def list(self, path: str) -> list[Entry]:
        return [replace(e, modified=None) if e.name in self.ageless else e for e in super().list(path)]


@pytest.mark.parametrize("ageless", [{"new"}, {"old"}, {"old", "new"}])
def test_staging_with_a_file_of_unknown_age_stays_whole(ageless: set[str]) -> None:
    store = _Ageless()
    world = World(store)
    for name in ("old", "k=v/new"):
        world.store.replace(f"{ROOT}/.staging-a/{name}", b"x")
    world.store.replace(f"{ROOT}/bucket-0/old", b"x")
    world.later()
    store.ageless = frozenset(ageless)
    report = world.lake.remove_orphans(TABLE, min_age=NOW)
    alone = [] if "old" in ageless else ["bucket-0/old"]
    assert ([f.path for f in report.files], report.young) == (alone, 3 - len(alone))
    assert store.exists(f"{ROOT}/.staging-a/old")
    assert store.exists(f"{ROOT}/.staging-a/k=v/new")


def test_a_commit_before_the_second_look_keeps_its_version_in_its_place() -> None:
    """It is not taken away and put back: in between, readers of the commit would find no schema."""

    def world() -> World:
        found = World()
        found.alter()
        found.later()
        found.store.restart()
        return found

    counted = world()
    counted.lake.remove_versions(TABLE)
    operations = counted.store.operations
    path = f"{ROOT}/schema/schema-0"
    # The content is read for the last time between the two looks.
    step = max(i for i, o in enumerate(operations) if (o.name, o.path) == ("read", path))
    assert any(o.name == "delete" for o in operations[step:])
    tried = world()
    tried.store.race_at(step, lambda: tried.commit(schema_id=0))
    report = tried.lake.remove_versions(TABLE)
    assert (report.removed, report.put_back) == ((), ())
    assert not any(o.name == "delete" for o in tried.store.operations)
    tried.check_whole()


def test_a_file_exactly_of_the_minimum_age_is_old_enough_and_one_younger_is_not() -> None:
    world = World()
    world.store.replace(f"{ROOT}/bucket-0/lost", b"x")
    written = next(e.modified for e in world.store.list(f"{ROOT}/bucket-0"))
    assert written is not None
    minute = timedelta(minutes=1)
    for late, found in ((-1, 0), (0, 1)):
        # The clock goes on by one for each look at it, and the report looks once.
        world.now = written + 60_000 - 1 + late
        assert len(world.lake.orphan_files(TABLE, min_age=minute).files) == found
    assert len(world.lake.orphan_files(TABLE, min_age=DAY).files) == 0
