"""Tables: creating, listing, records, altering, dropping."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from lakebed import model
from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableMetadata, TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import (
    AlreadyExistsError,
    ConflictError,
    LakebedError,
    NotFoundError,
    RefusedError,
    ValidationError,
)
from lakebed.evolve.schema_changes import RenameColumn, SetOption
from lakebed.model import Extra
from lakebed.physical.paimon_types import UNASSIGNED, DataField, Int, VarChar
from lakebed.store import LocalStore
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore

NOW = 1_762_331_030_910
ID, NAME = Field("id", DataType.INT, False), Field("name", DataType.STRING)


@pytest.fixture
def tables(tmp_path) -> TableManager:
    return TableManager(PathFactory(tmp_path), clock=lambda: NOW)


@pytest.fixture(params=[MemoryStore, MemoryObjectStore])
def memory(request) -> TableManager:
    store = request.param()
    return TableManager(PathFactory("/w", store=store), store, lambda: NOW)


# -- creating -------------------------------------------------------------------------------------------------------


def test_create_table(tables, tmp_path):
    made = tables.create_table(
        "shop", "orders", [ID, NAME], ["id"], options={"bucket": 4, "write-only": True}, comment="c"
    )
    assert made == tables.get_table_metadata("shop", "orders")
    assert (made.table_name, made.database_name, made.current_schema_id, made.description) == ("orders", "shop", 0, "c")
    assert dict(made.properties) == {"bucket": "4", "write-only": "true"}
    schema = tables.get_schema_manager("shop", "orders").get_current_schema()
    assert schema == TableSchema(
        0,
        (DataField(0, "id", Int(nullable=False)), DataField(1, "name", VarChar())),
        1,
        primary_keys=("id",),
        options={"bucket": "4", "write-only": "true"},
        comment="c",
        time_millis=NOW,
    )
    assert sorted(os.listdir(tmp_path / "shop.db" / "orders")) == ["metadata", "schema"]
    assert os.listdir(tmp_path / "shop.db" / "orders" / "schema") == ["schema-0"]


def test_key_columns_become_required_and_others_stay(memory):
    memory.create_table("d", "t", [("a", "INT"), ("b", "INT"), ("c", "INT")], ["a"], ["b"])
    fields = memory.get_schema_manager("d", "t").get_current_schema().fields
    assert [f.type.nullable for f in fields] == [False, True, True]
    memory.create_table("d", "n", [("a", "INT NOT NULL")], ["a"], options={"primary-key.nullable": "true"})
    assert memory.get_schema_manager("d", "n").get_current_schema().fields[0].type.nullable


def test_keys_in_options_are_folded(memory):
    memory.create_table("d", "t", [("a", "INT"), ("p", "STRING")], options={"primary-key": "a , p", "partition": "p"})
    schema = memory.get_schema_manager("d", "t").get_current_schema()
    assert (schema.primary_keys, schema.partition_keys, dict(schema.options)) == (("a", "p"), ("p",), {})


def test_ids_are_given_in_the_references_order(memory):
    row = {"type": "ROW", "fields": [{"name": "x", "type": "INT"}, {"name": "y", "type": "STRING"}]}
    memory.create_table("d", "t", [("k", "INT"), ("r", row), ("v", "STRING")])
    schema = memory.get_schema_manager("d", "t").get_current_schema()
    assert [f.id for f in schema.fields] == [0, 1, 4]
    assert schema.highest_field_id == 4


def test_logical_schemas_keep_what_the_carrier_does_not_say(memory):
    declared = model.Schema(
        (
            model.Field("id", model.Option(model.UInt8())),
            model.Field("d", model.Option(model.Duration()), Extra({"opendatafabric.org/description": "how long"})),
        ),
        Extra({"example.org/owner": "me", "opendatafabric.org/description": "a table"}),
    )
    memory.create_table("d", "t", declared, ["id"])
    schema = memory.get_schema_manager("d", "t").get_current_schema()
    assert schema.comment == "a table"
    assert schema.fields[1].description == "how long"
    assert schema.logical.fields[0].type == model.UInt8()
    assert schema.logical.fields[1] == declared.fields[1]
    assert schema.logical.extra["example.org/owner"] == "me"


def test_a_table_is_made_once(memory):
    memory.create_table("d", "t", [ID])
    before = memory.store.snapshot()
    with pytest.raises(AlreadyExistsError) as caught:
        memory.create_table("d", "t", [NAME])
    assert caught.value.code == "LB3123"
    assert memory.store.snapshot() == before


def test_of_two_makers_one_is_told(memory):
    other = TableManager(PathFactory("/w", store=memory.store), memory.store, lambda: NOW)
    probe = type(memory.store)()
    TableManager(PathFactory("/w", store=probe), probe).create_table("d", "t", [ID])
    step = [o.name for o in probe.operations].index("create_if_absent")
    memory.store.race_at(step, lambda: other.create_table("d", "t", [NAME]))
    with pytest.raises(AlreadyExistsError):
        memory.create_table("d", "t", [ID])
    assert memory.get_schema_manager("d", "t").get_current_schema().field_names == ("name",)


@pytest.mark.parametrize("name", ["", "..", "../x", "/abs", "a\0b", "a/b", "t$branch_b", "x" * 256, "a\nb", ".hidden"])
def test_hostile_table_names(tables, tmp_path, name):
    with pytest.raises(ValidationError):
        tables.create_table("d", name, [ID])
    with pytest.raises(ValidationError):
        tables.drop_table("d", name)
    if "$" not in name:
        with pytest.raises(ValidationError):
            tables.create_table(name, "t", [ID])
    assert os.listdir(tmp_path) == []


def test_the_system_database(tables):
    with pytest.raises(ValidationError, match="reserved"):
        tables.create_table("sys", "t", [ID])


@pytest.mark.parametrize("name", ["a b", "a.b", "o'clock", 'say "x"', "日本語", "a@b", "a`b", "-rf", "100%", "#1"])
def test_friendly_table_names(tables, name):
    tables.create_table(name, name, [ID])
    assert tables.list_databases() == [name]
    assert tables.list_tables(name) == [name]
    assert tables.list_tables() == [str(TableName(name, name))]
    tables.get_schema_manager(name, name).create_new_schema_version([ID, NAME])
    assert tables.get_table_metadata(name, name).current_schema_id == 1
    tables.drop_table(name, name)
    assert tables.list_tables(name) == []


def test_nothing_is_made_of_an_invalid_table(tables, tmp_path):
    with pytest.raises(ValidationError) as caught:
        tables.create_table("d", "t", [("a", "INT"), ("a", "INT"), ("rowkind", "INT")], ["z"], options={"bucket": "0"})
    assert {d.code for d in caught.value.diagnostics} == {"LB3302", "LB3307", "LB3313", "LB3315"}
    with pytest.raises(ValidationError):
        tables.create_table("d", "t", [])
    with pytest.raises(ValidationError):
        tables.create_table("d", "t", [ID], options={"bucket": [1]})
    assert os.listdir(tmp_path) == []


def test_create_takes_a_complete_first_version_only(memory):
    schema = TableSchema(0, (DataField(0, "a", Int()),), 0, time_millis=NOW)
    assert memory.create(TableName("d", "t"), schema).current_schema_id == 0
    with pytest.raises(ValidationError):
        memory.create(TableName("d", "u"), replace(schema, id=1))
    with pytest.raises(ValidationError):
        memory.create(TableName("d", "u"), replace(schema, fields=(DataField(UNASSIGNED, "a", Int()),)))


def test_leftovers_of_another_table_are_in_the_way(memory):
    memory.store.replace("/w/d.db/t/snapshot/snapshot-1", b"{}")
    with pytest.raises(AlreadyExistsError) as caught:
        memory.create_table("d", "t", [ID])
    assert caught.value.code == "LB3124"
    assert not memory.exists("d.t")


def test_create_database(tables, tmp_path):
    assert tables.create_database("d") == f"{tmp_path}/d.db"
    with pytest.raises(AlreadyExistsError) as caught:
        tables.create_database("d")
    assert caught.value.code == "LB3702"
    assert tables.create_database("d", ignore_if_exists=True) == f"{tmp_path}/d.db"
    assert tables.list_databases() == ["d"]
    assert tables.list_tables("d") == []


# -- listing --------------------------------------------------------------------------------------------------------


def test_junk_is_no_table(memory):
    memory.create_table("d", "t", [ID])
    store = memory.store
    for junk in ("d.db/empty/x", "d.db/file", "d.db/.hidden/schema/schema-0", "d.db/junk/schema/schema-007"):
        store.replace(f"/w/{junk}", b"")
    for junk in ("d.db/v/schema/.schema-0.x.tmp", "d.db/a$b/schema/schema-0", "notes.txt", "other/t/schema/schema-0"):
        store.replace(f"/w/{junk}", b"")
    store.replace("/w/d.db/late/schema/schema-7", store.read("/w/d.db/t/schema/schema-0"))
    assert memory.list_tables("d") == ["late", "t"]
    assert memory.list_databases() == ["d"]
    assert not memory.exists("d.empty")
    assert memory.exists("d.late")


def test_quarantine_is_hidden(memory):
    memory.create_table("d", "t", [ID])
    memory.create_table("d", "t__quarantine", [NAME])
    assert memory.list_tables("d") == ["t"]
    assert memory.list_tables() == ["d.t"]
    assert memory.list_tables("d", include_quarantine=True) == ["t", "t__quarantine"]


def test_names_that_are_not_there_are_suggested(memory):
    memory.create_table("shop", "orders", [ID])
    with pytest.raises(NotFoundError) as caught:
        memory.list_tables("shopp")
    assert caught.value.diagnostics[0].suggestions == ("shop",)
    with pytest.raises(NotFoundError) as caught:
        memory.get_table_metadata("shop", "ordres")
    assert caught.value.diagnostics[0].suggestions == ("shop.orders",)
    with pytest.raises(NotFoundError) as caught:
        memory.get_schema_manager("shopp", "orders")
    assert caught.value.diagnostics[0].suggestions == ("shop.orders",)


# -- records --------------------------------------------------------------------------------------------------------


def test_the_record_follows_the_versions(memory):
    memory.create_table("d", "t", [ID], options={"bucket": "-1"})
    memory._clock = lambda: NOW + 5000
    memory.get_schema_manager("d", "t").create_new_schema_version([ID, NAME])
    found = TableMetadata.loads(memory.store.read("/w/d.db/t/metadata"))
    assert found.current_schema_id == 1
    assert memory.get_table_metadata("d", "t") == found


def test_a_stale_record_is_put_right_and_a_foreign_table_gets_none(memory):
    memory.create_table("d", "t", [ID])
    record = memory.store.read("/w/d.db/t/metadata")
    memory.get_schema_manager("d", "t").create_new_schema_version([ID, NAME])
    memory.store.replace("/w/d.db/t/metadata", record)
    assert TableMetadata.load(memory.path_factory, "d", "t").current_schema_id == 1
    assert memory.store.read("/w/d.db/t/metadata") == record
    assert memory.get_table_metadata("d", "t").current_schema_id == 1
    assert TableMetadata.loads(memory.store.read("/w/d.db/t/metadata")).current_schema_id == 1

    memory.store.delete("/w/d.db/t/metadata")
    found = memory.get_table_metadata("d", "t")
    assert (found.current_schema_id, found.create_time.timestamp()) == (1, NOW / 1000)
    memory.get_schema_manager("d", "t").create_new_schema_version([ID])
    assert not memory.store.exists("/w/d.db/t/metadata")


def test_a_record_that_cannot_be_understood_is_left_alone(memory):
    memory.create_table("d", "t", [ID])
    memory.store.replace("/w/d.db/t/metadata", b"something else")
    assert memory.get_table_metadata("d", "t").current_schema_id == 0
    memory.get_schema_manager("d", "t").create_new_schema_version([ID, NAME])
    assert memory.store.read("/w/d.db/t/metadata") == b"something else"


def test_a_record_that_cannot_be_written_fails_nothing(memory):
    store = memory.store
    probe = type(store)()
    TableManager(PathFactory("/w", store=probe), probe).create_table("d", "t", [ID])
    store.fail_at([o.name for o in probe.operations].index("replace"))
    assert memory.create_table("d", "t", [ID]).current_schema_id == 0
    assert memory.exists("d.t")


# -- altering -------------------------------------------------------------------------------------------------------


@pytest.fixture
def alterable(memory) -> TableManager:
    memory.create_table("d", "t", [("a", "INT"), ("b", "INT")])
    return memory


def _rename(old: str, new: str) -> RenameColumn:
    return RenameColumn((old,), new)


def test_alter_table(alterable):
    new = alterable.alter_table("d", "t", [SetOption("write-only", "true"), _rename("a", "c")])
    assert (new.id, new.field_names, dict(new.options)) == (1, ("c", "b"), {"write-only": "true"})
    assert new == alterable.get_schema_manager("d", "t").load_latest_schema()
    assert alterable.get_table_metadata("d", "t").current_schema_id == 1
    assert alterable.alter_table("d", "t", [SetOption("write-only", "true")]) == new
    assert alterable.alter_table("d", "t", [SetOption("bucket-key", "b"), SetOption("bucket", "2")]).id == 2
    alterable.store.replace("/w/d.db/t/snapshot/snapshot-1", b"{}")
    with pytest.raises(ValidationError):
        alterable.alter_table("d", "t", [SetOption("bucket-key", "c")])


def test_alter_needs_a_table(alterable):
    with pytest.raises(NotFoundError):
        alterable.alter_table("d", "tt", [])


def _race_alter(alterable, changes, action):
    probe = type(alterable.store)(alterable.store.snapshot())
    TableManager(PathFactory("/w", store=probe), probe, lambda: NOW).alter_table("d", "t", changes)
    step = [o.name for o in probe.operations].index("create_if_absent")
    alterable.store.race_at(step, action)
    return alterable.alter_table("d", "t", changes)


@pytest.fixture
def other(alterable) -> TableManager:
    """Another program's."""
    return TableManager(alterable.path_factory, alterable.store, lambda: NOW)


