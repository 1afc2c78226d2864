"""Schema files: the reference's bytes, what is tolerated, and what is refused."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakebed.catalog.jackson import pretty
from lakebed.catalog.schema_file import dumps, loads, warnings
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.physical import paimon_types as p
from lakebed.testing.physical import json_values, table_schemas

GOLDEN = """\
{
  "version" : 3,
  "id" : 2,
  "fields" : [ {
    "id" : 0,
    "name" : "a",
    "type" : "INT NOT NULL"
  }, {
    "id" : 2,
    "name" : "é",
    "type" : {
      "type" : "ARRAY",
      "element" : "STRING"
    },
    "description" : "say \\"q\\"",
    "defaultValue" : "[x, y]"
  } ],
  "highestFieldId" : 2,
  "partitionKeys" : [ ],
  "primaryKeys" : [ "a" ],
  "options" : {
    "bucket" : "1"
  },
  "timeMillis" : 1795812368749
}"""
GOLDEN_SCHEMA = TableSchema(
    id=2,
    fields=(
        p.DataField(0, "a", p.Int(False)),
        p.DataField(2, "é", p.Array(p.STRING), 'say "q"', "[x, y]"),
    ),
    highest_field_id=2,
    primary_keys=("a",),
    options={"bucket": "1"},
    time_millis=1795812368749,
)
BASE: Mapping[str, Any] = {
    "version": 3,
    "id": 0,
    "fields": [{"id": 0, "name": "a", "type": "INT"}],
    "highestFieldId": 0,
    "partitionKeys": [],
    "primaryKeys": [],
    "options": {},
    "timeMillis": 5,
}
SOURCE = "/w/d.db/t/schema/schema-0"


def read(changes: Mapping[str, Any], *without: str) -> TableSchema:
    content = {k: v for k, v in {**BASE, **changes}.items() if k not in without}
    return loads(json.dumps(content).encode(), source=SOURCE)


def read_field(**changes: Any) -> p.DataField:
    return read({"fields": [{"id": 0, "name": "a", "type": "INT", **changes}]}).fields[0]


def refused(data: bytes | Mapping[str, Any], *without: str, expected_id: int | None = None) -> list[str]:
    if not isinstance(data, bytes):
        data = json.dumps({k: v for k, v in {**BASE, **data}.items() if k not in without}).encode()
    with pytest.raises(CorruptMetadataError) as caught:
        loads(data, source=SOURCE, expected_id=expected_id)
    assert all(SOURCE in d.message for d in caught.value.diagnostics)
    return [f"{d.code} {d.path or ''}".strip() for d in caught.value.diagnostics]


# Golden bytes.


def test_golden_bytes() -> None:
    assert dumps(GOLDEN_SCHEMA) == GOLDEN.encode()
    assert loads(GOLDEN.encode(), source=SOURCE, expected_id=2) == GOLDEN_SCHEMA


def test_nested_types_options_and_comment_are_laid_out_as_by_the_reference() -> None:
    inner = p.Row((p.DataField(2, "x", p.Vector(p.Float(), 3)), p.DataField(3, "y", p.Row(()))), False)
    schema = TableSchema(
        id=0,
        fields=(p.DataField(1, "m", p.Map(p.VarChar(nullable=False), inner)),),
        highest_field_id=3,
        partition_keys=("a", "b"),
        options={"z": "1", "a": "2", "B": ""},
        comment="",
    )
    assert dumps(schema).decode() == textwrap.dedent("""\
        {
          "version" : 3,
          "id" : 0,
          "fields" : [ {
            "id" : 1,
            "name" : "m",
            "type" : {
              "type" : "MAP",
              "key" : "STRING NOT NULL",
              "value" : {
                "type" : "ROW NOT NULL",
                "fields" : [ {
                  "id" : 2,
                  "name" : "x",
                  "type" : {
                    "type" : "VECTOR",
                    "element" : "FLOAT",
                    "length" : 3
                  }
                }, {
                  "id" : 3,
                  "name" : "y",
                  "type" : {
                    "type" : "ROW",
                    "fields" : [ ]
                  }
                } ]
              }
            }
          } ],
          "highestFieldId" : 3,
          "partitionKeys" : [ "a", "b" ],
          "primaryKeys" : [ ],
          "options" : {
            "B" : "",
            "a" : "2",
            "z" : "1"
          },
          "comment" : "",
          "timeMillis" : 0
        }""")


def test_an_empty_table_and_escapes() -> None:
    schema = TableSchema(id=0, fields=(), highest_field_id=-1, comment='"\\/\b\f\n\r\t\x01\x1f\x7f é 日本 🦆 \u2028')
    text = dumps(schema).decode()
    assert '"fields" : [ ],\n  "highestFieldId" : -1,' in text
    assert '"options" : { },\n' in text
    assert '"comment" : "\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\x7f é 日本 🦆 \u2028"' in text
    assert loads(text.encode(), source=SOURCE) == schema


def test_every_schema_file_of_other_implementations_is_written_back_byte_for_byte(shared: Path) -> None:
    files = sorted((shared / "tables").rglob("schema-*"))
    assert len(files) > 100
    for file in files:
        data = file.read_bytes()
        schema = loads(data, source=str(file), expected_id=int(file.name.removeprefix("schema-")))
        assert dumps(schema).decode() == with_sorted_options(data.decode()), file
        assert warnings(schema) == ()


def test_the_example_of_the_specification(shared: Path) -> None:
    page = (shared / "specs/paimon-schema.rst").read_text()
    block = re.search(r"code-block:: json\n\n(.*?\n)\n*Compatibility", page, re.DOTALL)
    assert block
    text = textwrap.dedent(block[1]).strip()
    schema = loads(text.encode(), source="paimon-schema.rst", expected_id=0)
    assert [(f.id, f.name, str(f.type)) for f in schema.fields] == [
        (0, "order_id", "BIGINT NOT NULL"),
        (1, "order_name", "STRING"),
        (2, "order_user_id", "BIGINT"),
        (3, "order_shop_id", "BIGINT"),
    ]
    assert (schema.primary_keys, schema.options, schema.comment) == (("order_id",), {"bucket": "5"}, "")
    assert [f.name for f in schema.logical.fields if f.nullable] == ["order_name", "order_user_id", "order_shop_id"]
    assert dumps(schema).decode() == text


def with_sorted_options(text: str) -> str:
    """The order of options in files by Java is that of a hash map, which is the one thing that is not copied."""
    return re.sub(
        r'(?<="options" : \{\n)(.*?)(?=\n  \})',
        lambda m: ",\n".join(sorted(m[1].split(",\n"))),
        text,
        flags=re.DOTALL,
    )


@given(table_schemas(unknown=True))
def test_columns_that_are_kept_as_text_are_what_the_whole_schema_is_laid_out_as(schema: TableSchema) -> None:
    turned = replace(schema, id=0, fields=schema.fields[::-1])
    for version in (schema, turned, schema):
        assert dumps(version) == pretty(version.to_json())


@given(table_schemas(unknown=True))
def test_loads_undoes_dumps(schema: TableSchema) -> None:
    assert loads(dumps(schema), source=SOURCE, expected_id=schema.id) == schema


# Versions.


@pytest.mark.parametrize("version", [1, 0, None, "1"])
def test_version_1_and_older(version: Any) -> None:
    schema = read({"version": version})
    assert dict(schema.options) == {"bucket": "1", "file.format": "orc"}


def test_no_version_is_version_1_and_what_is_set_stays() -> None:
    schema = read({"options": {"bucket": "4", "file.format": "avro"}}, "version")
    assert (schema.version, dict(schema.options)) == (1, {"bucket": "4", "file.format": "avro"})


def test_version_2_and_3() -> None:
    assert dict(read({"version": 2}).options) == {"file.format": "orc"}
    assert dict(read({"version": 3}).options) == {}


def test_a_newer_version_is_read_with_a_warning_and_not_written() -> None:
    schema = read({"version": 4})
    assert (schema.version, dict(schema.options)) == (4, {})
    assert [d.code for d in warnings(schema)] == ["LB3507"]
    with pytest.raises(UnsupportedError) as caught:
        dumps(schema)
    assert caught.value.code == "LB3507"


def test_annotations_of_a_newer_format_are_not_written() -> None:
    schema = read({"options": {"lakebed.schema": '{"format":2,"fields":{}}'}})
    with pytest.raises(UnsupportedError) as caught:
        dumps(schema)
    assert caught.value.code == "LB3515"


# Tolerance.


def test_unknown_keys_are_ignored() -> None:
    assert read({"other": [1], "fields": [{"id": 0, "name": "a", "type": "INT", "x": {}}]}) == read({})


def test_null_is_absent_where_text_is_wanted() -> None:
    assert read({"comment": None}).comment is None
    field = read_field(description=None, defaultValue=None)
    assert (field.description, field.default_value) == (None, None)
    assert b"null" not in dumps(read({"comment": None}))


def test_null_elsewhere_counts_as_in_the_reference() -> None:
    nulls = ("id", "fields", "highestFieldId", "partitionKeys", "primaryKeys", "options", "timeMillis")
    schema = read(dict.fromkeys(nulls))
    assert schema == TableSchema(id=0, fields=(), highest_field_id=0)


def test_numbers_as_text() -> None:
    schema = read({"id": "7", "version": "3", "highestFieldId": "9", "timeMillis": "5"})
    assert (schema.id, schema.version, schema.highest_field_id, schema.time_millis) == (7, 3, 9, 5)


def test_ids_have_64_bits() -> None:
    assert read({"id": 2**40}).id == 2**40


def test_option_values_become_text() -> None:
    given = {"a": 4, "b": True, "c": None, "d": {}, "e": 1.5, "f": "x"}
    assert dict(read({"options": given}).options) == {
        **{"a": "4", "b": "true", "c": "null", "d": "", "e": "1.5", "f": "x"}
    }


def test_descriptions_and_defaults_that_are_numbers_become_text() -> None:
    assert read_field(description=5, defaultValue=1.5) == p.DataField(0, "a", p.Int(), "5", "1.5")


def test_keys_that_are_no_columns_or_nullable_stay_as_declared() -> None:
    schema = read({"primaryKeys": ["zz", "a"], "partitionKeys": ["b"]})
    assert (schema.primary_keys, schema.partition_keys) == (("zz", "a"), ("b",))
    assert schema.fields[0].type.nullable


@pytest.mark.parametrize(("stored", "expected"), [(0, 9), (9, 9), (12, 12), (-1, 9)])
def test_the_highest_id_is_never_below_the_real_one(stored: int, expected: int) -> None:
    inner = {"type": "ARRAY", "element": {"type": "ROW", "fields": [{"id": 9, "name": "x", "type": "INT"}]}}
    fields = [{"id": 3, "name": "a", "type": inner}, {"id": 1073741823, "name": "s", "type": "INT"}]
    assert read({"highestFieldId": stored, "fields": fields}).highest_field_id == expected


def test_white_space_around_is_accepted_and_the_time_may_be_missing() -> None:
    data = b" \n\t" + json.dumps({k: v for k, v in BASE.items() if k != "timeMillis"}).encode() + b"\r\n "
    assert loads(data, source=SOURCE).time_millis == 0


def test_an_extra_nullable_member_is_ignored() -> None:
    type_ = {"type": "MAP<STRING NOT NULL, INT>", "key": "STRING NOT NULL", "value": "INT", "nullable": False}
    assert read_field(type=type_).type == p.Map(p.VarChar(nullable=False), p.Int())


def test_duplicate_ids_are_a_warning() -> None:
    fields = [{"id": 1, "name": "a", "type": "INT"}, {"id": 1, "name": "b", "type": "INT"}]
    found = warnings(read({"fields": fields}), source=SOURCE)
    assert [(d.code, d.severity.value, d.path) for d in found] == [("LB3506", "warning", "b")]
    assert SOURCE in found[0].message


def test_a_column_of_the_future_leaves_the_others_readable() -> None:
    fields = [{"id": 0, "name": "a", "type": "INT"}, {"id": 1, "name": "b", "type": "TENSOR(3) NOT NULL"}]
    schema = read({"fields": fields})
    assert schema.fields[0].type == p.Int()
    assert schema.fields[1].type == p.Unknown("TENSOR(3)", False)
    found = warnings(schema, source=SOURCE)
    assert [(d.code, d.path, d.found) for d in found] == [("LB3508", "b", "TENSOR(3) NOT NULL")]
    assert loads(dumps(schema), source=SOURCE) == schema
    assert schema.logical.fields[1].extra == {"paimon.apache.org/type": "TENSOR(3)"}


# Refusal.


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"{", "Expecting"),
        (b"{} x", "Extra data"),
        (b"[]", "no JSON object"),
        (b"7", "no JSON object"),
        (b"\xef\xbb\xbf{}", "BOM"),
        ("{}".encode("utf-16"), "UTF-8"),
        (b'{"id": \xff}', "UTF-8"),
        (b'{"comment": "\\ud800"}', "UTF-8"),
        (b'// x\n{"id": 0}', "Expecting value"),
        (b'{"id": NaN}', "NaN"),
        (b'{"id": ' + b"9" * 5000 + b"}", "digits"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_what_is_no_json_object(data: bytes, reason: str) -> None:
    with pytest.raises(CorruptMetadataError) as caught:
        loads(data, source=SOURCE)
    (found,) = caught.value.diagnostics
    assert found.code == "LB3501"
    assert SOURCE in found.message
    assert reason in found.message


@pytest.mark.parametrize("key", ["id", "fields", "highestFieldId", "partitionKeys", "primaryKeys", "options"])
def test_a_missing_key(key: str) -> None:
    assert refused({}, key) == ["LB3502"]


def test_all_problems_at_once() -> None:
    fields = [{"id": 0, "name": "a", "type": "INT(3)"}, {"name": "b", "type": "INT"}, 7]
    broken = {"fields": fields, "options": [], "primaryKeys": [1], "highestFieldId": "x"}
    found = refused(broken, "id")
    assert sorted(found) == sorted(["LB3502"] * 4 + ["LB3503 a", "LB3503 b", "LB3503"])


@pytest.mark.parametrize("value", [-1, 1.5, "x", True, [], 2**63])
def test_an_id_that_is_none(value: Any) -> None:
    assert refused({"id": value}) == ["LB3502"]


@pytest.mark.parametrize("value", [0, "", False, {}, [None], ["a", 1], "a"])
def test_keys_that_are_no_names(value: Any) -> None:
    assert refused({"partitionKeys": value}) == ["LB3502"]


@pytest.mark.parametrize(
    ("type_", "path"),
    [
        ("INT(3)", "a"),
        ("DECIMAL(50, 2)", "a"),
        ("ARRAY<INT>", "a"),
        (5, "a"),
        ({"type": "array", "element": "INT"}, "a"),
        ({"type": "MAP", "key": "INT", "value": "VARCHAR(0)"}, "a.value"),
        ({"type": "ROW", "fields": [{"name": "x", "type": "INT"}]}, "a.x"),
    ],
)
def test_a_column_that_cannot_be_understood_is_named(type_: Any, path: str) -> None:
    assert refused({"fields": [{"id": 0, "name": "a", "type": type_}]}) == [f"LB3503 {path}"]


def test_duplicate_names_are_refused_at_every_level() -> None:
    two = [{"id": 1, "name": "x", "type": "INT"}, {"id": 2, "name": "x", "type": "INT"}]
    assert refused({"fields": two}) == ["LB3503 x"]
    assert refused({"fields": [{"id": 0, "name": "a", "type": {"type": "ROW", "fields": two}}]}) == ["LB3503 a.x"]


def test_names_that_differ_in_case_are_two_names() -> None:
    two = [{"id": 1, "name": "x", "type": "INT"}, {"id": 2, "name": "X", "type": "INT"}]
    assert read({"fields": two}).field_names == ("x", "X")


def test_the_id_must_be_that_of_the_file_name() -> None:
    assert refused({"id": 4}, expected_id=5) == ["LB3504"]


def test_a_file_of_the_mini_layout_is_recognised() -> None:
    with pytest.raises(CorruptMetadataError, match="Mini Paimon"):
        loads(b'{"schemaId": 1, "fields": []}', source=SOURCE)


_MUTATIONS = st.fixed_dictionaries({}, optional={key: json_values() for key in BASE})


@given(st.binary(max_size=200) | json_values().map(lambda v: json.dumps(v).encode()))
@example(b'{"id":0,"fields":[{"id":0,"name":"a","type":' + b'{"type":"ARRAY","element":' * 900)
def test_random_bytes_give_nothing_but_one_kind_of_error(data: bytes) -> None:
    with pytest.raises(CorruptMetadataError):
        loads(data, source=SOURCE)


@given(_MUTATIONS, st.integers(0, 300), st.integers(0, 300))
def test_damaged_files_give_a_schema_or_one_kind_of_error(changes: dict[str, Any], start: int, length: int) -> None:
    text = json.dumps({**BASE, **changes})
    for data in (text.encode(), (text[:start] + text[start + length :]).encode()):
        try:
            schema = loads(data, source=SOURCE)
        except CorruptMetadataError:
            continue
        if schema.version <= 3:
            assert loads(dumps(schema), source=SOURCE) == schema
        assert len(schema.logical.fields) == len(schema.fields)
