"""Canonical JSON, fingerprints and attributes."""

from __future__ import annotations

import hashlib
import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.model import (
    Binary,
    Decimal,
    Extra,
    Field,
    Int8,
    Int64,
    List,
    LogicalType,
    Map,
    Option,
    Schema,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    canonical_json,
    normalize,
    schema_json,
    type_json,
)
from lakebed.testing import extras, fields, json_values, schemas


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (Int8(), '{"kind":"Int8"}'),
        (Binary(), '{"kind":"Binary"}'),
        (Binary(16), '{"kind":"Binary","fixedLength":16}'),
        (Decimal(10, -2), '{"kind":"Decimal","precision":10,"scale":-2}'),
        (Timestamp(), '{"kind":"Timestamp"}'),
        (Timestamp(TimeUnit.MILLISECOND, "UTC"), '{"kind":"Timestamp","unit":"Millisecond","timezone":"UTC"}'),
        (List(Int8(), 2), '{"kind":"List","itemType":{"kind":"Int8"},"fixedLength":2}'),
        (
            Map(String(), Int8(), keys_sorted=False),
            '{"kind":"Map","keyType":{"kind":"String"},"valueType":{"kind":"Int8"},"keysSorted":false}',
        ),
        (
            Option(Struct((Field("a", Int8(), Extra({"x.y/b": 1, "x.y/a": "é"})),))),
            '{"kind":"Option","inner":{"kind":"Struct","fields":[{"name":"a","type":{"kind":"Int8"},'
            '"extra":{"x.y/a":"é","x.y/b":1}}]}}',
        ),
    ],
)
def test_long_form_has_kind_first_and_parameters_in_the_order_of_the_specification(
    type_: LogicalType, text: str
) -> None:
    assert json.dumps(type_json(type_), separators=(",", ":"), ensure_ascii=False) == text


def test_normalized_form_drops_defaults_at_every_level() -> None:
    inner = Timestamp(TimeUnit.MILLISECOND, "UTC")
    type_ = Map(inner, List(Option(Struct((Field("a", inner),)))), keys_sorted=False)
    assert "unit" not in json.dumps(type_json(type_, normalize=True))
    assert "keysSorted" not in json.dumps(type_json(type_, normalize=True))
    assert json.dumps(type_json(type_)).count("Millisecond") == 2


def test_fingerprint_is_the_hash_of_the_canonical_json() -> None:
    schema = Schema((Field("id", Int64()), Field("at", Timestamp())), Extra({"example.org/owner": "team"}))
    text = (
        '{"extra":{"example.org/owner":"team"},"fields":[{"name":"id","type":{"kind":"Int64"}},'
        '{"name":"at","type":{"kind":"Timestamp"}}]}'
    )
    assert schema.fingerprint == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_fingerprint_ignores_explicit_defaults_and_the_order_of_attributes() -> None:
    a = Schema((Field("at", Timestamp(), Extra({"a/b": 1, "a/c": {"x": 1, "y": 2}})),))
    b = Schema((Field("at", Timestamp(TimeUnit.MILLISECOND, "UTC"), Extra({"a/c": {"y": 2, "x": 1}, "a/b": 1})),))
    assert a == b
    assert a.fingerprint == b.fingerprint


@given(schemas(), schemas())
def test_equal_schemas_have_equal_fingerprints_and_others_other_ones(a: Schema, b: Schema) -> None:
    assert (a == b) == (a.fingerprint == b.fingerprint)
    assert a == Schema(a.fields, Extra(a.extra.to_json()))


@given(schemas(min_size=2))
def test_the_order_of_fields_matters(schema: Schema) -> None:
    turned = replace(schema, fields=schema.fields[::-1])
    assert turned != schema
    assert turned.fingerprint != schema.fingerprint


@given(schemas())
def test_canonical_json_is_json(schema: Schema) -> None:
    assert json.loads(canonical_json(schema.to_json())) == schema.to_json()


@given(fields())
def test_a_field_is_nullable_exactly_when_its_type_is_an_option(field: Field) -> None:
    assert field.nullable == (type_json(field.type)["kind"] == "Option")


def test_fields_are_found_by_exact_name() -> None:
    schema = Schema((Field("a", Int8()), Field("A", String())))
    assert schema.field("A") == Field("A", String())
    assert schema.field("b") is None


# Attributes


def test_empty_attributes_are_absent_attributes() -> None:
    assert Extra() == Extra({}) == {}
    assert not Extra()
    assert "extra" not in Schema((Field("a", Int8(), Extra({})),), Extra({})).to_json()["fields"][0]


@given(extras(), st.randoms(use_true_random=False))
def test_attributes_are_equal_whatever_the_order_of_their_keys(extra: Extra, random_: random.Random) -> None:
    keys = list(extra)
    random_.shuffle(keys)
    other = Extra({key: extra[key] for key in keys})
    assert other == extra
    assert hash(other) == hash(extra)
    assert other.text == extra.text


@given(st.dictionaries(st.sampled_from(["a/b", "c.d/e"]), json_values()))
def test_attributes_keep_every_json_value(values: dict[str, object]) -> None:
    assert Extra(values).to_json() == values
    assert canonical_json(Extra(values).to_json()) == Extra(values).text


def test_attributes_tell_numbers_and_truth_apart() -> None:
    assert len({Extra({"a/b": value}) for value in (1, 1.0, True, "1", None)}) == 5


def test_attribute_text_is_compact_sorted_and_unescaped() -> None:
    assert Extra({"b/x": {"z": 1, "a": "é/\n"}, "a/x": [1, 2]}).text == '{"a/x":[1,2],"b/x":{"a":"é/\\n","z":1}}'


def test_merging_and_taking_out_leave_the_original_alone() -> None:
    extra = Extra({"a/b": 1})
    assert extra.merged({"a/c": 2}) == {"a/b": 1, "a/c": 2}
    assert extra.without("a/b", "a/z") == {}
    extra.to_json()["a/b"] = 7
    assert extra == {"a/b": 1}


@pytest.mark.parametrize(("value", "description"), [("text", "text"), (1, None), (None, None)])
def test_a_description_that_is_no_text_is_none(value: object, description: str | None) -> None:
    assert Extra({"opendatafabric.org/description": value}).description == description


@given(schemas())
def test_the_normal_form_is_equal_and_says_no_default(schema: Schema) -> None:
    normal = normalize(schema)
    assert normal == schema
    assert schema_json(normal) == schema_json(schema, normalize=True)
    assert normalize(normal) == normal


def test_what_the_normal_form_leaves_out() -> None:
    spelled = Timestamp(TimeUnit.MILLISECOND, "UTC")
    nested = Struct((Field("m", Map(String(), Option(List(spelled)), False)), Field("t", Time(TimeUnit.SECOND))))
    plain = Struct((Field("m", Map(String(), Option(List(Timestamp())))), Field("t", Time(TimeUnit.SECOND))))
    assert type_json(normalize(Schema((Field("s", nested),))).fields[0].type) == type_json(plain)
