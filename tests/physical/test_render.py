"""Canonical output of types."""

from __future__ import annotations

import pytest

from lakebed.physical import paimon_types as p
from lakebed.physical import path_text, type_line


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (p.Boolean(False), "BOOLEAN NOT NULL"),
        (p.Decimal(10, 2), "DECIMAL(10, 2)"),
        (p.STRING, "STRING"),
        (p.VarChar(2147483646), "VARCHAR(2147483646)"),
        (p.VarBinary(nullable=False), "BYTES NOT NULL"),
        (p.Char(3), "CHAR(3)"),
        (p.Time(), "TIME(0)"),
        (p.Timestamp(), "TIMESTAMP(6)"),
        (p.LocalZonedTimestamp(3, False), "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL"),
        (p.Geometry("EPSG:4326"), "GEOMETRY(EPSG:4326)"),
        (p.Geometry("4326"), "GEOMETRY('4326')"),
        (p.Geometry("it's"), "GEOMETRY('it''s')"),
        (p.Geography("a b", "karney"), "GEOGRAPHY('a b', karney)"),
        (p.Vector(p.Float(), 3), '{"type":"VECTOR","element":"FLOAT","length":3}'),
    ],
)
def test_text(type_: p.DataType, text: str) -> None:
    assert str(type_) == text


def test_paths_quote_what_would_be_misread() -> None:
    assert path_text(("r", "a.b", "element", "c`d", "", "x y")) == "r.`a.b`.element.`c``d`.``.`x y`"


def test_people_read_nested_types_on_one_line() -> None:
    members = (p.DataField(3, "x", p.Int(False)), p.DataField(4, "y", p.Map(p.STRING, p.Multiset(p.Int()))))
    nested = p.Array(p.Row(members, False))
    assert type_line(nested) == "ARRAY<ROW<x INT NOT NULL, y MAP<STRING, MULTISET<INT>>> NOT NULL>"
    assert type_line(p.Vector(p.Float(), 3, False)) == "VECTOR<FLOAT, 3> NOT NULL"
    assert type_line(p.Decimal(10, 2, False)) == str(p.Decimal(10, 2, False))
