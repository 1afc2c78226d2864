"""Walk stored types, one or two side by side: their parts, folds, and changes of what is inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from lakebed.physical.paimon_types import (
    FIRST_SYSTEM_ID,
    UNASSIGNED,
    Array,
    DataField,
    DataType,
    Map,
    Multiset,
    Row,
    Vector,
    with_nullability,
)

T = TypeVar("T")
#: Names of columns and members; `element`, `key` and `value` for what lists and maps hold.
Path: TypeAlias = tuple[str, ...]

ELEMENT, KEY, VALUE = "element", "key", "value"
#: Types that are made of others. Most columns of wide tables are of other types, and are walked at the cost of asking.
_HOLDERS = frozenset({Row, Array, Multiset, Vector, Map})


def children(type_: DataType) -> tuple[DataType, ...]:
    """What a type is made of, one level down: the types of members, an element, a key and a value."""
    if type(type_) not in _HOLDERS:
        return ()
    return tuple(part for _, part in named_children(type_))


def named_children(type_: DataType) -> tuple[tuple[str, DataType], ...]:
    """The same, each with its name in a path."""
    match type_:
        case Row():
            return tuple((f.name, f.type) for f in type_.fields)
        case Array() | Multiset() | Vector():
            return ((ELEMENT, type_.element),)
        case Map():
            return (KEY, type_.key), (VALUE, type_.value)
        case _:
            return ()


def with_children(type_: DataType, parts: Sequence[DataType]) -> DataType:
    """The type made of other parts, as many as `children` gives; itself where they are its own."""
    if all(new is old for new, old in zip(parts, children(type_), strict=True)):
        return type_
    match type_:
        case Row():
            fields = (replace(f, type=part) for f, part in zip(type_.fields, parts, strict=True))
            return replace(type_, fields=tuple(fields))
        case Array() | Multiset() | Vector():
            return replace(type_, element=parts[0])
        case Map():
            return replace(type_, key=parts[0], value=parts[1])
        case _:
            return type_


def fold(type_: DataType, combine: Callable[[DataType, tuple[T, ...]], T]) -> T:
    """What `combine` makes of the type and of what it has made of the children, in their order."""
    return combine(type_, tuple(fold(part, combine) for part in children(type_)))


def transform(type_: DataType, change: Callable[[DataType], DataType]) -> DataType:
    """The type with `change` done to every type in it and then to itself."""
    parts = children(type_)
    return change(with_children(type_, [transform(part, change) for part in parts]) if parts else type_)


def map_fields(type_: DataType, change: Callable[[DataField], DataField]) -> DataType:
    """The type with `change` done to every field of every ROW in it, the inner ones first."""

    def change_row(part: DataType) -> DataType:
        return replace(part, fields=tuple(map(change, part.fields))) if isinstance(part, Row) else part

    return transform(type_, change_row)


def without_ids(type_: DataType) -> DataType:
    """The type with every field id inside it unassigned."""
    return map_fields(type_, lambda f: replace(f, id=UNASSIGNED))


def bare(type_: DataType) -> DataType:
    """The type with every ROW emptied: what a field's own type says, less what its nested fields say."""
    return transform(type_, lambda t: replace(t, fields=()) if isinstance(t, Row) else t)


def without_nullability(type_: DataType) -> DataType:
    """The type with everything in it nullable, and itself."""
    return transform(type_, lambda t: with_nullability(t, True))


def types_inside(type_: DataType) -> Iterator[DataType]:
    """The type itself, and then every type in it at any depth, outer ones first."""
    yield type_
    for part in children(type_):
        yield from types_inside(part)


def outer_rows(type_: DataType) -> Iterator[Row]:
    """The outermost ROWs of a type: itself, or those in what it holds."""
    return (row for _, row in outer_rows_at(type_, ()))


def outer_rows_at(type_: DataType, path: Path) -> Iterator[tuple[Path, Row]]:
    """The same, each with its path; `path` is that of the type."""
    if isinstance(type_, Row):
        yield path, type_
    else:
        for name, part in named_children(type_):
            yield from outer_rows_at(part, (*path, name))


def fields_inside(fields: Iterable[DataField], path: Path = ()) -> Iterator[tuple[Path, DataField]]:
    """Every field of every level with its path, parents before children, in order; `path` leads to the fields."""
    for field in fields:
        here = (*path, field.name)
        yield here, field
        if type(field.type) in _HOLDERS:
            for inner, row in outer_rows_at(field.type, here):
                yield from fields_inside(row.fields, inner)


