"""One schema through all type systems and back, the example of RFC-016 among them, and the page that shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given

from lakebed.catalog import schema_file
from lakebed.catalog.columns import to_columns
from lakebed.catalog.first_version import first_version
from lakebed.convert.arrow import from_arrow, to_arrow
from lakebed.convert.ddl import from_ddl, to_ddl
from lakebed.convert.spark import from_struct_type, to_struct_type
from lakebed.events import decode_event, encode_set_data_schema
from lakebed.manifest.load import parse_schema
from lakebed.manifest.yaml_text import yaml_text
from lakebed.model import Schema, schema_json
from lakebed.schema_forms import SchemaSource, write_schema
from lakebed.testing.physical import storable_schemas

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = REPOSITORY / "docs" / "why" / "five-views.md"
VIEWS = {"spark": "json", "paimon": "json", "arrow": "text", "parquet-text": "text"}


def through_yaml(schema: Schema) -> Schema:
    found = parse_schema(yaml_text(schema_json(schema)))
    assert isinstance(found, Schema)
    return found


def through_event(schema: Schema) -> Schema:
    found = decode_event(encode_set_data_schema(schema)).schema
    assert found is not None
    return found


def through_paimon(schema: Schema) -> Schema:
    made = first_version(to_columns(schema), (), (), {}, None, 0)
    return schema_file.loads(schema_file.dumps(made), source="schema-0").logical


def through_spark(schema: Schema) -> Schema:
    struct = to_struct_type(schema)
    return from_struct_type(type(struct).fromJson(json.loads(struct.json())))


def through_arrow(schema: Schema) -> Schema:
    arrow, report = to_arrow(schema, strict=False)
    found, lost = from_arrow(pa.ipc.read_schema(arrow.serialize()))
    assert not lost
    assert found == schema or report
    return found


@given(storable_schemas())
def test_odf_to_paimon_to_spark_to_arrow_to_odf_is_the_identity(schema: Schema) -> None:
    assert through_arrow(through_spark(through_paimon(schema))) == schema


@pytest.mark.parametrize("through", [through_yaml, through_event, through_paimon, through_spark, through_arrow])
def test_the_example_of_the_rfc_goes_through_every_view_and_back(shared: Path, through: Any) -> None:
    text = (shared / "specs/odf-rfc-016.md").read_text()
    block = re.search(r"### Manifest Schema Format\n```yaml\n(.*?)```", text, re.DOTALL)
    assert block
    found = parse_schema(block[1])
    assert not isinstance(found, Schema)
    assert len(found.schema.fields) == 7
    assert through(found.schema) == found.schema
    assert through(found.schema).fingerprint == found.schema.fingerprint


def test_column_definitions_say_what_they_cannot_say_of_the_example(shared: Path) -> None:
    """They have names, types and nullability of all columns, and a report of the rest."""
    text = (shared / "specs/odf-rfc-016.md").read_text()
    block = re.search(r"### Manifest Schema Format\n```yaml\n(.*?)```", text, re.DOTALL)
    assert block
    found = parse_schema(block[1])
    assert not isinstance(found, Schema)
    columns, report = to_ddl(found.schema)
    again, _ = from_ddl(columns)
    assert [(f.name, f.nullable) for f in again.fields] == [(f.name, f.nullable) for f in found.schema.fields]
    assert "op TINYINT UNSIGNED NOT NULL" in columns
    assert "subject STRUCT<id STRING NOT NULL, gender STRING>" in columns
    assert all(told in str(report) for told in ("event_time", "mri_content_hash", "area_codes"))


# The page of the five views.


def blocks() -> list[str]:
    """The fenced blocks of the page, in order."""
    return re.findall(r"^```[a-z]*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def views() -> list[str]:
    """What the code says that the page must show, after the YAML that it begins with."""
    found = parse_schema(blocks()[0])
    assert isinstance(found, Schema)
    source = SchemaSource("odf-yaml", found)
    event = write_schema(source, "odf-event").content
    arrow, _ = to_arrow(found)
    assert isinstance(event, bytes)
    texts = [_dump(event), str(write_schema(source, "paimon").content), str(write_schema(source, "spark").content)]
    return [*texts, arrow.remove_metadata().to_string() + "\n" + _carried(arrow)]


def _dump(data: bytes) -> str:
    rows = [data[i : i + 16] for i in range(0, len(data), 16)]
    return "\n".join(f"{i * 16:04x}  {row.hex(' ', 4):<35}  {_shown(row)}" for i, row in enumerate(rows))


def _shown(row: bytes) -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)


def _carried(arrow: pa.Schema) -> str:
    ((key, value),) = (arrow.metadata or {}).items()
    return f"-- metadata --\n{key.decode()}: {value.decode()}"


def test_the_page_shows_what_the_code_does() -> None:
    shown = [block.rstrip("\n") for block in blocks()[1:]]
    assert shown == views(), "the five views are not those of the code any more; each block has to be as above"


def test_every_view_on_the_page_leads_back() -> None:
    declared = parse_schema(blocks()[0])
    assert isinstance(declared, Schema)
    for through in (through_yaml, through_event, through_paimon, through_spark, through_arrow):
        assert through(declared) == declared
