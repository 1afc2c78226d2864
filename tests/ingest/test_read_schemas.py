"""Declared sources: JSON documents, the types of a read schema, event times by rule, exact numbers in JSON."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, date, datetime, time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession

import lakebed
from ingest.ingest_lake import FIRST_MOMENT, SmallLake
from lakebed.errors import IngestError, ManifestError
from lakebed.ingest.sources.json_documents import split_document
from lakebed.manifest.event_time import EventTime, EventTimeKind

TABLE = """
kind: Table
version: 1
content:
  name: db.t
  read: %s
  %s
  schema: {fields: [%s]}
"""


def applied(root: Path, spark: SparkSession, read: str, fields: str, more: str = "") -> SmallLake:
    small = SmallLake(root, spark)
    lake = lakebed.open(root / "warehouse", layout="paimon")
    path = root / "t.yaml"
    path.write_text(TABLE % (read, more, fields))
    lake.apply(lake.plan(path))
    assert not lake.plan(path).tables[0].changes
    written = lakebed.manifest.dump_table(lake.infer("db.t"))
    assert not lake.plan(lakebed.manifest.parse_manifest(written)).tables[0].changes
    return small


def optional(name: str, kind: str) -> str:
    return f"{{name: {name}, type: {{kind: Option, inner: {kind}}}}}"


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(JSON_VALUES, max_size=5), st.sampled_from([None, 1, "\t"]), st.booleans())
def test_a_document_is_split_into_its_records(items: list[object], indent: int | str | None, plain: bool) -> None:
    whole = json.dumps({"x": {"y,]": 1, "a": items}}, indent=indent, ensure_ascii=plain)
    found = list(split_document(whole, "x.a"))
    assert [json.loads(record) for record in found] == items
    assert list(split_document("\ufeff " + json.dumps(items), None)) == [json.dumps(item) for item in items]


def test_documents_are_read_as_lines_are(tmp_path: Path, spark: SparkSession) -> None:
    fields = [
        optional("id", "Int32"),
        optional("d", "{kind: Decimal, precision: 38, scale: 6}"),
        optional("s", "String"),
    ]
    lake = applied(
        tmp_path,
        spark,
        "{kind: Json, subPath: data.items, encoding: utf-16}",
        ", ".join(fields),
        "systemColumns: kamu",
    )
    wide = "12345678901234567890123456789012.500000"
    first = '{"data": {"items": [{"id": 1,\n "d": WIDE}, {"id": "x"}, 7, {"id": 2, "id": 3}]}}'.replace("WIDE", wide)
    source = lake.file("in/a.json", first.encode("utf-16"))
    zipped = lake.file("in/b.json.gz", gzip.compress('{"data": {"items": {"id": 4, "s": "ä"}}}'.encode("utf-16")))
    result = lake.ingest([source, zipped])
    assert (result.rows_written, result.rows_quarantined) == (2, 3)
    rows = lake.rows(order="offset")
    assert [(r["offset"], r["id"], r["d"] and str(r["d"]), r["s"]) for r in rows] == [
        (0, 1, wide, None),
        (1, 4, None, "ä"),
    ]
    assert {(r["source_file"], r["source_offset"], r["raw"]) for r in lake.bad()} == {
        (source, 1, '{"id": "x"}'),
        (source, 2, "7"),
        (source, 3, '{"id": 2, "id": 3}'),
    }
    lake.ingest(lake.file("c.json", '{"id": 9}\n'), format="json")
    for text, told in (
        ('{"data": [}', "line 1 column 11"),
        ('{"data": {"items": 7}}', "neither a list nor an object"),
        ('{"data": {"item": []}}', "no member 'items'"),
        ('{"data": {"items": []}} 1', "text follows"),
        ("[" * 100_000, "nested too deeply"),
    ):
        with pytest.raises(IngestError, match="LB6444") as error:
            lake.ingest(lake.file("bad.json", text.encode("utf-16")))
        assert told in error.value.diagnostics[0].message
    assert len(lake.snapshots()) == 2


def test_values_are_of_the_declared_type_first(tmp_path: Path, spark: SparkSession) -> None:
    source = ["{name: a, type: Int32}", optional("b", "Float64"), optional("c", "Timestamp"), optional("e", "Bool")]
    source += [optional("f", "{kind: Time, unit: Second}"), optional("g", "Date")]
    table = [optional("a", "String"), optional("b", "Int32"), optional("c", "Date"), optional("e", "String")]
    table += [optional("f", "{kind: Time, unit: Millisecond}"), optional("g", "Timestamp")]
    read = f"{{kind: Csv, dateFormat: dd.MM.yyyy, schema: {{fields: [{', '.join(source)}]}}}}"
    lake = applied(tmp_path, spark, read, ", ".join(table))
    rows = [
        "007,1.0,2024-01-01T00:00:00Z,TRUE,10:00:01,31.12.2024",
        "x,1,,,,",
        ",1,,,,",
        "1,1.5,,,,",
        "1,,2024-01-01T12:00:00Z,,,",
    ]
    result = lake.ingest(lake.file("a.csv", "\n".join([*rows, "1,,,maybe,1:00:00.5,2024-12-31"]) + "\n"))
    assert (result.rows_written, result.rows_quarantined) == (1, 5)
    (row,) = lake.rows()
    assert (row["a"], row["b"], row["c"], row["e"]) == ("7", 1, date(2024, 1, 1), "true")
    assert (row["f"], row["g"]) == (time(10, 0, 1), datetime(2024, 12, 31, tzinfo=UTC))
    assert lake.problems() == {
        ("a", "LB6202", "x"),
        ("a", "LB6201", "NULL"),
        ("b", "LB6204", "1.5"),
        ("c", "LB6204", "2024-01-01 12:00:00"),
        ("e", "LB6202", "maybe"),
        ("f", "LB6204", "1:00:00.5"),
        ("g", "LB6202", "2024-12-31"),
    }
    assert {p["expected"] for r in lake.bad() for p in r["problems"] if p["path"] == "a"} == {"Int32"}


def test_types_that_never_meet_are_told_before_a_row_is_read(tmp_path: Path, spark: SparkSession) -> None:
    lake = applied(tmp_path, spark, "{kind: NdJson, ddlSchema: [a BOOL]}", optional("a", "Date"))
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("a.json", '{"a": true}\n'))
    assert [(d.code, d.path, d.found) for d in error.value.diagnostics] == [("LB6110", "a", "boolean")]


def test_nested_types_of_a_source(tmp_path: Path, spark: SparkSession) -> None:
    def fields(x: str, item: str) -> str:
        struct = f"{{kind: Struct, fields: [{optional('x', x)}]}}"
        return f"{optional('s', struct)}, {optional('l', f'{{kind: List, itemType: {item}}}')}"

    said = fields("{kind: Decimal, precision: 5, scale: 2}", "Int8")
    lake = applied(tmp_path, spark, f"{{kind: Json, schema: {{fields: [{said}]}}}}", fields("String", "Int64"))
    text = '[{"s": {"x": 1.5}, "l": [1]}, {"s": {"x": 1.555}}, {"l": [1, 300]}]'
    result = lake.ingest(lake.file("a.json", text))
    assert (result.rows_written, result.rows_quarantined) == (1, 2)
    assert lake.rows() == [{"s": {"x": "1.50"}, "l": [1]}]
    assert lake.problems() == {("s.x", "LB6204", "1.555"), ("l[1]", "LB6203", "300")}


def test_numbers_in_json_are_exact_at_every_depth(lake: SmallLake) -> None:
    from lakebed.model import Field, Float64, List, Option, String, Struct

    inner = Struct((Field("s", Option(String())), Field("f", Option(Float64()))))
    lake.create(Field("s", Option(String())), Field("n", Option(inner)), Field("l", Option(List(String()))))
    wide = "123456789012345678901234567890123456789012"
    line = '{"s": WIDE, "n": {"s": WIDE, "f": -0.0}, "l": [WIDE.5, "-0.0", -0.0, "a\\"WIDE"]}\n'
    line += '{"s": -0.0}\n{"s": "WIDE"}\n'
    lake.ingest(lake.file("a.json", line.replace("WIDE", wide)))
    rows = lake.rows()
    assert [r["s"] for r in rows] == [wide, "-0.0", wide]
    assert rows[0]["n"]["s"] == wide
    assert str(rows[0]["n"]["f"]) == "-0.0"
    assert rows[0]["l"] == [wide + ".5", "-0.0", "-0.0", f'a"{wide}']


@pytest.mark.parametrize(
    ("pattern", "form", "path", "moment"),
    [
        (r"-([0-9-]+)[.]csv", None, "/a/rates-2024-05-06.csv", datetime(2024, 5, 6, tzinfo=UTC)),
        (r"_(.*)[.]csv", "yyyyMMdd'T'HHmmss", "a_20240506T070809.csv", datetime(2024, 5, 6, 7, 8, 9, tzinfo=UTC)),
        (r"_(.*)[.]csv", "yyyy-MM-dd HH.mmXXX", "a_2024-05-06 07.00+02:00.csv", datetime(2024, 5, 6, 5, tzinfo=UTC)),
        (r"_(.*)[.]csv", "%Y", "a_2024.csv", datetime(2024, 1, 1, tzinfo=UTC)),
        (r"_(.*)[.]csv", None, "a_May.csv", None),
        (r"_([0-9])?[.]csv", None, "a_.csv", None),
    ],
)
def test_a_path_says_when(pattern: str, form: str | None, path: str, moment: datetime | None) -> None:
    rule = EventTime(EventTimeKind.PATH, pattern, form)
    assert rule.problem() is None
    assert rule.of_path(path) == moment


@pytest.mark.parametrize(
    "rule",
    [
        "{}",
        "{kind: FromNowhere}",
        "{kind: FromPath}",
        '{kind: FromPath, pattern: "("}',
        "{kind: FromPath, pattern: a}",
        "{kind: FromPath, pattern: (a), timestampFormat: QQQ}",
        "{kind: FromMetadata, pattern: (a)}",
    ],
)
def test_rules_that_cannot_be_followed(tmp_path: Path, rule: str) -> None:
    read = f"{{kind: Csv, eventTime: {rule}}}"
    with pytest.raises(ManifestError) as error:
        lakebed.open(tmp_path, layout="paimon").plan(lakebed.manifest.parse_manifest(TABLE % (read, "", "")))
    assert {d.code for d in error.value.diagnostics} & {"LB6445", "LB1041"}


def test_event_times_come_from_files(tmp_path: Path, spark: SparkSession) -> None:
    rule = '{kind: FromPath, pattern: "in/x ([0-9-]+)[.]csv"}'
    read = f"{{kind: Csv, header: true, eventTime: {rule}}}"
    lake = applied(tmp_path, spark, read, "{name: city, type: String}", "systemColumns: spec")
    files = [
        lake.file("in/x 2024-01-02.csv", "city\na\n"),
        lake.file("in/x 2023-05-06.csv", "city,event_time\nb,\nc,2020-01-01T00:00:00Z\n"),
    ]
    lake.ingest(files)
    expected = [
        ("a", datetime(2024, 1, 2, tzinfo=UTC)),
        ("b", datetime(2023, 5, 6, tzinfo=UTC)),
        ("c", datetime(2020, 1, 1, tzinfo=UTC)),
    ]
    assert [(r["city"], r["event_time"]) for r in lake.rows(order="offset")] == expected
    with pytest.raises(IngestError) as error:
        lake.ingest(lake.file("in/y.csv", "city\na\n"))
    assert [d.code for d in error.value.diagnostics] == ["LB6436"]

    manifest = tmp_path / "t.yaml"
    other = lakebed.open(tmp_path / "warehouse")
    manifest.write_text(manifest.read_text().replace(rule, "{kind: FromMetadata}"))
    other.apply(other.plan(manifest))
    path = lake.file("in/y.csv", "city\nd\n")
    os.utime(path, (1_600_000_000.25, 1_600_000_000.25))
    lake.ingest(path)
    manifest.write_text(manifest.read_text().replace("FromMetadata", "FromSystemTime"))
    other.apply(other.plan(manifest))
    lake.ingest(lake.file("in/z.csv", "city\ne\n"))
    rows = lake.rows(order="offset")
    assert rows[3]["event_time"] == datetime.fromtimestamp(1_600_000_000.25, UTC)
    assert rows[4]["event_time"] == rows[4]["system_time"]
    assert rows[4]["event_time"].timestamp() * 1000 >= FIRST_MOMENT


def test_a_dataset_says_where_event_times_come_from_and_is_told_of_columns_that_are_none(tmp_path: Path) -> None:
    text = """
kind: DatasetSnapshot
version: 1
content:
  name: db.t
  kind: Root
  metadata:
  - {kind: SetVocab, offsetColumn: n}
  - kind: SetDataSchema
    schema: {fields: [{name: n, type: String}, {name: op, type: Int32}, {name: offset, type: Bool}]}
  - kind: SetPollingSource
    fetch: {kind: Url, url: "https://x/y.csv", eventTime: {kind: fromMetadata}}
    read: {kind: Csv}
    merge: {kind: Append}
"""
    manifest = lakebed.manifest.parse_manifest(text)
    (warning,) = manifest.diagnostics
    assert (warning.code, warning.path, warning.found) == ("LB1090", "n", "String")
    assert warning.position is not None
    lake = lakebed.open(tmp_path, layout="paimon")
    lake.apply(lake.plan(manifest))
    schema = lake.tables.get_schema_manager("db", "t").load_latest_schema()
    assert schema.logical.extra["lakebed.dev/read"] == {"kind": "Csv", "eventTime": {"kind": "FromMetadata"}}
