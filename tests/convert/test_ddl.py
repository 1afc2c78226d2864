"""DDL column lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.convert.ddl import parse_ddl, to_ddl
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as m
from lakebed.testing.physical import names


def types_of(text: str, **options: bool) -> list[LogicalType]:
    return [f.type for f in parse_ddl(text, **options).fields]


def test_the_types_of_the_table() -> None:
    found = types_of(
        "a bool not null, b bool null, c int not null, d INT UNSIGNED NOT NULL, e bigint not null, "
        "f bigint unsigned not null, g float not null, h double not null, i date not null, j timestamp not null, "
        "k string not null, l varchar not null"
    )
    assert found == [
        *(m.Bool(), m.Option(m.Bool()), m.Int32(), m.UInt32(), m.Int64(), m.UInt64()),
        *(m.Float32(), m.Float64(), m.Date(), m.Timestamp(), m.String(), m.String()),
    ]


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("BOOLEAN", m.Bool()),
        ("INTEGER", m.Int32()),
        ("SIGNED", m.Int32()),
        ("UNSIGNED", m.UInt32()),
        ("INTEGER UNSIGNED", m.UInt32()),
        ("DOUBLE PRECISION", m.Float64()),
        ("DECIMAL(10,2)", m.Decimal(10, 2)),
        ("TIMESTAMP(9)", m.Timestamp()),
        ("TEXT", m.String()),
        ("VARCHAR(20)", m.String()),
        ("ARRAY<INT>", m.List(m.Option(m.Int32()))),
        ("ARRAY<ARRAY<VARCHAR(3)>>", m.List(m.Option(m.List(m.Option(m.String()))))),
    ],
)
def test_a_column_is_optional_unless_it_is_not_null(text: str, type_: LogicalType) -> None:
    assert types_of(f"a {text}, b {text} NOT NULL") == [m.Option(type_), type_]


def test_dates_and_decimals_as_kamu_reads_them() -> None:
    text = "a DATE, b DECIMAL(3, 1), c INT, d ARRAY<DATE>"
    assert types_of(text) == [
        *(m.Option(m.Date()), m.Option(m.Decimal(3, 1)), m.Option(m.Int32())),
        m.Option(m.List(m.Option(m.Date()))),
    ]
    assert types_of(text, required_dates=True) == [
        *(m.Date(), m.Decimal(3, 1), m.Option(m.Int32())),
        m.Option(m.List(m.Date())),
    ]


def test_a_list_of_texts_and_quoted_names() -> None:
    schema = parse_ddl(["`a b` INT", '"c""d" DATE NOT NULL', "Int int"])
    assert [f.name for f in schema.fields] == ["a b", 'c"d', "Int"]


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("", "LB2201", "1:1"),
        ("a", "LB2202", "1:2"),
        ("a INT,", "LB2201", "1:7"),
        ("a STRING b INT", "LB2201", "1:10"),
        ("a INT NOT", "LB2201", "1:10"),
        ("a INT PRIMARY KEY", "LB2201", "1:7"),
        ("a INT(3)", "LB2201", "1:6"),
        ("'a' INT", "LB2201", "1:1"),
        ("`a INT", "LB2201", "1:1"),
        ("a DECIMAL", "LB2201", "1:3"),
        ("a DECIMAL(3)", "LB2201", "1:3"),
        ("a DECIMAL(x, y)", "LB2201", "1:11"),
        ("a ARRAY", "LB2201", "1:8"),
        ("a ARRAY<INT", "LB2201", "1:12"),
        ("a ARRAY<INT NOT NULL>", "LB2201", "1:13"),
        ("a INT,\nb SMALLINT", "LB2202", "2:3"),
        ("a STRUCT<x INT>", "LB2202", "1:3"),
        ("a TIME", "LB2202", "1:3"),
        ("a INT[]", "LB2202", "1:3"),
        ("a FLOAT UNSIGNED", "LB2201", "1:9"),
        ("a " + "ARRAY<" * 10_000, "LB2202", "1:387"),
    ],
)
def test_what_is_wrong_and_where(text: str, code: str, position: str) -> None:
    with pytest.raises(ConversionError) as caught:
        parse_ddl(text)
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.position)) == (code, f"<text>:{position}")


_ITEMS = st.sampled_from(
    (
        *(m.Bool(), m.Int32(), m.UInt32(), m.Int64(), m.UInt64(), m.Float32(), m.Float64()),
        *(m.Date(), m.Timestamp(), m.String(), m.Decimal(10, 2), m.Decimal(1, 0)),
    )
)
_TYPES = st.recursive(_ITEMS, lambda inner: st.builds(lambda i: m.List(m.Option(i)), inner), max_leaves=3)
_FIELDS = st.builds(lambda n, t, o: Field(n, m.Option(t) if o else t), names(), _TYPES, st.booleans())


@given(st.lists(_FIELDS, min_size=1, max_size=5).map(lambda fields: Schema(tuple(fields))))
def test_parsing_undoes_printing_where_nothing_is_lost(schema: Schema) -> None:
    text, losses = to_ddl(schema)
    assert not losses
    assert parse_ddl(text) == schema


def test_losses_are_reported() -> None:
    schema = Schema(
        (
            Field("a", m.Timestamp(TimeUnit.SECOND, "Europe/Paris"), Extra({"b.com/x": 1})),
            Field("b", m.Option(m.List(m.Int32(), 3))),
        ),
        Extra({"c.com/z": 1}),
    )
    text, losses = to_ddl(schema)
    assert text == "a TIMESTAMP(0) NOT NULL, b ARRAY<INT>"
    assert str(losses).splitlines() == [
        "the attributes of the schema: c.com/z",
        "a: the attributes b.com/x",
        "a: the unit Second and the zone Europe/Paris",
        "b: the fixed length 3",
        "b: that items are never null",
    ]


def test_types_that_no_column_list_can_say_are_all_reported() -> None:
    fields = (
        Field("a", m.Int8()),
        Field("b", m.List(m.Option(m.Struct(())))),
        Field("c", m.Map(m.String(), m.String())),
        Field("d", m.Decimal(3, -1)),
        Field("e", m.Int32()),
    )
    with pytest.raises(ConversionError) as caught:
        to_ddl(Schema(fields))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [("LB2203", name) for name in "abcd"]
