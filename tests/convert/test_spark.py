"""Spark types: what scans are asked for, and annotated schemas there and back. No session is needed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from pyspark.sql import types as t
from ruamel.yaml import YAML

from lakebed.convert.spark import column_metadata, from_struct_type, scan_schema, scan_type, to_struct_type
from lakebed.errors import ConversionError, UnsupportedError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.model.from_json import field_from_json
from lakebed.physical import DataType, parse
from lakebed.physical import types as p
from lakebed.testing.physical import storable_schemas

S, MS, US, NS = TimeUnit
HINT = "paimon.apache.org/type"
DESCRIPTION = "opendatafabric.org/description"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("BOOLEAN NOT NULL", t.BooleanType()),
        ("TINYINT", t.ByteType()),
        ("SMALLINT", t.ShortType()),
        ("INT", t.IntegerType()),
        ("BIGINT", t.LongType()),
        ("FLOAT", t.FloatType()),
        ("DOUBLE", t.DoubleType()),
        ("DECIMAL(20, 3)", t.DecimalType(20, 3)),
        ("CHAR(3)", t.StringType()),
        ("VARCHAR(3)", t.StringType()),
        ("STRING", t.StringType()),
        ("BINARY(3)", t.BinaryType()),
        ("BYTES", t.BinaryType()),
        ("BLOB", t.BinaryType()),
        ("DATE", t.DateType()),
        ("TIME(3)", t.IntegerType()),
        ("TIMESTAMP(3)", t.TimestampNTZType()),
        ("TIMESTAMP(9)", t.TimestampNTZType()),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", t.TimestampType()),
        ("VARIANT", t.VariantType()),
        ("INT NOT NULL ARRAY NOT NULL", t.ArrayType(t.IntegerType(), True)),
        ("STRING MULTISET", t.MapType(t.StringType(), t.IntegerType(), True)),
    ],
)
def test_scan_types(text: str, type_: t.DataType) -> None:
    assert scan_type(parse(text)) == type_


def test_nested_scan_types_are_nullable_inside() -> None:
    inner = p.Row((p.DataField(1, "x", p.Time(3, False)), p.DataField(2, "y", p.Array(p.Timestamp(3, False)))), False)
    expected = t.StructType(
        [t.StructField("x", t.IntegerType()), t.StructField("y", t.ArrayType(t.TimestampNTZType()))]
    )
    assert scan_type(p.Map(p.VarChar(nullable=False), inner, False)) == t.MapType(t.StringType(), expected)


def test_nanoseconds_as_numbers() -> None:
    both = p.Row((p.DataField(1, "a", p.Timestamp(9)), p.DataField(2, "b", p.LocalZonedTimestamp(7))))
    assert [f.dataType for f in scan_type(both, nanos_as_long=True).fields] == [t.LongType()] * 2  # type: ignore[attr-defined]
    assert scan_type(p.Timestamp(6), nanos_as_long=True) == t.TimestampNTZType()


@pytest.mark.parametrize("type_", [p.Geometry(), p.Geography(), p.Vector(p.Float(), 3), p.Unknown("X")])
def test_types_that_spark_has_no_reader_for(type_: DataType) -> None:
    with pytest.raises(UnsupportedError) as caught:
        scan_schema([p.DataField(0, "a", p.Int()), p.DataField(1, "b", p.Array(type_)), p.DataField(2, "c", type_)])
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2109", "b.element"), ("LB2109", "c")]


# Schemas there and back.


@given(storable_schemas())
def test_the_declared_schema_comes_back_exactly(schema: Schema) -> None:
    struct = to_struct_type(schema)
    assert from_struct_type(struct) == schema
    assert from_struct_type(t.StructType.fromJson(json.loads(struct.json()))) == schema


@given(storable_schemas())
def test_metadata_is_of_the_kind_that_spark_keeps(schema: Schema) -> None:
    def check(value: Any) -> None:
        assert value is not None
        if isinstance(value, dict):
            for part in value.values():
                check(part)
        elif isinstance(value, list):
            assert len({type(part) for part in value}) <= 1
            for part in value:
                assert not isinstance(part, list)
                check(part)
        elif isinstance(value, int):
            assert abs(value) <= 2**63

    for field in to_struct_type(schema).fields:
        check(field.metadata)


@pytest.mark.parametrize(
    ("type_", "spark_type"),
    [
        (m.UInt8(), t.ShortType()),
        (m.UInt64(), t.DecimalType(20, 0)),
        (m.Float16(), t.FloatType()),
        (m.Time(MS), t.IntegerType()),
        (m.Time(NS), t.LongType()),
        (m.Duration(), t.LongType()),
        (m.Timestamp(NS, "Europe/Paris"), t.TimestampType()),
        (m.Binary(3), t.BinaryType()),
        (m.List(m.Option(m.Int8()), 4), t.ArrayType(t.ByteType(), True)),
        (m.Map(m.Option(m.String()), m.Int8(), True), t.MapType(t.StringType(), t.ByteType(), False)),
    ],
)
def test_spark_types_of_inexact_ones(type_: LogicalType, spark_type: t.DataType) -> None:
    (field,) = to_struct_type(Schema((Field("a", type_),))).fields
    assert (field.dataType, field.nullable) == (spark_type, False)
    assert field.metadata["lakebed"]["type"]["kind"] == type_.kind
    assert from_struct_type(t.StructType([field])) == Schema((Field("a", type_),))


def test_a_column_with_nothing_to_say_has_no_metadata() -> None:
    schema = Schema((Field("a", m.Int32()), Field("b", m.Option(m.List(m.Option(m.Timestamp(US)))))))
    assert [f.metadata for f in to_struct_type(schema).fields] == [{}, {}]


def test_metadata_of_a_column() -> None:
    extra = {DESCRIPTION: "d", "a.com/x": {"b": [1, 2]}, "a.com/y": [1, None], "a.com/z": 2**70, HINT: "VARCHAR(3)"}
    assert column_metadata(Field("a", m.Option(m.String()), Extra(extra))) == {
        "comment": "d",
        "lakebed": {
            "extra": {"a.com/x": {"b": [1, 2]}, HINT: "VARCHAR(3)"},
            "json": {"a.com/y": "[1,null]", "a.com/z": str(2**70)},
        },
    }
    inner = m.Struct((Field("x", m.UInt8(), Extra({"a.com/x": 1})),))
    assert column_metadata(Field("r", inner)) == {}
    assert column_metadata(Field("l", m.List(inner, 2))) == {
        "lakebed": {
            "type": {"kind": "List", "itemType": {"kind": "Struct", "fields": []}, "fixedLength": 2},
        },
    }


def test_types_of_a_schema_without_metadata() -> None:
    struct = t.StructType(
        [
            t.StructField("a", t.IntegerType(), False),
            t.StructField("n", t.TimestampNTZType()),
            t.StructField("z", t.TimestampType(), False, {"comment": "when", "other": 1}),
            t.StructField("c", t.VarcharType(5), False),
            t.StructField("v", t.VariantType(), False),
            t.StructField("r", t.StructType([t.StructField("x", t.MapType(t.StringType(), t.DateType()))]), False),
            t.StructField("e", t.NullType()),
        ]
    )
    inner = m.Option(m.Map(m.String(), m.Option(m.Date())))
    assert from_struct_type(struct) == Schema(
        (
            Field("a", m.Int32()),
            Field("n", m.Option(m.Timestamp(US)), Extra({HINT: "TIMESTAMP(6)"})),
            Field("z", m.Timestamp(US), Extra({DESCRIPTION: "when"})),
            Field("c", m.String(), Extra({HINT: "VARCHAR(5)"})),
            Field("v", m.String(), Extra({HINT: "VARIANT"})),
            Field("r", m.Struct((Field("x", inner),))),
            Field("e", m.Option(m.Null())),
        )
    )


@pytest.mark.skipif(not hasattr(t, "TimeType"), reason="this PySpark has no TIME type")
@pytest.mark.parametrize(("digits", "unit"), [(0, S), (3, MS), (6, US)])
def test_time_of_day(digits: int, unit: TimeUnit) -> None:
    struct = t.StructType([t.StructField("a", t.TimeType(digits), False)])
    assert from_struct_type(struct) == Schema((Field("a", m.Time(unit)),))


def test_spark_types_without_a_logical_type_are_all_reported() -> None:
    struct = t.StructType(
        [
            t.StructField("a", t.CalendarIntervalType()),
            t.StructField("b", t.ArrayType(t.StructType([t.StructField("x", t.DayTimeIntervalType())]))),
            t.StructField("c", t.StringType("UNICODE_CI")),
        ]
    )
    with pytest.raises(ConversionError) as caught:
        from_struct_type(struct)
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [
        ("LB2110", "a"),
        ("LB2110", "b.element.x"),
        ("LB2110", "c"),
    ]


@pytest.mark.parametrize(
    ("spark_type", "lakebed"),
    [
        (t.StringType(), {"type": {"kind": "UInt8"}}),
        (t.IntegerType(), {"extra": {HINT: "VARCHAR(3)"}}),
        (t.ArrayType(t.StringType()), {"type": {"kind": "List", "itemType": {"kind": "Float32"}, "fixedLength": 2}}),
        (t.StringType(), {"extra": {HINT: "BLOB"}}),
        (t.StringType(), {"json": {"a.com/x": "{"}}),
        (t.StringType(), {"json": []}),
        (t.StringType(), {"extra": 7}),
        (t.StringType(), {"schema": "{"}),
    ],
)
def test_metadata_of_another_type_is_refused(spark_type: t.DataType, lakebed: dict[str, Any]) -> None:
    with pytest.raises((ConversionError, UnsupportedError)):
        from_struct_type(t.StructType([t.StructField("a", spark_type, True, {"lakebed": lakebed})]))


def test_attributes_of_the_schema_go_with_the_first_column() -> None:
    schema = Schema((Field("a", m.Int32()), Field("b", m.Int32())), Extra({"c.com/z": [None], DESCRIPTION: "all"}))
    struct = to_struct_type(schema)
    assert from_struct_type(struct) == schema
    assert from_struct_type(t.StructType(struct.fields[::-1])).extra == schema.extra
    assert from_struct_type(t.StructType(struct.fields[1:])).extra == {}


def test_the_example_of_the_rfc_goes_to_spark_and_back(shared: Path) -> None:
    text = (shared / "specs/odf-rfc-016.md").read_text()
    block = re.search(r"### Manifest Schema Format\n```yaml\n(.*?)```", text, re.DOTALL)
    assert block
    declared = YAML(typ="safe").load(block[1])[0]["schema"]
    schema = Schema(tuple(field_from_json(f) for f in declared["fields"]), Extra(declared["extra"]))
    struct = to_struct_type(schema)
    assert struct.simpleString() == (
        "struct<offset:decimal(20,0),op:smallint,system_time:timestamp,event_time:timestamp,mri_content_hash:string,"
        "subject:struct<id:string,gender:string>,area_codes:array<string>>"
    )
    assert struct["subject"].metadata["comment"] == "Information about the subject"
    assert from_struct_type(struct) == schema
