"""Merge on ingest: the source's columns come into the table before its rows do."""

from __future__ import annotations

import json
from decimal import Decimal
from textwrap import indent
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import LakebedError
from lakebed.model import Field
from lakebed.model import types as logical
from lakebed.physical.paimon_types import Array, Row


def declared(lake: SmallLake) -> str:
    return lake.create(Field("k", logical.Int64()), Field("a", logical.Option(logical.Int32())))


def types(lake: SmallLake) -> dict[str, str]:
    return {f.name: str(f.type) for f in lake.tables.get_schema_manager("db", "t").load_latest_schema().fields}


def refused(lake: SmallLake, source: Any, choice: Any) -> list[str]:
    with pytest.raises(LakebedError) as caught:
        lake.ingest(source, merge_schema=choice)
    return [d.code for d in caught.value.diagnostics]


def test_text_files_add_columns(lake: SmallLake) -> None:
    declared(lake)
    csv = lake.file("a.csv", "k,note,a\n1,hello,7\n2,,x\n")
    assert refused(lake, csv, "widen") == ["LB4509"]
    assert refused(lake, csv, None) == ["LB6112"]
    result = lake.ingest(csv, merge_schema=True)
    assert (result.schema_id, result.rows_written, result.rows_quarantined) == (1, 1, 1)
    assert types(lake) == {"k": "BIGINT NOT NULL", "a": "INT", "note": "STRING"}
    assert [str(c) for c in result.merged] == ["added column note: Option<String>"]
    json = lake.file("b.json", '{"k": 3, "o": {"x": [1.5], "y": "s"}, "b": true}\n{"k": 4, "o": {"z": 1}, "b": null}\n')
    result = lake.ingest(json, merge_schema="add")
    assert (result.schema_id, result.rows_written) == (2, 2)
    found = types(lake)
    assert found["b"] == "BOOLEAN"
    assert {n: found["o"].count(n) for n in ('"x"', '"DOUBLE"', '"y"', '"z"', '"BIGINT"')} == dict.fromkeys(
        ('"x"', '"DOUBLE"', '"y"', '"z"', '"BIGINT"'), 1
    )
    assert [r["k"] for r in lake.rows(order="k")] == [1, 3, 4]
    # The columns are there: nothing is merged any more, and a repeated run does nothing.
    assert lake.ingest(json, merge_schema="add").skipped_files
    assert max(lake.tables.get_schema_manager("db", "t").ids()) == 2


def test_inferred_types_hold_every_number_that_they_were_inferred_from(lake: SmallLake) -> None:
    declared(lake)
    numbers = {
        "f": ("DOUBLE", ["1", "1.5", "0.30000000000000004", "1e23", "-2.50", "1e-300"]),
        "w": ("DECIMAL(38, 0)", ["12345678901234567890", "1", "-7"]),
        "d": ("DECIMAL(38, 11)", ["9007199254740993", "0.5"]),
        "e": ("DECIMAL(38, 25)", ["0.12345678901234567890", "12345678.5"]),
        "p": ("DOUBLE", ["1.0", "2"]),
        "q": ("DOUBLE", ["1e2"]),
        "r": ("DECIMAL(38, 9)", ["12345678901234567890", "1.0"]),
        "s": ("STRING", ["1e400", "1.10"]),
        "t": ("STRING", ["123456789012345678901234567890123456789012"]),
        "u": ("STRING", ["1" * 39]),
        "v": ("STRING", ["-" + "1" * 39, "1"]),
        "w38": ("DECIMAL(38, 0)", ["-" + "1" * 38]),
        "y38": ("STRING", ["1" * 38, "0.5"]),
        "z": ("STRING", ["1", "1e2147483647", "1e-999999"]),
        "x": ("STRING", ["1.10", '"a"']),
        "y": ("STRING", ["1.0", '{"b": 1.10}', "[ 1]"]),
        "i": ("BIGINT", ["9223372036854775807", "-0"]),
    }
    most = max(len(values) for _, values in numbers.values())
    rows = [{n: v[i] if i < len(v) else "null" for n, (_, v) in numbers.items()} for i in range(most)]
    lines = []
    for i, row in enumerate(rows):
        flat = ", ".join(f'"{n}": {v}' for n, v in row.items())
        listed = ", ".join(f'"{n}": [{{"v": {v}}}]' for n, v in row.items())
        lines.append(f'{{"k": {i}, {flat}, "o": {{{listed}}}}}\n')
    result = lake.ingest(lake.file("a.json", "".join(lines)), merge_schema="add")
    assert (result.rows_quarantined, lake.bad()) == (0, [])
    found = types(lake)
    assert {n: found[n] for n in numbers} == {n: type_ for n, (type_, _) in numbers.items()}
    schema = lake.tables.get_schema_manager("db", "t").load_latest_schema()
    inside = next(f.type for f in schema.fields if f.name == "o")
    assert isinstance(inside, Row)
    for member in inside.fields:
        assert isinstance(member.type, Array)
        assert isinstance(member.type.element, Row)
        assert str(member.type.element.fields[0].type) == numbers[member.name][0]
    for name, (type_, values) in numbers.items():
        made = [r[name] for r in lake.rows(order="k")][: len(values)]
        if type_ == "STRING":
            assert made == [v.strip('"') for v in values]
        else:
            assert [Decimal(str(m)) for m in made] == [Decimal(v) for v in values]


