"""The long form of logical types, read back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, TimeUnit, field_json, type_json
from lakebed.model import types as m
from lakebed.model.from_json import field_from_json, type_from_json
from lakebed.testing.physical import storable_types


@given(storable_types())
def test_reading_undoes_writing(type_: LogicalType) -> None:
    for normalize in (True, False):
        assert type_from_json(type_json(type_, normalize=normalize)) == type_
    assert type_json(type_from_json(type_json(type_))) == type_json(type_)


def test_a_field_with_attributes() -> None:
    declared = Field("a", m.Null(), Extra({"b.com/c": [1, None]}))
    assert field_from_json(field_json(declared)) == declared


def test_the_short_form_is_taken() -> None:
    assert type_from_json("Timestamp") == m.Timestamp(TimeUnit.MILLISECOND)


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (7, "object"),
        ({}, "None"),
        ({"kind": "Uint8"}, "Uint8"),
        ({"kind": ["List"]}, "List"),
        ({"kind": "Decimal", "precision": 3}, "scale"),
        ({"kind": "Decimal", "precision": True, "scale": 0}, "precision"),
        ({"kind": "Time", "unit": "second"}, "unit"),
        ({"kind": "Bool", "unit": "Second"}, "unit"),
        ({"kind": "Map", "keyType": "String", "valueType": "Int8", "keysSorted": "no"}, "keysSorted"),
        ({"kind": "Timestamp", "timezone": 5}, "timezone"),
        ({"kind": "Struct", "fields": {}}, "fields"),
        ({"kind": "Struct", "fields": [{"type": "Bool"}]}, "name"),
        ({"kind": "Struct", "fields": [{"name": "x"}]}, "type"),
        ({"kind": "Struct", "fields": [{"name": "x", "type": "Bool", "extra": []}]}, None),
        ({"kind": "Struct", "fields": [{"name": "x", "type": "Bool", "extra": [1]}]}, "extra"),
    ],
)
def test_what_is_no_type(value: Any, part: str | None) -> None:
    if part is None:
        assert type_from_json(value)
        return
    with pytest.raises(ConversionError, match=part) as caught:
        type_from_json(value)
    assert caught.value.code == "LB2112"


def test_depth_is_limited() -> None:
    value: Any = "Bool"
    for _ in range(200):
        value = {"kind": "List", "itemType": value}
    with pytest.raises(ConversionError, match="deep"):
        type_from_json(value)
