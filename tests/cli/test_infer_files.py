"""`lakebed infer` of files and of tables of other formats, and `--update` by them."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.command_line import CommandLine
from lakebed.contract_forms import READ_FORMS, write_contract
from lakebed.convert.contract import Contract
from lakebed.infer_files import infer_tables, with_new_columns
from lakebed.manifest import parse_manifest
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.model.extra import DESCRIPTION, FIELD_ID

ORDERS = Contract(
    Schema(
        (Field("id", m.Int64(), Extra({FIELD_ID: 4, DESCRIPTION: "Number"})), Field("day", m.Option(m.Date()))),
        Extra({DESCRIPTION: "Orders"}),
    ),
    "shop.orders",
    ("id",),
)
NAMES = {"iceberg": "orders.json", "delta": "orders.json", "avro": "orders.avsc", "json-schema": "orders.json"}


@pytest.mark.parametrize("form", READ_FORMS)
def test_every_form_of_contracts_gives_a_manifest_that_plans(lakebed: CommandLine, here: Path, form: str) -> None:
    file = here / NAMES.get(form, "orders.yaml")
    file.write_text(write_contract(ORDERS, form)[0], encoding="utf-8")
    told = ["--from", "delta"] if form == "delta" else []
    text = lakebed.ok("infer", file.name, *told, "--name", "shop.orders")
    (declared,) = parse_manifest(text).tables
    assert (declared.name, declared.primary_keys) == ("shop.orders", ("id",))
    # Iceberg's schema alone has no place for the description of the table.
    assert declared.schema.fields == (Field("id", m.Int64(), Extra({DESCRIPTION: "Number"})), ORDERS.schema.fields[1])
    assert declared.description == (None if form == "iceberg" else "Orders")
    (here / "made.yaml").write_text(text, encoding="utf-8")
    lakebed.ok("init", "warehouse")
    assert "shop.orders" in lakebed.ok("plan", "made.yaml")


def _commit(log: Path, version: int, *actions: dict[str, Any]) -> None:
    (log / f"{version:020}.json").write_text("\n".join(json.dumps(a) for a in actions) + "\n", encoding="utf-8")


def _metadata(*names: str, **more: Any) -> dict[str, Any]:
    fields = [{"name": n, "type": "long", "nullable": True, "metadata": {}} for n in names]
    said = {"id": "x", "schemaString": json.dumps({"type": "struct", "fields": fields}), "partitionColumns": [names[0]]}
    return {"metaData": {**said, "configuration": {}, **more}}


def _columns(path: Path) -> list[str]:
    (found,) = infer_tables(path)
    return [f.name for f in found.manifest.schema.fields]


def test_a_delta_table_is_what_the_newest_metadata_of_its_log_says(lakebed: CommandLine, here: Path) -> None:
    log = here / "orders" / "_delta_log"
    log.mkdir(parents=True)
    _commit(log, 0, {"protocol": {}}, _metadata("a"))
    _commit(log, 1, {"commitInfo": {}}, _metadata("a", "b"))
    _commit(log, 2, {"add": {"path": "x"}})
    (log / "_last_checkpoint").write_text("{}", encoding="utf-8")
    text = lakebed.ok("infer", "orders")
    (declared,) = parse_manifest(text).tables
    assert (declared.name, declared.partition_keys) == ("orders", ("a",))
    assert [f.name for f in declared.schema.fields] == ["a", "b"]
    # A checkpoint stands for the commits before it, which may be gone.
    said = _metadata("a", "b", "c")["metaData"] | {"configuration": [("delta.appendOnly", "true")]}
    kind = pa.map_(pa.string(), pa.string())
    rows = pa.array(
        [None, said], pa.struct([(k, kind if k == "configuration" else pa.array([v]).type) for k, v in said.items()])
    )
    for version in (0, 1):
        (log / f"{version:020}.json").unlink()
    pq.write_table(pa.table({"metaData": rows}), log / f"{2:020}.checkpoint.parquet")
    assert _columns(here / "orders") == ["a", "b", "c"]
    _commit(log, 3, _metadata("d"))
    assert _columns(here / "orders") == ["d"]


def test_a_delta_table_without_metadata_is_damaged(lakebed: CommandLine, here: Path) -> None:
    (here / "t" / "_delta_log").mkdir(parents=True)
    found = lakebed("infer", "./t")
    assert (found.code, "LB7052" in found.err) == (1, True)


def test_an_iceberg_table_is_what_its_newest_metadata_says(lakebed: CommandLine, here: Path) -> None:
    metadata = here / "lake" / "orders" / "metadata"
    metadata.mkdir(parents=True)

    def version(*names: str) -> str:
        fields = [{"id": n + 1, "name": name, "required": False, "type": "long"} for n, name in enumerate(names)]
        schema = {"schema-id": 0, "type": "struct", "fields": fields}
        location = str(metadata.parent)
        return json.dumps({"format-version": 2, "location": location, "current-schema-id": 0, "schemas": [schema]})

    (metadata / "00009-a.metadata.json").write_text(version("a"), encoding="utf-8")
    (metadata / "00010-b.metadata.json").write_text(version("a", "b"), encoding="utf-8")
    assert _columns(metadata.parent) == ["a", "b"]
    (metadata / "v11.gz.metadata.json").write_bytes(gzip.compress(version("c").encode()))
    assert _columns(metadata.parent) == ["c"]
    (metadata / "version-hint.text").write_text("9", encoding="utf-8")
    assert parse_manifest(lakebed.ok("infer", "lake/orders")).tables[0].name == "orders"
    assert _columns(metadata.parent) == ["a"]
    named = lakebed.ok("infer", "lake/orders/metadata/00010-b.metadata.json")
    assert [f.name for f in parse_manifest(named).tables[0].schema.fields] == ["a", "b"]


def test_files_of_rows(here: Path) -> None:
    (here / "people.csv").write_text("name,age,born,none\nAda,36,1815-12-10,\nBob,,2001-01-01,\n", encoding="utf-8")
    (here / "x.jsonl").write_text('{"a": 1, "b": {"c": [1.5]}}\n{"a": null}\n', encoding="utf-8")
    (here / "x.tsv").write_text("a\tb\n1\tx\n", encoding="utf-8")
    option = m.Option
    (csv,) = infer_tables(here / "people.csv")
    assert csv.manifest.name == "people"
    assert csv.manifest.schema == Schema(
        (
            Field("name", option(m.String())),
            Field("age", option(m.Int64())),
            Field("born", option(m.Date())),
            Field("none", option(m.String())),
        )
    )
    (lines,) = infer_tables(here / "x.jsonl")
    floats = option(m.List(option(m.Float64())))
    assert lines.manifest.schema.fields == (
        Field("a", option(m.Int64())),
        Field("b", option(m.Struct((Field("c", floats),)))),
    )
    (tabs,) = infer_tables(here / "x.tsv")
    assert [f.name for f in tabs.manifest.schema.fields] == ["a", "b"]


def test_a_file_of_rows_of_avro_and_one_of_parquet(here: Path) -> None:
    buffer = io.BytesIO()
    schema = {"type": "record", "name": "orders", "namespace": "shop", "fields": [{"name": "a", "type": "int"}]}
    fastavro.writer(buffer, fastavro.parse_schema(schema), [{"a": 1}])
    (here / "x.avro").write_bytes(buffer.getvalue())
    (avro,) = infer_tables(here / "x.avro")
    assert (avro.manifest.name, avro.manifest.schema) == ("shop.orders", Schema((Field("a", m.Int32()),)))
    pq.write_table(pa.table({"a": pa.array(["x"])}), here / "p.parquet")
    (parquet,) = infer_tables(here / "p.parquet")
    assert parquet.manifest.schema == Schema((Field("a", m.Option(m.String())),)), "without hints of encodings"


def test_files_of_rows_in_a_directory_are_one_table_and_declarations_are_one_each(
    lakebed: CommandLine, here: Path
) -> None:
    lake = here / "lake"
    lake.mkdir()
    pq.write_table(pa.table({"a": [1]}), lake / "part-0.parquet")
    pq.write_table(pa.table({"a": ["x"], "b": [True]}), lake / "part-1.parquet")
    (lake / "_SUCCESS").write_text("", encoding="utf-8")
    (lake / "t.ddl").write_text("x INT", encoding="utf-8")
    (lake / "own.yaml").write_text("kind: Table\n", encoding="utf-8")
    found = lakebed("infer", "lake/")
    tables = parse_manifest(found.out).tables
    assert [t.name for t in tables] == ["lake", "t"]
    assert [f.name for f in tables[0].schema.fields] == ["a", "b"]
    assert "lost: a: the type String of part-1.parquet" in found.err
    refused = lakebed("infer", "lake/", "--name", "x")
    assert (refused.code, "LB7055" in refused.err) == (2, True)
    assert lakebed.json("infer", "lake/")["tables"] == ["lake", "t"]


def test_a_file_of_dbt_gives_a_manifest_of_each_model(lakebed: CommandLine, here: Path) -> None:
    (here / "schema.yml").write_text(
        "version: 2\nmodels:\n  - {name: a, columns: [{name: x, data_type: int}]}\n"
        "  - {name: b, columns: [{name: y, data_type: text}]}\n"
    )
    assert [t.name for t in parse_manifest(lakebed.ok("infer", "schema.yml")).tables] == ["a", "b"]


MANIFEST = """\
# Ours
kind: Table
version: 1
content:
  name: shop.orders
  schema:
    fields:
      # The number
      - {name: id, type: Int32}
      - name: who   # a person
        type: {kind: Struct, fields: [{name: mail, type: String}]}
