"""No deletion leaves the table's own directory: each one that is walked is put behind a link, and all is tried."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Barrier, current_thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from lakebed.catalog import DataType, Field
from lakebed.errors import LakebedError, StoreError
from lakebed.format.commit import commit
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.lake import Lake
from lakebed.store import LocalStore
from lakebed.store.safe_delete import Inside
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

NOW = timedelta(0)
HEX = "0123456789abcdef0123456789abcdef"

JUNK = [
    *("manifest/manifest-lost-0", "index/index-lost-0", "statistics/stat-lost-0", "changelog/.changelog-1.a.tmp"),
    *("bucket-0/data-lost-0.parquet", "k=v/bucket-0/data-lost-0.parquet", ".staging-abc/part-0.parquet"),
    *("schema/.schema-9.a.tmp", "snapshot/.snapshot-9.a.tmp", "tag/.tag-a.a.tmp", ".metadata.a.tmp"),
    *("branch/branch-b/schema/.schema-9.a.tmp", "branch/branch-b/snapshot/.LATEST.a.tmp"),
    *(f"branch/.deleted-{HEX}/schema/schema-0", f"branch/.creating-{HEX}/schema/schema-0"),
]
DIRECTORIES = sorted({str(parent) for path in JUNK for parent in Path(path).parents} - {"."})

CALLS: dict[str, Callable[[Lake], object]] = {
    "orphans": lambda lake: lake.remove_orphans("d.t", min_age=NOW),
    "versions": lambda lake: lake.remove_versions("d.t", min_age=NOW),
    "roll back the schema": lambda lake: lake.roll_back("d.t", schema=0),
    "roll back": lambda lake: lake.roll_back("d.t", snapshot=1, delete_tags=True),
    "delete a tag": lambda lake: lake.tags("d.t").delete("late"),
    "delete a branch": lambda lake: lake.branches("d.t").delete("b"),
    "drop a table": lambda lake: lake.tables.drop_table("d", "t", purge=True),
    "drop a database": lambda lake: lake.tables.drop_database("d", cascade=True, purge=True),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A table with versions, snapshots, tags, a branch, and junk in every directory."""
    warehouse = tmp_path_factory.mktemp("template")
    lake = lakebed.open(warehouse)
    lake.tables.create_table("d", "t", [Field("id", DataType.INT)])
    schemas = lake.tables.get_schema_manager("d", "t")
    table = lake.tables.table_path("d.t")
    for number in range(3):
        storage = TableStorage(lake.store, table, schemas)
        commit(storage, SnapshotChange(commit_user=f"user-{number}"), clock=lambda: 1_700_000_000_000)
    lake.tags("d.t").create("early", snapshot=1)
    lake.tags("d.t").create("late", snapshot=3)
    lake.branches("d.t").create("b", tag="early")
    for number in range(3):
        schemas.create_new_schema_version([Field("id", DataType.INT), Field(f"c{number}", DataType.INT)])
    for path in JUNK:
        lake.store.replace(f"{table}/{path}", b"junk")
    return warehouse


def files(root: Path) -> set[str]:
    return {str(p.relative_to(root)) for p in root.rglob("*")}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("linked", [*DIRECTORIES, ".", ".."])
def test_what_is_behind_a_link_stays(tmp_path, template, linked, call):
    warehouse, outside = tmp_path / "warehouse", tmp_path / "outside"
    shutil.copytree(template, warehouse)
    place = Path(os.path.normpath(warehouse / "d.db" / "t" / linked))
    place.rename(outside)
    place.symlink_to(outside)
    before = files(outside)
    with suppress(LakebedError):
        CALLS[call](lakebed.open(warehouse))
    if linked == "." and not call.startswith("drop"):
        # The table's directory itself is reached through a link: what lies in it is the table's.
        return
    if linked == ".." and call != "drop a database":
        return
    assert before <= files(outside)


@pytest.mark.parametrize("call", CALLS)
def test_without_links_every_call_deletes(tmp_path, template, call):
    """So that the test above can fail."""
    warehouse = tmp_path / "warehouse"
    shutil.copytree(template, warehouse)
    before = files(warehouse)
    if call == "roll back the schema":
        shutil.rmtree(warehouse / "d.db" / "t" / "branch")
    CALLS[call](lakebed.open(warehouse))
    assert not before <= files(warehouse)


