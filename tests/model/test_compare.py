"""Comparison: what differs between two schemas, and how alike they are under options."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from lakebed.model import (
    Extra,
    Field,
    Float64,
    Int32,
    Int64,
    List,
    LogicalType,
    Map,
    Option,
    Schema,
    String,
    Struct,
    Timestamp,
    TimeUnit,
    UInt32,
    UInt64,
)
from lakebed.model.compare import Comparison, Likeness, compare
from lakebed.model.differences import DifferenceKind, Party
from lakebed.model.encoding import ENCODING_KEYS, strip_encoding
from lakebed.testing import fields, schemas

KIND = DifferenceKind
HINT = {"arrow.apache.org/bufferEncoding": {"kind": "View"}}


def schema(*members: Field | tuple[str, LogicalType], extra: dict[str, object] | None = None) -> Schema:
    return Schema(tuple(m if isinstance(m, Field) else Field(*m) for m in members), Extra(extra))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Schema, Schema]:
    """A schema and one that came from it: fields kept, dropped, added, moved, annotated, of another type."""
    before = draw(schemas(max_size=4))
    kept = [changed for f in before.fields for changed in draw(st.sampled_from(_variants(f)))]
    names = {f.name.lower() for f in kept}
    added = draw(st.none() | fields().filter(lambda f: f.name.lower() not in names))
    after = draw(st.permutations([*kept, *([added] if added else [])]) | st.just(kept))
    return before, Schema(tuple(after), draw(st.sampled_from([before.extra, Extra()])))


def _variants(f: Field) -> list[list[Field]]:
    inner = f.type.inner if isinstance(f.type, Option) else Option(f.type)
    retyped = List(f.type)
    return [
        *([[f]] * 4),
        [],
        [replace(f, type=inner)],
        [replace(f, type=retyped)],
        [replace(f, extra=f.extra.merged({"a.b/c": 1, "arrow.apache.org/dateEncoding": {"unit": "Day"}}))],
    ]


def kinds(found: Comparison) -> list[tuple[DifferenceKind, str]]:
    return [(d.kind, ".".join(d.path)) for d in found.differences]


@given(schemas())
def test_a_schema_is_identical_to_itself(s: Schema) -> None:
    found = compare(s, s)
    assert found.likeness is Likeness.IDENTICAL
    assert found.is_subset
    assert found.is_superset
    assert found.breaks == frozenset()


@given(pairs())
def test_identical_means_equal(pair: tuple[Schema, Schema]) -> None:
    a, b = pair
    assert (compare(a, b).likeness is Likeness.IDENTICAL) == (a == b)


@given(pairs())
def test_the_mirror_image(pair: tuple[Schema, Schema]) -> None:
    a, b = pair
    forth, back = compare(a, b), compare(b, a)
    assert forth.is_subset == back.is_superset
    assert forth.likeness == back.likeness
    mirrored = {KIND.ADDED: KIND.REMOVED, KIND.REMOVED: KIND.ADDED}
    mirrored |= {KIND.BECAME_OPTIONAL: KIND.BECAME_REQUIRED, KIND.BECAME_REQUIRED: KIND.BECAME_OPTIONAL}
    assert sorted((mirrored.get(k, k), p) for k, p in kinds(forth)) == sorted(kinds(back))


@given(pairs(), st.tuples(*[st.booleans()] * 5))
def test_options_only_excuse(pair: tuple[Schema, Schema], flags: tuple[bool, ...]) -> None:
    a, b = pair
    strict = compare(a, b)
    names = ("ignore_order", "ignore_optionality", "ignore_attributes", "ignore_descriptions", "ignore_encodings")
    found = compare(a, b, **dict(zip(names, flags, strict=True)))
    assert sorted(map(repr, (*found.differences, *found.excused))) == sorted(map(repr, strict.differences))
    assert found.breaks == strict.breaks


@given(schemas(), fields(), st.data())
def test_whatever_hides_behind_an_added_field_is_found(s: Schema, new: Field, data: st.DataObject) -> None:
    """The known fault of comparing common fields only where both lists have the same length."""
    changed = schema(("common", UInt32()), *(f for f in s.fields if f.name != "common"))
    other = schema(("common", UInt64()), *(f for f in s.fields if f.name != "common"), replace(new, name="added"))
    at = data.draw(st.integers(0, len(other.fields) - 1))
    moved = [f for f in other.fields if f.name != "added"]
    moved.insert(at, other.fields[-1])
    found = compare(changed, replace(other, fields=tuple(moved)), ignore_order=True)
    assert (KIND.TYPE, "common") in kinds(found)
    assert not found.is_subset


def test_explicit_defaults_are_no_difference() -> None:
    a = schema(("t", Timestamp()), ("m", Map(String(), Int32())))
    b = schema(("t", Timestamp(TimeUnit.MILLISECOND, "UTC")), ("m", Map(String(), Int32(), False)))
    assert compare(a, b).likeness is Likeness.IDENTICAL


def test_an_attribute_is_excused_wherever_it_stands() -> None:
    a = schema(("s", List(Struct((Field("x", String()),)))))
    b = schema(("s", List(Struct((Field("x", String(), Extra({"a.b/c": 1.0})),)))), extra={"a.b/d": None})
    assert kinds(compare(a, b)) == [(KIND.SCHEMA_ATTRIBUTE, ""), (KIND.ATTRIBUTE, "s.element.x")]
    assert compare(a, b, ignore_attributes=True).likeness is Likeness.EQUIVALENT
    assert compare(a, b, ignore_descriptions=True, ignore_encodings=True).likeness is Likeness.DIFFERENT


def test_descriptions_and_encodings_are_excused_apart() -> None:
    a = schema(Field("x", String()))
    described = schema(Field("x", String(), Extra({"opendatafabric.org/description": "x"})))
    hinted = schema(Field("x", String(), Extra(HINT)))
    assert compare(a, described, ignore_descriptions=True).likeness is Likeness.EQUIVALENT
    assert compare(a, described, ignore_encodings=True).likeness is Likeness.DIFFERENT
    assert compare(a, hinted, ignore_encodings=True).likeness is Likeness.EQUIVALENT
    assert compare(a, hinted, ignore_descriptions=True).likeness is Likeness.DIFFERENT


def test_optionality_is_excused_both_ways_and_nested() -> None:
    a = schema(("x", String()), ("l", List(Option(String()))))
    b = schema(("x", Option(String())), ("l", List(String())))
    assert kinds(compare(a, b)) == [(KIND.BECAME_OPTIONAL, "x"), (KIND.BECAME_REQUIRED, "l.element")]
    assert compare(a, b, ignore_optionality=True).likeness is Likeness.EQUIVALENT


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (schema(("a", UInt64())), [(KIND.TYPE, "a")]),
        (schema(("b", UInt32())), [(KIND.REMOVED, "a"), (KIND.ADDED, "b")]),
        (schema(("a", UInt32()), ("b", String())), [(KIND.ADDED, "b")]),
        (schema(("b", String()), ("a", UInt32())), [(KIND.REORDERED, "a"), (KIND.ADDED, "b")]),
    ],
)
def test_what_differs_from_one_field(after: Schema, expected: list[tuple[DifferenceKind, str]]) -> None:
    found = compare(schema(("a", UInt32())), after, ignore_optionality=True, ignore_attributes=True)
    assert kinds(found) == expected


def test_a_list_that_differs_in_item_and_length_and_optionality() -> None:
    a, b = schema(("l", Option(List(Option(Int32()), 2)))), schema(("l", List(Int64(), 3)))
    assert kinds(compare(a, b)) == [
        (KIND.BECAME_REQUIRED, "l"),
        (KIND.TYPE, "l"),
        (KIND.BECAME_REQUIRED, "l.element"),
        (KIND.TYPE, "l.element"),
    ]


def test_a_superset_may_have_more_fields_only() -> None:
    small = schema(("a", UInt32()), ("s", Struct((Field("x", Int32()),))))
    more = schema(("a", UInt32()), ("s", Struct((Field("x", Int32()), Field("y", Int32())))), ("b", String()))
    assert compare(more, small).is_superset
    assert compare(small, more).is_subset
    assert not compare(small, more).is_superset
    leading = schema(("b", String()), *small.fields)
    assert not compare(leading, small).is_superset
    assert compare(leading, small, ignore_order=True).is_superset


PRODUCER, CONSUMER = Party


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (Int32(), Int64(), {CONSUMER}),
        (Int64(), Int32(), {PRODUCER}),
        (Int32(), String(), {PRODUCER, CONSUMER}),
        (String(), Option(String()), {CONSUMER}),
        (Option(String()), String(), {PRODUCER}),
        (Timestamp(TimeUnit.SECOND), Timestamp(TimeUnit.MICROSECOND), {CONSUMER}),
        (List(Float64()), List(Float64(), 2), {PRODUCER}),
        (Map(String(), Int32()), Map(String(), Int32(), True), {PRODUCER}),
        (Struct((Field("a", Int32()),)), Struct((Field("a", Int32()), Field("b", Option(Int32())))), set()),
        (Struct((Field("a", Int32()),)), Struct((Field("a", Int32()), Field("b", Int32()))), {PRODUCER}),
        (Struct((Field("a", Int32()), Field("b", Int32()))), Struct((Field("a", Int32()),)), {PRODUCER, CONSUMER}),
    ],
)
def test_who_breaks(before: LogicalType, after: LogicalType, expected: set[Party]) -> None:
    assert compare(schema(("x", before)), schema(("x", after))).breaks == expected


@given(schemas())
def test_stripping_keeps_all_but_the_hints(s: Schema) -> None:
    once = strip_encoding(s)
    assert strip_encoding(once) == once
    assert compare(s, once, ignore_encodings=True).differences == ()


def test_hints_are_stripped_inside_lists_and_maps() -> None:
    """The reference implementation leaves those inside of lists and maps; `foo.com/x` and the schema's own stay."""
    inner = Struct((Field("a", String(), Extra({**HINT, "foo.com/x": 1})),))
    s = schema(("l", List(Option(inner))), ("m", Map(String(), inner)), extra=HINT)
    kept = Struct((Field("a", String(), Extra({"foo.com/x": 1})),))
    assert strip_encoding(s) == schema(("l", List(Option(kept))), ("m", Map(String(), kept)), extra=HINT)
    assert frozenset(HINT) < ENCODING_KEYS


def test_what_has_a_schema_can_be_compared() -> None:
    s = schema(("x", Int32()))
    assert lakebed.compare(s, s).likeness is Likeness.IDENTICAL
    with pytest.raises(TypeError):
        compare(s, "nyc.flights")  # type: ignore[arg-type]


def test_as_json() -> None:
    found = compare(schema(("a", Int32())), schema(("a", Int64()), ("b", Option(String())))).to_json()
    assert found["likeness"] == "different"
    assert found["breaks"] == ["consumer"]
    assert [(d["kind"], d["path"]) for d in found["differences"]] == [("type", ["a"]), ("added", ["b"])]
    assert found["differences"][0]["after"] == {"kind": "Int64"}