def places_inside(type_: DataType, path: Path = ()) -> Iterator[tuple[Path, DataType]]:
    """The type itself and every type in it, each with its path, outer ones first; `path` is that of the type."""
    yield path, type_
    for name, part in named_children(type_):
        yield from places_inside(part, (*path, name))


def change_outer_rows(type_: DataType, change: Callable[[Row], Row]) -> DataType:
    """The type with `change` done to each of its outermost ROWs, in their order."""
    if isinstance(type_, Row):
        return change(type_)
    return with_children(type_, [change_outer_rows(part, change) for part in children(type_)])


def walk_fields(fields: Iterable[DataField]) -> Iterator[DataField]:
    """Every field of every level, parents before children, in order."""
    for field in fields:
        yield field
        if type(field.type) in _HOLDERS:
            for row in outer_rows(field.type):
                yield from walk_fields(row.fields)


def highest_id(fields: Iterable[DataField]) -> int:
    """The largest field id of all levels, system ids left out; -1 for no fields."""
    return max((f.id for f in walk_fields(fields) if f.id < FIRST_SYSTEM_ID), default=-1)


# --- two types side by side -------------------------------------------------------------------------------------------

#: What two types have in the same places one level down, each with its name; nothing of ROWs.
PartsOfTwo: TypeAlias = Callable[[DataType, DataType], tuple[tuple[str, DataType, DataType], ...]]


def alike_parts(one: DataType, other: DataType) -> tuple[tuple[str, DataType, DataType], ...]:
    """What two types of one kind hold in the same places, each with its name; none where they are of two kinds.

    Members of ROWs are not in it: which of them are the same is not told by their places.
    """
    if type(one) is not type(other) or isinstance(one, Row):
        return ()
    if isinstance(one, Vector) and isinstance(other, Vector) and one.length != other.length:
        return ()
    pairs = zip(named_children(one), named_children(other), strict=True)
    return tuple((name, part, other_part) for (name, part), (_, other_part) in pairs)


def alike_members(one: Iterable[DataField], other: Iterable[DataField]) -> Iterator[tuple[DataField, DataField]]:
    """Fields with the same id of two ROWs or tables, each pair with that of `one` first, in the order of `other`."""
    by_id = {field.id: field for field in one if field.id != UNASSIGNED}
    return ((by_id[field.id], field) for field in other if field.id in by_id)


def alike_places(
    one: DataType, other: DataType, path: Path = (), parts: PartsOfTwo = alike_parts
) -> Iterator[tuple[Path, DataType, DataType]]:
    """The places that two types have in common, themselves first and outer ones before what they hold.

    Members of ROWs are the same by their ids. Paths are in the names of `other`, and `path` is that of the types.
    """
    yield path, one, other
    if isinstance(one, Row) and isinstance(other, Row):
        for old, new in alike_members(one.fields, other.fields):
            yield from alike_places(old.type, new.type, (*path, new.name), parts)
    for name, part, other_part in parts(one, other):
        yield from alike_places(part, other_part, (*path, name), parts)


def alike_levels(
    one: Sequence[DataField], other: Sequence[DataField], parts: PartsOfTwo = alike_parts
) -> Iterator[tuple[Path, tuple[DataField, ...], tuple[DataField, ...]]]:
    """The fields of two tables and of all ROWs that they have in common, level by level, as `alike_places` has them."""
    for path, before, after in alike_places(Row(tuple(one)), Row(tuple(other)), (), parts):
        if isinstance(before, Row) and isinstance(after, Row):
            yield path, before.fields, after.fields


def change_alike_rows(
    one: DataType,
    other: DataType,
    change: Callable[[Path, Row, Row], Row],
    alone: Callable[[DataType], DataType],
    path: Path,
) -> DataType:
    """The type `other` with `change` done to each outermost ROW that has one of `one` in the same place.

    `alone` is done to the parts that have nothing in their place in `one`, or something of another kind.
    """
    if isinstance(one, Row) and isinstance(other, Row):
        return change(path, one, other)
    parts = alike_parts(one, other)
    if not parts:
        return alone(other)
    return with_children(other, [change_alike_rows(a, b, change, alone, (*path, name)) for name, a, b in parts])
