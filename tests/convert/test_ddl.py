"""DDL column lists."""

from __future__ import annotations

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.convert.ddl import from_ddl, to_ddl
from lakebed.convert.loss import LossReport
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as m
from lakebed.physical import paimon_types as p
from lakebed.testing.physical import names

HINT = "paimon.apache.org/type"


def types_of(text: str, **options: bool) -> list[LogicalType]:
    return [f.type for f in from_ddl(text, **options)[0].fields]


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
        ("TINYINT", m.Int8()),
        ("tinyint unsigned", m.UInt8()),
        ("SMALLINT", m.Int16()),
        ("SMALLINT UNSIGNED", m.UInt16()),
        ("CHAR(3)", m.String()),
        ("BYTES", m.Binary()),
        ("VARBINARY(8)", m.Binary()),
        ("BINARY", m.Binary()),
        ("BINARY(8)", m.Binary(8)),
        ("MAP<STRING, INT>", m.Map(m.String(), m.Option(m.Int32()))),
        ("MAP<INT, ARRAY<DATE>>", m.Map(m.Int32(), m.Option(m.List(m.Option(m.Date()))))),
        ("STRUCT<>", m.Struct(())),
        ("STRUCT<x: INT, y:STRING NOT NULL>", m.Struct((Field("x", m.Option(m.Int32())), Field("y", m.String())))),
        ("ROW<`x y` INT>", m.Struct((Field("x y", m.Option(m.Int32())),))),
        (
            "ARRAY<STRUCT<x MAP<INT, STRUCT<y DOUBLE NOT NULL>>>>",
            m.List(
                m.Option(
                    m.Struct(
                        (
                            Field(
                                "x",
                                m.Option(m.Map(m.Int32(), m.Option(m.Struct((Field("y", m.Float64()),))))),
                            ),
                        )
                    )
                )
            ),
        ),
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


def test_dates_and_decimals_inside_of_maps_and_structs_as_kamu_reads_them() -> None:
    (map_, struct) = types_of(
        "a MAP<INT, DATE> NOT NULL, b STRUCT<x DECIMAL(3, 1), y INT> NOT NULL", required_dates=True
    )
    assert map_ == m.Map(m.Int32(), m.Date())
    assert struct == m.Struct((Field("x", m.Decimal(3, 1)), Field("y", m.Option(m.Int32()))))
    (said,) = from_ddl("a MAP<CHAR(2), DATE>", required_dates=True)[0].fields
    assert said.extra == {HINT: str(p.Map(p.Char(2, False), p.Date(False)))}


def test_a_list_of_texts_and_quoted_names() -> None:
    schema = from_ddl(["`a b` INT", '"c""d" DATE NOT NULL', "Int int"])[0]
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
        ("a ARRAY<INT,", "LB2201", "1:12"),
        ("a INT,\nb INTERVAL", "LB2202", "2:3"),
        ("a STRUCT", "LB2201", "1:9"),
        ("a STRUCT<x>", "LB2202", "1:11"),
        ("a STRUCT<x INT", "LB2201", "1:15"),
        ("a STRUCT<x INT,>", "LB2201", "1:16"),
        ("a STRUCT<x INT y INT>", "LB2201", "1:16"),
        ("a MAP<INT>", "LB2201", "1:10"),
        ("a MAP<INT, INT", "LB2201", "1:15"),
        ("a MAP INT", "LB2201", "1:7"),
        ("a VARCHAR(0)", "LB2201", "1:3"),
        ("a VARCHAR(1, 2)", "LB2201", "1:3"),
        ("a BINARY(999999999999)", "LB2201", "1:10"),
        ("a " + "STRUCT<x " * 10_000, "LB2202", "1:579"),
        ("a " + "MAP<INT, " * 10_000, "LB2202", "1:579"),
        ("a TIME", "LB2202", "1:3"),
        ("a INT[]", "LB2202", "1:3"),
        ("a FLOAT UNSIGNED", "LB2201", "1:9"),
        ("a " + "ARRAY<" * 10_000, "LB2202", "1:387"),
    ],
)
def test_what_is_wrong_and_where(text: str, code: str, position: str) -> None:
    with pytest.raises(ConversionError) as caught:
        from_ddl(text)
    (found,) = caught.value.diagnostics
    assert (found.code, str(found.position)) == (code, f"<text>:{position}")


_ITEMS = st.sampled_from(
    (
        *(m.Bool(), m.Int8(), m.UInt8(), m.Int16(), m.UInt16(), m.Int32(), m.UInt32(), m.Int64(), m.UInt64()),
        *(m.Float32(), m.Float64(), m.Date(), m.Timestamp(), m.String(), m.Binary(), m.Binary(7)),
        *(m.Decimal(10, 2), m.Decimal(1, 0)),
    )
)


_NAME = attrgetter("name")


