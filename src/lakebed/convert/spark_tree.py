"""Walk Spark's types: their parts, a fold from the inside out, and a change of every type inside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

T = TypeVar("T")
#: Names of columns and members; `element`, `key` and `value` for what arrays and maps hold.
Path: TypeAlias = tuple[str, ...]

ELEMENT, KEY, VALUE = "element", "key", "value"


def children(type_: DataType) -> tuple[DataType, ...]:
    """What a type is made of, one level down: the types of members, an element, a key and a value."""
    return tuple(part for _, part in named_children(type_))


def named_children(type_: DataType) -> tuple[tuple[str, DataType], ...]:
    """The same, each with its name in a path."""
    match type_:
        case StructType():
            return tuple((f.name, f.dataType) for f in type_.fields)
        case ArrayType():
            return ((ELEMENT, type_.elementType),)
        case MapType():
            return (KEY, type_.keyType), (VALUE, type_.valueType)
        case _:
            return ()


def with_children(type_: DataType, parts: Sequence[DataType]) -> DataType:
    """The type made of other parts, as many as `children` gives; itself where they are its own."""
    if all(new is old for new, old in zip(parts, children(type_), strict=True)):
        return type_
    match type_:
        case StructType():
            members = zip(type_.fields, parts, strict=True)
            return StructType([StructField(f.name, part, f.nullable, f.metadata) for f, part in members])
        case ArrayType():
            return ArrayType(parts[0], type_.containsNull)
        case MapType():
            return MapType(parts[0], parts[1], type_.valueContainsNull)
        case _:
            return type_


def fold(type_: DataType, combine: Callable[[DataType, tuple[T, ...]], T]) -> T:
    """What `combine` makes of the type and of what it has made of the children, in their order."""
    return combine(type_, tuple(fold(part, combine) for part in children(type_)))


def transform(type_: DataType, change: Callable[[DataType], DataType]) -> DataType:
    """The type with `change` done to every type in it and then to itself."""
    parts = children(type_)
    return change(with_children(type_, [transform(part, change) for part in parts]) if parts else type_)


def transform_struct(struct: StructType, change: Callable[[DataType], DataType]) -> StructType:
    """As `transform`, for columns, which stay columns."""
    changed = transform(struct, change)
    assert isinstance(changed, StructType)
    return changed


def types_inside(type_: DataType) -> Iterator[DataType]:
    """The type itself, and then every type in it at any depth, outer ones first."""
    yield type_
    for part in children(type_):
        yield from types_inside(part)


def outer_structs(type_: DataType, path: Path = ()) -> Iterator[tuple[Path, StructType]]:
    """The outermost structs of a type, itself or those in what it holds, each with its path; `path` is the type's."""
    if isinstance(type_, StructType):
        yield path, type_
    else:
        for name, part in named_children(type_):
            yield from outer_structs(part, (*path, name))
