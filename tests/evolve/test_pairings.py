"""Laws of the pairings of two schemas: one with itself keeps every id, and where only names say who is who they agree.

`pair` has four strategies: of columns that are asked for, of declared ones, of two tables that are compared, and of the
versions of a Mini Paimon table. The union of schemas pairs while it merges. Each is asked by what it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evolve.random_edits import TYPES, schemas
from lakebed.catalog import TableName, TableSchema
from lakebed.evolve import describe_changes
from lakebed.evolve.identity import identify, identify_new
from lakebed.evolve.pairing import ByName, pair, pair_asked
from lakebed.evolve.union_schema import MergeTypes, UnionRules, merge_fields
from lakebed.migration.inference import infer
from lakebed.physical import paimon_types as t
from lakebed.physical.paimon_tree import map_fields, types_inside
from lakebed.testing import paimon_schemas

Fields = tuple[t.DataField, ...]
Pairing = Callable[[TableSchema, Fields], Fields]

MANY = settings(max_examples=40, suppress_health_check=list(HealthCheck))


def annotated() -> st.SearchStrategy[TableSchema]:
    """First versions of declared tables."""
    return paimon_schemas().map(lambda declared: TableSchema(0, *identify_new(declared)))


def is_flat(fields: Fields) -> bool:
    return not any(isinstance(part, t.Row) for f in fields for part in types_inside(f.type))


ANY = schemas() | annotated()
FLAT = ANY.filter(lambda schema: is_flat(schema.fields))


def changed(fields: Fields, change: Callable[[t.DataField], t.DataField]) -> Fields:
    whole = map_fields(t.Row(fields), change)
    assert isinstance(whole, t.Row)
    return whole.fields


def without_ids(fields: Fields) -> Fields:
    return changed(fields, lambda f: replace(f, id=t.UNASSIGNED))


def as_wanted(base: TableSchema, wanted: Fields) -> Fields:
    return pair_asked(base.fields, without_ids(wanted))


def as_declared(base: TableSchema, wanted: Fields) -> Fields:
    return identify(replace(base, fields=without_ids(wanted), options={}).logical, base)


def as_merged(types: MergeTypes) -> Pairing:
    return lambda base, wanted: merge_fields(base.fields, without_ids(wanted), UnionRules(types)).fields


def as_mini(base: TableSchema, wanted: Fields) -> Fields:
    """The ids that versions of a Mini Paimon table get: it has no ROWs, and ids are given in the order of columns."""
    bare = replace(base, options={}, partition_keys=(), highest_field_id=-1)
    found = infer(TableName("d", "t"), (bare, replace(bare, id=1, fields=without_ids(wanted))), (), None)
    assert not found.problems
    before, after = found.versions
    return tuple(replace(f, id=f.id if before.field(f.name) else t.UNASSIGNED) for f in after.fields)


BY_NAME: dict[str, Pairing] = {
    "named": lambda base, wanted: pair(base.fields, without_ids(wanted), ByName()),
    "wanted": as_wanted,
    "declared": as_declared,
    "merged": as_merged(MergeTypes.ADD),
    "merged and widened": as_merged(MergeTypes.WIDEN),
    "merged and cast": as_merged(MergeTypes.CAST),
    "mini": as_mini,
}


def ids(fields: Fields) -> dict[tuple[str, ...], int]:
    """The path of every column and member to its id."""
    return dict(_ids((), fields))


def _ids(parent: tuple[str, ...], fields: Fields) -> Iterator[tuple[tuple[str, ...], int]]:
    for field in fields:
        yield (*parent, field.name), field.id
        yield from _ids_inside((*parent, field.name), field.type)


def _ids_inside(path: tuple[str, ...], type_: Any) -> Iterator[tuple[tuple[str, ...], int]]:
    if isinstance(type_, t.Row):
        yield from _ids(path, type_.fields)
    for part in ("element", "key", "value"):
        if hasattr(type_, part):
            yield from _ids_inside((*path, part), getattr(type_, part))


@st.composite
def other_columns(draw: st.DrawFn, fields: Fields) -> Fields:
    """Columns of the same names and types, some left out, some new, in another order, at every level; without ids."""
    kept = draw(st.lists(st.sampled_from(fields), min_size=1, unique_by=lambda f: f.name))
    found = [replace(f, id=t.UNASSIGNED, type=draw(other_inside(f.type))) for f in kept]
    for name in draw(st.lists(st.sampled_from(["new 1", "new 2"]), max_size=2, unique=True)):
        type_ = draw(TYPES)
        found.insert(draw(st.integers(0, len(found))), t.DataField(t.UNASSIGNED, name, type_))
    return tuple(found)


@st.composite
def other_inside(draw: st.DrawFn, type_: t.DataType) -> t.DataType:
    match type_:
        case t.Row() if type_.fields:
            return replace(type_, fields=draw(other_columns(type_.fields)))
        case t.Array():
            return replace(type_, element=draw(other_inside(type_.element)))
        case t.Map():
            return replace(type_, value=draw(other_inside(type_.value)))
    return type_


@pytest.mark.parametrize("pairing", BY_NAME)
@MANY
@given(data=st.data())
def test_a_schema_with_itself_keeps_every_id(pairing: str, data: st.DataObject) -> None:
    base = data.draw(FLAT if pairing == "mini" else ANY)
    assert ids(BY_NAME[pairing](base, base.fields)) == ids(base.fields)


@MANY
@given(ANY)
def test_columns_that_are_asked_for_by_id_are_those_columns(base: TableSchema) -> None:
    assert pair_asked(base.fields, base.fields) == base.fields


@pytest.mark.parametrize("pairing", BY_NAME)
@MANY
@given(data=st.data())
def test_the_pairings_agree_where_names_do(pairing: str, data: st.DataObject) -> None:
    base = data.draw(FLAT if pairing == "mini" else ANY)
    others = other_columns(base.fields)
    wanted = data.draw(others.filter(is_flat) if pairing == "mini" else others)
    known, found = ids(base.fields), ids(BY_NAME[pairing](base, wanted))
    assert {path: found[path] for path in ids(wanted)} == {path: known.get(path, t.UNASSIGNED) for path in ids(wanted)}


@MANY
@given(st.data())
def test_two_tables_are_compared_as_if_one_followed_on_the_other(data: st.DataObject) -> None:
    base = data.draw(ANY)
    wanted = data.draw(other_columns(base.fields))
    other = replace(base, fields=changed(wanted, lambda f: replace(f, id=data.draw(st.integers(0, 2**20)))))
    follows = replace(base, fields=as_wanted(base, wanted))
    assert describe_changes(base, other, by_name=True) == describe_changes(base, follows)
    assert describe_changes(base, replace(base, fields=without_ids(base.fields)), by_name=True) == ()
