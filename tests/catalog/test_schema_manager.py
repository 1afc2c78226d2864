"""Versions of a table: listing, loading, caching, publishing, races; over stores with and without directories."""

from __future__ import annotations

import multiprocessing
import threading
from dataclasses import replace

import pytest

from lakebed import model
from lakebed.catalog import DataType, Field, PathFactory, SchemaManager, TableManager, TableName, schema_file
from lakebed.catalog.annotations import OPTION
from lakebed.errors import (
    ConflictError,
    CorruptMetadataError,
    NotFoundError,
    RefusedError,
    StoreError,
    UnsupportedError,
    ValidationError,
)
from lakebed.model import Extra
from lakebed.physical.paimon_types import BigInt, DataField, Int, VarChar
from lakebed.store import LocalStore
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

NAME = TableName("db", "t")
TABLE = "/w/db.db/t"
ID, EMAIL = Field("id", DataType.INT, False), Field("email", DataType.STRING)


class Ticking:
    """A clock that is a second later each time."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        self.now += 1000
        return self.now


@pytest.fixture(params=[MemoryStore, MemoryObjectStore])
def store(request):
    return request.param()


def make(store, **parts) -> SchemaManager:
    tables = TableManager(PathFactory("/w", store=store), store, Ticking(), **parts)
    tables.create_table("db", "t", [ID], ["id"])
    return tables.get_schema_manager("db", "t")


def test_only_versions_are_versions(store):
    manager = make(store)
    for junk in ("schema-007", "schema-1xyz.tmp", ".schema-9.abc.tmp", "LATEST", "schema-", "schema-5/x", "schema-x"):
        store.replace(f"{TABLE}/schema/{junk}", b"junk")
    assert manager.ids() == [0]
    assert manager.load_latest_schema().id == 0
    assert manager.create_new_schema_version([ID, EMAIL], ["id"]).id == 1
    assert manager.ids() == [0, 1]


def test_gaps_are_legal(store):
    manager = make(store)
    manager.create_new_schema_version([ID, EMAIL], ["id"])
    manager.create_new_schema_version([ID], ["id"])
    store.delete(manager.path(0))
    store.delete(manager.path(1))
    assert manager.exists()
    assert manager.ids() == [2]
    assert manager.get_current_schema().id == 2
    assert manager.create_new_schema_version([ID, EMAIL], ["id"]).id == 3
    with pytest.raises(NotFoundError) as caught:
        manager.load_schema(1)
    assert caught.value.code == "LB3201"
    assert "2-3" in (caught.value.diagnostics[0].expected or "")


def test_ids_are_numbers_not_text(store):
    manager = make(store)
    for number in range(1, 12):
        column = Field(f"c{number}", DataType.INT)
        manager.create_new_schema_version([*manager.get_current_schema().fields, column], ["id"])
    assert manager.ids() == list(range(12))
    assert manager.get_current_schema().id == manager.load_latest_schema().id == 11


def test_a_table_without_schema(store):
    manager = SchemaManager(store, TABLE, name=NAME)
    assert not manager.exists()
    assert manager.ids() == []
    for load in (
        manager.get_current_schema,
        manager.load_latest_schema,
        lambda: manager.load_schema(0),
        lambda: manager.create_new_schema_version([ID]),
    ):
        with pytest.raises(NotFoundError) as caught:
            load()
        assert caught.value.code == "LB3202"
        assert "db.t" in str(caught.value)


def test_failures_of_the_storage_are_no_absence(store):
    manager = make(store)
    store.fail_at(0)
    with pytest.raises(StoreError, match="injected fault"):
        manager.exists()


def test_unchanged_columns_write_nothing(store):
    manager = make(store)
    first = manager.create_new_schema_version([ID, EMAIL], ["id"])
    before = store.snapshot()
    assert manager.create_new_schema_version([ID, EMAIL], ["id"]) == first
    assert manager.create_new_schema_version(first.fields, ["id"]) == first
    assert manager.create_new_schema_version([Field("id", DataType.INT), EMAIL], ["id"]) == first
    assert store.snapshot() == before


def test_what_is_missing_is_dropped_and_what_is_new_is_added(store):
    manager = make(store)
    manager.create_new_schema_version([ID, EMAIL], ["id"])
    dropped = manager.create_new_schema_version([ID], ["id"])
    again = manager.create_new_schema_version([EMAIL, ID], ["id"])
    assert dropped.field_names == ("id",)
    assert [(f.id, f.name) for f in again.fields] == [(2, "email"), (0, "id")]
    assert again.highest_field_id == 2
    assert [s.id for s in manager.versions()] == [0, 1, 2, 3]


def test_a_rename_is_said_by_id_and_takes_the_key_along(store):
    manager = make(store)
    renamed = DataField(0, "key", Int(nullable=False))
    assert manager.create_new_schema_version([renamed], ["key"]).primary_keys == ("key",)
    assert manager.create_new_schema_version([DataField(0, "k2", Int())], ["key"]).primary_keys == ("k2",)


def test_other_keys_are_refused(store):
    manager = make(store)
    before = store.snapshot()
    for keys in ([], ["email"], ["id", "email"]):
        with pytest.raises(RefusedError) as caught:
            manager.create_new_schema_version([ID, EMAIL], keys)
        assert caught.value.code == "LB3204"
        assert f"the primary key of {manager.label} cannot change" in str(caught.value)
    with pytest.raises(RefusedError):
        manager.create_new_schema_version([ID, EMAIL], ["id"], ["email"])
    assert store.snapshot() == before


def test_types_are_judged(store):
    manager = make(store)
    manager.create_new_schema_version([ID, ("n", "INT")], ["id"])
    wider = manager.create_new_schema_version([ID, ("n", "BIGINT")], ["id"])
    assert wider.fields[1] == DataField(1, "n", BigInt())
    assert wider.time_millis > 1_700_000_000_000
    assert manager.load_latest_schema() == wider
    with pytest.raises(ValidationError):
        manager.create_new_schema_version([ID, ("n", "DATE")], ["id"])


def test_types_that_files_of_earlier_versions_cannot_be_read_under(store):
    """They are refused where the table has rows, as `alter_table` refuses them."""
    manager = make(store)
    text, date = ("n", "STRING"), ("n", "DATE")
    for column in (("n", "BIGINT"), text, date, text):
        manager.create_new_schema_version([ID, column], ["id"])
    store.replace(f"{TABLE}/snapshot/snapshot-1", b"{}")
    with pytest.raises(ValidationError) as caught:
        manager.create_new_schema_version([ID, date], ["id"])
    assert caught.value.code == "LB4025"


def test_annotations_follow_logical_columns(store):
    tables = TableManager(PathFactory("/w", store=store), store, Ticking())
    unsigned = model.Field("u", model.Option(model.UInt8()), Extra({"example.org/owner": "me"}))
    tables.create_table("db", "t", [unsigned, ("n", "INT")])
    manager = tables.get_schema_manager("db", "t")
    first = manager.load_schema(0)
    assert first.logical.fields[0] == unsigned
    physical = manager.create_new_schema_version([*first.fields, EMAIL])
    assert physical.logical.fields[0] == unsigned
    other = model.Field("n", model.Option(model.Int32()), Extra({"example.org/owner": "you"}))
    mixed = manager.create_new_schema_version([first.fields[0], other, EMAIL])
    assert mixed.logical.fields[0] == unsigned
    assert mixed.logical.field("n") == other
    assert manager.create_new_schema_version([unsigned, other, EMAIL]) == mixed
    plain = manager.create_new_schema_version([model.Field("u", model.Option(model.Int16())), first.fields[1], EMAIL])
    assert plain.id == 3
    assert plain.fields == mixed.fields
    assert plain.logical.field("u") == model.Field("u", model.Option(model.Int16()))
    assert plain.logical.field("n") == other
    bare = manager.create_new_schema_version(
        model.Schema(tuple(replace(f, extra=Extra()) for f in plain.logical.fields))
    )
    assert bare.id == 4
    assert OPTION not in bare.options


def test_the_cache_notices_other_writers_and_a_new_table(store):
    manager = make(store)
    assert manager.get_current_schema().field_names == ("id",)
    other = SchemaManager(store, TABLE)
    other.create_new_schema_version([ID, EMAIL], ["id"])
    assert manager.get_current_schema().field_names == ("id", "email")
    assert manager.load_schema(1) is manager.load_schema(1)
    for path in list(store.snapshot()):
        store.delete(path)
    tables = TableManager(PathFactory("/w", store=store), store)
    tables.create_table("db", "t", [("other", "STRING")])
    assert manager.get_current_schema().field_names == ("other",)
    assert manager.load_schema(0).field_names == ("other",)
    with pytest.raises(NotFoundError):
        manager.load_schema(1)


def test_a_version_newer_than_this_program_is_read_and_not_written_over(store):
    manager = make(store)
    newer = replace(manager.load_schema(0), id=1, version=3)
    data = schema_file.dumps(newer).replace(b'"version" : 3', b'"version" : 4')
    store.replace(manager.path(1), data)
    assert manager.load_latest_schema().version == 4
    with pytest.raises(UnsupportedError, match="newer"):
        manager.create_new_schema_version([ID, EMAIL], ["id"])
    with pytest.raises(UnsupportedError):
        manager.publish(replace(newer, id=2, version=4))
    assert manager.ids() == [0, 1]


def test_corrupt_files_are_told(store):
    manager = make(store)
    store.replace(manager.path(1), b"")
    with pytest.raises(CorruptMetadataError, match="schema-1"):
        manager.get_current_schema()
    assert manager.load_schema(0).id == 0
    store.replace(manager.path(1), schema_file.dumps(manager.load_schema(0)))
    with pytest.raises(CorruptMetadataError):
        manager.load_schema(1)


def test_publishing(store):
    manager = make(store)
    base = manager.load_latest_schema()
    new = replace(base, id=1, comment="x")
    assert manager.publish(new) is True
    assert manager.publish(replace(new, comment="y")) is False
    assert manager.publish(base) is False
    assert manager.load_schema(1).comment == "x"
    with pytest.raises(ConflictError):
        manager.publish(replace(base, id=3))


def test_a_dropped_table_does_not_come_back(store):
    manager = make(store)
    base = manager.load_latest_schema()
    TableManager(PathFactory("/w", store=store), store).drop_table("db", "t")
    with pytest.raises(ConflictError):
        manager.publish(replace(base, id=1))
    assert not manager.exists()


# -- races ----------------------------------------------------------------------------------------------------------


def _race(store, manager: SchemaManager, action) -> None:
    """Let `action` happen just before the next file is created."""
    step = next(
        n
        for n in range(50)
        if _operation_at(type(store)(store.snapshot()), n, lambda m: m.create_new_schema_version([ID, EMAIL], ["id"]))
        == "create_if_absent"
    )
    store.race_at(step, action)


def _operation_at(store, number: int, act) -> str:
    act(SchemaManager(store, TABLE))
    return store.operations[number].name if number < len(store.operations) else ""


def test_a_lost_race_over_the_columns_is_a_conflict(store):
    manager = make(store)
    other = SchemaManager(store, TABLE)
    _race(store, manager, lambda: other.create_new_schema_version([ID, ("phone", "STRING")], ["id"]))
    with pytest.raises(ConflictError) as caught:
        manager.create_new_schema_version([ID, EMAIL], ["id"])
    assert caught.value.code == "LB3203"
    assert caught.value.exit_code == 12
    assert manager.load_latest_schema().field_names == ("id", "phone")


def test_a_lost_race_against_the_same_change_is_won(store):
    manager = make(store)
    other = SchemaManager(store, TABLE)
    _race(store, manager, lambda: other.create_new_schema_version([ID, EMAIL], ["id"]))
    found = manager.create_new_schema_version([ID, EMAIL], ["id"])
    assert found.id == 1
    assert manager.ids() == [0, 1]


def test_a_lost_race_over_options_is_run_again(store):
    manager = make(store)
    other = SchemaManager(store, TABLE)
    option = replace(manager.load_schema(0), id=1, options={"write-only": "true"})
    _race(store, manager, lambda: other.publish(option))
    found = manager.create_new_schema_version([ID, EMAIL], ["id"])
    assert found.id == 2
    assert dict(found.options) == {"write-only": "true"}


def test_a_base_can_be_pinned(store):
    manager = make(store)
    manager.create_new_schema_version([ID, EMAIL], ["id"], base_id=0)
    with pytest.raises(ConflictError):
        manager.create_new_schema_version([ID], ["id"], base_id=0)


def _add_columns(root: str, worker: int, barrier) -> None:
    manager = SchemaManager(LocalStore(), f"{root}/db.db/t")
    barrier.wait()
    for number in range(10):
        while True:
            base = manager.get_current_schema()
            column = Field(f"c{worker}_{number}", DataType.INT)
            try:
                manager.create_new_schema_version([*base.fields, column], ["id"], base_id=base.id)
            except ConflictError:
                continue
            break


def test_processes_lose_no_version(tmp_path):
    tables = TableManager(PathFactory(tmp_path))
    tables.create_table("db", "t", [ID], ["id"])
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(4)
    workers = [context.Process(target=_add_columns, args=(str(tmp_path), n, barrier)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=120)
    assert [worker.exitcode for worker in workers] == [0, 0, 0, 0]
    manager = tables.get_schema_manager("db", "t")
    assert manager.ids() == list(range(41))
    latest = manager.load_latest_schema()
    assert sorted(latest.field_names) == sorted(["id", *(f"c{w}_{n}" for w in range(4) for n in range(10))])
    assert sorted(f.id for f in latest.fields) == list(range(41))
    assert sorted(p.name for p in (tmp_path / "db.db" / "t" / "schema").iterdir()) == sorted(
        f"schema-{n}" for n in range(41)
    )


def test_threads_share_a_manager(tmp_path):
    tables = TableManager(PathFactory(tmp_path))
    tables.create_table("db", "t", [ID], ["id"])
    manager = tables.get_schema_manager("db", "t")
    problems = []

    def work(worker: int) -> None:
        for number in range(5):
            while True:
                base = manager.get_current_schema()
                column = Field(f"c{worker}_{number}", DataType.INT)
                try:
                    manager.create_new_schema_version([*base.fields, column], ["id"], base_id=base.id)
                except ConflictError:
                    continue
                except Exception as error:
                    problems.append(error)
                break

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert problems == []
    assert len(manager.get_current_schema().fields) == 21
    assert manager.get_current_schema().id == 20


def test_branches_have_versions_of_their_own(store):
    manager = make(store)
    manager.create_new_schema_version([ID, EMAIL], ["id"])
    tables = TableManager(PathFactory("/w", store=store), store)
    with pytest.raises(NotFoundError, match="no branch"):
        tables.get_schema_manager("db", "t", "dev")
    store.replace(f"{TABLE}/branch/branch-dev/schema/schema-0", store.read(manager.path(0)))
    branch = tables.get_schema_manager("db", "t", branch="dev")
    branch.create_new_schema_version([ID, Field("other", VarChar())], ["id"])
    assert branch.load_schema(1).field_names == ("id", "other")
    assert manager.load_schema(1).field_names == ("id", "email")
    assert tables.get_table_metadata("db", "t").current_schema_id == 1


def test_bad_columns_are_told_before_anything_is_read(store):
    manager = make(store)
    store.restart()
    with pytest.raises(ValidationError):
        manager.create_new_schema_version([("a", "INTT")], ["id"])
    assert store.operations == []
