"""What is written is read back equal, and writing it again gives the same text."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings

from lakebed.manifest import TableManifest, dump_table, parse_manifest
from lakebed.model import Field, Option, Schema, Struct, Timestamp, TimeUnit, schema_json
from lakebed.testing import fields, odf_manifests, schemas, table_manifests

slow_to_draw = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def read_back(declared: TableManifest) -> TableManifest:
    manifest = parse_manifest(dump_table(declared), name=declared.name)
    assert manifest.diagnostics == ()
    (found,) = manifest.tables
    return found


@slow_to_draw
@given(table_manifests())
def test_tables(declared: TableManifest) -> None:
    found = read_back(declared)
    assert found == declared
    assert hash(found) == hash(declared)
    assert dump_table(found) == dump_table(declared)
    assert schema_json(found.schema) == schema_json(declared.schema)


@slow_to_draw
@given(odf_manifests())
def test_open_data_fabric(declared: TableManifest) -> None:
    found = read_back(declared)
    assert found == declared
    assert dump_table(found) == dump_table(declared)


@slow_to_draw
@given(schemas(min_size=1))
def test_every_field_has_a_position(schema: Schema) -> None:
    found = read_back(TableManifest("a.b", schema))
    assert {path for path in found.positions if len(path) == 1} == {(f.name,) for f in schema.fields}
    for f in schema.fields:
        inner = f.type.inner if isinstance(f.type, Option) else f.type
        if isinstance(inner, Struct):
            assert all((f.name, member.name) in found.positions for member in inner.fields)


@given(fields())
def test_positions_do_not_count_for_equality(field: Field) -> None:
    declared = TableManifest("a.b", Schema((field,)))
    found = read_back(declared)
    assert found.positions
    assert found == declared == replace(found, positions={})


def test_explicit_defaults_survive() -> None:
    explicit = TableManifest("a", Schema((Field("x", Timestamp(TimeUnit.MILLISECOND, "UTC")),)))
    absent = TableManifest("a", Schema((Field("x", Timestamp()),)))
    assert explicit == absent
    assert dump_table(explicit) != dump_table(absent)
    assert dump_table(read_back(explicit)) == dump_table(explicit)
    assert dump_table(read_back(absent)) == dump_table(absent)