"""


def test_directories_beside_files_are_told_and_nothing_empty_is_written(lakebed: CommandLine, here: Path) -> None:
    inside = here / "in" / "day=1"
    inside.mkdir(parents=True)
    (inside / "two.csv").write_text("a,b\n1,x\n")
    found = lakebed("infer", "in/")
    assert (found.codes_of_text, "or one of its directories" in found.err) == (["LB7050"], True)
    (here / "in" / "one.csv").write_text("a,b\n1,x\n")
    found = lakebed("infer", "in/")
    assert "lost: what is in the directories day=1; infer each by its own name" in found.err
    assert not {"primaryKeys", "partitionKeys", "options"} & set(found.out.replace(":", " ").split())


def test_update_adds_the_columns_that_only_the_file_has(lakebed: CommandLine, here: Path) -> None:
    (here / "orders.yaml").write_text(MANIFEST, encoding="utf-8")
    (here / "x.ddl").write_text(
        "id BIGINT, who STRUCT<mail STRING, name STRING NOT NULL>, at DATE NOT NULL", encoding="utf-8"
    )
    found = lakebed("infer", "x.ddl", "--update", "orders.yaml")
    assert (found.code, found.out) == (0, "orders.yaml has the new columns.\n")
    assert "LB7056" in found.err
    assert "id has the type Int64 there; the manifest keeps its own" in found.err
    text = (here / "orders.yaml").read_text()
    assert text.startswith(MANIFEST[: MANIFEST.index("      - name: who")])
    assert "# a person" in text
    (declared,) = parse_manifest(text).tables
    option = m.Option
    members = (Field("mail", m.String()), Field("name", option(m.String())))
    assert declared.schema.fields == (
        Field("id", m.Int32()),
        Field("who", m.Struct(members)),
        Field("at", option(m.Date())),
    )
    again = lakebed("infer", "x.ddl", "--update", "orders.yaml", "--name", "shop.orders")
    assert again.out == "orders.yaml has all columns already.\n"


def test_update_has_to_know_the_table(lakebed: CommandLine, here: Path) -> None:
    two = MANIFEST + "---\n" + MANIFEST.replace("shop.orders", "shop.others")
    (here / "two.yaml").write_text(two, encoding="utf-8")
    (here / "x.ddl").write_text("id INT, new DATE", encoding="utf-8")
    found = lakebed("infer", "x.ddl", "--update", "two.yaml")
    assert (found.code, "LB1630" in found.err) == (1, True)
    lakebed.ok("infer", "x.ddl", "--update", "two.yaml", "--name", "shop.others")
    first, second = parse_manifest((here / "two.yaml").read_text()).tables
    assert [len(first.schema.fields), len(second.schema.fields)] == [2, 3]
    (here / "schema.yml").write_text("models: [{name: a, columns: []}, {name: b, columns: []}]")
    several = lakebed("infer", "schema.yml", "--from", "dbt", "--update", "two.yaml")
    assert (several.code, "LB7055" in several.err) == (2, True)


@pytest.mark.parametrize(
    ("source", "content", "code"),
    [
        ("gone.parquet", None, "LB7009"),
        ("gone/there", None, "LB7009"),
        ("x.bin", b"\x00", "LB7050"),
        ("x.csv", b"", "LB7052"),
        ("x.parquet", b"PAR1", "LB7052"),
        ("x.json", b'{"current-schema-id": 1, "schemas": [], "partition-specs": 3}', "LB2602"),
        ("x.json", b'{"schemaString": "{"}', "LB2602"),
        ("x.avsc", b'{"type": "record", "name": "r", "fields": [{"name": "a", "type": ["int", "string"]}]}', "LB2603"),
    ],
)
def test_what_cannot_be_inferred(
    lakebed: CommandLine, here: Path, source: str, content: bytes | None, code: str
) -> None:
    if content is not None:
        (here / source).write_bytes(content)
    found = lakebed("infer", source)
    assert found.code in (1, 2)
    assert code in found.err
    assert found.out == ""


def test_a_damaged_log_of_a_delta_table_is_told_with_its_file(lakebed: CommandLine, here: Path) -> None:
    log = here / "t" / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("{", encoding="utf-8")
    found = lakebed("infer", "./t")
    assert (found.code, f"{0:020}.json cannot be read as delta" in found.err) == (1, True)


def test_what_no_table_can_store_is_told_and_the_manifest_printed(lakebed: CommandLine, here: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([None], pa.decimal256(60, 2))}), here / "x.parquet")
    found = lakebed("infer", "x.parquet")
    assert (found.code, "LB2102" in found.err) == (1, True)
    assert "precision: 60" in found.out


def test_a_directory_that_is_called_as_a_table_is(lakebed: CommandLine, orders: Path, here: Path) -> None:
    (here / "shop.orders").mkdir()
    assert parse_manifest(lakebed.ok("infer", "shop.orders")).tables[0].partition_keys == ("day",)


def test_new_columns_are_optional_at_every_depth() -> None:
    struct = m.Struct((Field("x", m.Int8()),))
    more = m.Struct((Field("x", m.Int64()), Field("y", m.Int8())))
    declared = Schema((Field("l", m.Option(m.List(struct))), Field("m", m.Map(m.String(), struct))))
    found = Schema(
        (Field("l", m.List(m.Option(more))), Field("m", m.Option(m.Map(m.String(), more))), Field("n", m.Int8()))
    )
    wider = m.Struct((Field("x", m.Int8()), Field("y", m.Option(m.Int8()))))
    assert with_new_columns(declared, found) == Schema(
        (Field("l", m.Option(m.List(wider))), Field("m", m.Map(m.String(), wider)), Field("n", m.Option(m.Int8())))
    )
    assert with_new_columns(declared, declared) == declared
