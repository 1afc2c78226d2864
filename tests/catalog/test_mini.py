"""The Mini Paimon layout, and the seven steps of its description in both layouts."""

from __future__ import annotations

import json

import pytest

from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableMetadata, open_warehouse
from lakebed.catalog.mini_schema_file import MINI
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, UnsupportedError, ValidationError
from lakebed.physical.paimon_types import Array, BigInt, DataField, Date, Decimal, Int, Map, Timestamp, Unknown, VarChar
from lakebed.testing.memory_store import MemoryStore

SCHEMA_1 = """{
  "schemaId" : 1,
  "fields" : [ {
    "name" : "id",
    "type" : "INT",
    "nullable" : false
  }, {
    "name" : "name",
    "type" : "STRING",
    "nullable" : true
  } ],
  "primaryKeys" : [ "id" ],
  "partitionKeys" : [ ]
}"""
METADATA = """{
  "tableName" : "user_table",
  "databaseName" : "example_db",
  "currentSchemaId" : 0,
  "createTime" : "2025-11-05T08:23:50.910Z",
  "lastModifiedTime" : "2025-11-05T08:23:50.910Z",
  "description" : "",
  "properties" : { }
}"""
NOW = 1762331030910


@pytest.mark.parametrize("layout", ["mini", "paimon"])
def test_the_seven_steps(tmp_path, layout):
    path_factory = PathFactory(f"{tmp_path}/warehouse", layout)
    table_manager = TableManager(path_factory, clock=lambda: NOW)
    id_field = Field("id", DataType.INT, False)
    name_field = Field("name", DataType.STRING, True)
    table_metadata = table_manager.create_table("example_db", "user_table", [id_field, name_field], ["id"], [])
    assert TableMetadata.load(path_factory, "example_db", "user_table") == table_metadata

    directory = tmp_path / "warehouse" / ("example_db" if layout == "mini" else "example_db.db") / "user_table"
    metadata = (directory / "metadata").read_bytes()
    assert metadata == METADATA.encode()
    assert len(metadata) == 230

    schema_manager = table_manager.get_schema_manager("example_db", "user_table")
    current_schema = schema_manager.get_current_schema()
    assert (current_schema.id, current_schema.field_names, current_schema.primary_keys) == (0, ("id", "name"), ("id",))

    email_field = Field("email", DataType.STRING, True)
    new_schema = schema_manager.create_new_schema_version([id_field, name_field, email_field], ["id"], [])
    assert (new_schema.id, new_schema.field_names) == (1, ("id", "name", "email"))
    assert schema_manager.load_latest_schema().fields == new_schema.fields
    assert schema_manager.load_schema(0).fields == current_schema.fields
    assert table_manager.get_table_metadata("example_db", "user_table").current_schema_id == 1
    assert table_manager.list_tables("example_db") == ["user_table"]
    assert sorted(p.name for p in (directory / "schema").iterdir()) == ["schema-0", "schema-1"]
    if layout == "mini":
        assert (directory / "schema" / "schema-0").read_text() == SCHEMA_1.replace('"schemaId" : 1', '"schemaId" : 0')
        sizes = [(directory / "schema" / f"schema-{n}").stat().st_size for n in (0, 1)]
        assert sizes == [232, 232 + 74]
    assert open_warehouse(tmp_path / "warehouse")[0].layout == layout
    table_manager.drop_table("example_db", "user_table")
    assert not directory.exists()


def test_the_files_of_the_description(shared):
    text = (shared / "specs" / "mini-paimon-schema-management.md").read_text(encoding="utf-8")
    schema, metadata = (block.partition("\n```")[0] for block in text.split("```json\n")[1:])
    assert schema == SCHEMA_1
    assert metadata == METADATA
    loaded = MINI.loads(schema.encode(), source="x", expected_id=1, previous=None)
    assert MINI.dumps(loaded) == schema.encode()
    record = TableMetadata.loads(metadata.encode())
    assert record.dumps() == metadata.encode()


def warehouse(*versions: str) -> TableManager:
    store = MemoryStore({f"/w/d/t/schema/schema-{n}": text.encode() for n, text in enumerate(versions)})
    return TableManager(PathFactory("/w", "mini", store=store), store, lambda: NOW)


def version(number: int, *names: str) -> str:
    fields = [{"name": name, "type": "INT", "nullable": True} for name in names]
    return json.dumps({"schemaId": number, "fields": fields, "primaryKeys": [], "partitionKeys": []})


def test_identity_is_the_name_from_version_to_version():
    tables = warehouse(version(0, "a", "b"), version(1, "b", "c"), version(2, "a", "b", "c"))
    manager = tables.get_schema_manager("d", "t")
    assert [[(f.name, f.id) for f in s.fields] for s in manager.versions()] == [
        [("a", 0), ("b", 1)],
        [("b", 1), ("c", 2)],
        [("a", 3), ("b", 1), ("c", 2)],
    ]
    assert manager.get_current_schema().highest_field_id == 3
    assert manager.load_schema(1) is manager.load_schema(1)
    tables.store.replace("/w/d/t/schema/schema-0", version(0, "c", "b").encode())
    assert [(f.name, f.id) for f in manager.load_schema(1).fields] == [("b", 1), ("c", 0)]


