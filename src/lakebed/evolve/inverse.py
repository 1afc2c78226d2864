"""Compute the changes that take other changes back; a dropped column does not come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from lakebed.catalog import options as table_options
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.cast_rules import castable
from lakebed.evolve.nested_paths import Fields, edit_siblings, index_of, locate
from lakebed.evolve.schema_changes import (
    AddColumn,
    Change,
    DropColumn,
    DropPrimaryKey,
    Move,
    Path,
    RemoveOption,
    RenameColumn,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefaultValue,
    UpdateColumnNullability,
    UpdateColumnPosition,
    UpdateColumnType,
    UpdateComment,
)
from lakebed.evolve.working_copy import WorkingCopy
from lakebed.physical.paimon_types import DataField


def inverse(change: Change, before: TableSchema) -> Change | None:
    """The change that leads from the result of `change` on `before` back to `before`; None where there is none.

    A type goes back only where the cast back is allowed. Raises `ValidationError` where the change names nothing.
    """
    return _inverse(change, WorkingCopy.of(before, lambda: False))


def inverses(before: TableSchema, changes: Sequence[Change]) -> tuple[Change | None, ...]:
    """The inverses of a batch in the order in which they are to be made: the last change's comes first."""
    copy = WorkingCopy.of(before, lambda: False)
    found: list[Change | None] = []
    for change in changes:
        found.append(_inverse(change, copy))
        copy.apply(change)
    return tuple(reversed(found))


def _inverse(change: Change, before: WorkingCopy) -> Change | None:
    match change:
        case SetOption(table_options.PRIMARY_KEY, value):
            return _without_keys(change, value, before)
        case SetOption(table_options.PARTITION, value):
            return change if _names(value) == before.partition_keys else None
        case SetOption(key) | RemoveOption(key):
            old = before.options.get(key)
            if old is None:
                # The option `type` can be given, but never taken away.
                return None if key == "type" and isinstance(change, SetOption) else RemoveOption(key)
            return SetOption(key, old)
        case UpdateComment():
            return UpdateComment(before.comment)
        case AddColumn(path):
            return DropColumn(path)
        case RenameColumn(path, new_name):
            return RenameColumn((*path[:-1], new_name), path[-1])
        case DropColumn():
            return None
        case UpdateColumnType(path, type_):
            source = locate(before.fields, path)
            return UpdateColumnType(path, source) if castable(type_, source) else None
        case UpdateColumnNullability(path):
            return UpdateColumnNullability(path, locate(before.fields, path).nullable)
        case UpdateColumnComment(path):
            return UpdateColumnComment(path, _field(before.fields, path).description)
        case UpdateColumnDefaultValue(path):
            return UpdateColumnDefaultValue(path, _field(before.fields, path).default_value)
        case UpdateColumnPosition(move, parent):
            return UpdateColumnPosition(_place(before.fields, (*parent, move.field)), parent)
        case DropPrimaryKey():
            return SetOption(table_options.PRIMARY_KEY, ",".join(before.primary_keys)) if before.primary_keys else None
        case _:
            assert_never(change)


def _without_keys(change: SetOption, value: str, before: WorkingCopy) -> Change | None:
    """Back from defined keys: the columns keep the NOT NULL that they got, so that they must have had it before."""
    names = _names(value)
    if names == before.primary_keys:
        return change
    nullable = any(f.type.nullable for f in before.fields if f.name in names)
    return None if nullable else DropPrimaryKey()


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _siblings(fields: Fields, parent: Path) -> Fields:
    found: list[Fields] = []

    def keep(siblings: Fields) -> Fields:
        found.append(siblings)
        return siblings

    edit_siblings(fields, parent, keep)
    return found[0]


def _field(fields: Fields, path: Path) -> DataField:
    siblings = _siblings(fields, path[:-1])
    return siblings[_index(siblings, path)]


def _place(fields: Fields, path: Path) -> Move:
    """The move that puts the column where it is now."""
    siblings = _siblings(fields, path[:-1])
    at = _index(siblings, path)
    return Move.after(path[-1], siblings[at - 1].name) if at else Move.first(path[-1])


def _index(siblings: Fields, path: Path) -> int:
    at = index_of(siblings, path[-1])
    if at is None:
        from lakebed.evolve.nested_paths import no_such_column

        raise no_such_column(path, (f.name for f in siblings))
    return at
