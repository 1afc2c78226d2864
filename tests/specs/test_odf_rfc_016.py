"""The example of RFC-016: its YAML manifest becomes a table, a Spark schema, and the same manifest again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.convert.spark import from_struct_type, to_struct_type
from lakebed.manifest import dump_table, parse_manifest
from lakebed.model import Schema

ROW = (
    f'{{"event_time": "2024-01-01T00:00:00Z", "mri_content_hash": "f1620{"ab" * 32}", '
    f'"subject": {{"id": "did:odf:fed01{"cd" * 32}", "gender": null}}, "area_codes": ["a", "b"]}}\n'
)
#: What a stored schema says of the columns that ingest fills, beside what was declared.
MARK = "lakebed.dev/systemColumn"


def unmarked(schema: Schema) -> Schema:
    return replace(schema, fields=tuple(replace(f, extra=f.extra.without(MARK)) for f in schema.fields))


@pytest.fixture
def example(shared: Path) -> str:
    text = (shared / "specs" / "odf-rfc-016.md").read_text(encoding="utf-8")
    block = text.split("### Manifest Schema Format")[1].split("```yaml\n")[1].split("```")[0]
    assert block.startswith("- kind: SetDataSchema")
    return block


def test_the_manifest_becomes_a_table_and_the_manifest_again(example: str, tmp_path: Path) -> None:
    manifest = parse_manifest(example, name="lab.scan")
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    lake.apply(lake.plan(manifest))
    assert lake.plan(manifest).is_noop
    declared = manifest.tables[0].schema
    stored = lake.schema("lab.scan").logical
    assert unmarked(stored) == declared
    assert [f.name for f in stored.fields if MARK in f.extra] == ["offset", "op", "system_time", "event_time"]
    again = parse_manifest(dump_table(lake.infer("lab.scan")))
    assert unmarked(again.tables[0].schema) == declared
    assert lake.plan(again).is_noop


def test_the_manifest_becomes_a_spark_schema_and_the_schema_again(example: str) -> None:
    declared = parse_manifest(example, name="lab.scan").tables[0].schema
    assert from_struct_type(to_struct_type(declared)) == declared


def test_rows_go_through_the_table(example: str, tmp_path: Path, spark: Any) -> None:
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    manifest = parse_manifest(example, name="lab.scan")
    lake.apply(lake.plan(manifest))
    source = tmp_path / "rows.jsonl"
    source.write_text(ROW)
    assert lake.ingest(spark, "lab.scan", str(source)).rows_written == 1
    frame = lake.read(spark, "lab.scan")
    row = frame.collect()[0]
    assert (int(row.offset), row.op, row.subject.gender, row.area_codes) == (0, 0, None, ["a", "b"])
    assert row.system_time is not None
    notes = {f.name: f.metadata for f in frame.schema.fields}
    assert "Information about the subject" in str(notes["subject"])
