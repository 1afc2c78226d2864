"""The example of RFC-016: its YAML manifest becomes a table, a Spark schema, and the same manifest again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.convert.spark import from_struct_type, to_struct_type
from lakebed.manifest import dump_table, parse_manifest

ROW = (
    '{"offset": 18446744073709551615, "op": 255, "system_time": "2024-01-01T00:00:00.123Z", '
    '"event_time": "2024-01-01T00:00:00Z", "mri_content_hash": "f1620", '
    '"subject": {"id": "did:x:1", "gender": null}, "area_codes": ["a", "b"]}\n'
)


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
    assert lake.schema("lab.scan").logical == declared
    again = parse_manifest(dump_table(lake.infer("lab.scan")))
    assert again.tables[0].schema == declared
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
    assert int(row.offset) == 2**64 - 1
    assert (row.op, row.subject.id, row.subject.gender, row.area_codes) == (255, "did:x:1", None, ["a", "b"])
    notes = {f.name: f.metadata for f in frame.schema.fields}
    assert "Information about the subject" in str(notes["subject"])