def test_parquet_files_and_dataframes_widen_types_too(lake: SmallLake) -> None:
    declared(lake)
    wide = pa.table(
        {"k": pa.array([1], pa.int32()), "a": pa.array([2**40], pa.int64()), "t": pa.array([7], pa.time64("us"))}
    )
    narrow = pa.table({"k": pa.array([2], pa.int64()), "a": pa.array([5], pa.int16())})
    sources = [lake.parquet("a.parquet", wide), lake.parquet("b.parquet", narrow)]
    result = lake.ingest(sources, merge_schema="widen")
    assert (result.schema_id, result.rows_written) == (1, 2)
    assert types(lake) == {"k": "BIGINT NOT NULL", "a": "BIGINT", "t": "BIGINT"}
    assert [c.to_json() for c in result.merged] == [
        {"column": "a", "before": "Int32", "after": "Int64"},
        {"column": "t", "before": None, "after": "Option<Time(Microsecond)>"},
    ]
    manager = lake.tables.get_schema_manager("db", "t")
    assert str(manager.load_latest_schema().logical.field("t").type.inner) == str(  # type: ignore[union-attr]
        logical.Time(logical.TimeUnit.MICROSECOND)
    )
    frame = lake.spark.sql("select 3L as k, named_struct('x', timestamp_ntz'2024-01-01') as s, 5S as a")
    assert lake.ingest(frame, merge_schema="add").schema_id == 2
    assert '"TIMESTAMP(6) NOT NULL"' in types(lake)["s"]
    assert [r["a"] for r in lake.rows(order="k")] == [2**40, 5, 5]


def test_only_what_is_safe_and_by_name(lake: SmallLake) -> None:
    declared(lake)
    session = lake.spark
    assert refused(lake, session.sql("select 1L as k, 1.5F as a"), "widen") == ["LB4206"]
    assert refused(lake, session.sql("select 1L as k, 1 as A"), "add") == ["LB4504"]
    assert refused(lake, session.sql("select 1L as k, 1 as x"), "addd") == ["LB4506"]
    assert types(lake) == {"k": "BIGINT NOT NULL", "a": "INT"}
    # The table's type stays where only columns are added: values that do not fit go to quarantine.
    result = lake.ingest(session.sql("select 1L as k, 5000000000L as a"), merge_schema="add")
    assert (result.schema_id, result.rows_quarantined) == (0, 1)


