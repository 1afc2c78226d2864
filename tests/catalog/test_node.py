"""Laws of the walk through stored types and what they mean: it agrees with the walks through each of the two."""

from __future__ import annotations

from hypothesis import given, settings

from lakebed.catalog.node import Node, siblings
from lakebed.convert.paimon import to_paimon
from lakebed.model import Extra, Field, Schema
from lakebed.model import types as logical
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import fields_inside, named_children, outer_rows_at, types_inside
from lakebed.testing.physical import storable_schemas

MANY = settings(max_examples=100)


def nodes(schema: Schema) -> tuple[Node, ...]:
    return siblings(to_paimon(schema), schema.fields)


def all_inside(node: Node) -> list[Node]:
    return [node, *(found for child in node.children() for found in all_inside(child))]


@MANY
@given(storable_schemas())
def test_every_place_of_the_stored_type_is_met_in_its_order(schema: Schema) -> None:
    for node in nodes(schema):
        assert [inner.stored for inner in all_inside(node)] == list(types_inside(node.stored))
        for inner in all_inside(node):
            names = [name for name, _ in named_children(inner.stored)]
            assert [child.path for child in inner.children()] == [(*inner.path, name) for name in names]
            assert inner.nullable == isinstance(inner.meant, logical.Option) != (inner.own is inner.meant)


@MANY
@given(storable_schemas())
def test_a_fold_meets_every_place_once(schema: Schema) -> None:
    for node in nodes(schema):
        counted = node.fold(lambda _, inner: 1 + sum(inner))
        assert counted == len(all_inside(node))


@MANY
@given(storable_schemas())
def test_the_structs_of_a_place_are_those_of_the_stored_type(schema: Schema) -> None:
    for node in nodes(schema):
        found = list(node.structs())
        assert [(path, row) for path, row, _ in found] == list(outer_rows_at(node.stored, node.path))
        assert all([f.name for f in row.fields] == [m.name for m in struct.fields] for _, row, struct in found)


@MANY
@given(storable_schemas())
def test_members_have_the_attributes_that_they_are_declared_with(schema: Schema) -> None:
    columns = dict(fields_inside(to_paimon(schema)))
    for node in nodes(schema):
        for inner in all_inside(node):
            if isinstance(inner.own, logical.Struct):
                assert [child.extra for child in inner.children()] == [member.extra for member in inner.own.fields]
        assert columns[node.path].type == node.stored


def test_two_types_of_different_shapes_have_nothing_in_common_inside() -> None:
    stored = physical.Array(physical.Row((physical.DataField(0, "a", physical.Int()),)))
    node = Node(("c",), stored, logical.Struct((Field("a", logical.Int32()),)), Extra())
    assert node.children() == ()
    assert list(node.structs()) == []
