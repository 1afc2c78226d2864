"""Laws of the walks through nested types: nothing is left out, nothing is met twice, and no change changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_tree import (
    Path,
    children,
    fields_inside,
    fold,
    map_fields,
    named_children,
    outer_rows,
    transform,
    types_inside,
    with_children,
    without_ids,
)
from lakebed.testing.physical import data_types

ANY = data_types(unknown=True)
MANY = settings(max_examples=150)


def in_json(type_: Any) -> int:
    """How many types the JSON of a type holds, itself among them."""
    if isinstance(type_, str):
        return 1
    inner = [f["type"] for f in type_.get("fields", ())]
    inner += [type_[part] for part in ("element", "key", "value") if part in type_]
    return 1 + sum(map(in_json, inner))


def fields_inside_of(type_: t.DataType) -> list[t.DataField]:
    return [f for part in types_inside(type_) if isinstance(part, t.Row) for f in part.fields]


@MANY
@given(ANY)
def test_every_type_inside_is_met_once_and_the_outer_one_first(type_: t.DataType) -> None:
    found = list(types_inside(type_))
    unknown = [part for part in found if isinstance(part, t.Unknown)]
    assert found[0] is type_
    if not unknown:
        assert len(found) == in_json(type_.to_json())


@MANY
@given(ANY)
def test_a_change_that_changes_nothing_gives_the_type(type_: t.DataType) -> None:
    assert transform(type_, lambda part: part) is type_
    assert map_fields(type_, lambda f: f) == type_
    assert with_children(type_, children(type_)) is type_


@MANY
@given(ANY)
def test_a_fold_meets_what_is_inside_and_can_build_the_type_again(type_: t.DataType) -> None:
    assert fold(type_, lambda _, inner: 1 + sum(inner)) == len(list(types_inside(type_)))
    assert fold(type_, with_children) == type_
    assert len(named_children(type_)) == len(children(type_))


@MANY
@given(ANY)
def test_every_type_is_changed_once(type_: t.DataType) -> None:
    met: list[t.DataType] = []

    def note(part: t.DataType) -> t.DataType:
        met.append(part)
        return t.with_nullability(part, False)

    changed = transform(type_, note)
    assert len(met) == len(list(types_inside(type_)))
    assert not any(part.nullable for part in types_inside(changed))


@MANY
@given(ANY)
def test_a_path_leads_to_each_field(type_: t.DataType) -> None:
    column = t.DataField(0, "c", type_)

    def at(part: t.DataType, path: Path) -> t.DataType:
        return at(dict(named_children(part))[path[0]], path[1:]) if path else part

    found = list(fields_inside((column,)))
    assert all(at(type_, path[1:]) == field.type for path, field in found)
    assert sorted(str(field) for _, field in found) == sorted(map(str, [column, *fields_inside_of(type_)]))


@MANY
@given(ANY)
def test_every_field_is_changed_once_and_the_inner_ones_first(type_: t.DataType) -> None:
    met: list[t.DataField] = []

    def number(field: t.DataField) -> t.DataField:
        met.append(field)
        return t.DataField(len(met), field.name, field.type, field.description, field.default_value)

    numbered = map_fields(type_, number)
    assert sorted(f.id for f in fields_inside_of(numbered)) == list(range(1, len(met) + 1))
    assert [f.name for f in fields_inside_of(numbered)] == [f.name for f in fields_inside_of(type_)]
    assert all(inner.id < f.id for f in fields_inside_of(numbered) for inner in fields_inside_of(f.type))
    assert without_ids(numbered) == without_ids(type_)


@MANY
@given(ANY)
def test_the_outer_rows_hold_all_rows_and_none_another(type_: t.DataType) -> None:
    def rows(part: t.DataType) -> list[t.Row]:
        return [found for found in types_inside(part) if isinstance(found, t.Row)]

    outer = list(outer_rows(type_))
    assert sorted(map(str, rows(type_))) == sorted(str(row) for top in outer for row in rows(top))
    assert not any(inner is top for top in outer for other in outer for inner in rows(other)[1:])
