"""Walk logical types: their parts, a fold from the inside out, and a change of every type inside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from lakebed.model.types import Field, List, LogicalType, Map, Option, Struct, required

T = TypeVar("T")
#: Names of columns and members; `element`, `key` and `value` for what lists and maps hold.
Path: TypeAlias = tuple[str, ...]

ELEMENT, KEY, VALUE = "element", "key", "value"


def children(type_: LogicalType) -> tuple[LogicalType, ...]:
    """What a type is made of, one level down: the types of members, an item, a key and a value, what is optional."""
    return tuple(part for _, part in _steps(type_))


def _steps(type_: LogicalType) -> tuple[tuple[Path, LogicalType], ...]:
    """The same, each with what it adds to a path: a name, or for an `Option` nothing."""
    match type_:
        case Struct():
            return tuple(((f.name,), f.type) for f in type_.fields)
        case List():
            return (((ELEMENT,), type_.item_type),)
        case Map():
            return ((KEY,), type_.key_type), ((VALUE,), type_.value_type)
        case Option():
            return (((), type_.inner),)
        case _:
            return ()


def with_children(type_: LogicalType, parts: Sequence[LogicalType]) -> LogicalType:
    """The type made of other parts, as many as `children` gives; itself where they are its own."""
    if all(new is old for new, old in zip(parts, children(type_), strict=True)):
        return type_
    match type_:
        case Struct():
            return Struct(tuple(replace(f, type=part) for f, part in zip(type_.fields, parts, strict=True)))
        case List():
            return replace(type_, item_type=parts[0])
        case Map():
            return replace(type_, key_type=parts[0], value_type=parts[1])
        case Option():
            return Option(parts[0])
        case _:
            return type_


def fold(type_: LogicalType, combine: Callable[[LogicalType, tuple[T, ...]], T]) -> T:
    """What `combine` makes of the type and of what it has made of the children, in their order."""
    return combine(type_, tuple(fold(part, combine) for part in children(type_)))


def fold_at(type_: LogicalType, path: Path, combine: Callable[[LogicalType, Path, tuple[T, ...]], T]) -> T:
    """As `fold`, for what has to know where it is: `combine` is given the path of each type, `path` is the type's."""
    parts = (fold_at(part, path + step, combine) for step, part in _steps(type_))
    return combine(type_, path, tuple(parts))


def places_inside(type_: LogicalType, path: Path = ()) -> Iterator[tuple[Path, LogicalType]]:
    """The type itself and every type in it but what is in an `Option`, each with its path, outer ones first."""
    yield path, type_
    for step, part in _steps(required(type_)):
        yield from places_inside(part, path + step)


def transform(type_: LogicalType, change: Callable[[LogicalType], LogicalType]) -> LogicalType:
    """The type with `change` done to every type in it and then to itself."""
    parts = children(type_)
    return change(with_children(type_, [transform(part, change) for part in parts]) if parts else type_)


def map_members(type_: LogicalType, change: Callable[[Field], Field]) -> LogicalType:
    """The type with `change` done to every member of every Struct in it, the inner ones first."""

    def change_struct(part: LogicalType) -> LogicalType:
        if not isinstance(part, Struct):
            return part
        fields = tuple(map(change, part.fields))
        return part if all(new is old for new, old in zip(fields, part.fields, strict=True)) else Struct(fields)

    return transform(type_, change_struct)


def types_inside(type_: LogicalType) -> Iterator[LogicalType]:
    """The type itself, and then every type in it at any depth, outer ones first."""
    yield type_
    for part in children(type_):
        yield from types_inside(part)


def outer_structs(type_: LogicalType, path: Path = ()) -> Iterator[tuple[Path, Struct]]:
    """The outermost Structs of a type, itself or those in what it holds, each with its path; `path` is the type's."""
    if isinstance(type_, Struct):
        yield path, type_
    else:
        for step, part in _steps(type_):
            yield from outer_structs(part, path + step)


def fields_inside(fields: Iterable[Field], path: Path = ()) -> Iterator[tuple[Path, Field]]:
    """Every field of every level with its path, parents before children, in order; `path` leads to the fields."""
    for field in fields:
        here = (*path, field.name)
        yield here, field
        for inner, struct in outer_structs(field.type, here):
            yield from fields_inside(struct.fields, inner)