def test_compatible_changes_both_land(alterable, other):
    new = _race_alter(
        alterable,
        [_rename("a", "c")],
        lambda: other.alter_table("d", "t", [SetOption("write-only", "true"), _rename("b", "e")]),
    )
    assert new.id == 2
    assert new.field_names == ("c", "e")
    assert new.options["write-only"] == "true"


def test_a_change_whose_name_means_another_column_is_a_conflict(alterable, other):
    swap = [_rename("a", "tmp"), _rename("b", "a")]
    with pytest.raises(ConflictError) as caught:
        _race_alter(alterable, [_rename("a", "c")], lambda: other.alter_table("d", "t", swap))
    assert caught.value.code == "LB3128"


def test_a_change_whose_column_is_gone_is_a_conflict_with_the_reason(alterable, other):
    with pytest.raises(ConflictError, match="no column a") as caught:
        _race_alter(alterable, [_rename("a", "c")], lambda: other.alter_table("d", "t", [_rename("a", "z")]))
    assert caught.value.code == "LB3128"
    with pytest.raises(ValidationError):
        alterable.alter_table("d", "t", [_rename("a", "c")])


# -- dropping -------------------------------------------------------------------------------------------------------


def test_a_table_whose_name_is_too_long_for_a_quarantine_is_made_and_dropped(memory):
    name = "t" * 250
    memory.create_table("d", name, [ID])
    assert memory.drop_table("d", name) == (TableName("d", name),)
    assert not memory.exists(TableName("d", name))
    memory.create_table("d", name, [ID])