def _nested(inner: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[LogicalType]:
    members = st.lists(_fields(inner), max_size=3, unique_by=_NAME).map(lambda fields: m.Struct(tuple(fields)))
    maps = st.builds(lambda k, v: m.Map(k, m.Option(v)), inner, inner)
    return st.one_of(st.builds(lambda i: m.List(m.Option(i)), inner), maps, members)


def _fields(types: st.SearchStrategy[LogicalType]) -> st.SearchStrategy[Field]:
    lengths = st.sampled_from(("CHAR(3)", "VARCHAR(7)"))
    plain = st.builds(lambda n, t, o: Field(n, m.Option(t) if o else t), names(), types, st.booleans())
    return plain | st.builds(lambda n, hint: Field(n, m.Option(m.String()), Extra({HINT: hint})), names(), lengths)


_TYPES = st.recursive(_ITEMS, _nested, max_leaves=4)
_FIELDS = _fields(_TYPES)


@given(st.lists(_FIELDS, min_size=1, max_size=5, unique_by=_NAME).map(lambda fields: Schema(tuple(fields))))
def test_parsing_undoes_printing_where_nothing_is_lost(schema: Schema) -> None:
    text, losses = to_ddl(schema)
    assert not losses
    assert from_ddl(text) == (schema, LossReport())


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a INT, b INT, a STRING", ["a"]),
        ("s STRUCT<x INT, y STRUCT<z INT, z INT>, x INT>, s INT, s INT", ["s"]),
        ("s STRUCT<x INT, l ARRAY<STRUCT<z INT, z INT>>, x INT>", ["s.x", "s.l.element.z"]),
        ("m MAP<STRING, STRUCT<`a b` INT, `a b` INT>>, A INT, a INT", ["m.value.`a b`"]),
    ],
)
def test_names_that_are_there_twice(text: str, paths: list[str]) -> None:
    with pytest.raises(ConversionError) as caught:
        from_ddl(text)
    assert sorted((d.code, d.path) for d in caught.value.diagnostics) == sorted(("LB2108", path) for path in paths)


def test_precisions_that_are_read_as_milliseconds_are_losses_at_every_depth() -> None:
    schema, losses = from_ddl(
        "a TIMESTAMP(6), b TIMESTAMP, c TIMESTAMP(3), d MAP<TIMESTAMP(0), ARRAY<STRUCT<x TIMESTAMP(9)>>>"
    )
    assert schema == from_ddl("a TIMESTAMP, b TIMESTAMP, c TIMESTAMP, d MAP<TIMESTAMP, ARRAY<STRUCT<x TIMESTAMP>>>")[0]
    assert str(losses).splitlines() == [
        "a: the precision 6 of the TIMESTAMP",
        "d.key: the precision 0 of the TIMESTAMP",
        "d.value.element.x: the precision 9 of the TIMESTAMP",
    ]


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


def test_types_that_no_column_list_can_say_are_all_reported_at_every_depth() -> None:
    fields = (
        Field("a", m.Float16()),
        Field("b", m.List(m.Option(m.Struct((Field("x", m.Time()),))))),
        Field("c", m.Map(m.Duration(), m.Time())),
        Field("d", m.Decimal(3, -1)),
        Field("e", m.Int32()),
    )
    with pytest.raises(ConversionError) as caught:
        to_ddl(Schema(fields))
    assert [(d.code, d.path) for d in caught.value.diagnostics] == [
        ("LB2203", path) for path in ("a", "b.element.x", "c.key", "c.value", "d")
    ]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("VARCHAR(20)", "VARCHAR(20)"),
        ("CHAR(3)", "CHAR(3)"),
        ("VARBINARY(4)", "VARBINARY(4)"),
        ("ARRAY<VARCHAR(3)>", str(p.Array(p.VarChar(3)))),
        ("MAP<CHAR(2), INT>", str(p.Map(p.Char(2, False), p.Int()))),
        ("MAP<CHAR(2), STRING>", str(p.Map(p.Char(2, False), p.STRING))),
        ("MAP<INT, ARRAY<CHAR(2)>>", str(p.Map(p.Int(False), p.Array(p.Char(2))))),
    ],
)
def test_lengths_are_kept_there_and_back(text: str, hint: str) -> None:
    schema = from_ddl(f"a {text}, b STRUCT<c {text} NOT NULL>")[0]
    assert schema.fields[0].extra == {HINT: hint}
    struct = required(schema.fields[1].type)
    assert isinstance(struct, m.Struct)
    assert struct.fields[0].extra == {HINT: hint}
    again, losses = to_ddl(schema)
    assert again == f"a {text}, b STRUCT<c {text} NOT NULL>"
    assert not losses


def test_what_a_hint_says_and_a_column_list_cannot_is_a_loss_at_every_depth() -> None:
    wall = Field("x", m.Timestamp(), Extra({HINT: "TIMESTAMP(3)", "b.com/x": 1}))
    schema = Schema(
        (
            Field("a", m.Option(m.Map(m.Option(m.String()), m.Struct((wall,)), True))),
            Field("b", m.List(m.String(), 2), Extra({HINT: str(p.Array(p.VarChar(3, False)))})),
        )
    )
    text, losses = to_ddl(schema)
    assert text == "a MAP<STRING, STRUCT<x TIMESTAMP NOT NULL>>, b ARRAY<VARCHAR(3)> NOT NULL"
    assert str(losses).splitlines() == [
        "a: that keys may be null",
        "a: that values are never null",
        "a: that keys are sorted",
        "a.value.x: the attributes b.com/x, " + HINT,
        "b: the attributes " + HINT,
        "b: the fixed length 2",
        "b: that items are never null",
    ]
