"""Databases: made, listed and dropped, on storages with and without directories."""

from __future__ import annotations

import os

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager, open_warehouse
from lakebed.errors import AlreadyExistsError, ConflictError, NotFoundError, RefusedError, StoreError, ValidationError
from lakebed.store import Entry
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

ID = Field("id", DataType.INT, False)
LAYOUTS = ["paimon", "mini"]
HOSTILE = ["", " ", ".", "..", "../x", "/abs", "a/b", "a\\b", "a\0b", "a\nb", "\x7f", ".hidden", "x" * 256, "ü" * 128]


@pytest.fixture(params=[MemoryStore, MemoryObjectStore])
def store(request):
    return request.param()


@pytest.fixture(params=LAYOUTS)
def tables(request, store) -> TableManager:
    return TableManager(PathFactory("/w", request.param, store=store), store, lambda: 1000)


@pytest.fixture
def local(tmp_path) -> TableManager:
    return TableManager(PathFactory(tmp_path / "w"))


def path_of(tables: TableManager, database: str) -> str:
    return tables.path_factory.database(database)


def test_a_database_is_made_listed_and_dropped(tables):
    path = tables.create_database("shop")
    assert path == path_of(tables, "shop")
    assert tables.list_databases() == ["shop"]
    assert tables.database_exists("shop")
    assert tables.list_tables("shop") == []
    with pytest.raises(AlreadyExistsError) as caught:
        tables.create_database("shop")
    assert caught.value.code == "LB3702"
    assert tables.create_database("shop", ignore_if_exists=True) == path
    tables.drop_database("shop")
    assert tables.list_databases() == []
    assert not tables.database_exists("shop")
    assert tables.store.list("/w") == []


def test_what_is_not_there(tables):
    tables.create_database("shop")
    for call in (tables.drop_database, tables.list_tables):
        with pytest.raises(NotFoundError) as caught:
            call("shpo")
        assert caught.value.code == "LB3121"
        assert caught.value.diagnostics[0].suggestions == ("shop",)


def test_a_database_with_tables_is_dropped_only_with_cascade(tables):
    for name in ("t", "t__quarantine", "alone__quarantine", "u"):
        tables.create_table("shop", name, [ID])
    tables.create_table("other", "t", [ID])
    before = tables.store.snapshot()
    with pytest.raises(RefusedError) as caught:
        tables.drop_database("shop")
    assert caught.value.code == "LB3703"
    assert "4 tables: alone__quarantine, t, t__quarantine, u" in str(caught.value)
    assert tables.store.snapshot() == before
    tables.drop_database("shop", cascade=True)
    assert tables.list_databases() == ["other"]
    assert tables.list_tables() == ["other.t"]
    assert not [path for path in tables.store.snapshot() if path.startswith(path_of(tables, "shop"))]


def test_other_things_are_not_deleted_unless_told(tables):
    tables.create_database("shop")
    root = path_of(tables, "shop")
    tables.store.replace(f"{root}/notes.txt", b"x")
    tables.store.replace(f"{root}/no-table/data", b"x")
    with pytest.raises(RefusedError) as caught:
        tables.drop_database("shop")
    assert caught.value.code == "LB3704"
    assert "no-table, notes.txt" in str(caught.value)
    tables.drop_database("shop", cascade=True)
    assert not tables.database_exists("shop")


@pytest.mark.parametrize("tables", ["paimon"], indirect=True)
def test_data_elsewhere_stops_a_cascade_before_anything_is_dropped(tables):
    tables.create_table("shop", "a", [ID])
    tables.create_table("shop", "b", [ID], options={"data-file.external-paths": "s3://elsewhere/x"})
    before = tables.store.snapshot()
    with pytest.raises(RefusedError) as caught:
        tables.drop_database("shop", cascade=True)
    assert caught.value.code == "LB3125"
    assert tables.store.snapshot() == before
    tables.drop_database("shop", cascade=True, purge=True)
    assert tables.list_databases() == []


def test_a_table_that_is_made_meanwhile_survives(tables):
    tables.create_database("shop")
    other = TableManager(tables.path_factory, tables.store, lambda: 1)
    tables.store.race_at(_steps_before_removal(tables), lambda: other.create_table("shop", "t", [ID]))
    with pytest.raises(ConflictError):
        tables.drop_database("shop")
    assert tables.list_tables("shop") == ["t"]


