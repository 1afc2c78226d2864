"""JSON Schemas of others as schemas of columns."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from lakebed.convert.loss import LossReport
from lakebed.convert.row_schema import from_row_schema, to_row_schema
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as m
from lakebed.model.extra import DEFAULT, DESCRIPTION, ENUM, MAXIMUM, MINIMUM, PAIMON_TYPE, PATTERN
from lakebed.testing import schemas


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=40)
@given(schemas())
def test_every_schema_comes_back(schema: Schema) -> None:
    made, report = to_row_schema(schema)
    jsonschema.Draft202012Validator.check_schema(made)
    assert from_row_schema(made)[0].schema == schema
    assert not report


def row(of: Any, *needed: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": of}, "required": list(needed), **more}


POINT = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}


@pytest.mark.parametrize(
    ("of", "type_", "extra", "losses"),
    [
        ({"type": "integer"}, m.Int64(), {}, []),
        ({"type": "integer", "format": "int32"}, m.Int32(), {}, []),
        ({"type": "integer", "minimum": 0, "maximum": 255}, m.UInt8(), {}, []),
        ({"type": "integer", "minimum": 1}, m.Int64(), {MINIMUM: 1}, []),
        ({"type": "number", "maximum": 2.5}, m.Float64(), {MAXIMUM: 2.5}, []),
        ({"type": "number", "multipleOf": 0.01}, m.Float64(), {}, ["a: the keyword multipleOf"]),
        ({"type": "boolean", "description": "d", "default": False}, m.Bool(), {DESCRIPTION: "d", DEFAULT: False}, []),
        ({"type": "string", "format": "date-time"}, m.Timestamp(), {}, []),
        ({"type": "string", "format": "email"}, m.String(), {}, ["a: the format email"]),
        ({"type": "string", "maxLength": 9}, m.String(), {PAIMON_TYPE: "VARCHAR(9)"}, []),
        ({"type": "string", "pattern": "^(?:[a-z]+)$"}, m.String(), {PATTERN: "[a-z]+"}, []),
        ({"type": "string", "pattern": "^a|b$"}, m.String(), {PATTERN: ".*(?:^a|b$).*"}, []),
        ({"type": "string", "contentEncoding": "base64"}, m.Binary(), {}, []),
        ({"enum": ["x", "y"]}, m.String(), {ENUM: ["x", "y"]}, []),
        ({"type": ["string", "null"]}, m.Option(m.String()), {}, []),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, m.Option(m.Int64()), {}, []),
        ({"$ref": "#/$defs/point"}, m.Struct((Field("x", m.Float64()),)), {}, []),
        (
            {"allOf": [{"$ref": "#/$defs/point"}], "description": "d"},
            m.Struct((Field("x", m.Float64()),)),
            {DESCRIPTION: "d"},
            [],
        ),
        ({"type": "array", "items": {"type": "string"}}, m.List(m.String()), {}, []),
        (
            {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            m.List(m.String()),
            {},
            ["a: the keyword maxItems"],
        ),
        (
            {"type": "array", "items": {"type": "string", "title": "t"}},
            m.List(m.String()),
            {},
            ["a.element: the keyword title"],
        ),
        (
            {"type": "array", "items": {"enum": ["x"]}},
            m.List(m.String()),
            {},
            ["a.element: the attribute lakebed.dev/enum"],
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, m.Map(m.String(), m.Int64()), {}, []),
    ],
)
def test_what_others_write(of: Any, type_: m.LogicalType, extra: dict[str, Any], losses: list[str]) -> None:
    contract, report = from_row_schema({**row(of, "a", title="shop.orders"), "$defs": {"point": POINT}})
    assert contract.schema.fields == (Field("a", type_, Extra(extra)),)
    assert contract.name == "shop.orders"
    assert str(report).splitlines() == losses


def test_what_is_not_required_may_be_null() -> None:
    assert from_row_schema(row({"type": "string"}))[0].schema == Schema((Field("a", m.Option(m.String())),))


TREE = {"type": "object", "properties": {"child": {"$ref": "#/$defs/tree"}}}


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ({"type": "string"}, "LB2602", None),
        (row({"type": ["string", "integer", "null"], "title": "t"}), "LB2603", "a"),
        (row({"anyOf": [{"type": "string"}, {"type": "integer"}]}), "LB2603", "a"),
        (row({"type": "array"}), "LB2603", "a"),
        (row({"type": "object"}), "LB2603", "a"),
        (row({"type": "text"}), "LB2603", "a"),
        (row({}), "LB2603", "a"),
        (row(True), "LB2602", "a"),
        (row({"$ref": "other.json"}), "LB2602", "a"),
        (row({"$ref": "#/$defs/none"}), "LB2602", "a"),
        (row({"$ref": "#/$defs/tree"}, **{"$defs": {"tree": TREE}}), "LB2603", "a.child"),
    ],
)
def test_what_is_no_schema_of_columns(value: Any, code: str, path: str | None) -> None:
    with pytest.raises(ConversionError) as caught:
        from_row_schema(value)
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == (code, path)


def test_a_note_that_does_not_fit_any_more() -> None:
    made, _ = to_row_schema(Schema((Field("a", m.Decimal(5, 2)),)))
    assert from_row_schema(made) == (from_row_schema(made)[0], LossReport())
    made["properties"]["a"] |= {"type": "integer", "pattern": None}
    contract, report = from_row_schema(made)
    assert [f.type for f in contract.schema.fields] == [m.Int64()]
    assert str(report) == "a: the note of its type, which does not fit the column any more"
