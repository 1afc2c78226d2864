from __future__ import annotations

import io
import json
import os
import time
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc

import lakebed
from lakebed.errors import NotFoundError, RefusedError, UsageError
from lakebed.format.commit import commit
from lakebed.format.live_files import entry_of_file, plan_files
from lakebed.format.manifest import Kind
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from maintenance.worlds import DAY, ROOT, STORES, TABLE, World

JUNK = {
    "bucket-0/data-lost-0.parquet",
    "k=v/j=w/bucket-3/data-lost-1.parquet",
    "bucket-postpone/data-lost-2.avro",
    "manifest/manifest-lost-0",
    "manifest/manifest-list-lost-0",
    "manifest/index-manifest-lost-0",
    "index/index-lost-0",
    "statistics/stat-lost-0",
    ".staging-abc/k=v/part-0.parquet",
    ".staging-abc/_temporary/0/part-1.parquet",
    "schema/.schema-9.abc.tmp",
    "snapshot/.snapshot-9.abc.tmp",
    ".metadata.0123456789abcdef0123456789abcdef.tmp",
    ".lakebed-0123456789abcdef0123456789abcdef",
    "schema/.lakebed-0123456789abcdef0123456789abcdef",
    "branch/branch-b/snapshot/.LATEST.abc.tmp",
    "branch/.creating-0123456789abcdef0123456789abcdef/schema/schema-0",
    "branch/.deleted-0123456789abcdef0123456789abcdef/snapshot/snapshot-1",
}
#: What is not ours to judge.
FOREIGN = {
    "README",
    ".lakebed-runs",
    "notes/bucket-0.txt",
    "consumer/consumer-a",
    ".hidden/file",
    "bucket-0/deeper/file",
    "metadata",
}


def littered(kind=STORES[0]) -> World:
    """A table with tags, a branch, a changelog and expired snapshots, and files that nothing refers to."""
    world = World(kind())
    for _ in range(3):
        world.commit()
    world.lake.tags(TABLE).create("a", snapshot=1)
    world.lake.branches(TABLE).create("b", tag="a")
    world.commit("b")
    content = world.store.read(f"{ROOT}/snapshot/snapshot-2")
    world.store.replace(f"{ROOT}/changelog/changelog-2", content)
    world.expire(1, 2)
    for path in JUNK | FOREIGN - {"metadata"}:
        world.store.replace(f"{ROOT}/{path}", b"junk")
    return world


@pytest.mark.parametrize("kind", STORES)
def test_exactly_what_nothing_refers_to_is_found_and_removed(kind):
    world = littered(kind)
    young = world.lake.orphan_files(TABLE)
    assert (young.files, young.young) == ((), len(JUNK))
    world.later()
    before = world.store.snapshot()
    report = world.lake.orphan_files(TABLE)
    assert {f.path for f in report.files} == JUNK
    assert (report.size, report.young, report.removed) == (4 * len(JUNK), 0, False)
    assert world.store.snapshot() == before
    assert world.lake.remove_orphans(TABLE).removed
    after = world.store.snapshot()
    assert set(before) - set(after) == {f"{ROOT}/{path}" for path in JUNK}
    assert all(after[path] == before[path] for path in after)
    world.check_whole()
    assert world.lake.orphan_files(TABLE).files == ()


def in_avro(record):
    out = io.BytesIO()
    kinds = {str: "string", int: "long", bytes: "bytes"}
    fields = [{"name": name, "type": kinds[type(value)]} for name, value in record.items()]
    fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, [record])
    return out.getvalue()


def in_orc(record):
    out = io.BytesIO()
    orc.write_table(pa.Table.from_pylist([record]), out)
    return out.getvalue()


@pytest.mark.parametrize("written", [in_avro, in_orc])
def test_index_files_that_a_snapshot_names_are_used(written):
    world = littered()
    entry = {"_KIND": 0, "_PARTITION": bytes(12), "_BUCKET": 0, "_INDEX_TYPE": "DELETION_VECTORS"}
    entry |= {"_FILE_NAME": "index-used-0", "_FILE_SIZE": 1, "_ROW_COUNT": 0}
    world.store.replace(f"{ROOT}/manifest/index-manifest-used-0", written(entry))
    world.store.replace(f"{ROOT}/index/index-used-0", b"x")
    content = json.loads(world.store.read(f"{ROOT}/snapshot/snapshot-3"))
    content["indexManifest"] = "index-manifest-used-0"
    world.store.replace(f"{ROOT}/snapshot/snapshot-3", json.dumps(content).encode())
    world.later()
    assert {f.path for f in world.lake.orphan_files(TABLE).files} == JUNK


def test_what_is_together_in_staging_goes_together():
    world = World()
    world.store.replace(f"{ROOT}/.staging-a/old", b"x")
    world.later()
    world.store.replace(f"{ROOT}/.staging-a/k=v/new", b"x")
    assert world.lake.remove_orphans(TABLE).young == 2
    assert world.store.exists(f"{ROOT}/.staging-a/old")


