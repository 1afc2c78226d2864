"""From one version of a table to the next, given the wanted columns: who is who, and what the catalog allows by itself.

`pair` settles identity. `reshape` makes the next version for changes that need no judgement of types: adding, dropping,
reordering and renaming columns, nullability, descriptions and defaults. Changes of types belong to the change
evaluator, which a `SchemaManager` can be given in place of `reshape`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from lakebed.catalog import ids
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema
from lakebed.catalog.validate import ensure_valid
from lakebed.diagnostics import Diagnostic
from lakebed.errors import RefusedError, ValidationError
from lakebed.physical.paimon_types import (
    UNASSIGNED,
    Array,
    DataField,
    DataType,
    Map,
    Multiset,
    Row,
    Vector,
    equal_ignoring_nullability,
    type_line,
)

UNKNOWN_FIELD_ID = "LB3207"
NOT_ALLOWED = "LB3208"

#: Makes the next version of a table. It gets the base and the wanted columns: those that exist carry their ids at every
#: level, new ones are `UNASSIGNED`. `timeMillis` is set by the caller.
Evolver: TypeAlias = Callable[[TableSchema, tuple[DataField, ...]], TableSchema]

_NULL_OPTION = "alter-column-null-to-not-null.disabled"


def pair(base: tuple[DataField, ...], wanted: tuple[DataField, ...]) -> tuple[DataField, ...]:
    """The wanted columns with the ids of the columns that they are: by id where one is given, else by name.

    Members of ROWs are paired in the same way, level by level, also inside ARRAY, MAP and MULTISET. What is new is
    `UNASSIGNED` with all that is inside it.

    Raises:
        ValidationError: an id is given that no sibling has, or two columns claim one.
    """
    problems: list[Diagnostic] = []
    paired = _pair(base, wanted, "", problems)
    if problems:
        raise ValidationError(*problems)
    return paired


def _pair(
    base: tuple[DataField, ...], wanted: tuple[DataField, ...], prefix: str, problems: list[Diagnostic]
) -> tuple[DataField, ...]:
    by_id = {field.id: field for field in base}
    claimed: set[int] = set()
    for field in wanted:
        if field.id == UNASSIGNED:
            continue
        if field.id not in by_id or field.id in claimed:
            problems.append(_unknown_id(field, prefix, is_taken=field.id in claimed))
        claimed.add(field.id)
    by_name = {field.name: field for field in base if field.id not in claimed}
    found = []
    for field in wanted:
        old = by_id.get(field.id) if field.id != UNASSIGNED else by_name.get(field.name)
        if old is None:
            found.append(replace(field, id=UNASSIGNED, type=_unassigned(field.type)))
        else:
            inside = _pair_inside(old.type, field.type, f"{prefix}{field.name}.", problems)
            found.append(replace(field, id=old.id, type=inside))
    return tuple(found)


def _pair_inside(old: DataType, new: DataType, prefix: str, problems: list[Diagnostic]) -> DataType:
    match old, new:
        case Row(), Row():
            return replace(new, fields=_pair(old.fields, new.fields, prefix, problems))
        case Array(), Array():
            return replace(new, element=_pair_inside(old.element, new.element, f"{prefix}element.", problems))
        case Multiset(), Multiset():
            return replace(new, element=_pair_inside(old.element, new.element, f"{prefix}element.", problems))
        case Map(), Map():
            key = _pair_inside(old.key, new.key, f"{prefix}key.", problems)
            return replace(new, key=key, value=_pair_inside(old.value, new.value, f"{prefix}value.", problems))
        case _:
            return _unassigned(new)


def _unassigned(type_: DataType) -> DataType:
    """The type without ids, whatever ids stood there."""
    match type_:
        case Row():
            fields = tuple(replace(f, id=UNASSIGNED, type=_unassigned(f.type)) for f in type_.fields)
            return replace(type_, fields=fields)
        case Array() | Multiset() | Vector():
            return replace(type_, element=_unassigned(type_.element))
        case Map():
            return replace(type_, key=_unassigned(type_.key), value=_unassigned(type_.value))
        case _:
            return type_


def _unknown_id(field: DataField, prefix: str, *, is_taken: bool) -> Diagnostic:
    problem = "another column has claimed" if is_taken else "no column of the table has"
    return Diagnostic(
        UNKNOWN_FIELD_ID,
        f"the column {prefix}{field.name} asks for the field id {field.id}, which {problem}",
        path=f"{prefix}{field.name}",
        found=str(field.id),
        remedy="Leave the id out to add a column, or take the ids from the table's present schema.",
    )


def renamed_keys(base: TableSchema, fields: tuple[DataField, ...], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Key columns under the names that the same ids have in `fields`; a dropped one keeps its name."""
    names = {field.id: field.name for field in fields}
    by_name = {field.name: field.id for field in base.fields}
    return tuple(names.get(by_name.get(key, UNASSIGNED), key) for key in keys)


