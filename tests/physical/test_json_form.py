"""The JSON form of types: nested types, other writers' dialects, types of the future."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog.ids import assign
from lakebed.errors import TypeTextError
from lakebed.physical import paimon_types as p
from lakebed.physical import parse, parse_json
from lakebed.physical.json_form import MAX_DEPTH, whole_number
from lakebed.testing.physical import data_types, json_values

ROW = {"type": "ROW", "fields": [{"id": 1, "name": "x", "type": "INT"}]}


def problems(value: Any, **options: Any) -> list[tuple[str, str | None]]:
    with pytest.raises(TypeTextError) as caught:
        parse_json(value, **options)
    return [(d.code, d.path) for d in caught.value.diagnostics]


@given(data_types(unknown=True))
def test_parse_undoes_render(type_: p.DataType) -> None:
    ((field,), _) = assign([p.DataField(p.UNASSIGNED, "f", type_)], -1)
    assert parse(field.type.to_json(), unknown="keep") == field.type
    assert parse(str(field.type), unknown="keep") == field.type


@given(data_types())
def test_missing_ids_are_allowed_only_on_request(type_: p.DataType) -> None:
    assert parse(type_.to_json(), allow_missing_ids=True) == type_


@pytest.mark.parametrize(
    ("type_", "form"),
    [
        (p.Array(p.Int(False)), {"type": "ARRAY", "element": "INT NOT NULL"}),
        (p.Map(p.STRING, p.Int(), False), {"type": "MAP NOT NULL", "key": "STRING", "value": "INT"}),
        (p.Multiset(p.STRING, False), {"type": "MULTISET NOT NULL", "element": "STRING"}),
        (p.Vector(p.Float(), 3), {"type": "VECTOR", "element": "FLOAT", "length": 3}),
        (p.Row((p.DataField(1, "x", p.Int()),)), ROW),
        (p.Row(()), {"type": "ROW", "fields": []}),
        (
            p.Row((p.DataField(7, "x", p.Int(), "d", "1"),), False),
            {
                "type": "ROW NOT NULL",
                "fields": [{"id": 7, "name": "x", "type": "INT", "description": "d", "defaultValue": "1"}],
            },
        ),
    ],
)
def test_the_objects_of_nested_types_and_their_key_order(type_: p.DataType, form: dict[str, Any]) -> None:
    assert json.dumps(type_.to_json()) == json.dumps(form)
    assert parse(form) == type_
    assert str(type_) == json.dumps(form, separators=(",", ":"))


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("member", [{}, {"nullable": True}, {"nullable": False}])
def test_outer_nullability_is_read_at_the_end_of_the_outer_text(nullable: bool, member: dict[str, bool]) -> None:
    """Another writer spells out the whole type before it, and its NOT NULLs are those of the inner types."""
    end = "" if nullable else " NOT NULL"
    inner = {"key": "STRING NOT NULL", "value": "INT NOT NULL"} | member
    expected = p.Map(p.VarChar(nullable=False), p.Int(False), nullable)
    assert parse({"type": "MAP" + end} | inner) == expected
    assert parse({"type": "MAP<STRING NOT NULL, INT NOT NULL>" + end} | inner) == expected
    array = {"type": "ARRAY<INT NOT NULL>" + end, "element": "INT NOT NULL"} | member
    assert parse(array) == p.Array(p.Int(False), nullable)
    row = ROW | {"type": "ROW<x: INT NOT NULL COMMENT a > b, y: ROW<z: INT NOT NULL>>" + end} | member
    assert parse(row) == p.Row((p.DataField(1, "x", p.Int()),), nullable)


@pytest.mark.parametrize("outer", ["ARRAY NOT", "ARRAY not null", "ARRAY<INT> SOMETHING", "ARRAY NOT  NULL", "ARRAY x"])
def test_an_outer_text_that_readers_disagree_on_is_refused(outer: str) -> None:
    assert problems({"type": outer, "element": "INT"}) == [("LB2005", None)]


def test_an_atomic_type_in_an_object_is_read() -> None:
    assert parse({"type": "INT NOT NULL"}) == p.Int(False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, [("LB2005", None)]),
        (None, [("LB2005", None)]),
        (["INT"], [("LB2005", None)]),
        ({}, [("LB2005", None)]),
        ({"type": 5}, [("LB2005", None)]),
        ({"type": "array", "element": "INT"}, [("LB2005", None)]),
        ({"type": "ARRAY"}, [("LB2005", "element")]),
        ({"type": "MAP"}, [("LB2005", "key"), ("LB2005", "value")]),
        ({"type": "MAP", "key": "INTT", "value": 7}, [("LB2002", "key"), ("LB2005", "value")]),
        ({"type": "VECTOR", "element": "STRING", "length": 0}, [("LB2003", None), ("LB2003", None)]),
        ({"type": "ROW"}, [("LB2005", None)]),
        ({"type": "ROW", "fields": [7]}, [("LB2005", None)]),
        ({"type": "ROW", "fields": [{"id": 1, "name": " ", "type": "INT"}]}, [("LB2006", None)]),
        ({"type": "ROW", "fields": [{"id": 1, "name": "x"}]}, [("LB2005", "x")]),
        ({"type": "ROW", "fields": [{"name": "x", "type": "INT"}]}, [("LB2006", "x")]),
        ({"type": "ROW", "fields": [{"id": -4, "name": "x", "type": "INT"}]}, [("LB2006", "x")]),
        ({"type": "ROW", "fields": [{"id": True, "name": "x", "type": "INT"}]}, [("LB2006", "x")]),
        ({"type": "ROW", "fields": [ROW["fields"][0], ROW["fields"][0]]}, [("LB2006", "x")]),
        ("ARRAY<INT>", [("LB2004", None)]),
        (
            {"type": "ROW", "fields": [{"id": 1, "name": "a.b", "type": {"type": "ARRAY", "element": "INT(3)"}}]},
            [("LB2001", "`a.b`.element")],
        ),
    ],
)
def test_every_problem_with_its_path(value: Any, expected: list[tuple[str, str | None]]) -> None:
    assert problems(value) == expected
    assert problems(value, unknown="keep") == [e for e in expected if e[0] != "LB2002"]


def test_sloppy_fields_are_read_as_what_they_mean() -> None:
    field = {"id": "7", "name": "x", "type": "INT", "description": 12, "defaultValue": None, "other": {}}
    assert parse({"type": "ROW", "fields": [field]}) == p.Row((p.DataField(7, "x", p.Int(), "12"),))


@pytest.mark.parametrize(
    ("value", "number"),
    [(7, 7), ("7", 7), ("-7", -7), (7.0, 7), (2**63 - 1, 2**63 - 1), (2**31, 2**31)],
)
def test_whole_numbers(value: object, number: int) -> None:
    assert whole_number(value) == number


@pytest.mark.parametrize("value", [True, None, 7.5, "7.0", "", " 7", "\u0667", [], 2**63, "9" * 5000, float("inf")])
def test_what_is_no_whole_number(value: object) -> None:
    assert whole_number(value) is None


def test_a_type_of_the_future_is_kept_at_any_level() -> None:
    value = {"type": "MAP", "key": "UUID NOT NULL", "value": {"type": "UNION NOT NULL", "of": ["INT"], "x": 1}}
    found = parse(value, unknown="keep")
    assert found == p.Map(p.Unknown("UUID", False), p.Unknown('{"type": "UNION", "of": ["INT"], "x": 1}', False))
    assert found.to_json() == value
    assert problems(value) == [("LB2002", "key"), ("LB2002", "value")]


@pytest.mark.parametrize("text", ["TENSOR", "TENSOR(3, 'x')", "INTERVAL YEAR TO MONTH", "MAP2<INT>"])
def test_an_unknown_type_is_written_as_it_was_found(text: str) -> None:
    for whole in (text, text + " NOT NULL"):
        kept = parse(whole, unknown="keep")
        assert isinstance(kept, p.Unknown)
        assert kept.to_json() == whole
        assert p.with_nullability(kept, True).to_json() == text


@pytest.mark.parametrize(
    "text", ["INT(3)", "DECIMAL(50, 2)", "", "'X'", "7", "ARRAY<INT>", "TIMESTAMP(3) WITH TIME ZONE"]
)
def test_a_known_type_that_is_wrong_is_not_unknown(text: str) -> None:
    assert problems(text, unknown="keep")


def test_depth_is_limited() -> None:
    def nested(levels: int) -> Any:
        value: Any = "INT"
        for _ in range(levels):
            value = {"type": "ARRAY", "element": value}
        return value

    assert parse(json.dumps(nested(MAX_DEPTH))).root == "ARRAY"
    assert problems(nested(MAX_DEPTH + 1))[0][0] == "LB2007"
    with pytest.raises(TypeTextError):
        parse("{" + '"type":{' * 100_000)


def test_json_text_that_is_broken() -> None:
    with pytest.raises(TypeTextError) as caught:
        parse('{"type": "ARRAY",\n "element" "INT"}')
    assert str(caught.value.diagnostics[0].position) == "<text>:2:12"


@given(json_values() | st.builds(lambda v: {"type": v, "fields": v, "element": v}, json_values()))
def test_no_value_gives_anything_but_a_type_or_its_error(value: Any) -> None:
    try:
        assert parse(parse_json(value, unknown="keep").to_json(), unknown="keep")
    except TypeTextError:
        return
