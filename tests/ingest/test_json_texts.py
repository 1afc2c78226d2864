"""JSON that stands in texts is parsed once, in a step of its own: plans grow with the declared type, and no faster."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame

from ingest.ingest_lake import SmallLake
from lakebed.ingest.checked_rows import PreparedRows, prepare
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.sources.open_source import open_files
from lakebed.ingest.sources.source_files import SourceFormat, identify
from lakebed.ingest.sources.source_listing import FoundFile
from lakebed.ingest.sources.source_options import check_options
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.model import Bool, Decimal, Field, Float64, Int32, List, LogicalType, Map, Option, String, Struct

INNER = Struct((Field("t", Option(String())), Field("n", Option(Int32()))))


def deep(levels: int) -> LogicalType:
    inner: LogicalType = String()
    for _ in range(levels):
        inner = Struct((*INNER.fields, Field("f", Option(Float64())), Field("s", Option(inner))))
    return inner


def prepared(root: Path, lake: SmallLake, levels: int, format_: SourceFormat) -> PreparedRows:
    """The rows of a source, for a table whose one column is a struct of so many levels."""
    home = root / f"{format_}{levels}"
    home.mkdir()
    here = SmallLake(home, lake.spark)
    here.create(Field("s", Option(deep(levels))))
    match format_:
        case SourceFormat.CSV:
            path = here.file("a.csv", "s\n{}\n")
        case SourceFormat.JSON:
            path = here.file("a.json", '{"s": {}}\n')
        case SourceFormat.PARQUET:
            path = here.parquet("a.parquet", {"s": ["{}"]})
    schema = here.tables.get_schema_manager("db", "t").load_latest_schema()
    options = check_options(format_, {})
    parts = open_files(lake.spark, identify([FoundFile(path, path)]), format_, options, schema.field_names)
    return prepare(lake.spark, parts, schema, Rules("UTC"), unknown=UnknownColumns.FAIL)


def size(frame: DataFrame) -> int:
    """About how many expressions the plan has, as it was made and as it is run."""
    execution = frame._jdf.queryExecution()
    return sum(str(plan).count("(") for plan in (execution.analyzed(), execution.optimizedPlan()))


@pytest.mark.parametrize("format_", list(SourceFormat))
def test_plans_grow_with_the_depth_and_no_faster(tmp_path: Path, lake: SmallLake, format_: SourceFormat) -> None:
    sizes = []
    for levels in (1, 3, 5):
        rows = prepared(tmp_path, lake, levels, format_)
        sizes.append((size(rows.all()), size(rows.bad())))
    for first, second, third in zip(*sizes, strict=True):
        # Each look at a member names the way to it, so that two more levels may cost half as much more than two before.
        assert third - second < 1.5 * (second - first), sizes


def test_json_in_texts_of_structs_lists_and_maps(lake: SmallLake) -> None:
    lake.create(
        Field("i", Int32()),
        Field("s", Option(Struct((Field("a", Option(INNER)), Field("plain", Option(String())))))),
        Field("l", Option(List(Option(INNER)))),
        Field("m", Option(Map(String(), Option(List(Decimal(5, 2)))))),
    )
    text = pa.string()
    types = {
        "i": pa.int32(),
        "s": pa.struct({"a": text, "plain": text}),
        "l": pa.list_(text),
        "m": pa.map_(text, text),
    }
    rows = [
        {"i": 1, "s": {"a": '{"t": 1.10, "n": 2}', "plain": "{"}, "l": ['{"t": [1e5]}', None], "m": [("k", "[1.50]")]},
        {"i": 2, "s": {"a": None, "plain": None}, "l": [], "m": []},
        {"i": 3, "s": None, "l": None, "m": None},
        {"i": 4, "s": {"a": '{"n": 1'}, "l": ["{}", "7"], "m": [("k", "[1.505]"), ("q", "[")]},
    ]
    columns = {name: pa.array([row[name] for row in rows], type_) for name, type_ in types.items()}
    result = lake.ingest(lake.parquet("a.parquet", pa.table(columns)))
    assert (result.rows_written, result.rows_quarantined) == (3, 1)
    first, second, third = lake.rows(order="i")
    assert first["s"] == {"a": {"t": "1.10", "n": 2}, "plain": "{"}
    assert first["l"] == [{"t": "[1e5]", "n": None}, None]
    assert [(k, [str(d) for d in v]) for k, v in first["m"]] == [("k", ["1.50"])]
    assert (second["s"], second["l"], second["m"]) == ({"a": None, "plain": None}, [], [])
    assert (third["s"], third["l"], third["m"]) == (None, None, None)
    assert lake.problems() == {
        ("s.a", "LB6202", '{"n": 1'),
        ("l[1]", "LB6202", "7"),
        ("m['k'][0]", "LB6204", "1.505"),
        ("m['q']", "LB6202", "["),
    }
    # What was read is told as it was, not as it was parsed.
    assert json.loads(lake.bad()[0]["raw"])["l"] == ["{}", "7"]


def test_a_list_of_a_wrong_length_is_shown_as_the_source_has_it(lake: SmallLake) -> None:
    lake.create(Field("l", Option(List(Option(INNER), fixed_length=2))))
    lake.ingest(lake.parquet("a.parquet", {"l": pa.array([["{}"]], pa.list_(pa.string()))}))
    assert lake.problems() == {("l", "LB6205", '["{}"]')}


def test_a_text_that_the_source_declares_as_one_becomes_a_struct(lake: SmallLake) -> None:
    lake.create(Field("s", Option(INNER)))
    schema = lake.tables.get_schema_manager("db", "t").load_latest_schema()
    path = lake.file("a.csv", 's\n"{""t"": 1.10}"\n')
    options = check_options(SourceFormat.CSV, {})
    parts = open_files(lake.spark, identify([FoundFile(path, path)]), SourceFormat.CSV, options, schema.field_names)
    says = SourceSchema({"s": Option(String())})
    rows = prepare(lake.spark, parts, schema, Rules("UTC"), unknown=UnknownColumns.FAIL, declared=says)
    assert [(r["v0"].t, r["bad"]) for r in rows.all().collect()] == [("1.10", False)]


#: Types, a text of each, and what it becomes; numbers and texts are kept as they are written, truth values are not.
KINDS = {
    "l": (List(Int32()), "[1, 2]"),
    "b": (List(Bool()), "[true]"),
    "t": (List(String()), '["a]"]'),
    "s": (Struct((Field("x", Option(Int32())),)), '{"x": 1}'),
    "m": (Map(String(), Bool()), '{"x": true}'),
    "n": (List(List(Int32())), "[[1]]"),
}
#: What may stand behind a text without being noticed by a parser that stops at the end of a value.
TAILS = ["x", "]", "}", ",", "[", "[1]", "{}", '"', "1", "//c", ",[1]"]


@pytest.mark.parametrize("format_", ["csv", "parquet", "items", "frame"])
def test_text_behind_a_value_makes_a_row_bad(lake: SmallLake, format_: str) -> None:
    inside = format_ == "items"
    fields = (Field(n, Option(List(type_) if inside else type_)) for n, (type_, _) in KINDS.items())
    lake.create(Field("i", Int32()), *fields)
    given = [(name, text + blank + tail) for name, (_, text) in KINDS.items() for blank in ("", " ") for tail in TAILS]
    good = [(name, f" {text}\n") for name, (_, text) in KINDS.items()]
    texts = {name: [text if name == n else None for n, text in given + good] for name in KINDS}
    numbers = pa.array(range(len(given + good)), pa.int32())
    if format_ == "csv":
        out = io.StringIO()
        rows = zip(numbers.to_pylist(), *texts.values(), strict=True)
        csv.writer(out, lineterminator="\n").writerows([("i", *KINDS), *rows])
        result = lake.ingest(lake.file("a.csv", out.getvalue()), options={"multiLine": "true"})
    else:
        values = {n: [None if t is None else [t] for t in v] if inside else v for n, v in texts.items()}
        type_ = pa.list_(pa.string()) if inside else pa.string()
        table = pa.table({"i": numbers, **{n: pa.array(v, type_) for n, v in values.items()}})
        source = lake.spark.createDataFrame(table) if format_ == "frame" else lake.parquet("a.parquet", table)
        result = lake.ingest(source)
    assert (result.rows_quarantined, result.rows_written) == (len(given), len(good))
    assert lake.problems() == {(f"{name}[0]" if inside else name, "LB6202", text) for name, text in given}


def test_half_of_a_pair_of_surrogates_makes_a_row_bad(lake: SmallLake) -> None:
    lake.create(Field("l", List(String())))
    texts = [r'["\ud800"]', r'["a\uDC00b"]', r'["\udbff", 1]', r'["\\\ud800"]']
    good = {r'["\ud83d\ude00"]': "\U0001f600", r'["\\ud800"]': r"\ud800", r'["\u00e9"]': "\u00e9"}
    result = lake.ingest(lake.parquet("a.parquet", {"l": pa.array([*texts, *good])}))
    assert (result.rows_quarantined, result.rows_written) == (len(texts), len(good))
    assert sorted(r["l"][0] for r in lake.rows()) == sorted(good.values())
    assert lake.problems() == {("l", "LB6202", text) for text in texts}