def test_a_file_that_is_committed_while_files_are_looked_for_is_used():
    world = World()
    world.commit()
    world.later()
    world.store.restart()
    world.lake.orphan_files(TABLE, min_age=timedelta(0))
    steps = len(world.store.operations)
    for step in range(steps):
        world = World()
        world.commit()
        world.later()
        world.store.restart()
        world.store.race_at(step, world.commit)
        world.lake.remove_orphans(TABLE, min_age=DAY)
        world.check_whole()


def test_files_are_listed_before_what_refers_to_them_is_read():
    """No age hides a file that a commit has made between the two: the clock of the storage is far behind."""

    def behind() -> World:
        world = World()
        world.store.clock = lambda: 0
        world.commit()
        world.store.restart()
        return world

    world = behind()
    world.lake.orphan_files(TABLE, min_age=timedelta(0))
    for step in range(len(world.store.operations)):
        world = behind()
        world.store.race_at(step, world.commit)
        world.lake.remove_orphans(TABLE, min_age=timedelta(0))
        world.check_whole()


def test_manifests_are_read_once_and_again_only_for_files_that_were_taken_away(monkeypatch: pytest.MonkeyPatch):
    world = World()
    for _ in range(4):
        world.commit()
    read: list[str] = []
    real = world.store.read

    def noted(path: str) -> bytes:
        if path.rpartition("/")[2].startswith("manifest-") and "-list-" not in path:
            read.append(path)
        return real(path)

    monkeypatch.setattr(world.store, "read", noted)
    assert world.lake.orphan_files(TABLE, min_age=timedelta(0)).files == ()
    assert len(read) == len(set(read)) == 4
    latest = world.place().snapshots.latest()
    assert latest is not None
    schema = world.place().schemas.get_current_schema()
    first = plan_files(world.store, ROOT, latest, schema)[0]
    gone = replace(entry_of_file(schema, first), kind=Kind.DELETE)
    storage = TableStorage(world.store, ROOT, world.place().schemas)
    commit(storage, SnapshotChange(commit_user="compact", deleted=(gone,)), clock=world.clock)
    read.clear()
    assert world.lake.orphan_files(TABLE, min_age=timedelta(0)).files == ()
    # The manifest that adds the file and the one that takes it away are read again, to tell which state has it live.
    assert (len(set(read)), len(read)) == (5, 7)


def test_nothing_goes_where_something_cannot_be_read():
    world = littered()
    world.later()
    for path in ("tag/tag-a", "branch/branch-b/snapshot/snapshot-2", "changelog/changelog-2"):
        content = world.store.read(f"{ROOT}/{path}")
        world.store.replace(f"{ROOT}/{path}", b"{")
        before = world.store.snapshot()
        with pytest.raises(RefusedError) as raised:
            world.lake.remove_orphans(TABLE)
        assert raised.value.code == "LB3664"
        assert world.store.snapshot() == before
        world.store.replace(f"{ROOT}/{path}", content)


def test_rows_of_a_roll_back_a_tag_and_a_branch_are_freed_last():
    world = World()
    for _ in range(3):
        world.commit()
    world.lake.tags(TABLE).create("a", snapshot=2)
    world.lake.branches(TABLE).create("b", tag="a")
    world.lake.roll_back(f"{TABLE}@branch:b", snapshot=2)
    world.later()
    assert world.lake.orphan_files(TABLE).files == ()
    with pytest.raises(RefusedError):
        world.lake.roll_back(TABLE, snapshot=1)
    world.lake.branches(TABLE).delete("b")
    world.lake.tags(TABLE).delete("a")
    world.lake.roll_back(TABLE, snapshot=1)
    found = [f.path.split("/")[0] for f in world.lake.orphan_files(TABLE).files]
    assert found.count("bucket-0") == 2
    world.lake.remove_orphans(TABLE)
    world.check_whole()


def test_on_a_disk(tmp_path: Path):
    """Real times of files; links are left alone; emptied staging directories go."""
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("lab", "t", [lakebed.Field("id", lakebed.DataType.INT)])
    table, outside = tmp_path / "lab.db" / "t", tmp_path / "outside"
    old = time.time() - 3 * 86_400
    for path in (table / ".staging-a/k=v/part", table / "bucket-0/data-x.parquet", outside / "bucket-0/data-y.parquet"):
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x")
        os.utime(path, (old, old))
    (table / "k=v").symlink_to(outside)
    new = table / "bucket-0" / "data-z.parquet"
    new.write_bytes(b"x")
    report = lake.remove_orphans("lab.t")
    assert [f.path for f in report.files] == [".staging-a/k=v/part", "bucket-0/data-x.parquet"]
    assert report.young == 1
    assert not (table / ".staging-a").exists()
    assert new.exists()
    assert (outside / "bucket-0/data-y.parquet").exists()


def test_refusals():
    world = World()
    with pytest.raises(UsageError):
        world.lake.orphan_files(TABLE, min_age=-DAY)
    with pytest.raises(NotFoundError):
        world.lake.orphan_files("lab.u")
