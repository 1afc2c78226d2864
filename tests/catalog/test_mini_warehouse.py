"""A warehouse of the mini layout as a whole: its record, its plans, its cache, and what other programs do in it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableMetadata
from lakebed.catalog.mini_rows import foreign_rows
from lakebed.catalog.mini_schema_file import MINI
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, RefusedError, StoreError, UnsupportedError
from lakebed.manifest import dump_table, parse_manifest
from lakebed.physical.paimon_types import Array, BigInt, DataField, Int
from lakebed.testing.memory_store import MemoryStore

ID, NAME, EMAIL = Field("id", DataType.INT, False), Field("name", DataType.STRING), Field("email", DataType.STRING)
MANIFEST = """
kind: Table
version: 1
content:
  name: shop.users
  description: {description}
  primaryKeys: [id]
  options: {{owner: {owner}}}
  schema:
    fields:
    - {{name: id, type: Int32}}
    {fields}
"""


def manager(store: Any, layout: str = "mini") -> TableManager:
    return TableManager(PathFactory("/w", layout, store=store), store, lambda: 1000)


def declared(*fields: str, owner: str = "me", description: str = "people") -> Any:
    lines = "\n    ".join(f"- {field}" for field in fields)
    return parse_manifest(MANIFEST.format(owner=owner, description=description, fields=lines))


@pytest.fixture
def lake(tmp_path: Path) -> Any:
    (tmp_path / "w").mkdir()
    lake = lakebed.open(tmp_path / "w", layout="mini")
    lake.apply(lake.plan(declared("{name: name, type: {kind: Option, inner: String}}")))
    return lake


def test_plans_work_in_the_dialect_and_find_nothing_again(lake: Any) -> None:
    wanted = declared(
        "{name: name, type: {kind: Option, inner: String}}",
        "{name: at, type: {kind: Option, inner: Int64}}",
        owner="you",
        description="all people",
    )
    lake.apply(lake.plan(wanted))
    assert lake.plan(wanted).is_noop
    assert lake.plan(parse_manifest(dump_table(lake.infer("shop.users")))).is_noop
    found = lake.tables.get_table_metadata("shop", "users")
    assert (found.current_schema_id, found.description, dict(found.properties)) == (1, "all people", {"owner": "you"})
    assert found.last_modified_time > found.create_time
    file = json.loads((Path(lake.warehouse) / "shop/users/schema/schema-1").read_text())
    assert list(file) == ["schemaId", "fields", "primaryKeys", "partitionKeys"]
    assert [v.schema.time_millis > 0 for v in lake.history("shop.users").versions] == [True, True]


@pytest.mark.parametrize(
    ("fields", "column", "code"),
    [
        (["{name: town, <text>, extra: {lakebed.dev/renamedFrom: name}}"], "town", "LB3404"),
        (["{name: name, <text>, extra: {opendatafabric.org/description: d}}"], "name", "LB3403"),
        (["{name: name, <text>, extra: {lakebed.dev/enum: [a]}}"], "name", "LB3403"),
        (["{name: name, <text>, extra: {lakebed.dev/default: a}}"], "name", "LB3403"),
        (["{name: name, <text>}", "{name: d, type: {kind: Option, inner: Date}}"], "d", "LB3402"),
    ],
)
def test_a_plan_forbids_what_the_files_cannot_hold(lake: Any, fields: list[str], column: str, code: str) -> None:
    text = "type: {kind: Option, inner: String}"
    plan = lake.plan(declared(*(field.replace("<text>", text) for field in fields)))
    forbidden = {(c.column, c.code) for c in plan.tables[0].forbidden}
    assert forbidden == {(column, code)}
    assert all(c.position is not None for c in plan.tables[0].forbidden)
    with pytest.raises(RefusedError):
        lake.apply(plan)
    assert lake.tables.get_schema_manager("shop", "users").ids() == [0]


def test_a_new_table_that_the_files_cannot_hold_is_refused_by_the_plan_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    lake = lakebed.open(tmp_path / "w", layout="mini")
    with pytest.raises(UnsupportedError) as caught:
        lake.plan(declared("{name: d, type: Date}", "{name: u, type: UInt8}"))
    assert {d.code for d in caught.value.diagnostics} == {"LB3402", "LB3403"}
    assert caught.value.diagnostics[-1].position is not None


def test_a_replaced_column_of_the_same_name_cannot_be_told_from_the_old_one() -> None:
    tables = manager(MemoryStore())
    tables.create_table("d", "t", [ID, NAME])
    schemas = tables.get_schema_manager("d", "t")
    drop_and_add = [
        {"action": "dropColumn", "fieldNames": ["name"]},
        {"action": "addColumn", "fieldNames": ["name"], "dataType": "STRING"},
    ]
    with pytest.raises(UnsupportedError) as caught:
        tables.alter_table("d", "t", drop_and_add)
    assert caught.value.code == "LB3404"
    tables.alter_table("d", "t", drop_and_add[:1])
    assert tables.alter_table("d", "t", drop_and_add[1:]).field("name").id == 2
    assert schemas.ids() == [0, 1, 2]


def test_what_is_returned_is_what_is_read_again() -> None:
    tables = manager(MemoryStore())
    tables.create_table("d", "t", [ID])
    schemas = tables.get_schema_manager("d", "t")
    made = tables.alter_table(
        "d",
        "t",
        [
            {"action": "addColumn", "fieldNames": ["b"], "dataType": "INT"},
            {
                "action": "addColumn",
                "fieldNames": ["a"],
                "dataType": "INT",
                "move": {"fieldName": "a", "type": "FIRST"},
            },
        ],
    )
    assert made.field_names == ("a", "id", "b")
    assert schemas.load_schema(1) == made
    assert schemas.create_new_schema_version(made.fields) == made


def test_options_follow_the_record_and_a_record_is_made_for_them() -> None:
    store = MemoryStore()
    tables = manager(store)
    tables.create_table("d", "t", [ID], options={"owner": "me"}, comment="words")
    schemas = tables.get_schema_manager("d", "t")
    assert (dict(schemas.get_current_schema().options), schemas.load_schema(0).comment) == ({"owner": "me"}, "words")
    changed = tables.alter_table("d", "t", [{"action": "setOption", "key": "owner", "value": "you"}])
    assert (changed.id, dict(changed.options)) == (1, {"owner": "you"})
    store.delete("/w/d/t/metadata")
    assert dict(schemas.get_current_schema().options) == {}
    tables.alter_table("d", "t", [{"action": "setOption", "key": "owner", "value": "they"}])
    assert dict(tables.get_table_metadata("d", "t").properties) == {"owner": "they"}
    store.replace("/w/d/t/metadata", b"{")
    assert schemas.get_current_schema().id == 2
    with pytest.raises(CorruptMetadataError):
        tables.alter_table("d", "t", [{"action": "setOption", "key": "owner", "value": "we"}])


def test_options_that_cannot_be_written_are_no_success() -> None:
    class Refusing(MemoryStore):
        def replace(self, path: str, data: bytes) -> None:
            if path.endswith("/metadata"):
                raise StoreError.of("LB3601", "no room")
            super().replace(path, data)

    with pytest.raises(StoreError):
        manager(Refusing()).create_table("d", "t", [ID], comment="words")
    manager(Refusing()).create_table("d", "t", [ID])


def test_inside_of_other_types_long_is_called_bigint() -> None:
    schema = TableSchema(0, (DataField(0, "a", BigInt()), DataField(1, "b", Array(BigInt()))), 1)
    fields = json.loads(MINI.dumps(schema))["fields"]
    assert [f["type"] for f in fields] == ["LONG", {"type": "ARRAY", "elementType": {"type": "BIGINT"}}]
    assert MINI.loads(MINI.dumps(schema), source="x", expected_id=0, previous=None).fields == schema.fields


def test_the_sizes_that_the_description_gives_are_those_of_its_example_program() -> None:
    """Its table has one more column, and each file a member that a getter of the Java class adds."""
    age = Field("age", DataType.INT)
    sizes = []
    for number, columns in enumerate(([ID, NAME, age], [ID, NAME, age, EMAIL])):
        fields = tuple(
            DataField(i, c.name, type(c.type)(**{"nullable": c.nullable} | _parts(c.type)))
            for i, c in enumerate(columns)
        )
        text = MINI.dumps(TableSchema(number, fields, 3, primary_keys=("id",))).decode()
        whole = text[: -len("\n}")] + ',\n  "primaryKeyIndices" : [ 0 ]\n}'
        sizes.append(len(whole))
        assert MINI.loads(whole.encode(), source="x", expected_id=number, previous=None).fields == fields
    assert sizes == [332, 406]


def _parts(type_: Any) -> dict[str, Any]:
    return {"length": type_.length} if hasattr(type_, "length") else {}


@pytest.mark.parametrize("layout", ["mini", "paimon"])
def test_a_cached_manager_sees_foreign_commits_rollback_and_a_new_table(layout: str) -> None:
    store = MemoryStore()
    ours, theirs = manager(store, layout), manager(store, layout)
    ours.create_table("d", "t", [ID, NAME])
    schemas = ours.get_schema_manager("d", "t")
    first = schemas.get_current_schema()
    theirs.get_schema_manager("d", "t").create_new_schema_version([ID, NAME, EMAIL])
    assert schemas.get_current_schema().field_names == ("id", "name", "email")
    assert ours.get_table_metadata("d", "t").current_schema_id == 1
    store.delete(schemas.path(1))
    assert schemas.get_current_schema() == first
    assert ours.get_table_metadata("d", "t").current_schema_id == 0
    theirs.drop_table("d", "t")
    theirs.create_table("d", "t", [EMAIL])
    assert schemas.get_current_schema().field_names == ("email",)
    assert schemas.load_schema(0).fields[0].id == 0
    assert schemas.create_new_schema_version([EMAIL, NAME]).field_names == ("email", "name")


@pytest.mark.parametrize("layout", ["mini", "paimon"])
def test_threads_share_a_manager_while_versions_and_tables_come_and_go(layout: str) -> None:
    """A reader sees one whole version, or that there is no table; never a mixture of two tables."""
    store = MemoryStore()
    tables = manager(store, layout)
    tables.create_table("d", "t", [Field("a0", DataType.INT)])
    schemas = tables.get_schema_manager("d", "t")
    done, failures = threading.Event(), []

    def read() -> None:
        while not done.is_set():
            try:
                found = schemas.get_current_schema()
                for other in (found, *schemas.versions()):
                    kinds = {name[0] for name in other.field_names}
                    if len(kinds) != 1 or len({f.id for f in other.fields}) != len(other.fields):
                        failures.append(other)
            except lakebed.LakebedError as error:
                if error.code not in ("LB3201", "LB3202", "LB3122"):
                    failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for turn in range(30):
        kind = "ab"[turn % 2]
        tables.drop_table("d", "t")
        tables.create_table("d", "t", [Field(f"{kind}0", DataType.INT)])
        fresh = tables.get_schema_manager("d", "t")
        for number in (1, 2):
            fresh.create_new_schema_version([Field(f"{kind}{n}", DataType.INT) for n in range(number + 1)])
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert schemas.get_current_schema().field_names == ("b0", "b1", "b2")


@pytest.mark.parametrize("layout", ["mini", "paimon"])
def test_the_record_never_overrules_the_schema_directory(layout: str) -> None:
    store = MemoryStore()
    tables = manager(store, layout)
    made = tables.create_table("d", "t", [ID])
    paths = tables.path_factory
    for wrong in (7, 0):
        TableMetadata("t", "d", wrong, made.create_time, made.last_modified_time).persist(paths)
        assert tables.get_schema_manager("d", "t").get_current_schema().id == 0
        assert TableMetadata.load(paths, "d", "t").current_schema_id == 0
    TableMetadata("ghost", "d", 0, made.create_time, made.last_modified_time).persist(paths)
    assert not tables.exists("d.ghost")
    assert "ghost" not in tables.list_tables("d")
    store.replace(paths.metadata(made.name), b"junk")
    assert tables.get_table_metadata("d", "t").current_schema_id == 0
    assert tables.get_schema_manager("d", "t").create_new_schema_version([ID, NAME]).id == 1


@pytest.mark.parametrize(
    ("file", "data", "is_foreign"),
    [
        ("data/data-0-000.sst", b"x", True),
        ("data/keep", b"", False),
        ("wal/wal-000.log", b"x", True),
        ("manifest/manifest-1", b"[ ]", True),
        ("manifest/manifest-1", b"Obj\x01x", False),
    ],
)
def test_rows_of_mini_paimon_itself_are_recognised(file: str, data: bytes, is_foreign: bool) -> None:
    store = MemoryStore({f"/w/d/t/{file}": data})
    assert (foreign_rows(store, "/w/d/t") is not None) == is_foreign


def test_type_changes_are_judged_as_everywhere() -> None:
    tables = manager(MemoryStore())
    tables.create_table("d", "t", [("a", "INT")])
    schemas = tables.get_schema_manager("d", "t")
    assert schemas.create_new_schema_version([("a", "LONG")]).fields == (DataField(0, "a", BigInt()),)
    assert schemas.load_schema(0).fields == (DataField(0, "a", Int()),)
    with pytest.raises(lakebed.LakebedError):
        schemas.create_new_schema_version([("a", DataType.ARRAY(DataType.INT))])
