"""Make the next version of a table from wanted columns, or from a list of changes.

Every way to a new version leads here, or to `evaluate` as this does: a manifest's plan, `create_new_schema_version`,
`alter_table`, and the merge of a schema. Pure: the caller publishes what comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from lakebed import model
from lakebed.catalog.annotations import OPTION, annotate, applied_version
from lakebed.catalog.columns import Columns, to_data_type
from lakebed.catalog.first_version import with_required
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import LakebedError, RefusedError, ValidationError
from lakebed.evolve.diff import column_steps
from lakebed.evolve.evaluate import evaluate
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.pairing import pair_asked
from lakebed.evolve.schema_changes import AddColumn, Change, UpdateColumnType, from_json
from lakebed.physical.paimon_tree import fields_inside
from lakebed.physical.paimon_types import (
    UNASSIGNED,
    DataField,
    with_nullability,
)

KEYS_CHANGE = "LB3204"

#: The versions that data files may have been written under.
WrittenVersions: TypeAlias = Callable[[], Iterable[TableSchema]]
#: The columns of the primary key and of the partition key.
Keys: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


def with_columns(
    base: TableSchema,
    columns: Columns,
    keys: Keys,
    *,
    has_snapshots: Callable[[], bool],
    now: int,
    history: WrittenVersions | None = None,
    label: str = "the table",
) -> TableSchema:
    """The version after `base` that has exactly these columns; columns are those of `base` by id, else by name.

    `keys` are the table's, under their old or their new names; `label` is the table in messages. Logical columns are
    kept as annotations. The result may differ from `base` in nothing but its number and time. Raises `RefusedError`
    (LB3204) for other keys, `ValidationError` for an unknown id (LB3207), else as `evaluate`.
    """
    paired = pair_asked(base.fields, columns.fields)
    _check_keys(base, paired, keys, label)
    required = {f.id for f in base.fields if f.name in base.primary_keys and not f.type.nullable}
    wanted = tuple(_required(f) if f.id in required else f for f in paired)
    if wanted == base.fields:
        new = replace(base, id=base.id + 1, version=CURRENT_VERSION, time_millis=now)
    else:
        new = with_fields(base, wanted, has_snapshots=has_snapshots, now=now, history=history)
    return new if columns.logical is None else _annotated(base, new, columns.logical)


def with_fields(
    base: TableSchema,
    wanted: Fields,
    *,
    has_snapshots: Callable[[], bool],
    now: int = 0,
    history: WrittenVersions | None = None,
) -> TableSchema:
    """The version after `base` that has the wanted columns; they carry the ids of the columns that they are.

    Keys and options follow renames. Raises as `evaluate`.
    """
    changes = [step.change for step in column_steps(base, wanted, base.options)]
    return evaluate(base, changes, has_snapshots=has_snapshots, now=now, history=history)


def with_changes(
    base: TableSchema,
    changes: Sequence[Change | Mapping[str, Any]],
    *,
    has_snapshots: Callable[[], bool],
    now: int,
    history: WrittenVersions | None = None,
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


def _check_keys(base: TableSchema, fields: Fields, keys: Keys, label: str) -> None:
    problems = [
        Diagnostic(
            KEYS_CHANGE,
            f"the {kind} key of {label} cannot change",
            expected=", ".join(has) or "no key",
            found=", ".join(given) or "no key",
            remedy="Give the table's own keys; for other keys make a new table and copy the rows.",
        )
        for kind, has, given in zip(
            ("primary", "partition"), (base.primary_keys, base.partition_keys), keys, strict=True
        )
        if given not in (has, _renamed(base, fields, has))
    ]
    if problems:
        raise RefusedError(*problems)


def _renamed(base: TableSchema, fields: Fields, key: tuple[str, ...]) -> tuple[str, ...]:
    """The columns of a key under the names that the same ids have in `fields`; a dropped one keeps its name."""
    names = {field.id: field.name for field in fields}
    by_name = {field.name: field.id for field in base.fields}
    return tuple(names.get(by_name.get(name, UNASSIGNED), name) for name in key)


def _required(field: DataField) -> DataField:
    """A column of the primary key stays NOT NULL, however it is given."""
    return replace(field, type=with_nullability(field.type, False))


def _annotated(base: TableSchema, new: TableSchema, given: model.Schema) -> TableSchema:
    """The new version with the meanings of its columns as given; those not given logically keep what they mean."""
    known = new.logical
    members = tuple(given.field(member.name) or member for member in known.fields)
    declared = with_required(model.Schema(members, given.extra or known.extra), new.primary_keys)
    note = annotate(new.fields, declared, applied=applied_version(base))
    options = {key: value for key, value in new.options.items() if key != OPTION}
    options |= {} if note is None else {OPTION: note}
    return replace(new.with_options(options), comment=given.extra.description or new.comment)


def names_mean_the_same(base: TableSchema, latest: TableSchema) -> bool:
    """Whether every path that both versions have stands for the same field in both."""
    before = {path: field.id for path, field in fields_inside(base.fields)}
    return all(before.get(path, field.id) == field.id for path, field in fields_inside(latest.fields))