def reshape(base: TableSchema, fields: tuple[DataField, ...]) -> TableSchema:
    """The next version, for wanted columns that `pair` has identified.

    Raises:
        RefusedError: a type changes, a required column is added, NULL is forbidden where it was allowed, or a key
            column is dropped, retyped or (a partition column) renamed.
        ValidationError: the result breaks a rule of the table format.
    """
    problems = [*_key_problems(base, fields), *_changes(base, base.fields, fields, "")]
    if problems:
        raise RefusedError(*problems)
    assigned, highest = ids.assign(fields, base.highest_field_id)
    new = replace(
        base,
        id=base.id + 1,
        fields=assigned,
        highest_field_id=highest,
        primary_keys=renamed_keys(base, fields, base.primary_keys),
        version=CURRENT_VERSION,
    )
    return ensure_valid(new, base=base)


def _key_problems(base: TableSchema, fields: tuple[DataField, ...]) -> Iterator[Diagnostic]:
    kept = {field.id: field for field in fields}
    for old in base.fields:
        if old.name not in (*base.partition_keys, *base.primary_keys):
            continue
        new = kept.get(old.id)
        if new is None:
            yield _refused(
                old.name, f"the key column {old.name} cannot be dropped", "Make a new table and copy the rows."
            )
        elif new.name != old.name and old.name in base.partition_keys:
            yield _refused(old.name, f"the partition column {old.name} cannot be renamed", "Keep its name.")
        elif old.name in base.primary_keys and new.type.nullable and not old.type.nullable:
            yield _refused(new.name, f"the primary key column {new.name} cannot be nullable", "Keep it NOT NULL.")


def _changes(
    base: TableSchema, olds: tuple[DataField, ...], news: tuple[DataField, ...], prefix: str
) -> Iterator[Diagnostic]:
    by_id = {field.id: field for field in olds}
    if olds and not any(field.id in by_id for field in news):
        yield _refused(prefix.rstrip(".") or None, "the last column cannot be dropped", "Keep a column.")
    for new in news:
        path = f"{prefix}{new.name}"
        old = by_id.get(new.id)
        if old is not None:
            yield from _type_change(base, old.type, new.type, path)
        elif not new.type.nullable:
            yield _refused(path, f"the column {path} is required and cannot be added", "Make it nullable.")


def _type_change(base: TableSchema, old: DataType, new: DataType, path: str) -> Iterator[Diagnostic]:
    if old.nullable and not new.nullable and base.options.get(_NULL_OPTION, "true").strip().lower() != "false":
        yield _refused(
            path,
            f"{path} may hold NULL and cannot become NOT NULL",
            f"Set the option '{_NULL_OPTION}' to false if you are sure that it holds none.",
        )
    match old, new:
        case Row(), Row():
            yield from _changes(base, old.fields, new.fields, f"{path}.")
        case Array(), Array():
            yield from _type_change(base, old.element, new.element, f"{path}.element")
        case Multiset(), Multiset():
            yield from _type_change(base, old.element, new.element, f"{path}.element")
        case Map(), Map():
            if old.key != new.key:
                yield _refused(f"{path}.key", f"the key type of {path} cannot change", "Keep it.")
            yield from _type_change(base, old.value, new.value, f"{path}.value")
        case _:
            if not equal_ignoring_nullability(old, new):
                yield _refused(
                    path,
                    f"the type of {path} would change from {type_line(old)} to {type_line(new)}, "
                    "which is not judged here",
                    "Change types by a plan or by alter_table.",
                    expected=type_line(old),
                    found=type_line(new),
                )


def _refused(
    path: str | None, message: str, remedy: str, *, expected: str | None = None, found: str | None = None
) -> Diagnostic:
    return Diagnostic(NOT_ALLOWED, message, path=path, remedy=remedy, expected=expected, found=found)
