"""Laws of the walks through Spark's types: nothing is left out, nothing is met twice, and no change changes nothing."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as t

from lakebed.convert.spark_tree import (
    children,
    fold,
    named_children,
    outer_structs,
    transform,
    transform_struct,
    types_inside,
    with_children,
)

FLAT = st.sampled_from(
    [t.LongType(), t.StringType(), t.VariantType(), t.CharType(3), t.DecimalType(9, 2), t.NullType()]
)


def structs(parts: st.SearchStrategy[t.DataType]) -> st.SearchStrategy[t.DataType]:
    member = st.builds(
        t.StructField, st.text("ab`. ", min_size=1), parts, st.booleans(), st.sampled_from([None, {"comment": "x"}])
    )
    return st.builds(t.StructType, st.lists(member, max_size=3, unique_by=lambda f: f.name))


ANY = st.recursive(
    FLAT,
    lambda parts: st.one_of(
        st.builds(t.ArrayType, parts, st.booleans()), st.builds(t.MapType, parts, parts, st.booleans()), structs(parts)
    ),
    max_leaves=8,
)
MANY = settings(max_examples=100)


@MANY
@given(ANY)
def test_a_change_that_changes_nothing_gives_the_type(type_: t.DataType) -> None:
    assert transform(type_, lambda part: part) is type_
    assert with_children(type_, children(type_)) is type_
    assert fold(type_, with_children) == type_


@MANY
@given(ANY)
def test_every_type_inside_is_met_once_and_changed_once(type_: t.DataType) -> None:
    found = list(types_inside(type_))
    assert found[0] is type_
    assert fold(type_, lambda _, inner: 1 + sum(inner)) == len(found)
    met: list[t.DataType] = []
    transform(type_, lambda part: met.append(part) or part)  # type: ignore[func-returns-value]
    assert sorted(map(repr, met)) == sorted(map(repr, found))
    assert len(named_children(type_)) == len(children(type_))


@MANY
@given(ANY)
def test_what_is_around_a_change_stays_as_it_was(type_: t.DataType) -> None:
    """Nullability and metadata are those of before, with every text a binary one."""
    column = t.StructType([t.StructField("c", type_, False, {"comment": "y"})])

    def changed(part: t.DataType) -> t.DataType:
        return t.BinaryType() if type(part) is t.StringType else part

    expected = column.json().replace('"string"', '"binary"')
    assert transform_struct(column, changed).json() == expected


@MANY
@given(ANY)
def test_the_outer_structs_hold_all_structs(type_: t.DataType) -> None:
    def inside(part: t.DataType) -> list[str]:
        return [repr(found) for found in types_inside(part) if isinstance(found, t.StructType)]

    assert sorted(inside(type_)) == sorted(text for _, struct in outer_structs(type_) for text in inside(struct))