def test_orphans_of_a_table_that_is_reached_through_a_link_go(tmp_path, template):
    warehouse, outside = tmp_path / "warehouse", tmp_path / "outside"
    shutil.copytree(template, warehouse)
    (warehouse / "d.db" / "t").rename(outside)
    (warehouse / "d.db" / "t").symlink_to(outside)
    lakebed.open(warehouse).remove_orphans("d.t", min_age=NOW)
    assert not [path for path in JUNK if (outside / path).exists()]


def test_a_link_to_another_directory_of_the_table_is_not_followed(tmp_path, template):
    warehouse = tmp_path / "warehouse"
    shutil.copytree(template, warehouse)
    table = warehouse / "d.db" / "t"
    shutil.rmtree(table / "statistics")
    (table / "statistics").symlink_to("schema")
    (table / "schema" / "stat-mine").write_bytes(b"not an orphan")
    lakebed.open(warehouse).remove_orphans("d.t", min_age=NOW)
    assert (table / "schema" / "stat-mine").exists()


@pytest.mark.parametrize("kind", [LocalStore, MemoryStore, MemoryObjectStore])
def test_a_path_that_lies_elsewhere_is_refused(tmp_path, kind):
    store, root = kind(), f"{tmp_path}/t"
    for path in (f"{tmp_path}/other", f"{root}/../other", f"{root}2/x", f"{root}/a/../../other", f"{root}//other", "/"):
        store.replace(f"{tmp_path}/other", b"x")
        for act in (Inside(store, root).delete, Inside(store, root).delete_tree, Inside(store, root).remove_directory):
            with pytest.raises(StoreError) as caught:
                act(path)
            assert caught.value.code == "LB3610"
    assert store.read(f"{tmp_path}/other") == b"x"


_STEP = st.sampled_from(["a", "b", "link", "..", ".", ""])


@given(st.lists(_STEP, min_size=1, max_size=5), st.sampled_from(["a", "b", "a/b", "b/a"]))
def test_what_is_deleted_really_lay_below(tmp_path_factory, steps, link_at):
    """The law itself, by the file system's own word for where a path leads."""
    base = Path(os.path.realpath(tmp_path_factory.mktemp("law")))
    root = base / "t"
    for directory in ("a/b", "b/a", "a/a", "b/b"):
        (root / directory).mkdir(parents=True)
        (root / directory / "a").write_bytes(b"")
    (base / "outside" / "a").mkdir(parents=True)
    (root / link_at / "link").symlink_to(base / "outside")
    path = "/".join([str(root), *steps])
    before = {p for p in base.rglob("*") if root not in p.parents and p != root}
    real = os.path.realpath(os.path.dirname(path.rstrip("/")))
    try:
        Inside(LocalStore(), str(root)).delete_tree(path)
    except StoreError:
        return
    assert real == str(root) or real.startswith(f"{root}/") or path.rstrip("/") == str(root)
    assert before == {p for p in base.rglob("*") if root not in p.parents and p != root}


def test_several_files_are_deleted_at_a_time() -> None:
    """Each of two deletions waits for the other to have begun; what fails is told, and nothing outside goes."""
    both = Barrier(2, timeout=20)

    class Waiting(MemoryStore):
        def delete(self, path: str) -> None:
            both.wait()
            super().delete(path)

    store = Waiting()
    paths = [f"t/{i}" for i in range(4)]
    for path in (*paths, "other/0"):
        store.create_if_absent(path, b"x")
    Inside(store, "t").delete_all(paths, threads=2)
    assert not any(map(store.exists, paths))
    with pytest.raises(StoreError) as caught:
        Inside(MemoryStore(), "t").delete_all(["t/0", "other/0", "t/1"], threads=2)
    assert [d.code for d in caught.value.diagnostics] == ["LB3610"]
    assert store.exists("other/0")


@pytest.mark.parametrize(
    ("options", "threads"), [({}, "MainThread"), ({"delete-file.thread-num": "3"}, "lakebed-delete")]
)
def test_an_option_says_how_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], threads: str
) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", [Field("k", DataType.INT)], options=options)
    seen, delete = [], LocalStore.delete

    def watched(store: LocalStore, path: str) -> None:
        seen.append(current_thread().name.partition("_")[0])
        delete(store, path)

    monkeypatch.setattr(LocalStore, "delete", watched)
    root = lake.tables.table_path("db.t")
    for name in ("a", "b"):
        lake.store.replace(f"{root}/manifest/manifest-{name}-0", b"x")
    assert len(lake.remove_orphans("db.t", min_age=NOW).files) == 2
    assert seen == [threads] * 2
