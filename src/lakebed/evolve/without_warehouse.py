"""Plan declared tables without a warehouse: as tables that are made, or against earlier declarations of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING

from lakebed.catalog.annotations import OPTION, annotate
from lakebed.catalog.ids import assign
from lakebed.catalog.names import TableName, TableRef
from lakebed.catalog.option_rules import wrong_values
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, path_text
from lakebed.errors import ConversionError, LakebedError, ManifestError
from lakebed.evolve.declared_extras import with_extras
from lakebed.evolve.declared_table import declared_table, key_columns
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.identity import identify
from lakebed.evolve.judge_compatibility import consumers_of_dropped
from lakebed.evolve.manifest_approvals import plan_with_approvals
from lakebed.evolve.option_notes import unknown_options
from lakebed.evolve.plan import Plan, PlannedChange, TablePlan
from lakebed.evolve.planner import LimitWarnings, placed, plan_table
from lakebed.evolve.verdicts import ABANDONED_CODE, Verdict
from lakebed.model.encoding import without_attributes
from lakebed.model.extra import FIELD_ID, RENAMED_FROM
from lakebed.model.types import String

if TYPE_CHECKING:
    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.manifest.load import LoadedFile
    from lakebed.manifest.table_manifest import TableManifest
    from lakebed.model import Field


def plan_as_new(declared: TableManifest, *, limits: LimitWarnings = lambda _schema: ()) -> TablePlan:
    """The plan that makes the table. Pins say a column of a table that is there, and are left out.

    Raises what `plan_table` does.
    """
    schema = without_attributes(declared.schema, (FIELD_ID,))
    return plan_table(replace(declared, schema=schema), None, lambda: False, limits=limits)


def plan_between(
    old: TableManifest, new: TableManifest, *, has_snapshots: bool = False, limits: LimitWarnings = lambda _schema: ()
) -> TablePlan:
    """The plan that leads from an earlier declaration of a table to a later one.

    A column that both pin to one field id is renamed where its name is another. With `has_snapshots` what only a table
    without rows allows is forbidden. Raises what `plan_table` does.
    """
    base = plan_as_new(old).target
    assert base is not None, "what is made anew is not forbidden"
    schema = without_attributes(_with_renames(old, new).schema, (FIELD_ID,))
    return plan_table(replace(new, schema=schema), base, lambda: has_snapshots, limits=limits)


def version_between(old: TableManifest, new: TableManifest) -> TableSchema:
    """The version that a later declaration makes of an earlier one, or would make if no change was forbidden."""
    target = plan_between(old, new).target
    if target is not None:
        return target
    base = plan_as_new(old).target
    assert base is not None, "what is made anew is not forbidden"
    renamed = _with_renames(old, new)
    return version_after(base, replace(renamed, schema=without_attributes(renamed.schema, (FIELD_ID,))))


def version_after(base: TableSchema, declared: TableManifest) -> TableSchema:
    """What a declaration asks for of the table, allowed or not: its columns with the ids of those that they are.

    It is for comparing, not for storing. Raises `ManifestError` for pins and renames that cannot be followed.
    """
    declared = with_extras(declared)
    primary, partition, options = declared_table(declared, base.options)
    fields = identify(declared.schema, base, position_of=declared.position_of)
    fields, highest = assign(key_columns(fields, primary, options), base.highest_field_id)
    options.pop(OPTION, None)
    text = annotate(fields, declared.schema)
    if text is not None:
        options[OPTION] = text
    return TableSchema(base.id + 1, fields, highest, partition, primary, options, declared.description)


def _with_renames(old: TableManifest, new: TableManifest) -> TableManifest:
    """The later declaration with the renames that pins of its columns say."""
    former = {f.extra[FIELD_ID]: f.name for f in old.schema.fields if FIELD_ID in f.extra}

    def renamed(f: Field) -> Field:
        before = former.get(f.extra.get(FIELD_ID), f.name)
        if before == f.name or RENAMED_FROM in f.extra:
            return f
        return replace(f, extra=f.extra.merged({RENAMED_FROM: before}))

    return replace(new, schema=replace(new.schema, fields=tuple(map(renamed, new.schema.fields))))


def check_against(
    old: Iterable[TableManifest], new: Iterable[TableManifest], today: date, *, limits: LimitWarnings
) -> Plan:
    """The plan that leads from earlier declarations of tables to later ones, as if all had rows.

    A table that is only in `new` is made, one that is only in `old` has one breaking change. Errors of single tables,
    such as a rename from nowhere, are among the diagnostics. Approvals of the later declarations count until their day;
    nothing is said of those that the earlier ones had already, for what they approve may still have to be applied.
    """
    before = {TableName.parse(table.name): table for table in old}
    after = {TableName.parse(table.name): table for table in new}
    planned: list[TablePlan] = []
    problems: list[Diagnostic] = []
    for name, table in after.items():
        try:
            if name in before:
                make = partial(plan_between, before[name], has_snapshots=True, limits=limits)
                planned.append(plan_with_approvals(table, today, make, known=before[name].approvals))
            else:
                planned.append(plan_as_new(table, limits=limits))
        except LakebedError as error:
            problems += error.diagnostics
    gone = [_gone(name, table) for name, table in before.items() if name not in after]
    return Plan(tuple(sorted([*planned, *gone], key=lambda t: t.name)), tuple(problems))


def _gone(name: TableName, table: TableManifest) -> TablePlan:
    """What becomes of a table that is not declared any more."""
    change = PlannedChange(
        kind=EditKind.DROP,
        path=(name.database, name.table),
        summary=f"table {name} is not declared any more",
        verdict=Verdict.BREAKING,
        code=ABANDONED_CODE,
        reason="nobody can rely on its columns any more; the table itself stays where it is",
        remedy="declare it again, or approve that it is gone",
        position=table.position,
        incompatible=consumers_of_dropped(table.compatibility, table.consumers),
    )
    mode = "NONE" if table.compatibility == "NONE" else None
    return TablePlan(TableRef(name), False, 0, None, (), (change,), None, mode)


def validate_files(
    files: Iterable[LoadedFile], attributes: AttributeRegistry | None, limits: LimitWarnings
) -> tuple[LoadedFile, ...]:
    """The same files with all that is wrong with them: with each table, and with those that stand there twice.

    `attributes` are those of the project, `limits` are warnings of what cannot be done with a table of a schema.
    """
    from lakebed.manifest.load import declared_twice

    loaded = tuple(files)
    twice = declared_twice(table for file in loaded for table in file.tables)
    return tuple(_validated(file, twice, attributes, limits) for file in loaded)


def _validated(
    file: LoadedFile, twice: Iterable[Diagnostic], attributes: AttributeRegistry | None, limits: LimitWarnings
) -> LoadedFile:
    own = [d for d in twice if d.position is not None and d.position.file == file.source]
    found = [d for table in file.tables for d in _problems(table, attributes, limits)]
    found += [d for table in file.faulty for d in _problems_of_options(table)]
    return replace(file, diagnostics=tuple(dict.fromkeys((*file.diagnostics, *sorted([*own, *found], key=_place)))))


def _problems_of_options(table: TableManifest) -> tuple[Diagnostic, ...]:
    """What is wrong with the options of a table, whatever its columns are."""
    return (*placed(wrong_values(table.options), table), *unknown_options(table))


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    position = diagnostic.position
    return (position.line, position.column) if position is not None else (0, 0)


def _problems(
    table: TableManifest, attributes: AttributeRegistry | None, limits: LimitWarnings
) -> tuple[Diagnostic, ...]:
    from lakebed.manifest.attribute_registry import check_declared

    found: tuple[Diagnostic, ...] = ()
    if attributes is not None:
        try:
            found = check_declared(attributes, [table])
        except ManifestError as error:
            found = error.diagnostics
    try:
        return (*found, *plan_as_new(table, limits=limits).diagnostics)
    except ConversionError as error:
        # What cannot be stored hides what else is wrong.
        rest = _with_texts(table, {d.path or "" for d in error.diagnostics})
        return (*found, *error.diagnostics, *(_problems(rest, None, limits) if rest != table else ()))
    except LakebedError as error:
        return (*found, *error.diagnostics)


def _with_texts(table: TableManifest, paths: set[str]) -> TableManifest:
    """The table with texts in the place of the columns that these paths are, or lead into."""

    def is_meant(name: str) -> bool:
        quoted = path_text((name,))
        return any(path == quoted or path.startswith(f"{quoted}.") for path in paths)

    fields = tuple(replace(f, type=String()) if is_meant(f.name) else f for f in table.schema.fields)
    return replace(table, schema=replace(table.schema, fields=fields))
