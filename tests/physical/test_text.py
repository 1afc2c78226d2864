"""The text grammar of Paimon's data types."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from lakebed.errors import TypeTextError
from lakebed.physical import paimon_types as p
from lakebed.physical import parse, parse_text, type_text
from lakebed.physical.text import KEYWORDS
from lakebed.testing.physical import atomic_types


def test_every_vector_of_the_reference(shared: Path) -> None:
    lines = (shared / "vectors/paimon/types.tsv").read_text().splitlines()[1:]
    assert len(lines) > 40
    wrong = []
    for line in lines:
        text, result, canonical = [*line.split("\t"), ""][:3]
        try:
            found = ("ok", str(parse(text)))
        except TypeTextError:
            found = ("error", "")
        if found != (result, canonical):
            wrong.append((text, result, canonical, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("BOOLEAN", p.Boolean()),
        ("TINYINT", p.TinyInt()),
        ("SMALLINT NOT NULL", p.SmallInt(False)),
        ("INTEGER", p.Int()),
        ("int null", p.Int()),
        ("BIGINT", p.BigInt()),
        ("FLOAT", p.Float()),
        ("double  precision", p.Double()),
        ("DEC", p.Decimal(10, 0)),
        ("NUMERIC(7)", p.Decimal(7, 0)),
        ("DECIMAL ( 38 , 0 )", p.Decimal(38, 0)),
        ("DECIMAL(010,02)", p.Decimal(10, 2)),
        ("CHAR", p.Char(1)),
        ("CHAR(2147483647)", p.Char(2147483647)),
        ("VARCHAR", p.VarChar(1)),
        ("VARCHAR(2147483646)", p.VarChar(2147483646)),
        ("VARCHAR(2147483647)", p.STRING),
        ("STRING NOT NULL", p.VarChar(nullable=False)),
        ("VARBINARY", p.VarBinary(1)),
        ("VARBINARY(2147483647)", p.BYTES),
        ("BINARY", p.Binary(1)),
        ("DATE", p.Date()),
        ("TIME", p.Time(0)),
        ("TIME(9) WITHOUT TIME ZONE NOT NULL", p.Time(9, False)),
        ("TIMESTAMP", p.Timestamp(6)),
        ("TIMESTAMP WITH", p.Timestamp(6)),
        ("TIMESTAMP WITH NOT NULL", p.Timestamp(6, False)),
        ("TIMESTAMP WITHOUT TIME ZONE", p.Timestamp(6)),
        ("TIMESTAMP_LTZ", p.LocalZonedTimestamp(6)),
        ("TIMESTAMP_LTZ(0) NOT NULL", p.LocalZonedTimestamp(0, False)),
        ("timestamp(3)with local time zone", p.LocalZonedTimestamp(3)),
        ("VARIANT", p.Variant()),
        ("BLOB", p.Blob()),
        ("GEOMETRY", p.Geometry("OGC:CRS84")),
        ("GEOMETRY(`a``b`)", p.Geometry("a`b")),
        ("GEOMETRY('it''s 4')", p.Geometry("it's 4")),
        ("GEOGRAPHY(EPSG:1)", p.Geography("EPSG:1")),
        ("GEOGRAPHY(x, Karney) NOT NULL", p.Geography("x", "karney", False)),
        ("VECTOR<FLOAT, 3>", p.Vector(p.Float(), 3)),
        ("VECTOR<INTEGER NOT NULL,1> NOT NULL", p.Vector(p.Int(False), 1, False)),
        ("INT ARRAY", p.Array(p.Int())),
        ("INT NOT NULL MULTISET NOT NULL", p.Multiset(p.Int(False), False)),
        ("VARCHAR(3) ARRAY NULL", p.Array(p.VarChar(3))),
    ],
)
def test_aliases_and_defaults(text: str, type_: p.DataType) -> None:
    assert parse_text(text) == type_


@pytest.mark.parametrize("spelling", ["TIMESTAMP({}) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ({})"])
@pytest.mark.parametrize("precision", [0, 3, 6, 9])
@pytest.mark.parametrize("nullability", ["", " NOT NULL"])
def test_both_spellings_of_the_zoned_timestamp(spelling: str, precision: int, nullability: str) -> None:
    parsed = parse_text(spelling.format(precision) + nullability)
    assert parsed == p.LocalZonedTimestamp(precision, nullability == "")
    assert str(parsed) == f"TIMESTAMP({precision}) WITH LOCAL TIME ZONE{nullability}"


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("", "LB2001", 1),
        ("INT NOT", "LB2001", 8),
        ("INT(3)", "LB2001", 4),
        ("INT NOT NULL NOT NULL", "LB2001", 14),
        ("INT ARRAY ARRAY", "LB2001", 11),
        ("`INT`", "LB2001", 1),
        ("'INT", "LB2001", 1),
        ("DECIMAL(1, 2, 3)", "LB2001", 15),
        ("DECIMAL(1", "LB2001", 10),
        ("VARCHAR(-1)", "LB2001", 9),
        ("VARCHAR()", "LB2001", 9),
        ("VARCHAR(0)", "LB2003", 9),
        ("VARCHAR(99999999999999999999)", "LB2003", 9),
        ("BINARY(2147483648)", "LB2003", 8),
        ("DECIMAL(39)", "LB2003", 9),
        ("DECIMAL(5, 6)", "LB2003", 12),
        ("TIMESTAMP(10)", "LB2003", 11),
        ("TIMESTAMP(3) WITH TIME ZONE", "LB2001", 19),
        ("TIMESTAMP WITHOUT ZONE", "LB2001", 19),
        ("GEOMETRY()", "LB2003", 10),
        ("GEOMETRY('')", "LB2003", 10),
        ("GEOMETRY(4326)", "LB2003", 10),
        ("GEOGRAPHY(x, flat)", "LB2003", 14),
        ("VECTOR<STRING, 3>", "LB2003", 8),
        ("VECTOR<FLOAT, 0>", "LB2003", 15),
        ("VECTOR<INT ARRAY, 3>", "LB2001", 12),
        ("ARRAY<INT>", "LB2004", 1),
        ("map<INT, INT>", "LB2004", 1),
        ("ROW<a INT>", "LB2004", 1),
        ("UUID", "LB2002", 1),
        ("INT\u00a0NULL", "LB2002", 1),
        ("\u0131NT", "LB2002", 1),
    ],
)
def test_what_is_wrong_and_where(text: str, code: str, column: int) -> None:
    with pytest.raises(TypeTextError) as caught:
        parse_text(text)
    (found,) = caught.value.diagnostics
    assert (found.code, found.position and found.position.column) == (code, column)


def test_positions_count_lines() -> None:
    with pytest.raises(TypeTextError) as caught:
        parse_text("DECIMAL(\n  5,\n  six)")
    assert str(caught.value.diagnostics[0].position) == "<text>:3:3"


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(TypeTextError) as caught:
        parse_text("VARCHR(3)")
    assert "VARCHAR" in caught.value.diagnostics[0].suggestions


def test_hostile_nesting_is_an_error_and_not_a_crash() -> None:
    with pytest.raises(TypeTextError):
        parse_text("VECTOR<" * 100_000)


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_keywords_ignore_case(keyword: str) -> None:
    text = keyword if keyword != "VECTOR" else "VECTOR<INT, 1>"
    assert parse_text(text) == parse_text(text.lower()) == parse_text(text.title())


@given(atomic_types())
def test_parse_undoes_render(type_: p.DataType) -> None:
    assert parse(str(type_)) == type_


@given(atomic_types())
def test_canonical_text_is_stable(type_: p.DataType) -> None:
    assert type_text(parse(type_text(type_))) == type_text(type_)


def test_geospatial_reference_systems_ignore_case() -> None:
    assert p.Geometry("ogc:crs84") == p.Geometry("OGC:CRS84")
    assert hash(p.Geography("epsg:1")) == hash(p.Geography("EPSG:1"))
    assert p.Geometry("a") != p.Geometry("b")
    assert p.Geography("a") != p.Geography("a", "karney")
