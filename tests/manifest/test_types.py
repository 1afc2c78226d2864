"""Types in manifests: all 24, three spellings, short and long form, at every place where a type can stand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from lakebed.manifest import parse_manifest
from lakebed.model import (
    BY_KIND,
    Binary,
    Date,
    Decimal,
    Duration,
    Field,
    Float32,
    Int8,
    Int64,
    List,
    LogicalType,
    Map,
    Null,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    UInt8,
    type_json,
)
from lakebed.testing import logical_types
from manifest.marked import problems_of, table

WITH_PARAMETERS = ("Decimal", "List", "Map", "Option", "Struct")


def decoded(text: str) -> LogicalType:
    (manifest,) = parse_manifest(table(f"- {{name: x, type: {text}}}")).tables
    return manifest.schema.fields[0].type


def spelled(kind: str) -> tuple[str, str, str]:
    return kind, kind[0].lower() + kind[1:], kind.lower()


@pytest.mark.parametrize("kind", [kind for kind in BY_KIND if kind not in WITH_PARAMETERS])
def test_three_spellings_short_and_long(kind: str) -> None:
    for spelling in spelled(kind):
        assert decoded(spelling) == decoded(f"{{kind: {spelling}}}") == BY_KIND[kind]()


@pytest.mark.parametrize("kind", WITH_PARAMETERS)
def test_kinds_with_required_parameters_fail_for_them_in_short_form(kind: str) -> None:
    for spelling in spelled(kind):
        assert {p.code for p in problems_of(table(f"- {{name: x, type: {spelling}}}"))} == {"LB1042"}


@pytest.mark.parametrize("kind", BY_KIND)
def test_no_other_spelling_is_accepted(kind: str) -> None:
    for spelling in {kind.upper(), kind[0] + kind[1:].swapcase(), f" {kind}"} - set(spelled(kind)):
        (problem,) = problems_of(table(f"- {{name: x, type: {{kind: '{spelling}'}}}}"))
        assert problem.code == "LB1050"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("{kind: binary, fixedLength: 16}", Binary(16)),
        ("{kind: Binary, fixedLength: 0x10}", Binary(16)),
        ("{kind: Binary, fixedLength: 18446744073709551615}", Binary(2**64 - 1)),
        ("{kind: Decimal, precision: 38, scale: 0}", Decimal(38, 0)),
        ("{kind: Decimal, precision: 3, scale: -2}", Decimal(3, -2)),
        ("{kind: duration, unit: second}", Duration(TimeUnit.SECOND)),
        ("{kind: Time, unit: microsecond}", Time(TimeUnit.MICROSECOND)),
        ("{kind: Timestamp, unit: nanosecond, timezone: +07:30}", Timestamp(TimeUnit.NANOSECOND, "+07:30")),
        ("{kind: List, itemType: float32, fixedLength: 2}", List(Float32(), 2)),
        (
            "{kind: Map, keyType: string, valueType: {kind: Option, inner: Date}, keysSorted: true}",
            Map(String(), Option(Date()), keys_sorted=True),
        ),
        ("{kind: Option, inner: Null}", Option(Null())),
        ("{kind: option, inner: null}", Option(Null())),
        ("{kind: Struct, fields: []}", Struct(())),
        ("{kind: Struct, fields: [{name: a, type: int8}]}", Struct((Field("a", Int8()),))),
    ],
)
def test_parameters(text: str, type_: LogicalType) -> None:
    assert decoded(text) == type_


def test_explicit_defaults_are_kept_and_absent_ones_not_invented() -> None:
    written = "{kind: Timestamp, unit: millisecond, timezone: UTC}"
    assert type_json(decoded(written)) == {"kind": "Timestamp", "unit": "Millisecond", "timezone": "UTC"}
    assert type_json(decoded("Timestamp")) == {"kind": "Timestamp"}
    assert type_json(decoded("{kind: Timestamp, unit: null, timezone: ~}")) == {"kind": "Timestamp"}
    keys = type_json(decoded("{kind: Map, keyType: String, valueType: Int8, keysSorted: false}"))
    assert keys["keysSorted"] is False
    assert decoded(written) == decoded("Timestamp")


@pytest.mark.parametrize("zone", ["UTC", "Z", "+00:00", "-00:00", "Etc/UTC", "GMT+05:00", "Europe/Paris", "-18:00"])
def test_time_zones_stay_as_they_are_written(zone: str) -> None:
    type_ = decoded(f"{{kind: Timestamp, timezone: {zone}}}")
    assert isinstance(type_, Timestamp)
    assert type_.timezone == zone


@pytest.mark.parametrize("zone", ["europe/paris", "Europe/Pariss", "UTC+1", "+7:30", "+18:30", "../etc/passwd", "''"])
def test_no_time_zones(zone: str) -> None:
    (problem,) = problems_of(table(f"- {{name: x, type: {{kind: Timestamp, timezone: {zone}}}}}"))
    assert problem.code == "LB1054"


@given(logical_types())
def test_the_long_form_is_read_back(type_: LogicalType) -> None:
    assert decoded(json.dumps(type_json(type_))) == type_


@given(logical_types())
def test_normalizing_does_not_change_what_is_read(type_: LogicalType) -> None:
    assert decoded(json.dumps(type_json(type_, normalize=True))) == type_


def test_a_type_may_be_nested_a_hundred_deep() -> None:
    text = "Int8"
    type_: LogicalType = Int8()
    for _ in range(100):
        text = f"{{kind: Struct, fields: [{{name: a, type: {text}}}]}}"
        type_ = Struct((Field("a", type_),))
    assert decoded(text) == type_


def test_attributes_stand_on_fields_at_any_depth() -> None:
    type_ = decoded(
        "{kind: Map, keyType: {kind: Struct, fields: [{name: k, type: Int8, extra: {a/b: 1}}]}, valueType: {kind: List,"
        " itemType: {kind: Option, inner: {kind: Struct, fields: [{name: v, type: UInt8, extra: {a/b: 2}}]}}}}"
    )
    assert isinstance(type_, Map)
    assert isinstance(type_.key_type, Struct)
    assert type_.key_type.fields[0].extra == {"a/b": 1}
    assert type_.value_type == List(
        Option(Struct((Field("v", UInt8(), type_.key_type.fields[0].extra.merged({"a/b": 2})),)))
    )


def test_anchors_repeat_types_and_attributes() -> None:
    text = table(
        "- {name: x, type: &t {kind: Option, inner: Int64}, extra: &e {a/b: 1}}\n- {name: y, type: *t, extra: *e}"
    )
    x, y = parse_manifest(text).tables[0].schema.fields
    assert x.type == y.type == Option(Int64())
    assert x.extra == y.extra == {"a/b": 1}
