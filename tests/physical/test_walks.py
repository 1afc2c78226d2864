"""Laws of the walks through nested types: nothing is left out, nothing is met twice, and no change changes nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_tree import (
    Path,
    alike_levels,
    alike_parts,
    alike_places,
    change_alike_rows,
    change_outer_rows,
    children,
    fields_inside,
    fold,
    map_fields,
    named_children,
    outer_rows,
    places_inside,
    transform,
    types_inside,
    walk_fields,
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
    assert list(walk_fields((column,))) == [field for _, field in found]
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


# --- two types side by side -------------------------------------------------------------------------------------------


def numbered(type_: t.DataType) -> t.DataType:
    """With an id of its own for each field."""
    numbers = iter(range(10_000))
    return map_fields(type_, lambda f: replace(f, id=next(numbers)))


@MANY
@given(ANY)
def test_a_type_has_every_place_in_common_with_itself(type_: t.DataType) -> None:
    one = numbered(type_)
    assert list(alike_places(one, one)) == [(path, part, part) for path, part in places_inside(one)]
    assert [part for _, part in places_inside(one)] == list(types_inside(one))
    columns = (t.DataField(20_000, "c", one),)
    rows = [(path, part.fields, part.fields) for path, part in places_inside(one, ("c",)) if isinstance(part, t.Row)]
    assert list(alike_levels(columns, columns)) == [((), columns, columns), *rows]


@MANY
@given(ANY, ANY)
def test_places_in_common_are_reached_by_parts_in_common(one: t.DataType, other: t.DataType) -> None:
    one, other = numbered(one), numbered(other)
    found = {path: (a, b) for path, a, b in alike_places(one, other)}
    assert found[()] == (one, other)
    for path, pair in found.items():
        if path:
            above = found[path[:-1]]
            by_place = [(a, b) for name, a, b in alike_parts(*above) if name == path[-1]]
            by_id = [(a.type, b.type) for a in fields_of(above[0]) for b in fields_of(above[1]) if a.id == b.id]
            assert pair in (by_place or by_id)
    assert alike_parts(one, one) == tuple((n, p, p) for n, p in named_children(one)) or isinstance(one, t.Row)


def fields_of(type_: t.DataType) -> tuple[t.DataField, ...]:
    return type_.fields if isinstance(type_, t.Row) else ()


@MANY
@given(ANY, ANY)
def test_rows_in_the_same_places_are_changed_and_all_else_is_kept(one: t.DataType, other: t.DataType) -> None:
    assert change_outer_rows(other, lambda row: row) is other
    assert change_alike_rows(one, other, lambda _, __, row: row, lambda part: part, ()) is other
    met: list[t.Row] = []

    def note(_: Path, __: t.Row, row: t.Row) -> t.Row:
        met.append(row)
        return row

    change_alike_rows(other, other, note, lambda part: part, ())
    assert met == list(outer_rows(other)) == _changed_rows(other)


def _changed_rows(type_: t.DataType) -> list[t.Row]:
    met: list[t.Row] = []

    def note(row: t.Row) -> t.Row:
        met.append(row)
        return row

    change_outer_rows(type_, note)
    return met
