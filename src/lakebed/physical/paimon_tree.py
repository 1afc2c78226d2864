"""Walk stored types: their parts, a fold from the inside out, and a change of every type inside."""

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
)

T = TypeVar("T")
#: Names of columns and members; `element`, `key` and `value` for what lists and maps hold.
Path: TypeAlias = tuple[str, ...]

ELEMENT, KEY, VALUE = "element", "key", "value"


def children(type_: DataType) -> tuple[DataType, ...]:
    """What a type is made of, one level down: the types of members, an element, a key and a value."""
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
        for inner, row in outer_rows_at(field.type, here):
            yield from fields_inside(row.fields, inner)


def walk_fields(fields: Iterable[DataField]) -> Iterator[DataField]:
    """Every field of every level, parents before children, in order."""
    return (f for _, f in fields_inside(fields))


def highest_id(fields: Iterable[DataField]) -> int:
    """The largest field id of all levels, system ids left out; -1 for no fields."""
    return max((f.id for f in walk_fields(fields) if f.id < FIRST_SYSTEM_ID), default=-1)
