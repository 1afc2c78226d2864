"""Renaming: the quarantine goes along, a crash leaves the table under one name, and what it cannot do it says."""

from __future__ import annotations

import os

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableMetadata
from lakebed.errors import AlreadyExistsError, NotFoundError, RefusedError, ValidationError
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

ID, NAME = Field("id", DataType.INT, False), Field("name", DataType.STRING)
LAYOUTS = ["paimon", "mini"]


@pytest.fixture(params=LAYOUTS)
def tables(request) -> TableManager:
    store = MemoryStore()
    tables = TableManager(PathFactory("/w", request.param, store=store), store, lambda: 1000)
    tables.create_table("d", "t", [ID])
    tables.get_schema_manager("d", "t").create_new_schema_version([ID, NAME])
    store.replace(f"{tables.table_path('d.t')}/bucket-0/data-0.parquet", b"rows")
    return tables


def with_quarantine(tables: TableManager) -> TableManager:
    tables.create_table("d", "t__quarantine", [NAME])
    return tables


def files(tables: TableManager) -> dict[str, bytes]:
    """All files but the records, whose names change."""
    return {path: data for path, data in tables.store.snapshot().items() if not path.endswith("/metadata")}


def test_all_files_move_and_keep_their_content(tables):
    before = {path.replace("/t/", "/new/"): data for path, data in files(tables).items()}
    old = tables.get_schema_manager("d", "t")
    record = tables.rename_table("d.t", "d.new")
    assert (record.database_name, record.table_name, record.current_schema_id) == ("d", "new", 1)
    assert files(tables) == before
    assert tables.list_tables() == ["d.new"]
    assert tables.get_schema_manager("d", "new").get_current_schema().field_names == ("id", "name")
    with pytest.raises(NotFoundError):
        old.get_current_schema()
    with pytest.raises(NotFoundError):
        tables.get_schema_manager("d", "t")
    stored = TableMetadata.loads(tables.store.read(f"{tables.table_path('d.new')}/metadata"))
    assert stored.table_name == "new"
    tables.create_table("d", "t", [NAME])
    assert tables.list_tables("d") == ["new", "t"]


def test_to_another_database(tables):
    with pytest.raises(NotFoundError) as caught:
        tables.rename_table("d.t", "e.t")
    assert caught.value.code == "LB3121"
    tables.create_database("e")
    tables.rename_table("d.t", "e.`a b.c`")
    assert tables.list_tables() == ["e.`a b.c`"]
    assert tables.list_databases() == ["d", "e"]


def test_the_quarantine_goes_along(tables):
    with_quarantine(tables)
    tables.rename_table("d.t", "d.new")
    assert tables.list_tables("d", include_quarantine=True) == ["new", "new__quarantine"]
    assert tables.get_schema_manager("d", "new__quarantine").get_current_schema().field_names == ("name",)
    assert not [path for path in tables.store.snapshot() if path.endswith(".renaming")]
    tables.drop_table("d", "new")
    assert tables.list_tables("d", include_quarantine=True) == []


@pytest.mark.parametrize(
    ("old", "new", "error", "code"),
    [
        ("d.nothing", "d.new", NotFoundError, "LB3122"),
        ("d.t", "d.u", AlreadyExistsError, "LB3123"),
        ("d.t", "d.t", AlreadyExistsError, "LB3123"),
        ("d.t", "d.junk", AlreadyExistsError, "LB3706"),
        ("d.t", "d.v", AlreadyExistsError, "LB3706"),
        ("d.t__quarantine", "d.new", RefusedError, "LB3710"),
        ("d.t", "d.new__quarantine", RefusedError, "LB3710"),
        ("d.t$branch_b", "d.new", ValidationError, "LB3103"),
        ("d.t", "d.t$branch_b", ValidationError, "LB3103"),
        ("d.t", "d.t$snapshots", ValidationError, "LB3103"),
        ("d.t", "d." + "x" * 250, ValidationError, "LB3101"),
        ("d.t", "d.../x", ValidationError, "LB3101"),
        ("d.t", "sys.x", ValidationError, "LB3102"),
    ],
)
def test_what_is_refused_changes_nothing(tables, old, new, error, code):
    with_quarantine(tables)
    tables.create_table("d", "u", [ID])
    tables.store.make_directory(f"{tables.path_factory.database('d')}/junk")
    tables.store.make_directory(f"{tables.path_factory.database('d')}/v__quarantine")
    before = tables.store.snapshot()
    with pytest.raises(error) as caught:
        tables.rename_table(old, new)
    assert caught.value.code == code
    assert tables.store.snapshot() == before


def test_a_long_name_is_fine_without_a_quarantine(tables):
    tables.rename_table("d.t", "d." + "x" * 250)
    assert tables.list_tables("d") == ["x" * 250]
    tables.rename_table("d." + "x" * 250, "d.t")


def test_an_object_store_cannot_rename():
    store = MemoryObjectStore()
    tables = TableManager(PathFactory("/w", store=store), store)
    tables.create_table("d", "t", [ID])
    before = store.snapshot()
    with pytest.raises(RefusedError) as caught:
        tables.rename_table("d.t", "d.new")
    assert caught.value.code == "LB3705"
    assert "one step" in str(caught.value)
    assert store.snapshot() == before


def test_half_a_rename_is_finished_and_guards_the_old_name(tables):
    """The table has moved and its quarantine has not."""
    with_quarantine(tables)
    tables.store.restart()
    other = type(tables.store)(tables.store.snapshot())
    probe = TableManager(PathFactory("/w", tables.path_factory.layout, store=other), other, lambda: 1000)
    probe.rename_table("d.t", "d.new")
    moves = [i for i, operation in enumerate(other.operations) if operation.name == "move_directory"]
    assert len(moves) == 2
    tables.store.fail_at(moves[1])
    with pytest.raises(Exception, match="injected"):
        tables.rename_table("d.t", "d.new")
    tables.store.restart()
    with pytest.raises(AlreadyExistsError) as caught:
        tables.create_table("d", "t", [ID])
    assert caught.value.code == "LB3707"
    assert "lakebed rename 'd.t' 'd.new'" in str(caught.value)
    with pytest.raises(NotFoundError):
        tables.rename_table("d.t", "d.somewhere")
    tables.rename_table("d.t", "d.new")
    assert tables.list_tables("d", include_quarantine=True) == ["new", "new__quarantine"]
    tables.create_table("d", "t", [ID])


def test_a_record_that_still_has_the_old_name_writes_to_the_new_place(tables):
    """As after a crash between the move and the writing of the record, or a directory that was moved by hand."""
    root = tables.path_factory.database("d")
    tables.store.move_directory(f"{root}/t", f"{root}/new")
    assert tables.get_table_metadata("d", "new").table_name == "new"
    assert TableMetadata.load(tables.path_factory, "d", "new").table_name == "new"
    tables.get_schema_manager("d", "new").create_new_schema_version([ID])
    assert tables.list_tables("d") == ["new"]
    assert not tables.store.exists(f"{root}/t")


def test_on_a_local_disk(tmp_path):
    tables = TableManager(PathFactory(tmp_path))
    tables.create_table("d", "t", [ID])
    tables.create_table("d", "t__quarantine", [ID])
    (tmp_path / "d.db" / "occupied").mkdir()
    with pytest.raises(AlreadyExistsError):
        tables.rename_table("d.t", "d.occupied")
    tables.rename_table("d.t", "d.new")
    assert sorted(os.listdir(tmp_path / "d.db")) == ["new", "new__quarantine", "occupied"]
    assert sorted(os.listdir(tmp_path / "d.db" / "new__quarantine")) == ["metadata", "schema"]
