"""Reach into nested types by path and rebuild what is around.

ROW members go by name, `element` is that of an ARRAY, `value` that of a MAP.

The result is a new tuple of fields; nothing is changed in place. Raises `ValidationError` where the path leads nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

from lakebed.diagnostics import near_names
from lakebed.errors import ColumnMismatchError, ValidationError
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path, problem
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import alike_parts, without_ids
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Row

Fields: TypeAlias = tuple[DataField, ...]


def changeable_parts(old: DataType, new: DataType) -> tuple[tuple[str, DataType, DataType], ...]:
    """The parts that a change of one type into another can reach by itself: elements of ARRAYs, values of MAPs.

    There are none in a MAP whose keys differ, nor in a MULTISET or a VECTOR: those change as a whole.
    """
    match old, new:
        case Array(), Array():
            return alike_parts(old, new)
        case Map(), Map() if without_ids(old.key) == without_ids(new.key):
            return alike_parts(old, new)[1:]
        case _:
            return ()


def index_of(fields: Fields, name: str) -> int | None:
    """The position of the field of exactly this name."""
    return next((i for i, f in enumerate(fields) if f.name == name), None)


def no_such_column(path: Path, siblings: Iterable[str]) -> ColumnMismatchError:
    """The error for a path whose last name is none of its siblings."""
    return ColumnMismatchError.of(
        "LB4001",
        f"there is no column {path_text(path)}",
        path=path_text(path),
        suggestions=near_names(path[-1], siblings),
    )


def edit_siblings(fields: Fields, parent: Path, edit: Callable[[Fields], Fields]) -> Fields:
    """Put `edit` of the fields of the ROW at `parent` in their place; the empty path means the top level."""
    if not parent:
        return edit(fields)

    def edit_row(type_: DataType) -> DataType:
        if isinstance(type_, Row):
            return replace(type_, fields=edit(type_.fields))
        raise _cannot_descend(parent, type_, "...")

    return edit_type(fields, parent, edit_row)


def edit_field(fields: Fields, path: Path, edit: Callable[[DataField], DataField]) -> Fields:
    """Put `edit` of the field at `path` in its place. A path that ends at an element or value is refused."""

    def edit_one(siblings: Fields) -> Fields:
        at = index_of(siblings, path[-1])
        if at is None:
            raise no_such_column(path, (f.name for f in siblings))
        return (*siblings[:at], edit(siblings[at]), *siblings[at + 1 :])

    return edit_siblings(fields, path[:-1], edit_one)


def edit_type(fields: Fields, path: Path, edit: Callable[[DataType], DataType]) -> Fields:
    """Put `edit` of the type at `path` in its place; the path may end at an element or value."""
    return _edit_among(fields, path, 0, edit)


def _edit_among(fields: Fields, path: Path, depth: int, edit: Callable[[DataType], DataType]) -> Fields:
    at = index_of(fields, path[depth])
    if at is None:
        raise no_such_column(path[: depth + 1], (f.name for f in fields))
    field = replace(fields[at], type=_edit_inside(fields[at].type, path, depth + 1, edit))
    return (*fields[:at], field, *fields[at + 1 :])


def _edit_inside(type_: DataType, path: Path, depth: int, edit: Callable[[DataType], DataType]) -> DataType:
    if depth == len(path):
        return edit(type_)
    step = path[depth]
    match type_:
        case Row():
            return replace(type_, fields=_edit_among(type_.fields, path, depth, edit))
        case Array() if step == ELEMENT:
            return replace(type_, element=_edit_inside(type_.element, path, depth + 1, edit))
        case Map() if step == VALUE:
            return replace(type_, value=_edit_inside(type_.value, path, depth + 1, edit))
        case _:
            raise _cannot_descend(path[:depth], type_, step)


def _cannot_descend(at: Path, type_: DataType, step: str) -> ValidationError:
    here = path_text(at)
    remedy: str | None = None
    match type_:
        case Array():
            why, remedy = "is an ARRAY", f"the type of its elements is at {here}.{ELEMENT}"
        case Map() if step == "key":
            why, remedy = "is a MAP, and the keys of a map cannot be changed", "make a new column"
        case Map():
            why, remedy = "is a MAP", f"the type of its values is at {here}.{VALUE}"
        case _:
            why = f"is {type_.root}, which has no members that can be changed"
    return problem("LB4003", f"{here} {why}", path=here, found=step, remedy=remedy)


def locate(fields: Fields, path: Path) -> DataType:
    """The type at a path. Raises `ValidationError` as the edits do."""
    found: list[DataType] = []

    def keep(type_: DataType) -> DataType:
        found.append(type_)
        return type_

    edit_type(fields, path, keep)
    return found[0]