def _steps_before_removal(tables: TableManager) -> int:
    probe = type(tables.store)()
    same = TableManager(PathFactory("/w", tables.path_factory.layout, store=probe), probe, lambda: 1)
    same.create_database("shop")
    probe.restart()
    same.drop_database("shop")
    return [operation.name for operation in probe.operations].index("remove_directory")


def test_a_database_stays_when_its_last_table_goes(tables):
    tables.create_table("shop", "t", [ID])
    tables.drop_table("shop", "t")
    assert tables.list_databases() == ["shop"]
    assert tables.list_tables("shop") == []


def test_a_prefix_is_a_directory(tables):
    """A warehouse that was copied without the objects that stand for directories."""
    tables.create_table("shop", "t", [ID])
    files = {path: data for path, data in tables.store.snapshot().items() if not path.endswith("/")}
    store = MemoryObjectStore(files)
    paths, _ = open_warehouse("/w", store=store)
    copied = TableManager(paths, store)
    assert paths.layout == tables.path_factory.layout
    assert copied.list_databases() == ["shop"]
    assert copied.database_exists("shop")
    assert copied.list_tables("shop") == ["t"]


def test_junk_is_no_database_and_no_table(local, tmp_path):
    local.create_table("shop", "t", [ID])
    root = tmp_path / "w"
    for directory in ("plain", "shop.db/empty", "shop.db/other/schema", "shop.db/.hidden/schema", "shop.db/b$x/schema"):
        (root / directory).mkdir(parents=True)
    (root / "file.db").touch()
    (root / ".db").mkdir()
    (root / "shop.db" / "file").touch()
    for name in ("schema-", "schema-x", "schema-01", ".schema-0.x.tmp", "schema-0.tmp"):
        (root / "shop.db" / "other" / "schema" / name).touch()
    for name in (".hidden", "b$x"):
        (root / "shop.db" / name / "schema" / "schema-0").touch()
    assert local.list_databases() == ["shop"]
    assert local.list_tables("shop") == ["t"]
    assert not local.exists("shop.other")
    # The first version need not be number 0.
    os.rename(root / "shop.db/t/schema/schema-0", root / "shop.db/t/schema/schema-3")
    assert local.list_tables("shop") == ["t"]


def test_a_listing_that_fails_is_no_empty_one(local, monkeypatch):
    local.create_table("shop", "t", [ID])

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    for call in (local.list_databases, lambda: local.list_tables("shop"), lambda: local.drop_database("shop")):
        with pytest.raises(StoreError):
            call()


def test_a_link_is_removed_and_never_followed(local, tmp_path):
    elsewhere = TableManager(PathFactory(tmp_path / "elsewhere"))
    elsewhere.create_table("shop", "t", [ID])
    local.create_database("own")
    (tmp_path / "w" / "linked.db").symlink_to(tmp_path / "elsewhere" / "shop.db")
    assert local.list_tables("linked") == ["t"]
    with pytest.raises(RefusedError):
        local.drop_database("linked")
    local.drop_database("linked", cascade=True)
    assert local.list_databases() == ["own"]
    assert elsewhere.list_tables("shop") == ["t"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(tables, name):
    calls = (
        tables.create_database,
        tables.drop_database,
        tables.database_exists,
        tables.list_tables,
        lambda n: tables.create_table(n, "t", [ID]),
        lambda n: tables.create_table("d", n, [ID]),
        lambda n: tables.drop_table("d", n),
        lambda n: tables.get_schema_manager("d", n),
    )
    for call in calls:
        with pytest.raises(ValidationError):
            call(name)
    assert tables.store.snapshot() == {}


def test_the_system_database_is_reserved(tables):
    with pytest.raises(ValidationError) as caught:
        tables.create_database("sys")
    assert caught.value.code == "LB3102"


def test_a_mini_database_is_not_called_like_one_of_paimon(store):
    tables = TableManager(PathFactory("/w", "mini", store=store), store)
    for call in (tables.create_database, lambda n: tables.create_table(n, "t", [ID])):
        with pytest.raises(ValidationError):
            call("shop.db")
    assert store.snapshot() == {}


@pytest.mark.parametrize(
    "name", ["a b", "a.b", "o'clock", 'say "x"', "日本語", "a@b", "a`b", "-rf", "100%", "#1", "a?b"]
)
def test_friendly_names(tables, name):
    tables.create_database(name)
    assert tables.list_databases() == [name]
    assert tables.store.list("/w") == [Entry(tables.path_factory.database_directory_name(name), True)]
    tables.drop_database(name)
    assert tables.list_databases() == []
