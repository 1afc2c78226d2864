"""ODF's migration rule for a chain of schema events."""

from __future__ import annotations

import pytest
from hypothesis import given

from lakebed.model import Extra, Field, Int32, Int64, List, LogicalType, Map, Option, Schema, String, Struct, UInt32
from lakebed.model.migration_rule import migration_problems
from lakebed.testing import schemas


def of(**types: LogicalType) -> Schema:
    return Schema(tuple(Field(name, type_) for name, type_ in types.items()))


def codes(old: Schema, new: Schema, *, legacy: bool = False) -> list[tuple[str, str | None]]:
    return [(d.code, d.path) for d in migration_problems(old, new, legacy=legacy)]


BASE = of(a=UInt32(), b=Option(String()))
ITEMS = List(Struct((Field("x", Int32()),)))
MORE_ITEMS = List(Struct((Field("x", Int32()), Field("y", Option(Int32())))))


@pytest.mark.parametrize(
    "after",
    [
        Schema(BASE.fields, Extra({"a.b/c": 1})),
        of(b=Option(String()), a=UInt32()),
        of(a=UInt32(), b=Option(String()), c=Option(Int32())),
        of(c=Option(Int32()), a=UInt32(), b=Option(String())),
    ],
)
def test_what_may_follow(after: Schema) -> None:
    assert codes(BASE, after) == []


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BASE, [("LB4706", None)]),
        (of(a=UInt32()), [("LB4700", "b")]),
        (of(a=UInt32(), renamed=Option(String())), [("LB4700", "b")]),
        (of(a=Int64(), b=Option(String())), [("LB4701", "a")]),
        (of(a=UInt32(), b=Option(String()), c=Int32()), [("LB4702", "c")]),
        (of(a=Option(UInt32()), b=Option(String())), [("LB4704", "a")]),
        (of(a=UInt32(), b=String()), [("LB4705", "b")]),
        (of(a=Int64(), b=Option(String()), c=Option(Int32())), [("LB4701", "a")]),
    ],
)
def test_what_may_not_follow(after: Schema, expected: list[tuple[str, str]]) -> None:
    assert codes(BASE, after) == expected


def test_inside_of_lists_but_not_of_maps() -> None:
    assert codes(of(l=ITEMS), of(l=MORE_ITEMS)) == []
    assert codes(of(m=Map(String(), ITEMS)), of(m=Map(String(), MORE_ITEMS))) == [("LB4703", "m.value.element.y")]


def test_optionality_may_change_once_after_a_legacy_event() -> None:
    legacy, declared = of(a=Option(UInt32()), l=List(Option(Int32()))), of(a=UInt32(), l=List(Int32()))
    assert codes(legacy, declared, legacy=True) == []
    assert codes(declared, legacy) == [("LB4704", "a"), ("LB4704", "l.element")]
    assert codes(legacy, of(a=UInt32(), l=List(Int64())), legacy=True) == [("LB4701", "l.element")]
    assert codes(legacy, of(l=legacy.fields[1].type), legacy=True) == [("LB4700", "a")]


@given(schemas(), schemas())
def test_legacy_only_forgives_optionality(a: Schema, b: Schema) -> None:
    strict = codes(a, b)
    assert codes(a, b, legacy=True) == [(c, p) for c, p in strict if c not in ("LB4704", "LB4705")]