def test_drop_table(memory):
    memory.create_table("d", "t", [ID])
    memory.create_table("d", "t2", [ID])
    memory.create_table("d", "t__quarantine", [ID])
    for name in (
        "bucket-0/data-1.parquet",
        "snapshot/snapshot-1",
        "snapshot/LATEST",
        "branch/branch-b/snapshot/snapshot-1",
    ):
        memory.store.replace(f"/w/d.db/t/{name}", b"x")
    memory.drop_table("d", "t")
    assert memory.list_tables("d", include_quarantine=True) == ["t2"]
    assert not [path for path in memory.store.snapshot() if path.startswith("/w/d.db/t/")]
    with pytest.raises(NotFoundError):
        memory.drop_table("d", "t")
    with pytest.raises(NotFoundError):
        memory.get_schema_manager("d", "t")
    memory.create_table("d", "t", [NAME])
    assert memory.get_schema_manager("d", "t").get_current_schema().field_names == ("name",)


def test_junk_is_not_dropped(memory):
    memory.store.replace("/w/d.db/junk/letter.txt", b"x")
    with pytest.raises(NotFoundError):
        memory.drop_table("d", "junk")
    assert memory.store.exists("/w/d.db/junk/letter.txt")


def test_external_data_needs_purge(memory):
    memory.create_table("d", "t", [ID], options={"data-file.external-paths": "s3://bucket/x"})
    manager = memory.get_schema_manager("d", "t")
    manager.publish(replace(manager.get_current_schema(), id=1, options={}))
    before = memory.store.snapshot()
    with pytest.raises(RefusedError) as caught:
        memory.drop_table("d", "t")
    assert caught.value.code == "LB3125"
    assert memory.store.snapshot() == before
    memory.drop_table("d", "t", purge=True)
    assert not memory.exists("d.t")