def test_versions_are_made_and_guarded():
    tables = warehouse(version(0, "a"))
    manager = tables.get_schema_manager("d", "t")
    new = manager.create_new_schema_version([Field("a", DataType.INT), Field("b", DataType.LONG)])
    assert json.loads(tables.store.read("/w/d/t/schema/schema-1"))["fields"][1] == {
        "name": "b",
        "type": "LONG",
        "nullable": True,
    }
    assert manager.create_new_schema_version(new.fields).id == 1
    with pytest.raises(ValidationError):
        manager.create_new_schema_version([Field("a", DataType.BOOLEAN, False)])
    with pytest.raises(UnsupportedError) as caught:
        manager.create_new_schema_version([*new.fields, ("d", "DATE"), ("r", "DECIMAL(5, 2)")])
    assert caught.value.code == "LB3402"
    assert manager.ids() == [0, 1]


def test_types_in_both_directions():
    types = (
        VarChar(),
        BigInt(),
        Timestamp(),
        Decimal(10, 2),
        Array(Int()),
        Map(VarChar(), Array(Decimal(3, 1))),
        Unknown("FLOAT"),
        Unknown('{"type": "GEO", "srid": 4326}'),
    )
    fields = tuple(DataField(n, f"c{n}", t) for n, t in enumerate(types))
    data = MINI.dumps(TableSchema(0, fields, len(fields) - 1))
    assert MINI.loads(data, source="x", expected_id=0, previous=None).fields == fields


@pytest.mark.parametrize("form", ["INT", "int", {"type": "INT"}])
def test_forms_of_atomic_types(form):
    text = json.dumps({"schemaId": 0, "fields": [{"name": "a", "type": form}], "unknown": 1})
    loaded = MINI.loads(text.encode(), source="x", expected_id=0, previous=None)
    assert loaded.fields == (DataField(0, "a", Int()),)


@pytest.mark.parametrize(
    "field",
    [
        DataField(0, "a", Date()),
        DataField(0, "a", VarChar(3)),
        DataField(0, "a", Array(Int(nullable=False))),
        DataField(0, "a", Map(VarChar(nullable=False), Int())),
        DataField(0, "a", Timestamp(3)),
        DataField(0, "a", Int(), description="d"),
        DataField(0, "a", Int(), default_value="1"),
    ],
)
def test_what_the_files_cannot_hold_is_refused(field):
    with pytest.raises(UnsupportedError):
        MINI.dumps(TableSchema(0, (field,), 0))


def test_options_and_comment_are_in_the_record():
    tables = warehouse()
    made = tables.create_table("d", "t", [("a", "INT")], options={"owner": "me"}, comment="words")
    assert (dict(made.properties), made.description) == ({"owner": "me"}, "words")
    tables.get_schema_manager("d", "t").create_new_schema_version([("a", "INT"), ("b", "INT")])
    found = tables.get_table_metadata("d", "t")
    assert (found.current_schema_id, dict(found.properties), found.description) == (1, {"owner": "me"}, "words")


def test_annotations_have_no_place():
    from lakebed import model

    tables = warehouse()
    with pytest.raises(UnsupportedError):
        tables.create_table("d", "t", [model.Field("u", model.UInt8())])
    assert not tables.exists("d.t")
    tables.create_table("d", "t", [model.Field("u", model.Int64())])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff",
        b"{}",
        b'{"schemaId":1,"fields":[]}',
        b'{"schemaId":0,"fields":{}}',
        b'{"schemaId":0,"fields":[{"name":"a"}]}',
        b'{"schemaId":0,"fields":[{"name":"","type":"INT"}]}',
        b'{"schemaId":0,"fields":[{"name":"a","type":3}]}',
        b'{"schemaId":0,"fields":[{"name":"a","type":"INT","nullable":"no"}]}',
        b'{"schemaId":0,"fields":[{"name":"a","type":"INT"},{"name":"a","type":"INT"}]}',
        b'{"schemaId":0,"fields":[],"primaryKeys":"a"}',
    ],
)
def test_corrupt_files(data):
    with pytest.raises(CorruptMetadataError) as caught:
        MINI.loads(data, source="/w/schema-0", expected_id=0, previous=None)
    assert "/w/schema-0" in str(caught.value)


def test_listing_skips_what_is_no_database():
    tables = warehouse(version(0, "a"))
    tables.store.replace("/w/x.db/t/schema/schema-0", b"{}")
    tables.store.replace("/w/notes/letter.txt", b"")
    assert tables.list_databases() == ["d"]
    assert tables.list_tables() == ["d.t"]
