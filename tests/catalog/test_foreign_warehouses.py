"""Warehouses that other engines have written, and one on fsspec: seen whole, and not touched by looking."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableMetadata, TableName, open_warehouse
from lakebed.errors import AlreadyExistsError, NotFoundError
from lakebed.format.snapshot import SnapshotManager


def _files(root: Path) -> dict[str, float]:
    return {
        os.path.join(directory, name): os.stat(os.path.join(directory, name)).st_mtime
        for directory, _, names in os.walk(root)
        for name in names
    }


@pytest.mark.parametrize("folder", ["parquet", "orc", "java"])
def test_tables_of_other_engines(shared, folder):
    root = shared / "tables" / folder
    before = _files(root)
    paths, store = open_warehouse(root)
    assert paths.layout == "paimon"
    tables = TableManager(paths, store)
    names = [TableName.parse(text) for text in tables.list_tables(include_quarantine=True)]
    on_disk = {str(p.parent.parent) for p in root.glob("*.db/*/schema/schema-*")}
    assert {tables.table_path(name) for name in names} == on_disk
    for name in names:
        manager = tables.get_schema_manager(name.database, name.table)
        versions = manager.versions()
        assert [schema.id for schema in versions] == manager.ids()
        record = tables.get_table_metadata(name.database, name.table)
        assert record.current_schema_id == versions[-1].id
        assert record == TableMetadata.load(paths, name.database, name.table)
        SnapshotManager(store, tables.table_path(name)).tags()
        with pytest.raises(AlreadyExistsError):
            tables.create_table(name.database, name.table, [("a", "INT")])
    assert _files(root) == before


def test_a_branch_of_another_engine(shared):
    paths, store = open_warehouse(shared / "tables" / "parquet")
    tables = TableManager(paths, store)
    database = "append_table_with_rt_branch"
    (table,) = tables.list_tables(database)
    branch = tables.get_schema_manager(database, table, branch="rt")
    assert branch.exists()
    assert branch.load_latest_schema().field_names
    with pytest.raises(NotFoundError):
        tables.get_schema_manager(database, table, branch="nothing")


def test_a_warehouse_on_fsspec():
    tables = TableManager(PathFactory("memory://lake-of-tests/w"))
    tables.create_table("d", "t", [Field("id", DataType.INT, False)], ["id"])
    manager = tables.get_schema_manager("d", "t")
    manager.create_new_schema_version([Field("id", DataType.INT, False), Field("x", DataType.INT)], ["id"])
    assert manager.ids() == [0, 1]
    assert tables.list_tables() == ["d.t"]
    assert tables.get_table_metadata("d", "t").current_schema_id == 1
    paths, store = open_warehouse("memory://lake-of-tests/w/")
    assert paths.layout == "paimon"
    with pytest.raises(AlreadyExistsError):
        TableManager(paths, store).create_table("d", "t", [("a", "INT")])
    tables.drop_table("d", "t")
    assert not tables.exists("d.t")
    assert not store.exists("memory://lake-of-tests/w/d.db/t")