def test_a_table_that_cannot_be_understood_needs_purge(memory):
    memory.create_table("d", "t", [ID])
    memory.store.replace("/w/d.db/t/schema/schema-1", b"")
    with pytest.raises(RefusedError):
        memory.drop_table("d", "t")
    memory.drop_table("d", "t", purge=True)
    assert not memory.exists("d.t")


def test_links_in_and_instead_of_a_table_are_not_followed(tables, tmp_path):
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "precious").write_text("p")
    tables.create_table("d", "t", [ID])
    table = tmp_path / "d.db" / "t"
    (table / "bucket-0").symlink_to(outside)
    (table / "file").symlink_to(outside / "precious")
    tables.drop_table("d", "t")
    assert not os.path.lexists(table)
    tables.create_table("d", "moved", [ID])
    elsewhere = tmp_path / "elsewhere"
    os.rename(tmp_path / "d.db" / "moved", elsewhere)
    (tmp_path / "d.db" / "moved").symlink_to(elsewhere)
    assert tables.list_tables("d") == ["moved"]
    tables.drop_table("d", "moved")
    assert not os.path.lexists(tmp_path / "d.db" / "moved")
    assert sorted(os.listdir(elsewhere)) == ["metadata", "schema"]
    tables.create_table("d", "s", [ID])
    os.rename(tmp_path / "d.db" / "s" / "schema", tmp_path / "schemas")
    (tmp_path / "d.db" / "s" / "schema").symlink_to(tmp_path / "schemas")
    tables.drop_table("d", "s")
    assert os.listdir(tmp_path / "schemas") == ["schema-0"]
    assert (outside / "precious").read_text() == "p"
    assert (outside / "deep").is_dir()


def test_cached_managers_notice_a_new_table(tables):
    tables.create_table("d", "t", [ID])
    manager = tables.get_schema_manager("d", "t")
    assert manager.get_current_schema().field_names == ("id",)
    tables.drop_table("d", "t")
    with pytest.raises(NotFoundError):
        manager.get_current_schema()
    tables.create_table("d", "t", [NAME])
    assert manager.get_current_schema().field_names == ("name",)
    assert tables.get_schema_manager("d", "t").get_current_schema().field_names == ("name",)


def test_every_error_is_typed(tables):
    for call in (
        lambda: tables.get_schema_manager("d", "t"),
        lambda: tables.get_table_metadata("d", "t"),
        lambda: tables.drop_table("d", "t"),
        lambda: tables.list_tables("d"),
        lambda: tables.create_table("d", "t", None),
    ):
        with pytest.raises((LakebedError, TypeError)):
            call()


def test_a_store_can_be_given(tmp_path):
    tables = TableManager(PathFactory(tmp_path), LocalStore())
    tables.create_table("d", "t", [ID])
    assert tables.exists("d.t")
    assert tables.table_path("d.t") == f"{tmp_path}/d.db/t"
