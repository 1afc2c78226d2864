"""`lakebed convert` and `lakebed schema`: from every form to every other, with what is lost on standard error."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command_line import CommandLine, environment, on_terminal, process
from lakebed.cli.commands import convert as command
from lakebed.contract_forms import WRITTEN_FORMS
from lakebed.convert.arrow import from_arrow
from lakebed.events import decode_event
from lakebed.model import Extra, Schema
from lakebed.model.from_json import field_from_json
from lakebed.schema_forms import SOURCE_FORMS, TARGET_FORMS

SCHEMA = """\
fields:
  - {name: id, type: UInt64, extra: {opendatafabric.org/description: Number}}
  - name: at
    type: {kind: Timestamp, unit: Microsecond}
  - name: who
    type:
      kind: Option
      inner: {kind: Struct, fields: [{name: name, type: String, extra: {x.org/pii: true}}]}
  - {name: tags, type: {kind: List, itemType: {kind: Option, inner: String}}}
extra: {x.org/owner: {team: metrics}}
"""
JSON = (
    '{"fields":[{"name":"id","type":{"kind":"UInt64"},"extra":{"opendatafabric.org/description":"Number"}},'
    '{"name":"at","type":{"kind":"Timestamp","unit":"Microsecond"}},'
    '{"name":"who","type":{"kind":"Option","inner":{"kind":"Struct","fields":'
    '[{"name":"name","type":{"kind":"String"},"extra":{"x.org/pii":true}}]}}},'
    '{"name":"tags","type":{"kind":"List","itemType":{"kind":"Option","inner":{"kind":"String"}}}}],'
    '"extra":{"x.org/owner":{"team":"metrics"}}}'
)


@pytest.fixture
def schema(here: Path) -> str:
    (here / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return "schema.yaml"


def of_json(text: str) -> Schema:
    value = json.loads(text)
    return Schema(tuple(field_from_json(f) for f in value["fields"]), Extra(value.get("extra", {})))


def test_the_command_knows_the_forms_of_its_library() -> None:
    assert ((*SOURCE_FORMS, "table"), TARGET_FORMS) == (command._FROM, command._TO)


@pytest.mark.parametrize(
    ("form", "ending"),
    [
        ("odf-yaml", "yaml"),
        ("odf-json", "json"),
        ("odf-event", "bin"),
        ("arrow", "arrow"),
        ("spark", "json"),
        ("paimon", "json"),
    ],
)
def test_there_and_back_loses_nothing(lakebed: CommandLine, schema: str, form: str, ending: str) -> None:
    there = lakebed("convert", schema, "--to", form, "--strict", "--out", f"x.{ending}")
    assert (there.code, there.out, there.err) == (0, "", "")
    told = ["--from", form] if ending == "bin" else []
    back = lakebed("convert", f"x.{ending}", *told, "--to", "odf-json", "--strict")
    assert (back.code, back.err) == (0, "")
    assert of_json(back.out) == of_json(JSON)


def test_what_is_put_out(lakebed: CommandLine, schema: str, here: Path) -> None:
    assert lakebed.ok("convert", schema, "--to", "odf-json") == JSON + "\n"
    assert lakebed.ok("convert", schema, "--to", "odf-yaml").startswith("fields:\n")
    spark = json.loads(lakebed.ok("convert", schema, "--to", "spark"))
    assert spark["fields"][0]["type"] == "decimal(20,0)"
    assert spark["fields"][0]["metadata"]["comment"] == "Number"
    paimon = json.loads(lakebed.ok("convert", schema, "--to", "paimon"))
    assert [f["type"] for f in paimon["fields"]][:2] == [
        "DECIMAL(20, 0) NOT NULL",
        "TIMESTAMP(6) WITH LOCAL TIME ZONE NOT NULL",
    ]
    assert lakebed.ok("convert", schema, "--to", "parquet-text") == (
        "message arrow_schema {\n"
        "  REQUIRED INT64 id (INTEGER(64,false));\n"
        "  REQUIRED INT64 at (TIMESTAMP(MICROS,true));\n"
        "  OPTIONAL group who {\n"
        "    REQUIRED BYTE_ARRAY name (STRING);\n"
        "  }\n"
        "  REQUIRED group tags (LIST) {\n"
        "    REPEATED group list {\n"
        "      OPTIONAL BYTE_ARRAY element (STRING);\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    arrow = json.loads(lakebed.ok("convert", schema, "--to", "arrow-json"))
    assert arrow["fields"][1]["data_type"] == {"Timestamp": ["Microsecond", "UTC"]}
    rows = json.loads(lakebed.ok("convert", schema, "--to", "json-schema"))
    assert rows["required"] == ["id", "at", "tags"]


def test_losses_are_told_and_strict_refuses(lakebed: CommandLine, here: Path) -> None:
    (here / "a.yaml").write_text("fields: [{name: a, type: {kind: Time, unit: Second}, extra: {x.org/y: 1}}]\n")
    loose = lakebed("convert", "a.yaml", "--to", "parquet-text")
    assert loose.code == 0
    assert "REQUIRED INT32 a (TIME(MILLIS,false));" in loose.out
    assert "warning[LB2107]: lost: a: the attributes x.org/y" in loose.err
    assert "the unit Second" in loose.err
    strict = lakebed("convert", "a.yaml", "--to", "parquet-text", "--strict")
    assert (strict.code, strict.out) == (1, "")
    assert strict.err.count("error[LB2107]") == 2
    refused = lakebed("convert", "a.yaml", "--to", "ddl")
    assert refused.code == 1
    assert "LB2203" in refused.err


def test_a_parquet_file_is_a_source(lakebed: CommandLine, here: Path) -> None:
    columns = {"a": pa.array([1], pa.uint8()), "t": pa.array([0], pa.timestamp("us")), "s": pa.array(["x"])}
    pq.write_table(pa.table(columns).replace_schema_metadata({"pandas": "{}"}), "rows.parquet")
    assert lakebed.ok("convert", "rows.parquet", "--to", "odf-json") == (
        '{"fields":[{"name":"a","type":{"kind":"Option","inner":{"kind":"UInt8"}}},'
        '{"name":"t","type":{"kind":"Option","inner":{"kind":"Timestamp","unit":"Microsecond","timezone":"UTC"}},'
        '"extra":{"paimon.apache.org/type":"TIMESTAMP(6)"}},'
        '{"name":"s","type":{"kind":"Option","inner":{"kind":"String"}}}]}\n'
    )
    whole = json.loads(lakebed.ok("convert", "rows.parquet", "--to", "odf-json", "--encodings"))
    assert whole["extra"] == {"arrow.lakebed.dev/metadata": {"pandas": "{}"}}
    assert whole["fields"][2]["extra"]["arrow.apache.org/bufferEncoding"]["kind"] == "Contiguous"
    event = lakebed("convert", "rows.parquet", "--to", "odf-event", "--out", "e.bin")
    assert "lost: t: the type TIMESTAMP(6)" in event.err


def test_a_parquet_file_with_a_carrier_gives_the_schema_that_it_was_written_with(
    lakebed: CommandLine, schema: str, here: Path
) -> None:
    lakebed.ok("convert", schema, "--to", "arrow", "--out", "s.arrow")
    arrow = pa.ipc.read_schema(pa.py_buffer((here / "s.arrow").read_bytes()))
    pq.write_table(arrow.empty_table(), "rows.parquet")
    assert of_json(lakebed.ok("convert", "rows.parquet", "--to", "odf-json", "--strict")) == of_json(JSON)


def test_ddl_is_a_source_and_a_target(lakebed: CommandLine, here: Path) -> None:
    (here / "a.ddl").write_text("a INT NOT NULL, b ARRAY<STRING>")
    assert lakebed.ok("convert", "a.ddl", "--to", "ddl", "--strict") == "a INT NOT NULL, b ARRAY<STRING>\n"


def test_a_table_is_a_source(lakebed: CommandLine, orders: Path, here: Path) -> None:
    printed = lakebed.ok("convert", "shop.orders@0", "--to", "odf-yaml")
    assert "x.org/unit: EUR" in printed
    stored = (here / "warehouse/shop.db/orders/schema/schema-0").read_text()
    assert lakebed.ok("convert", "shop.orders", "--to", "paimon") == stored + "\n"
    assert "day DATE NOT NULL" in lakebed.ok("convert", "shop.orders", "--to", "ddl")
    made = json.loads(lakebed.ok("convert", "orders.yaml", "--to", "paimon"))
    assert made["partitionKeys"] == ["day"]
    # What `apply` made is marked as such; a file that is only converted is not.
    unmarked = json.loads(stored.replace('\\"applied\\":0,', ""))
    assert {**made, "timeMillis": 0} == {**unmarked, "timeMillis": 0}


def test_a_table_keeps_its_field_ids_and_keys_in_other_forms(lakebed: CommandLine, orders: Path, here: Path) -> None:
    stored = json.loads((here / "warehouse/shop.db/orders/schema/schema-0").read_text())
    ids = [f["id"] for f in stored["fields"]]
    iceberg = json.loads(lakebed.ok("convert", "shop.orders@0", "--to", "iceberg"))
    assert [f["id"] for f in iceberg["fields"]] == ids
    lakebed.ok("convert", "shop.orders@0", "--to", "avro", "--strict", "--out", "t.avsc")
    avro = json.loads((here / "t.avsc").read_text())
    assert (avro["namespace"], avro["name"]) == ("shop", "orders")
    assert [f["field-id"] for f in avro["fields"]] == ids
    delta = json.loads(lakebed.ok("convert", "t.avsc", "--to", "delta", "--strict"))
    assert [f["metadata"]["delta.columnMapping.id"] for f in delta["fields"]] == ids
    told = lakebed("convert", "shop.orders@0", "--to", "iceberg", "--strict")
    assert (told.code, "the partition keys day" in told.err) == (1, True)


def test_blocks_and_events(lakebed: CommandLine, here: Path, schema: str) -> None:
    lakebed.ok("convert", schema, "--to", "odf-event", "--out", "e.bin")
    found = decode_event((here / "e.bin").read_bytes()).schema
    assert found == of_json(JSON)
    (here / "block.yaml").write_text(
        "kind: MetadataBlock\nversion: 3\ncontent:\n  systemTime: 2024-01-01T00:00:00Z\n  sequenceNumber: 1\n"
        "  event:\n    kind: SetDataSchema\n    schema:\n      fields: [{name: a, type: Int8}]\n"
    )
    expected = '{"fields":[{"name":"a","type":{"kind":"Int8"}}]}\n'
    assert lakebed.ok("convert", "block.yaml", "--to", "odf-json") == expected


def test_a_stored_block_is_known_by_its_envelope(lakebed: CommandLine, orders: Path, here: Path) -> None:
    lakebed.ok("event", "export", "shop.orders", "chain")
    names = {str(p) for p in (here / "chain").rglob("f1620*") if p.is_file()}
    found = {name: lakebed("convert", name, "--to", "ddl") for name in names}
    assert sorted(result.code for result in found.values()) == [0, 2], "a Seed holds no schema"
    assert any("day DATE NOT NULL" in result.out for result in found.values())


def test_bytes_go_to_a_pipe_but_not_to_a_terminal(lakebed: CommandLine, here: Path, schema: str) -> None:
    piped = process("convert", schema, "--to", "arrow", stdout=subprocess.PIPE)
    out, _ = piped.communicate(timeout=60)
    assert from_arrow(pa.ipc.read_schema(pa.py_buffer(out)))[0] == of_json(JSON)
    code, screen = on_terminal("convert", schema, "--to", "odf-event")
    assert code == 2
    assert "LB7053" in screen
    result = lakebed.json("convert", schema, "--to", "odf-event")
    assert decode_event(base64.b64decode(result["base64"])).schema == of_json(JSON)
    assert (result["from"], result["to"], result["losses"]) == ("odf-yaml", "odf-event", [])


def test_arrow_json_reads_back(lakebed: CommandLine, here: Path) -> None:
    arrow = pa.schema(
        [
            pa.field("a", pa.dictionary(pa.int8(), pa.large_string(), True), False),
            pa.field("b", pa.map_(pa.string(), pa.list_view(pa.decimal256(50, -2)), True), metadata={b"k": b"\xff"}),
            pa.field("c", pa.run_end_encoded(pa.int16(), pa.time64("ns"))),
            pa.field("d", pa.list_(pa.binary(3), 2)),
            pa.field("e", pa.struct([pa.field("f", pa.duration("s"))])),
        ]
    )
    (here / "a.ipc").write_bytes(arrow.serialize().to_pybytes())
    first = lakebed.ok("convert", "a.ipc", "--to", "arrow-json", "--strict")
    (here / "a.json").write_text(first)
    assert lakebed.ok("convert", "a.json", "--to", "arrow-json", "--strict") == first
    lakebed.ok("convert", "a.json", "--to", "arrow", "--out", "b.ipc")
    back = pa.ipc.read_schema(pa.py_buffer((here / "b.ipc").read_bytes()))
    assert back.equals(arrow)
    assert back.field("b").metadata == {b"k": b"\xff"}


@pytest.mark.parametrize(
    ("name", "content", "words", "code"),
    [
        ("x.bin", b"\x00\x01", [], "LB7050"),
        ("x.json", b"{}", [], "LB7050"),
        ("x.parquet", b"PAR1", [], "LB7052"),
        ("x.bin", b"\x00\x01", ["--from", "arrow"], "LB7052"),
        ("x.bin", b"{", ["--from", "spark"], "LB7052"),
        ("x.bin", b'{"fields": 3}', ["--from", "spark"], "LB7052"),
        ("x.bin", b'{"fields": [3]}', ["--from", "arrow-json"], "LB2409"),
        ("x.bin", b"\xff", ["--from", "ddl"], "LB7052"),
        ("x.bin", b"a FOO", ["--from", "ddl"], "LB2202"),
        ("x.yaml", b"fields: []\n---\nfields: []\n", [], "LB1020"),
        ("x.yaml", b"fields: [{name: a, type: Foo}]\n", [], "LB1050"),
    ],
)
def test_bad_input(lakebed: CommandLine, here: Path, name: str, content: bytes, words: list[str], code: str) -> None:
    (here / name).write_bytes(content)
    found = lakebed("convert", name, *words, "--to", "odf-json")
    assert found.code in (1, 2)
    assert found.out == ""
    assert code in found.err, found.err


@pytest.mark.parametrize(
    ("form", "content", "reason"),
    [
        ("arrow-json", b"{}", "expected an object with `fields`, a list, and perhaps `metadata`"),
        ("arrow-json", b'{"fields": [{"name": "a", "nullable": true}]}', "expected an object with `name`, `data_type`"),
        ("arrow-json", b'{"fields": [3]}', "`nullable` (true or false), found 3"),
        ("spark", b'{"type": "struct"}', "the schema has no 'fields'"),
        ("spark", b'{"fields": [{"name": "a"}]}', "'a' has no 'type'"),
        ("spark", b'{"fields": [{"name": "a", "type": {"type": "array"}}]}', "the array of 'a' has no 'elementType'"),
        ("spark", b"[]", "it is no object of the type 'struct'"),
        ("ddl", b"a INT, \xff", "byte 7 is not UTF-8"),
    ],
)
def test_why_input_cannot_be_read_is_said_in_words(
    lakebed: CommandLine, here: Path, form: str, content: bytes, reason: str
) -> None:
    (here / "x").write_bytes(content)
    found = lakebed("convert", "x", "--from", form, "--to", "odf-json")
    assert (found.code, reason in found.err) == (1, True), found.err
    assert "Error" not in found.err


def test_lengths_of_spark_are_read_and_its_other_metadata_is_a_loss(lakebed: CommandLine, here: Path) -> None:
    member = {"name": "x", "type": "string", "nullable": True, "metadata": {"CURRENT_DEFAULT": "'a'"}}
    struct = {"type": "struct", "fields": [member]}
    metadata = {"__CHAR_VARCHAR_TYPE_STRING": "struct<x:varchar(10)>"}
    column = {"name": "a", "type": struct, "nullable": True, "metadata": metadata}
    (here / "s.json").write_text(json.dumps({"type": "struct", "fields": [column]}))
    found = lakebed("convert", "s.json", "--to", "paimon")
    assert (found.code, '"VARCHAR(10)"' in found.out) == (0, True), found.out
    assert "a.x: the metadata CURRENT_DEFAULT" in found.err
    strict = lakebed("convert", "s.json", "--to", "ddl", "--strict")
    assert (strict.code, strict.out) == (1, "")
    assert lakebed.ok("convert", "s.json", "--to", "ddl") == "a STRUCT<x VARCHAR(10)>\n"


def test_a_file_that_is_not_there(lakebed: CommandLine, here: Path) -> None:
    found = lakebed("convert", "gone.parquet", "--to", "ddl")
    assert found.code == 1
    assert "gone.parquet: No such file" in found.err


def test_documents_need_neither_arrow_nor_spark(here: Path, schema: str) -> None:
    plain = ("odf-yaml", "odf-json", "odf-event", "paimon", "parquet-text", "json-schema", *WRITTEN_FORMS)
    code = (
        "import sys; sys.modules |= dict.fromkeys(['pyarrow', 'pyspark'])\n"
        "from lakebed.cli.main import run\n"
        "for form in sys.argv[1:]:\n"
        "    print(form, run(['convert', 'schema.yaml', '--to', form, '--out', 'out']), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *plain, "arrow", "spark"],
        capture_output=True,
        text=True,
        env=environment(),
        check=True,
        timeout=60,
    )
    told = [line.split() for line in done.stderr.splitlines() if line[-2:] in (" 0", " 1")]
    assert dict(told) == {  # type: ignore[comparison-overlap]
        **dict.fromkeys(plain, "0"),
        **dict.fromkeys(["arrow", "spark"], "1"),
    }
    assert "pip install 'lakebed[arrow]'" in done.stderr
    assert "pip install 'lakebed[spark]'" in done.stderr


def test_the_editor_schema_is_printed(lakebed: CommandLine) -> None:
    printed = json.loads(lakebed.ok("schema"))
    assert printed["$schema"].startswith("http://json-schema.org/")
    assert lakebed.json("schema") == printed


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ('{"Timestamp": ["Foo", null]}', 'Timestamp with a list of a unit ("Second" or'),
        ('{"Timestamp": "Second"}', "Timestamp with a list of a unit"),
        ('{"Time32": "x"}', 'Time32 with a unit ("Second" or "Millisecond" or'),
        ('{"Time32": "Nanosecond"}', "a type that Arrow can make ("),
        ('{"Time64": ["Second"]}', "Time64 with a unit"),
        ('{"Duration": 3}', "Duration with a unit"),
        ('{"Decimal128": [1]}', "Decimal128 with a list of two whole numbers, precision and scale"),
        ('{"Decimal128": [99, 2]}', "a type that Arrow can make ("),
        ('{"FixedSizeBinary": "x"}', "FixedSizeBinary with a whole number of bytes"),
        ('{"FixedSizeList": [3]}', "FixedSizeList with a list of a field"),
        ('{"List": 3}', "an object with `name`, `data_type` and `nullable`"),
        ('{"Struct": 3}', "Struct with a list of fields"),
        ('{"Map": [{"data_type": {"Struct": []}}, true]}', "Map with a list of a field"),
        ('{"Dictionary": ["Int8"]}', "Dictionary with a list of two types"),
        ('{"RunEndEncoded": [1, 2]}', "RunEndEncoded with a list of two fields"),
        ('"Foo"', "a type that this PyArrow has"),
        ('{"Foo": 1}', "a type that this PyArrow has"),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_what_was_expected_in_arrow_json_is_said_with_its_place(
    lakebed: CommandLine, here: Path, type_: str, expected: str, nested: bool
) -> None:
    field = f'{{"name": "a", "nullable": true, "data_type": {type_}}}'
    if nested:
        field = f'{{"name": "s", "nullable": true, "data_type": {{"Struct": [{field}]}}}}'
    (here / "x.json").write_text(f'{{"fields": [{field}]}}', encoding="utf-8")
    found = lakebed("convert", "x.json", "--from", "arrow-json", "--to", "odf-json")
    where = "s.a" if nested else "a"
    assert found.code == 1
    assert f"this is no Arrow schema in JSON: {where}: expected {expected}" in found.err, found.err


@pytest.mark.parametrize(
    ("form", "content"),
    [
        ("spark", '{"type": "struct", "type": "struct", "fields": []}'),
        ("spark", '{"type": "struct", "fields": [\n{"name": "a", "name": "b", "type": "long", "nullable": true}]}'),
        ("arrow-json", '{"fields": [], "fields": []}'),
        (
            "paimon",
            '{"version": 3, "id": 0, "fields": [{"id": 0, "name": "a", "name": "b", "type": "INT"}],\n'
            '"highestFieldId": 0, "partitionKeys": [], "primaryKeys": [], "options": {}, "timeMillis": 0}',
        ),
        ("odf-json", '{"fields": [{"name": "a", "name": "b", "type": "Int32"}]}'),
    ],
)
def test_a_key_twice_is_named_in_every_json(lakebed: CommandLine, here: Path, form: str, content: str) -> None:
    (here / "x.json").write_text(content, encoding="utf-8")
    found = lakebed("convert", "x.json", "--from", form, "--to", "odf-json")
    assert (found.code, found.out) == (1, "")
    assert "x.json:" in found.err
    assert "error[LB1006]: the key" in found.err
