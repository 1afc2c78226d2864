"""A crash at every operation of everything that changes a catalog: what is left is the old state or the new one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager
from lakebed.errors import AlreadyExistsError, NotFoundError, StoreError
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore, SimulatedCrash

ID, NAME = Field("id", DataType.INT, False), Field("name", DataType.STRING)
STORES = [MemoryStore, MemoryObjectStore]
LAYOUTS = ["paimon", "mini"]


def manager(store, layout: str) -> TableManager:
    return TableManager(PathFactory("/w", layout, store=store), store, lambda: 1000)


def prepared(kind, layout: str):
    """A store with a table `d.t` of two versions with data and a quarantine, beside another table."""
    store = kind()
    tables = manager(store, layout)
    tables.create_table("d", "other", [ID])
    tables.create_table("d", "t", [ID])
    tables.create_table("d", "t__quarantine", [ID])
    tables.get_schema_manager("d", "t").create_new_schema_version([ID, NAME])
    root = tables.table_path("d.t")
    for name in ("snapshot/snapshot-1", "snapshot/LATEST", "bucket-0/data-0.parquet", "manifest/manifest-0"):
        store.replace(f"{root}/{name}", b"x")
    store.restart()
    return store


def every_crash(fresh: Callable, act: Callable, check: Callable) -> int:
    """Crash before and after each operation of `act`; returns how many operations there are."""
    step = 0
    while True:
        for after in (False, True):
            store = fresh()
            store.crash_at(step, after=after)
            try:
                act(store)
            except SimulatedCrash:
                store.restart()
                check(store)
            else:
                # What failed by itself, such as a look for a file that is not there, has no moment after it.
                if len(store.operations) > step:
                    continue
                assert step > 2, "nothing was tried"
                return step
        step += 1


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STORES)
def test_create(kind, layout):
    def check(store) -> None:
        tables = manager(store, layout)
        if tables.exists("d.t"):
            assert tables.get_schema_manager("d", "t").get_current_schema().field_names == ("id",)
            assert tables.get_table_metadata("d", "t").current_schema_id == 0
            with pytest.raises(AlreadyExistsError):
                tables.create_table("d", "t", [ID])
        else:
            with pytest.raises(NotFoundError):
                tables.get_table_metadata("d", "t")
            tables.create_table("d", "t", [ID])
        assert tables.list_tables("d") == ["t"]
        tables.drop_table("d", "t")

    every_crash(kind, lambda store: manager(store, layout).create_table("d", "t", [ID]), check)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STORES)
def test_new_version(kind, layout):
    def act(store) -> None:
        manager(store, layout).get_schema_manager("d", "t").create_new_schema_version([ID])

    def check(store) -> None:
        tables = manager(store, layout)
        schemas = tables.get_schema_manager("d", "t")
        current = schemas.get_current_schema()
        assert (current.id, current.field_names) in ((1, ("id", "name")), (2, ("id",)))
        assert schemas.ids() == list(range(current.id + 1))
        assert tables.get_table_metadata("d", "t").current_schema_id == current.id
        assert schemas.create_new_schema_version([ID]).id == 2

    every_crash(lambda: prepared(kind, layout), act, check)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STORES)
def test_drop(kind, layout):
    before = prepared(kind, layout).snapshot()

    def check(store) -> None:
        tables = manager(store, layout)
        files = store.snapshot()
        other = {path: data for path, data in before.items() if "/other/" in path}
        assert {path: data for path, data in files.items() if "/other/" in path} == other
        if tables.exists("d.t"):
            current = tables.get_schema_manager("d", "t").get_current_schema()
            assert current.field_names == ("id", "name")
            data = {path for path in before if "/t/" in path and "/schema/" not in path}
            assert data <= set(files)
        else:
            assert tables.list_tables("d") == ["other"]
            with pytest.raises(NotFoundError):
                tables.get_table_metadata("d", "t")
        try:
            tables.create_table("d", "t", [NAME])
        except AlreadyExistsError:
            tables.drop_table("d", "t")
            tables.create_table("d", "t", [NAME])
        assert tables.get_schema_manager("d", "t").versions()[0].field_names == ("name",)
        assert not store.list(f"{tables.table_path('d.t')}/snapshot")
        assert tables.list_tables("d", include_quarantine=True) == ["other", "t"]

    steps = every_crash(
        lambda: prepared(kind, layout), lambda store: manager(store, layout).drop_table("d", "t"), check
    )
    assert steps > 15


@pytest.mark.parametrize("kind", STORES)
def test_failures_of_the_storage_are_told_and_change_nothing_by_halves(kind):
    """An error, unlike a crash, lets the program go on: it is raised, and the same call works afterwards."""
    for step in range(60):
        store = prepared(kind, "paimon")
        store.fail_at(step)
        tables = manager(store, "paimon")
        try:
            tables.get_schema_manager("d", "t").create_new_schema_version([ID])
        except StoreError:
            store.restart()
            assert tables.get_schema_manager("d", "t").create_new_schema_version([ID]).id == 2
        if len(store.operations) <= step:
            return
    pytest.fail("no end")


ADD = {"action": "addColumn", "fieldNames": ["added"], "dataType": "STRING"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STORES)
def test_alter(kind, layout):
    def check(store) -> None:
        tables = manager(store, layout)
        current = tables.get_schema_manager("d", "t").get_current_schema()
        assert (current.id, current.field_names) in ((1, ("id", "name")), (2, ("id", "name", "added")))
        assert tables.get_table_metadata("d", "t").current_schema_id == current.id
        if current.id == 1:
            assert tables.alter_table("d", "t", [ADD]).id == 2

    every_crash(
        lambda: prepared(kind, layout), lambda store: manager(store, layout).alter_table("d", "t", [ADD]), check
    )


@pytest.mark.parametrize("kind", STORES)
def test_alter_of_a_branch(kind):
    def fresh():
        store = prepared(kind, "paimon")
        root = manager(store, "paimon").table_path("d.t")
        for number in (0, 1):
            data = store.read(f"{root}/schema/schema-{number}")
            store.replace(f"{root}/branch/branch-b/schema/schema-{number}", data)
        store.restart()
        return store

    def check(store) -> None:
        tables = manager(store, "paimon")
        branch = tables.get_schema_manager("d", "t$branch_b").get_current_schema()
        assert (branch.id, branch.field_names) in ((1, ("id", "name")), (2, ("id", "name", "added")))
        assert tables.get_schema_manager("d", "t").get_current_schema().id == 1
        assert tables.get_table_metadata("d", "t").current_schema_id == 1

    every_crash(fresh, lambda store: manager(store, "paimon").alter_table("d", "t$branch_b", [ADD]), check)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rename(layout):
    before = prepared(MemoryStore, layout).snapshot()

    def check(store) -> None:
        tables = manager(store, layout)
        names = [name for name in ("t", "new") if tables.exists(f"d.{name}")]
        assert len(names) == 1
        assert tables.list_tables("d") == sorted(["other", *names])
        root = tables.table_path(f"d.{names[0]}")
        moved = {path for path in store.snapshot() if path.startswith(f"{root}/")}
        assert moved == {path.replace("/t/", f"/{names[0]}/") for path in before if "/t/" in path}
        assert tables.get_schema_manager("d", names[0]).get_current_schema().field_names == ("id", "name")
        record = tables.get_table_metadata("d", names[0])
        assert (record.table_name, record.current_schema_id) == (names[0], 1)
        if names == ["t"] or tables.exists("d.t__quarantine"):
            tables.rename_table("d.t", "d.new")
        assert tables.list_tables("d", include_quarantine=True) == ["new", "new__quarantine", "other"]

    steps = every_crash(
        lambda: prepared(MemoryStore, layout), lambda store: manager(store, layout).rename_table("d.t", "d.new"), check
    )
    assert steps > 10


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STORES)
def test_databases(kind, layout):
    def act(store) -> None:
        tables = manager(store, layout)
        tables.create_database("made")
        tables.drop_database("d", cascade=True)

    def check(store) -> None:
        tables = manager(store, layout)
        assert set(tables.list_databases()) <= {"d", "made"}
        for name in tables.list_tables(include_quarantine=True):
            database, _, table = name.partition(".")
            expected = ("id", "name") if table == "t" else ("id",)
            assert tables.get_schema_manager(database, table).get_current_schema().field_names == expected
            assert tables.get_table_metadata(database, table).current_schema_id == len(expected) - 1
        if tables.database_exists("d"):
            tables.drop_database("d", cascade=True)
        tables.create_database("made", ignore_if_exists=True)
        assert tables.list_databases() == ["made"]
        tables.create_table("d", "t", [NAME])
        assert tables.get_schema_manager("d", "t").get_current_schema().field_names == ("name",)

    steps = every_crash(lambda: prepared(kind, layout), act, check)
    assert steps > 20


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STORES)
def test_putting_a_stale_record_right(kind, layout):
    """The only writing that a look at a table does."""

    def fresh():
        store = prepared(kind, layout)
        tables = manager(store, layout)
        path = tables.path_factory.metadata("d.t")
        store.replace(path, store.read(path).replace(b'"currentSchemaId" : 1', b'"currentSchemaId" : 0'))
        store.restart()
        return store

    def check(store) -> None:
        tables = manager(store, layout)
        assert tables.get_schema_manager("d", "t").get_current_schema().id == 1
        assert tables.get_table_metadata("d", "t").current_schema_id == 1

    every_crash(fresh, lambda store: manager(store, layout).get_table_metadata("d", "t"), check)