FORMER, BLANKS, UNKNOWN = "LB6132", "LB6133", "LB6112"
OLD = """
- {name: k, type: Int64}
- {name: a, type: {kind: Option, inner: Int32}}
- name: s
  type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: {kind: Option, inner: Int32}}]}}
- name: l
  type:
    kind: Option
    inner: {kind: List, itemType: {kind: Struct, fields: [{name: y, type: {kind: Option, inner: Int32}}]}}
- name: m
  type:
    kind: Option
    inner:
      kind: Map
      keyType: String
      valueType: {kind: Struct, fields: [{name: z, type: {kind: Option, inner: Int32}}]}
"""
RENAMES = {"a": "b", "x": "x2", "y": "y2", "z": "z2"}
#: A row under the former names, which are at every level, and its Arrow types.
FORMERLY = {"k": 1, "a": 1, "s": {"x": 1}, "l": [{"y": 1}], "m": {"q": {"z": 1}}}
ARROW = pa.schema(
    {
        "k": pa.int64(),
        "a": pa.int32(),
        "s": pa.struct({"x": pa.int32()}),
        "l": pa.list_(pa.struct({"y": pa.int32()})),
        "m": pa.map_(pa.string(), pa.struct({"z": pa.int32()})),
    }
)
#: Where they are: in a schema, in rows, in what is inferred from rows of JSON, and how the column is called now.
PLACES = [
    ("a", "a", "a", "b"),
    ("s.x", "s.x", "s.x", "x2"),
    ("l.element.y", "l[].y", "l.element.y", "y2"),
    ("m.value.z", "m['q'].z", None, "z2"),
]


def renamed(lake: SmallLake) -> None:
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    text = "kind: Table\nversion: 1\ncontent:\n  name: db.t\n  schema:\n    fields:"
    for renames in ({}, RENAMES):
        fields = OLD
        for old, new in renames.items():
            renamed_from = f"extra: {{lakebed.dev/renamedFrom: {old}}}"
            fields = fields.replace(f"{{name: {old}, ", f"{{name: {new}, {renamed_from}, ")
        opened.apply(opened.plan(lakebed.manifest.parse_manifest(text + indent(fields, "    "))))


def test_former_names_are_neither_added_nor_left_out(lake: SmallLake) -> None:
    renamed(lake)
    lines = lake.file("a.jsonl", json.dumps(FORMERLY))
    parquet = lake.parquet("a.parquet", pa.Table.from_pylist([FORMERLY | {"m": [("q", {"z": 1})]}], ARROW))
    for source in (lines, parquet, lake.spark.read.parquet(parquet)):
        for choice in (None, "add"):
            with pytest.raises(LakebedError) as error:
                lake.ingest(source, merge_schema=choice)
            which = 0 if source is not lines else 1 if choice is None else 2
            found = {d.path: d for d in error.value.diagnostics}
            wanted = {place[which]: place[3] for place in PLACES if place[which] is not None}
            assert found.keys() == wanted.keys()
            assert {d.code for d in found.values()} == {FORMER}
            assert all(now in found[path].message for path, now in wanted.items())
        with pytest.raises(LakebedError) as error:
            lake.ingest(source, unknown_columns="ignore")
        assert [d.code for d in error.value.diagnostics] == [FORMER] * len(PLACES)
    # Beside the column itself, what has its former name is an unknown column as others are.
    row = {"k": 1, "a": 1, "b": 2, "s": {"x": 1, "x2": 2}, "l": [{"y": 1, "y2": 2}], "m": {"q": {"z": 1, "z2": 2}}}
    both = lake.file("both.jsonl", json.dumps(row))
    assert refused(lake, both, "add") == [FORMER] * 3
    assert lake.ingest(both, unknown_columns="ignore").rows_written == 1
    # What is inferred of objects does not tell maps from structs: the rows do, once nothing else is refused.
    for name in ("m", "both-m"):
        lines = lake.file(f"{name}.jsonl", json.dumps({"k": 1, "m": (FORMERLY if name == "m" else row)["m"]}))
        with pytest.raises(LakebedError) as error:
            lake.ingest(lines, merge_schema="add")
        assert [(d.code, d.path) for d in error.value.diagnostics] == [(FORMER, "m['q'].z")]


def test_a_header_with_blanks_is_asked_about(lake: SmallLake) -> None:
    declared(lake)
    path = lake.file("a.csv", "k, a ,\tnew\n1,2,3\n")
    assert refused(lake, path, "add") == [BLANKS]
    with pytest.raises(LakebedError) as error:
        lake.ingest(path)
    assert [(d.code, d.suggestions) for d in error.value.diagnostics] == [(UNKNOWN, ("a",)), (UNKNOWN, ())]
    assert "ignoreLeadingWhiteSpace" in (error.value.diagnostics[0].remedy or "")
