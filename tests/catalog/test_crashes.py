"""A crash at every operation of create, of a new version and of drop: what is left is the old state or the new one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager
from lakebed.errors import AlreadyExistsError, NotFoundError, StoreError
from lakebed.store import MemoryObjectStore, MemoryStore, SimulatedCrash

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
