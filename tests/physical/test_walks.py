"""Laws of the walks through nested types: nothing is left out, nothing is met twice, and no change changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from lakebed.evolve.nested_paths import map_rows, without_ids
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_types import outer_rows, types_inside
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


def fields_inside(type_: t.DataType) -> list[t.DataField]:
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
    assert map_rows(type_, lambda f: f) == type_


@MANY
@given(ANY)
def test_every_field_is_changed_once_and_the_inner_ones_first(type_: t.DataType) -> None:
    met: list[t.DataField] = []

    def number(field: t.DataField) -> t.DataField:
        met.append(field)
        return t.DataField(len(met), field.name, field.type, field.description, field.default_value)

    numbered = map_rows(type_, number)
    assert sorted(f.id for f in fields_inside(numbered)) == list(range(1, len(met) + 1))
    assert [f.name for f in fields_inside(numbered)] == [f.name for f in fields_inside(type_)]
    assert all(inner.id < f.id for f in fields_inside(numbered) for inner in fields_inside(f.type))
    assert without_ids(numbered) == without_ids(type_)


@MANY
@given(ANY)
def test_the_outer_rows_hold_all_rows_and_none_another(type_: t.DataType) -> None:
    def rows(part: t.DataType) -> list[t.Row]:
        return [found for found in types_inside(part) if isinstance(found, t.Row)]

    outer = list(outer_rows(type_))
    assert sorted(map(str, rows(type_))) == sorted(str(row) for top in outer for row in rows(top))
    assert not any(inner is top for top in outer for other in outer for inner in rows(other)[1:])
