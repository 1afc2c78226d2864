"""Laws of the walks through logical types: nothing is left out, nothing is met twice, no change changes nothing."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings

from lakebed.model import LogicalType, Struct, type_json
from lakebed.model import types as logical
from lakebed.model.logical_tree import (
    children,
    fields_inside,
    fold,
    map_members,
    outer_structs,
    transform,
    types_inside,
    with_children,
)
from lakebed.model.types import Field, required
from lakebed.testing.schemas import logical_types

MANY = settings(max_examples=150)
ANY = logical_types()


def in_json(form: dict[str, Any]) -> int:
    """How many types the JSON of a type holds, itself among them."""
    inner = [f["type"] for f in form.get("fields", ())]
    inner += [form[part] for part in ("itemType", "keyType", "valueType", "inner") if part in form]
    return 1 + sum(map(in_json, inner))


def members_inside(type_: LogicalType) -> list[Field]:
    return [f for part in types_inside(type_) if isinstance(part, Struct) for f in part.fields]


@MANY
@given(ANY)
def test_every_type_inside_is_met_once_and_the_outer_one_first(type_: LogicalType) -> None:
    found = list(types_inside(type_))
    assert found[0] is type_
    assert len(found) == in_json(type_json(type_)) == fold(type_, lambda _, inner: 1 + sum(inner))


@MANY
@given(ANY)
def test_a_change_that_changes_nothing_gives_the_type(type_: LogicalType) -> None:
    assert transform(type_, lambda part: part) is type_
    assert map_members(type_, lambda f: f) == type_
    assert with_children(type_, children(type_)) is type_
    assert fold(type_, with_children) is type_


@MANY
@given(ANY)
def test_every_type_is_changed_once_and_the_inner_ones_first(type_: LogicalType) -> None:
    met: list[LogicalType] = []

    def note(part: LogicalType) -> LogicalType:
        met.append(part)
        return required(part)

    bare = transform(type_, note)
    assert len(met) == len(list(types_inside(type_)))
    assert not any(isinstance(part, logical.Option) for part in types_inside(bare))
    assert bare == type_ or logical.Option in map(type, types_inside(type_))


@MANY
@given(ANY)
def test_every_member_is_changed_once(type_: LogicalType) -> None:
    renamed = map_members(type_, lambda f: Field(f.name + "!", f.type, f.extra))
    assert [f.name for f in members_inside(renamed)] == [f.name + "!" for f in members_inside(type_)]


@MANY
@given(ANY)
def test_a_path_leads_to_each_member(type_: LogicalType) -> None:
    def at(part: LogicalType, path: tuple[str, ...]) -> LogicalType:
        own = required(part)
        match own:
            case _ if not path:
                return part
            case logical.Struct():
                return at(next(f.type for f in own.fields if f.name == path[0]), path[1:])
            case logical.List():
                return at(own.item_type, path[1:])
            case logical.Map():
                return at(own.key_type if path[0] == "key" else own.value_type, path[1:])
            case _:
                raise AssertionError(path)

    column = Field("c", type_)
    found = list(fields_inside((column,)))
    assert all(at(type_, path[1:]) == field.type for path, field in found)
    assert sorted(str(field) for _, field in found) == sorted(map(str, [column, *members_inside(type_)]))


@MANY
@given(ANY)
def test_the_outer_structs_hold_all_structs_and_none_another(type_: LogicalType) -> None:
    def structs(part: LogicalType) -> list[Struct]:
        return [found for found in types_inside(part) if isinstance(found, Struct)]

    outer = [struct for _, struct in outer_structs(type_)]
    assert sorted(map(str, structs(type_))) == sorted(str(s) for top in outer for s in structs(top))
    assert not any(inner is top for top in outer for other in outer for inner in structs(other)[1:])
