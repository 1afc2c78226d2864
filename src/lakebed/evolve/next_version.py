"""The next version of a table for those who do not plan: from wanted columns, or from a list of changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lakebed.catalog.columns import to_data_type
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError, ValidationError
from lakebed.evolve.diff import column_steps
from lakebed.evolve.evaluate import evaluate
from lakebed.evolve.schema_changes import AddColumn, Change, UpdateColumnType, from_json
from lakebed.physical.paimon_types import DataField


def evolved(
    base: TableSchema, wanted: tuple[DataField, ...], *, has_snapshots: Callable[[], bool] = lambda: True
) -> TableSchema:
    """The version after `base` that has the wanted columns; they carry the ids of the columns that they are.

    Keys and options follow renames. Raises `ValidationError` with every change that is not allowed. `timeMillis` is 0.
    """
    steps = column_steps(base, wanted, base.options)
    return evaluate(base, [s.change for s in steps], has_snapshots=has_snapshots, now=0)


def altered(
    base: TableSchema,
    changes: Sequence[Change | Mapping[str, Any]],
    *,
    has_snapshots: Callable[[], bool],
    now: int,
    history: Callable[[], Iterable[TableSchema]] | None = None,
) -> TableSchema:
    """The version after `base` with all changes made; each is a change value or its REST JSON form.

    The type of a change may be given in every form that the columns of a new table have, such as text.
    Raises `ValidationError` with everything that is no change, else as `evaluate`.
    """
    values: list[Change] = []
    problems: list[Diagnostic] = []
    for change in changes:
        try:
            values.append(from_json(change) if isinstance(change, Mapping) else _with_type(change))
        except LakebedError as error:
            problems += error.diagnostics
    if problems:
        raise ValidationError(*problems)
    return evaluate(base, values, has_snapshots=has_snapshots, now=now, history=history)


def _with_type(change: Change) -> Change:
    match change:
        case AddColumn(type=given) | UpdateColumnType(type=given):
            return replace(change, type=to_data_type(given))
    return change
