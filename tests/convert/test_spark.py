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

from lakebed.convert.scan_types import scan_schema, scan_type
from lakebed.convert.spark import (
    column_metadata,
    from_spark,
    from_struct_type,
    to_struct_type,
)
from lakebed.errors import ConversionError, UnsupportedError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.model.from_json import field_from_json
from lakebed.physical import DataType, parse
from lakebed.physical import paimon_types as p
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
            assert -(2**63) <= value < 2**63

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


@pytest.mark.parametrize(
    ("value", "is_kept"),
    [(2**63 - 1, True), (2**63, False), (-(2**63), True), (-(2**63) - 1, False), (0.5, True), (1.0, False)],
)
@pytest.mark.parametrize("nested", [lambda v: v, lambda v: [v], lambda v: {"a": {"b": v}}])
def test_numbers_that_spark_would_change_are_kept_as_text(value: Any, is_kept: bool, nested: Any) -> None:
    """Metadata of Spark holds 64 bits, and a whole float comes back as an integer."""
    extra = Extra({"a.com/x": nested(value)})
    (part,) = column_metadata(Field("a", m.Int32(), extra))["lakebed"]
    assert part == ("extra" if is_kept else "json")
    schema = Schema((Field("a", m.Int32(), extra),))
    assert from_struct_type(to_struct_type(schema)) == schema


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


# CHAR and VARCHAR, which Spark keeps in the metadata of a column.

LENGTHS = "__CHAR_VARCHAR_TYPE_STRING"


def _hints(struct: t.StructType) -> dict[str, Any]:
    """The hint of each column, and of each member of a struct under its path."""

    def walk(fields: tuple[Field, ...], prefix: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for field in fields:
            if HINT in field.extra:
                found[prefix + field.name] = field.extra[HINT]
            found |= inside(field.type, f"{prefix}{field.name}.")
        return found

    def inside(type_: LogicalType, prefix: str) -> dict[str, Any]:
        match type_:
            case m.Struct():
                return walk(type_.fields, prefix)
            case m.Option():
                return inside(type_.inner, prefix)
            case m.List():
                return inside(type_.item_type, prefix)
            case m.Map():
                return inside(type_.key_type, prefix) | inside(type_.value_type, prefix)
            case _:
                return {}

    return walk(from_struct_type(struct).fields, "")


@pytest.mark.parametrize(
    ("text", "type_", "hints"),
    [
        ("char(5)", t.StringType(), {"a": "CHAR(5)"}),
        ("VARCHAR(10)", t.StringType(), {"a": "VARCHAR(10)"}),
        ("array<varchar(3)>", t.ArrayType(t.StringType()), {"a": parse("VARCHAR(3) ARRAY")}),
        (
            "map<char(2),varchar(10)>",
            t.MapType(t.StringType(), t.StringType(), False),
            {"a": p.Map(p.Char(2, False), p.VarChar(10, False))},
        ),
        (
            "map<int,array<char(2)>>",
            t.MapType(t.IntegerType(), t.ArrayType(t.StringType())),
            {"a": p.Map(p.Int(False), p.Array(p.Char(2)))},
        ),
        (
            "struct<x y:char(2),n:decimal(5,2),`b:`:array<struct<z:varchar(4),w:string>>>",
            t.StructType(
                [
                    t.StructField("x y", t.StringType()),
                    t.StructField("n", t.DecimalType(5, 2)),
                    t.StructField(
                        "b:",
                        t.ArrayType(
                            t.StructType([t.StructField("z", t.StringType()), t.StructField("w", t.StringType())])
                        ),
                    ),
                ]
            ),
            {"a.x y": "CHAR(2)", "a.b:.z": "VARCHAR(4)"},
        ),
    ],
)
def test_lengths_that_spark_keeps_are_read_at_every_depth(
    text: str, type_: t.DataType, hints: dict[str, DataType | str]
) -> None:
    struct = t.StructType([t.StructField("a", type_, True, {LENGTHS: text})])
    assert _hints(struct) == {path: hint if isinstance(hint, str) else str(hint) for path, hint in hints.items()}
    said = to_struct_type(from_struct_type(struct))["a"].metadata[LENGTHS]
    assert said == text.lower().replace("`", "")


def test_a_member_of_a_struct_may_bring_its_own_length() -> None:
    inner = t.StructType([t.StructField("x", t.StringType(), False, {LENGTHS: "char(2)"})])
    struct = t.StructType([t.StructField("a", t.ArrayType(inner), True)])
    assert _hints(struct) == {"a.x": "CHAR(2)"}
    assert to_struct_type(from_struct_type(struct))["a"].metadata == {LENGTHS: "array<struct<x:char(2)>>"}


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("varchar(3)", t.IntegerType()),
        ("int", t.StringType()),
        ("varchar(0)", t.StringType()),
        ("varchar(9999999999)", t.StringType()),
        ("varchar(3)x", t.StringType()),
        ("array<char(2)>", t.StringType()),
        ("array<char(2)", t.ArrayType(t.StringType())),
        ("map<char(2),int>", t.MapType(t.StringType(), t.StringType())),
        ("struct<y:char(2)>", t.StructType([t.StructField("x", t.StringType())])),
        ("struct<X:char(2)>", t.StructType([t.StructField("x", t.StringType())])),
        ("struct<x:char(2),y:int>", t.StructType([t.StructField("x", t.StringType())])),
        ("", t.StringType()),
    ],
)
def test_lengths_of_another_type_are_refused(text: str, type_: t.DataType) -> None:
    with pytest.raises(ConversionError) as caught:
        from_struct_type(t.StructType([t.StructField("a", type_, True, {LENGTHS: text})]))
    (found,) = caught.value.diagnostics
    assert (found.code, found.path, found.expected) == ("LB2111", "a", text)


