"""A change that was made is reported as made, whatever fails after the moment that makes it visible."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.catalog import DataType, Field, PathFactory, TableManager
from lakebed.cli.main import run
from lakebed.errors import LakebedError, LakebedWarning, StoreError
from lakebed.format.commit import commit
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.lake import Lake
from lakebed.store import LocalStore, Store
from lakebed.store.failures import failed
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

ID, MORE = Field("id", DataType.INT), Field("more", DataType.INT)
ADD = {"action": "addColumn", "fieldNames": ["more"], "dataType": "INT"}
STORES = [LocalStore, MemoryStore, MemoryObjectStore]


def lake_on(store: Store, warehouse: str, layout: str = "paimon") -> Lake:
    tables = TableManager(PathFactory(warehouse, layout, store=store), store)
    return Lake(tables, store, time_zone="UTC")


def with_table(store: Store, warehouse: str, layout: str = "paimon") -> Lake:
    lake = lake_on(store, warehouse, layout)
    lake.tables.create_table("d", "t", [ID])
    return lake


def manifest(tmp_path: Path) -> str:
    path = tmp_path / "t.yaml"
    path.write_text(
        "kind: Table\nversion: 1\ncontent:\n  name: d.t\n  schema:\n    fields:\n"
        "      - {name: id, type: {kind: Option, inner: Int32}}\n"
        "      - {name: more, type: {kind: Option, inner: Int32}}\n"
    )
    return str(path)


CHANGES: dict[str, Callable[[Lake, Path], Any]] = {
    "create_new_schema_version": lambda lake, _: lake.tables.get_schema_manager("d", "t").create_new_schema_version(
        [ID, MORE]
    ),
    "alter_table": lambda lake, _: lake.tables.alter_table("d", "t", [ADD]),
    "merge_schema": lambda lake, _: lake.merge_schema("d.t", [ID, MORE]),
    "apply": lambda lake, tmp_path: lake.apply(lake.plan(manifest(tmp_path))),
}


def directory(store: Store, path: str) -> None:
    store.delete(path)
    store.replace(f"{path}/inside", b"")


def junk(store: Store, path: str) -> None:
    store.replace(path, b"{")


def not_text(store: Store, path: str) -> None:
    store.replace(path, b"\xff\xfe")


@pytest.mark.parametrize("obstacle", [directory, junk, not_text])
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_version_is_made_whatever_the_record_is(tmp_path, change, kind, obstacle):
    lake = with_table(kind(), str(tmp_path / "w"))
    obstacle(lake.store, f"{lake.tables.table_path('d.t')}/metadata")
    with pytest.warns(LakebedWarning, match=r"version 1 of the schema of d\.t was made, but") as told:
        CHANGES[change](lake, tmp_path)
    assert [w.message.diagnostic.code for w in told] == ["LB3413"]
    assert lake.schema("d.t").field_names == ("id", "more")
    assert lake.tables.get_table_metadata("d", "t").current_schema_id == 1


@pytest.mark.parametrize("obstacle", [directory, junk])
def test_a_rename_is_made_whatever_the_record_is(tmp_path, obstacle):
    lake = with_table(LocalStore(), str(tmp_path))
    obstacle(lake.store, f"{lake.tables.table_path('d.t')}/metadata")
    with pytest.warns(LakebedWarning, match=r"d\.t was renamed to d\.u, but"):
        assert lake.tables.rename_table("d.t", "d.u").table_name == "u"
    assert lake.tables.list_tables() == ["d.u"]


def test_a_table_is_made_whatever_stands_in_the_place_of_its_record(tmp_path):
    lake = lake_on(LocalStore(), str(tmp_path))
    os.makedirs(f"{tmp_path}/d.db/t/metadata/inside")
    with pytest.warns(LakebedWarning, match=r"the table d\.t was made, but"):
        lake.tables.create_table("d", "t", [ID])
    assert lake.tables.list_tables() == ["d.t"]


@pytest.mark.parametrize("obstacle", [directory, junk])
def test_in_the_mini_layout_what_only_the_record_can_hold_is_refused_before(tmp_path, obstacle):
    lake = with_table(MemoryStore(), "/w", "mini")
    obstacle(lake.store, "/w/d/t/metadata")
    before = lake.store.snapshot()
    with pytest.raises(LakebedError):
        lake.tables.alter_table("d", "t", [{"action": "setOption", "key": "owner", "value": "me"}])
    assert lake.store.snapshot() == before
    with pytest.warns(LakebedWarning, match="version 1 of the schema"):
        lake.tables.alter_table("d", "t", [ADD])


class Failing(MemoryStore):
    """Fails at operations of a name on paths that hold a text."""

    failing: tuple[str, str] | None = None

    def _step(self, name: str, path: str):
        if self.failing is not None and name == self.failing[0] and self.failing[1] in path:
            raise failed("reach", path, OSError("injected fault"))
        return super()._step(name, path)


class FailingObjects(MemoryObjectStore):
    failing: tuple[str, str] | None = None

    def _step(self, name: str, path: str):
        if self.failing is not None and name == self.failing[0] and self.failing[1] in path:
            raise failed("reach", path, OSError("injected fault"))
        return super()._step(name, path)


def prepared(kind: type) -> Lake:
    lake = with_table(kind(), "/w")
    schemas = lake.tables.get_schema_manager("d", "t")
    for number in range(2):
        storage = TableStorage(lake.store, "/w/d.db/t", schemas)
        commit(storage, SnapshotChange(commit_user=f"{number}"), clock=lambda: 1_700_000_000_000)
    lake.tags("d.t").create("early", snapshot=1)
    lake.branches("d.t").create("b", tag="early")
    return lake


def test_a_tag_is_made_where_its_snapshot_cannot_be_looked_at_again():
    lake = prepared(Failing)
    lake.store.failing = ("exists", "snapshot-2")
    lake.store.replace("/w/d.db/t/snapshot/LATEST", b"nothing")
    with pytest.warns(LakebedWarning, match="tag 'a' was made, but"):
        assert lake.tags("d.t").create("a").snapshot.id == 2
    lake.store.failing = None
    assert [t.name for t in lake.tags("d.t").list()] == ["a", "early"]


@pytest.mark.parametrize(("kind", "step"), [(Failing, "delete_tree"), (FailingObjects, "delete")])
def test_a_branch_is_deleted_where_its_files_cannot_be(kind, step):
    lake = prepared(kind)
    lake.store.failing = (step, "/branch/")
    with pytest.warns(LakebedWarning, match="branch 'b' was deleted, but"):
        lake.branches("d.t").delete("b")
    lake.store.failing = None
    assert lake.branches("d.t").list() == ()


def test_a_roll_back_is_made_where_the_record_cannot_be_written():
    lake = prepared(Failing)
    lake.tables.alter_table("d", "t", [ADD])
    lake.store.failing = ("read", "/metadata")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lake.roll_back("d.t", schema=0).done
    assert lake.schema("d.t").id == 0


def test_versions_come_back_where_nobody_can_tell_whether_they_are_needed():
    lake = prepared(Failing)
    lake.tables.alter_table("d", "t", [ADD])

    class OnceGone(Failing):
        def delete(self, path: str) -> None:
            super().delete(path)
            if "/schema/schema-" in path:
                self.failing = ("list", "/tag")

    store = OnceGone(lake.store.snapshot())
    lake = lake_on(store, "/w")
    before = store.snapshot()
    with pytest.raises(LakebedError, match="injected fault"):
        lake.roll_back("d.t", schema=0)
    assert store.snapshot() == before


def test_a_drop_that_leaves_something_says_that_the_table_is_gone():
    lake = prepared(Failing)
    lake.store.failing = ("delete_tree", "/manifest")
    with pytest.raises(StoreError) as caught:
        lake.tables.drop_table("d", "t")
    assert "the table d.t is gone" in str(caught.value)
    lake.store.failing = None
    lake.tables.drop_table("d", "t")


def test_the_command_line_tells_and_succeeds(tmp_path, capsys):
    lakebed.open(tmp_path).tables.create_table("d", "t", [ID])
    record = tmp_path / "d.db" / "t" / "metadata"
    record.unlink()
    (record / "inside").mkdir(parents=True)
    assert run(["apply", "--yes", "--warehouse", str(tmp_path), manifest(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "LB3413" in told
    assert "LakebedWarning" not in told
