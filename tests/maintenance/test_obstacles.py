"""Whatever has the name of the next version, snapshot, tag or branch: every call ends, and says what is in the way."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager, commit_version
from lakebed.errors import AlreadyExistsError, ConflictError, LakebedError, StoreError
from lakebed.format.commit import commit
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.lake import Lake
from lakebed.store import LocalStore, Store
from lakebed.store.failures import failed
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

ID = Field("id", DataType.INT)
NEW = Field("more", DataType.INT)


@dataclass
class Table:
    """`d.t` with one version and one snapshot."""

    lake: Lake
    root: str

    @property
    def store(self) -> Store:
        return self.lake.store

    def commit(self) -> Snapshot:
        storage = TableStorage(self.store, self.root, self.lake.tables.get_schema_manager("d", "t"))
        user = os.urandom(4).hex()
        return commit(storage, SnapshotChange(commit_user=user), clock=lambda: 1_700_000_000_000, sleep=lambda _: None)


def table_on(store: Store, warehouse: str) -> Table:
    tables = TableManager(PathFactory(warehouse, store=store), store)
    lake = Lake(tables, store, time_zone="UTC")
    tables.create_table("d", "t", [ID])
    table = Table(lake, f"{warehouse}/d.db/t")
    table.commit()
    return table


@contextmanager
def seconds(limit: float) -> Iterator[None]:
    """Fail a call that does not come to its end."""

    def strike(*_: object) -> None:
        raise AssertionError("the call hangs")

    before = signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


CALLS: dict[str, tuple[str, Callable[[Table], object]]] = {
    "create_new_schema_version": (
        "schema/schema-1",
        lambda t: t.lake.tables.get_schema_manager("d", "t").create_new_schema_version([ID, NEW]),
    ),
    "alter_table": (
        "schema/schema-1",
        lambda t: t.lake.tables.alter_table(
            "d", "t", [{"action": "addColumn", "fieldNames": ["more"], "dataType": "INT"}]
        ),
    ),
    "merge_schema": ("schema/schema-1", lambda t: t.lake.merge_schema("d.t", [ID, NEW])),
    "create_table": ("../new/schema/schema-0", lambda t: t.lake.tables.create_table("d", "new", [ID])),
    "commit": ("snapshot/snapshot-2", Table.commit),
    "tag": ("tag/tag-a", lambda t: t.lake.tags("d.t").create("a")),
}


def directory(path: str) -> None:
    os.makedirs(path)


def full_directory(path: str) -> None:
    os.makedirs(f"{path}/inside")


def dangling_link(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink("/nowhere/at/all", path)


def circular_link(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(path, path)


def link_to_directory(path: str) -> None:
    os.makedirs(f"{os.path.dirname(path)}/elsewhere")
    os.symlink("elsewhere", path)


def pipe(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize("obstacle", [directory, full_directory, dangling_link, circular_link, link_to_directory])
@pytest.mark.parametrize("call", CALLS)
def test_what_is_no_file_is_told(tmp_path, call, obstacle):
    table = table_on(LocalStore(), str(tmp_path))
    inside, act = CALLS[call]
    path = os.path.normpath(f"{table.root}/{inside}")
    obstacle(path)
    with seconds(20), pytest.raises(LakebedError) as caught:
        act(table)
    assert caught.value.code == "LB3608", str(caught.value)
    assert path in str(caught.value)
    os.unlink(path) if os.path.islink(path) else os.removedirs(f"{path}/inside" if os.listdir(path) else path)
    assert act(table)


@pytest.mark.parametrize("call", CALLS)
def test_a_pipe_ends_too(tmp_path, call):
    table = table_on(LocalStore(), str(tmp_path))
    inside, act = CALLS[call]
    path = os.path.normpath(f"{table.root}/{inside}")
    pipe(path)
    with seconds(20), pytest.raises(LakebedError) as caught:
        act(table)
    assert path in str(caught.value) or isinstance(caught.value, AlreadyExistsError)


@pytest.mark.parametrize("call", CALLS)
def test_a_directory_in_memory_is_told(call):
    table = table_on(MemoryStore(), "/w")
    inside, act = CALLS[call]
    path = os.path.normpath(f"{table.root}/{inside}")
    table.store.make_directory(path)
    with seconds(20), pytest.raises(StoreError) as caught:
        act(table)
    assert (caught.value.code, caught.value.diagnostics[0].path) == ("LB3608", path)


@pytest.mark.parametrize("call", CALLS)
def test_on_an_object_store_a_prefix_is_not_in_the_way(call):
    """An object and a prefix may have one name."""
    table = table_on(MemoryObjectStore(), "/w")
    inside, act = CALLS[call]
    path = os.path.normpath(f"{table.root}/{inside}")
    table.store.replace(f"{path}/inside", b"")
    with seconds(20):
        act(table)
    assert table.store.read(path)
    name = path.rpartition("/")[2]
    assert [e.is_directory for e in table.store.list(os.path.dirname(path)) if e.name == name] == [False]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", [LocalStore, MemoryStore])
def test_a_file_that_cannot_be_read_is_told(tmp_path, kind, call):
    class Unreadable(kind):
        path = ""

        def read(self, path: str) -> bytes:
            if path == self.path:
                raise failed("read", path, PermissionError(13, "Permission denied"))
            return super().read(path)

    table = table_on(Unreadable(), str(tmp_path))
    inside, act = CALLS[call]
    path = table.store.path = os.path.normpath(f"{table.root}/{inside}")
    table.store.replace(path, b"")
    with seconds(20), pytest.raises(LakebedError) as caught:
        act(table)
    assert path in str(caught.value) or isinstance(caught.value, AlreadyExistsError)


@pytest.mark.parametrize("obstacle", [directory, full_directory, dangling_link, pipe])
def test_a_branch_that_is_none(tmp_path, obstacle):
    table = table_on(LocalStore(), str(tmp_path))
    obstacle(f"{table.root}/branch/branch-b")
    with seconds(20), pytest.raises(AlreadyExistsError, match="branch-b"):
        table.lake.branches("d.t").create("b")


@pytest.mark.parametrize("call", ["create_new_schema_version", "alter_table", "merge_schema"])
def test_a_race_that_is_lost_again_and_again_ends(monkeypatch, call):
    """Each time somebody else's version is there first, and none of them has the column."""

    class Raced(MemoryStore):
        racing = False

        def create_if_absent(self, path: str, data: bytes) -> bool:
            if not self.racing or "/schema/" not in path:
                return super().create_if_absent(path, data)
            self.racing = False
            latest = rival.load_latest_schema()
            rival.publish(replace(latest, id=latest.id + 1, options={"made-by": path}))
            self.racing = True
            return False

    monkeypatch.setattr(commit_version, "MOST", 5)
    table = table_on(Raced(), "/w")
    rival = table.lake.tables.get_schema_manager("d", "t")
    table.store.racing = True
    with seconds(20), pytest.raises(ConflictError) as caught:
        CALLS[call][1](table)
    assert caught.value.code == "LB3609"
    latest = rival.load_latest_schema()
    assert (latest.id, latest.field_names) == (5, ("id",))