def test_the_elements_of_a_multiset_have_their_length() -> None:
    field = Field("a", m.Map(m.Option(m.String()), m.Int32()), Extra({HINT: "CHAR(2) MULTISET"}))
    assert to_struct_type(Schema((field,)))["a"].metadata[LENGTHS] == "map<char(2),int>"


def test_only_char_and_varchar_are_said_as_lengths() -> None:
    schema = Schema((Field("a", m.String()), Field("b", m.List(m.String())), Field("c", m.Timestamp())))
    assert all(LENGTHS not in field.metadata for field in to_struct_type(schema).fields)


def test_rows_that_are_read_carry_no_lengths_since_spark_would_pad_what_is_compared_with_them() -> None:
    assert LENGTHS not in column_metadata(Field("a", m.String(), Extra({HINT: "CHAR(5)"})))


@pytest.mark.parametrize(
    ("type_", "hint"),
    [
        (t.ArrayType(t.TimestampNTZType(), False), p.Array(p.Timestamp(6, False))),
        (t.MapType(t.TimestampNTZType(), t.IntegerType()), p.Map(p.Timestamp(6, False), p.Int())),
        (t.MapType(t.StringType(), t.VariantType()), p.Map(p.VarChar(nullable=False), p.Variant())),
        (t.ArrayType(t.ArrayType(t.VarcharType(3))), p.Array(p.Array(p.VarChar(3)))),
        (t.MapType(t.StringType(), t.StructType([t.StructField("x", t.IntegerType())])), None),
    ],
)
def test_types_inside_of_lists_and_maps_stay_what_they_are(type_: t.DataType, hint: DataType | None) -> None:
    """A wall clock in a list is no instant, as it is none at the top."""
    assert _hints(t.StructType([t.StructField("a", type_)])) == ({} if hint is None else {"a": str(hint)})


@given(storable_schemas())
def test_nothing_of_a_schema_of_ours_is_lost(schema: Schema) -> None:
    assert not from_spark(to_struct_type(schema))[1]


def test_metadata_that_a_logical_schema_has_no_place_for_is_a_loss_at_every_depth() -> None:
    odd = {"CURRENT_DEFAULT": "7", "comment": "known"}
    inner = t.StructType([t.StructField("x", t.IntegerType(), True, odd)])
    struct = t.StructType(
        [
            t.StructField("a", t.MapType(inner, t.ArrayType(inner)), True, {"ml_attr": {}, "z": 1}),
            t.StructField("b", t.StringType(), True, {"comment": "d", LENGTHS: "char(2)"}),
        ]
    )
    assert str(from_spark(struct)[1]).splitlines() == [
        "a: the metadata ml_attr, z",
        "a.key.x: the metadata CURRENT_DEFAULT",
        "a.value.element.x: the metadata CURRENT_DEFAULT",
    ]


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


def test_names_that_are_there_twice() -> None:
    twice = t.StructType([t.StructField("a", t.LongType()), t.StructField("a", t.StringType())])
    inside = t.StructType([t.StructField("m", t.MapType(t.StringType(), t.ArrayType(twice)))])
    for struct, path in ((twice, "a"), (inside, "m.value.element.a")):
        with pytest.raises(ConversionError) as caught:
            from_spark(struct)
        assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2108", path)]


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
