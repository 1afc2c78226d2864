"""Compute the changes that turn one table schema into another, by field id.

Order inside one level: drops, renames (circles through a temporary name), changes of the columns that stay and of what
is inside them, additions, moves. Options that open a gate come before the columns, the others after them, compared with
what the renames make of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from lakebed.catalog import options as table_options
from lakebed.catalog.option_values import parse_boolean
from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve import option_guards as guards
from lakebed.evolve.diff_columns import Edit, EditKind, Gates, Step, level
from lakebed.evolve.evaluate import evaluate_all
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import (
    Change,
    DropPrimaryKey,
    RemoveOption,
    SetOption,
    UpdateComment,
    problem,
)
from lakebed.physical.paimon_types import with_nullability


def diff(base: TableSchema, target: TableSchema) -> tuple[Change, ...]:
    """The changes after which `base` equals `target` but for id, time, and the ids of columns that `target` adds.

    Columns are the same where their ids are. Raises `ValidationError` (LB4023) where no changes lead there: other keys
    on a table that has keys, a ROW without members. Whether the changes are allowed is for `evaluate` to say.
    """
    return tuple(step.change for step in diff_steps(base, target))


def diff_steps(base: TableSchema, target: TableSchema) -> tuple[Step, ...]:
    """As `diff`, with what each change is a part of."""
    steps = [*_dropped_key(base, target), *column_steps(base, _comparable(base, target), target.options)]
    reached, _ = evaluate_all(base, [s.change for s in steps], has_snapshots=lambda: False, now=0)
    steps += _defined_keys(reached, target)
    steps += table_steps(reached, target.options, target.comment)
    return tuple(steps)


def column_steps(base: TableSchema, fields: Fields, options: Mapping[str, str]) -> list[Step]:
    """The steps of the columns, with the options before them that allow what they do."""
    gates = Gates.of(base.options, options)
    return [*_opened_gates(base.options, options), *level((), base.fields, fields, gates)]


def table_steps(reached: TableSchema, options: Mapping[str, str], comment: str | None) -> list[Step]:
    """The steps of options and comment, from what the columns' steps made of the options."""
    steps = list(_option_steps(reached.options, options))
    if reached.comment != comment:
        edit = Edit(EditKind.TABLE_COMMENT, (), before_text=reached.comment, after_text=comment)
        steps.append(Step(UpdateComment(comment), edit))
    return steps


def _option_steps(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Step]:
    """Set and remove options, sorted by key."""
    for key in sorted({*before, *after}):
        old, new = before.get(key), after.get(key)
        if old != new:
            change = RemoveOption(key) if new is None else SetOption(key, new)
            yield Step(change, Edit(EditKind.OPTION, (), before_text=old, after_text=new, name=key))


def _opened_gates(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Step]:
    """The option changes that allow what the columns are about to do; the other way round they come last."""
    for step in _option_steps(before, after):
        match step.change:
            case SetOption(
                table_options.ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED | table_options.DISABLE_EXPLICIT_TYPE_CASTING,
                value,
            ):
                if not parse_boolean(value):
                    yield step
            case RemoveOption(table_options.DISABLE_EXPLICIT_TYPE_CASTING):
                yield step
            case _:
                continue


def _dropped_key(base: TableSchema, target: TableSchema) -> Iterator[Step]:
    if base.primary_keys and _key_ids(base) != _key_ids(target):
        edit = Edit(
            EditKind.PRIMARY_KEYS, (), before_text=_names(base.primary_keys), after_text=_names(target.primary_keys)
        )
        yield Step(DropPrimaryKey(), edit)


def _key_ids(schema: TableSchema) -> list[int | None]:
    found = {f.name: f.id for f in schema.fields}
    return [found.get(name) for name in schema.primary_keys]


def _comparable(base: TableSchema, target: TableSchema) -> Fields:
    """The wanted fields, less the NOT NULL that a key gives to its columns by being defined."""
    if _key_ids(base) == _key_ids(target):
        return target.fields
    was_nullable = {f.id: f.type.nullable for f in base.fields}
    return tuple(
        replace(f, type=with_nullability(f.type, was_nullable.get(f.id, True))) if f.name in target.primary_keys else f
        for f in target.fields
    )


def _defined_keys(reached: TableSchema, target: TableSchema) -> Iterator[Step]:
    pairs = (
        (EditKind.PRIMARY_KEYS, table_options.PRIMARY_KEY, reached.primary_keys, target.primary_keys),
        (EditKind.PARTITION_KEYS, table_options.PARTITION, reached.partition_keys, target.partition_keys),
    )
    for kind, option, old, new in pairs:
        if old == new:
            continue
        if old:
            message = f"the {option} columns cannot change from {_names(old)} to {_names(new)}"
            raise problem("LB4023", message, path=option, remedy=guards.NEW_TABLE)
        yield Step(SetOption(option, ",".join(new)), Edit(kind, (), before_text=_names(old), after_text=_names(new)))


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
