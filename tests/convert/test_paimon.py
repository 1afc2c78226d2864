"""Carriers of logical types, nearest logical types, and the hint that keeps what they cannot say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from ruamel.yaml import YAML

from lakebed.catalog.annotations import OPTION, annotate
from lakebed.catalog.ids import assign
from lakebed.catalog.schema_file import dumps, loads
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert import carrier, carrier_is_exact, from_paimon, to_paimon
from lakebed.convert.fit import fits
from lakebed.convert.paimon import table_comment
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.model.from_json import field_from_json
from lakebed.physical import DataType, parse, with_nullability
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_tree import bare, walk_fields
from lakebed.testing.physical import data_types, storable_schemas, storable_types

S, MS, US, NS = TimeUnit


def _from_type(type_: DataType) -> tuple[LogicalType, Extra]:
    """The nearest logical type of a column, and its hint."""
    (field,) = from_paimon([p.DataField(0, "f", type_)]).fields
    return field.type, field.extra


HINT = "paimon.apache.org/type"

CARRIERS = [
    (m.Bool(), "BOOLEAN", True),
    (m.Int8(), "TINYINT", True),
    (m.Int16(), "SMALLINT", True),
    (m.Int32(), "INT", True),
    (m.Int64(), "BIGINT", True),
    (m.UInt8(), "SMALLINT", False),
    (m.UInt16(), "INT", False),
    (m.UInt32(), "BIGINT", False),
    (m.UInt64(), "DECIMAL(20, 0)", False),
    (m.Float16(), "FLOAT", False),
    (m.Float32(), "FLOAT", True),
    (m.Float64(), "DOUBLE", True),
    (m.Decimal(38, 38), "DECIMAL(38, 38)", True),
    (m.Decimal(1, 0), "DECIMAL(1, 0)", True),
    (m.String(), "STRING", True),
    (m.Binary(), "BYTES", True),
    (m.Binary(16), "BINARY(16)", True),
    (m.Date(), "DATE", True),
    (m.Time(S), "TIME(0)", True),
    (m.Time(MS), "TIME(3)", True),
    (m.Time(), "TIME(3)", True),
    (m.Time(US), "BIGINT", False),
    (m.Time(NS), "BIGINT", False),
    (m.Timestamp(S), "TIMESTAMP(0) WITH LOCAL TIME ZONE", True),
    (m.Timestamp(), "TIMESTAMP(3) WITH LOCAL TIME ZONE", True),
    (m.Timestamp(MS, "UTC"), "TIMESTAMP(3) WITH LOCAL TIME ZONE", True),
    (m.Timestamp(US), "TIMESTAMP(6) WITH LOCAL TIME ZONE", True),
    (m.Timestamp(NS), "TIMESTAMP(9) WITH LOCAL TIME ZONE", True),
    (m.Timestamp(US, "Europe/Paris"), "TIMESTAMP(6) WITH LOCAL TIME ZONE", False),
    (m.Duration(), "BIGINT", False),
    (m.Duration(NS), "BIGINT", False),
    (m.List(m.Option(m.Int32())), '{"type":"ARRAY","element":"INT"}', True),
    (m.List(m.UInt8()), '{"type":"ARRAY","element":"SMALLINT NOT NULL"}', False),
    (m.List(m.Float32(), 3), '{"type":"ARRAY","element":"FLOAT NOT NULL"}', False),
    (m.Map(m.String(), m.Option(m.Int8())), '{"type":"MAP","key":"STRING NOT NULL","value":"TINYINT"}', True),
    (m.Map(m.String(), m.Int8(), False), '{"type":"MAP","key":"STRING NOT NULL","value":"TINYINT NOT NULL"}', True),
    (m.Map(m.String(), m.Int8(), True), '{"type":"MAP","key":"STRING NOT NULL","value":"TINYINT NOT NULL"}', False),
    (
        m.Struct((Field("x", m.UInt8()),)),
        '{"type":"ROW","fields":[{"id":-1,"name":"x","type":"SMALLINT NOT NULL"}]}',
        True,
    ),
    (m.Struct(()), '{"type":"ROW","fields":[]}', True),
]


@pytest.mark.parametrize(("type_", "text", "exact"), CARRIERS)
def test_carriers(type_: LogicalType, text: str, exact: bool) -> None:
    nullable = parse(text, allow_missing_ids=True)
    assert carrier(type_) == with_nullability(nullable, False)
    assert carrier(m.Option(type_)) == nullable
    assert carrier_is_exact(type_) is exact
    assert carrier_is_exact(m.Option(type_)) is exact


def test_every_kind_has_a_carrier_or_is_refused() -> None:
    covered = {t.kind for t, _, _ in CARRIERS}
    assert covered == set(m.BY_KIND) - {"Null", "Option"}


def problems(*fields: Field, extra: Extra | None = None) -> list[tuple[str, str | None]]:
    with pytest.raises(ConversionError) as caught:
        to_paimon(Schema(fields, extra or Extra()))
    return [(d.code, d.path) for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("type_", "code"),
    [
        (m.Null(), "LB2101"),
        (m.Option(m.Null()), "LB2101"),
        (m.Decimal(39, 0), "LB2102"),
        (m.Decimal(0, 0), "LB2102"),
        (m.Decimal(5, -1), "LB2102"),
        (m.Decimal(5, 6), "LB2102"),
        (m.Binary(0), "LB2103"),
        (m.Binary(2**31), "LB2103"),
        (m.List(m.Int8(), -1), "LB2103"),
        (m.Option(m.Option(m.Int8())), "LB2104"),
    ],
)
def test_what_cannot_be_stored(type_: LogicalType, code: str) -> None:
    assert problems(Field("a", type_)) == [(code, "a")]
    with pytest.raises(ConversionError) as caught:
        carrier(type_)
    assert caught.value.code == code


def test_all_problems_are_reported_with_their_paths() -> None:
    inner = m.Struct((Field("x", m.Null()), Field("x", m.Int8()), Field(" ", m.Int8())))
    fields = (
        Field("a.b", m.List(m.Null())),
        Field("m", m.Map(m.Decimal(40, 0), m.Option(inner))),
        Field("d", m.Int8(), Extra({"opendatafabric.org/description": "__BLOB_FIELD; x"})),
        Field("v", m.Int8(), Extra({"opendatafabric.org/description": "__VECTOR"})),
    )
    assert problems(*fields, extra=Extra({"opendatafabric.org/description": "__VECTOR_FIELD;3"})) == [
        ("LB2106", None),
        ("LB2101", "`a.b`.element"),
        ("LB2102", "m.key"),
        ("LB2108", "m.value.x"),
        ("LB2108", "m.value"),
        ("LB2101", "m.value.x"),
        ("LB2106", "d"),
        ("LB2106", "v"),
    ]


def test_duplicate_columns_are_refused() -> None:
    assert problems(Field("a", m.Int8()), Field("a", m.Int8())) == [("LB2108", "a")]


def test_columns_have_no_ids_yet_and_descriptions_and_defaults() -> None:
    described = Extra({"opendatafabric.org/description": "d", "lakebed.dev/default": 7, "lakebed.dev/fieldId": 4})
    schema = Schema((Field("r", m.Struct((Field("x", m.Int32(), described),)), described),))
    (column,) = to_paimon(schema)
    assert all(f.id == p.UNASSIGNED for f in walk_fields([column]))
    assert (column.description, column.default_value) == ("d", "7")
    assert column.type == p.Row((p.DataField(p.UNASSIGNED, "x", p.Int(False), "d", "7"),), False)
    assert table_comment(schema) is None
    assert table_comment(Schema((), Extra({"opendatafabric.org/description": ""}))) == ""


@pytest.mark.parametrize(
    ("type_", "value", "text"),
    [
        (m.Int32(), 7, "7"),
        (m.Int32(), "7", "7"),
        (m.Bool(), True, "true"),
        (m.Float64(), 1.5, "1.5"),
        (m.String(), "null", "null"),
        (m.String(), None, None),
        (m.List(m.Int32()), [1, 2, None], "[1, 2, null]"),
        (m.Option(m.Map(m.String(), m.Int32())), {"b": 2, "a": 1}, "{a -> 1, b -> 2}"),
        (m.Struct((Field("x", m.Int32()), Field("y", m.List(m.Int32())))), {"y": [1], "x": 5}, "{5, [1]}"),
    ],
)
def test_texts_of_default_values(type_: LogicalType, value: Any, text: str | None) -> None:
    (column,) = to_paimon(Schema((Field("a", type_, Extra({"lakebed.dev/default": value})),)))
    assert column.default_value == text


# Back to logical types.


@pytest.mark.parametrize(
    ("text", "type_", "hint"),
    [
        ("VARCHAR(3)", m.String(), "VARCHAR(3)"),
        ("CHAR(3) NOT NULL", m.String(), "CHAR(3)"),
        ("VARBINARY(3)", m.Binary(), "VARBINARY(3)"),
        ("BINARY(3)", m.Binary(3), None),
        ("TIME(0)", m.Time(S), None),
        ("TIME(1)", m.Time(MS), "TIME(1)"),
        ("TIME(9)", m.Time(MS), "TIME(9)"),
        ("TIMESTAMP(0)", m.Timestamp(S), "TIMESTAMP(0)"),
        ("TIMESTAMP(6)", m.Timestamp(US), "TIMESTAMP(6)"),
        ("TIMESTAMP(7)", m.Timestamp(NS), "TIMESTAMP(7)"),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", m.Timestamp(MS), None),
        ("TIMESTAMP(2) WITH LOCAL TIME ZONE", m.Timestamp(MS), "TIMESTAMP(2) WITH LOCAL TIME ZONE"),
        ("VARIANT", m.String(), "VARIANT"),
        ("BLOB", m.Binary(), "BLOB"),
        ("GEOMETRY", m.Binary(), "GEOMETRY(OGC:CRS84)"),
        ("GEOGRAPHY", m.Binary(), "GEOGRAPHY(OGC:CRS84, spherical)"),
        ("VECTOR<FLOAT, 3>", m.List(m.Option(m.Float32()), 3), '{"type":"VECTOR","element":"FLOAT","length":3}'),
        ("INT MULTISET", m.Map(m.Option(m.Int32()), m.Int32()), '{"type":"MULTISET","element":"INT"}'),
        ("CHAR(2) ARRAY", m.List(m.Option(m.String())), '{"type":"ARRAY","element":"CHAR(2)"}'),
    ],
)
def test_nearest_logical_types_and_their_hints(text: str, type_: LogicalType, hint: str | None) -> None:
    physical = parse(text)
    expected = Extra({} if hint is None else {HINT: hint})
    assert _from_type(physical) == (m.Option(type_) if physical.nullable else type_, expected)


def test_fields_of_rows_are_annotated_members() -> None:
    inner = p.Row((p.DataField(4, "x", p.VarChar(3), "d", "1"),))
    found, extra = _from_type(p.Multiset(inner, False))
    member = Field(
        "x",
        m.Option(m.String()),
        Extra({HINT: "VARCHAR(3)", "opendatafabric.org/description": "d", "lakebed.dev/default": "1"}),
    )
    assert found == m.Map(m.Option(m.Struct((member,))), m.Int32())
    assert extra == {HINT: '{"type":"MULTISET","element":{"type":"ROW","fields":[]}}'}


@given(data_types(unknown=True))
def test_every_paimon_type_comes_back_from_its_logical_type_and_hint(type_: DataType) -> None:
    found, extra = _from_type(type_)
    if any((f.description or "").startswith("__") for f in walk_fields([p.DataField(0, "f", type_)])):
        return
    (column,) = to_paimon(Schema((Field("f", found, extra),)))
    assert column.type == type_
    assert fits(found, type_)


@given(storable_types())
def test_a_carrier_fits_and_needs_no_hint(type_: LogicalType) -> None:
    stored = bare(carrier(type_))
    assert fits(type_, stored)
    nearest, extra = _from_type(stored)
    assert extra == {}
    assert carrier(nearest) == stored


@given(storable_schemas())
def test_hints_give_exactly_the_type_that_they_name(schema: Schema) -> None:
    for column, field in zip(to_paimon(schema), schema.fields, strict=True):
        if HINT in field.extra:
            wanted = parse(field.extra[HINT], allow_missing_ids=True)
            assert with_nullability(bare(column.type), True) == with_nullability(wanted, True)
        assert column.type.nullable == field.nullable


@pytest.mark.parametrize(
    ("type_", "hint"),
    [
        (m.Int32(), "VARCHAR(3)"),
        (m.Int32(), "BIGINT"),
        (m.String(), "BYTES"),
        (m.String(), "VARCHR(3)"),
        (m.String(), "VARCHAR(0)"),
        (m.String(), 7),
        (m.String(), None),
        (m.Option(m.String()), "VARCHAR(3) NOT NULL"),
        (m.Binary(3), "BINARY(4)"),
        (m.Binary(), "BINARY(4)"),
        (m.Timestamp(NS), "TIMESTAMP(6)"),
        (m.Time(US), "TIME(6)"),
        (m.Time(MS), "TIME(0)"),
        (m.List(m.Float32()), "VECTOR<FLOAT NOT NULL, 3>"),
        (m.List(m.Float32(), 3), "VECTOR<FLOAT, 3>"),
        (m.List(m.String()), '{"type":"ARRAY","element":"VARCHAR(3)"}'),
        (m.Map(m.String(), m.Option(m.Int32())), '{"type":"MULTISET","element":"STRING NOT NULL"}'),
        (m.Struct((Field("x", m.Int32()),)), '{"type":"ROW","fields":[{"name":"x","type":"BIGINT"}]}'),
        (m.Struct(()), "STRING"),
        (m.Decimal(5, 2), "DECIMAL(6, 2)"),
        (m.Null(), "STRING"),
    ],
)
def test_hints_that_do_not_fit_are_refused(type_: LogicalType, hint: Any) -> None:
    assert ("LB2105", "a") in problems(Field("a", type_, Extra({HINT: hint})))


@pytest.mark.parametrize(
    ("type_", "hint", "stored"),
    [
        (m.String(), "varchar( 3 )", p.VarChar(3, False)),
        (m.String(), "VARCHAR(3) NOT NULL", p.VarChar(3, False)),
        (m.Option(m.Timestamp()), "TIMESTAMP", p.Timestamp(6)),
        (m.Timestamp(S, "Europe/Paris"), "TIMESTAMP(3)", p.Timestamp(3, False)),
        (m.Time(S), "TIME(3)", p.Time(3, False)),
        (m.List(m.Option(m.Float32()), 3), "VECTOR<FLOAT, 3>", p.Vector(p.Float(), 3, False)),
        (m.UInt8(), "SMALLINT", p.SmallInt(False)),
        (m.List(m.UInt8(), 2), {"type": "ARRAY", "element": "SMALLINT NOT NULL"}, p.Array(p.SmallInt(False), False)),
    ],
)
def test_hints_that_fit(type_: LogicalType, hint: Any, stored: DataType) -> None:
    (column,) = to_paimon(Schema((Field("a", type_, Extra({HINT: hint})),)))
    assert column.type == stored


def test_rows_in_a_hint_are_filled_from_the_struct() -> None:
    member = Field("x", m.String(), Extra({HINT: "CHAR(2)"}))
    declared = m.Map(m.Struct((member,)), m.Int32())
    given = '{"type":"MULTISET","element":{"type":"ROW NOT NULL","fields":[]}}'
    (column,) = to_paimon(Schema((Field("a", declared, Extra({HINT: given})),)))
    inner = p.Row((p.DataField(p.UNASSIGNED, "x", p.Char(2, False)),), False)
    assert column.type == p.Multiset(inner, False)


def rfc_schema(shared: Path) -> Schema:
    """The schema in the first YAML manifest of RFC-016."""
    text = (shared / "specs/odf-rfc-016.md").read_text()
    block = re.search(r"### Manifest Schema Format\n```yaml\n(.*?)```", text, re.DOTALL)
    assert block
    (event,) = YAML(typ="safe").load(block[1])
    declared = event["schema"]
    return Schema(tuple(field_from_json(f) for f in declared["fields"]), Extra(declared["extra"]))


def test_the_example_of_the_rfc_becomes_a_table_and_comes_back(shared: Path) -> None:
    schema = rfc_schema(shared)
    fields, highest = assign(to_paimon(schema), -1)
    assert [f"{f.id} {f.name} {f.type.root}" for f in walk_fields(fields)] == [
        *("0 offset DECIMAL", "1 op SMALLINT", "2 system_time TIMESTAMP_LTZ", "3 event_time TIMESTAMP_LTZ"),
        *("4 mri_content_hash VARCHAR", "5 subject ROW", "6 id VARCHAR", "7 gender VARCHAR", "8 area_codes ARRAY"),
    ]
    text = annotate(fields, schema)
    assert text
    table = TableSchema(0, fields, highest, options={OPTION: text}, comment=table_comment(schema))
    assert loads(dumps(table), source="schema-0").logical == schema
