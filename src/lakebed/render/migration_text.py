"""Show the plan of a migration and its result. Pure.

With `colour` the text carries a terminal's colours; in `width` columns of a terminal it is wrapped between words.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lakebed.migration.migration_plan import State, count
from lakebed.physical.paimon_types import type_line
from lakebed.printable import one_line
from lakebed.render.terminal import plain, styled, wrapped

if TYPE_CHECKING:
    from lakebed.catalog.table_schema import TableSchema
    from lakebed.migration.inference import Step
    from lakebed.migration.migration_plan import MigrationPlan, TableMigration
    from lakebed.migration.publish import MigratedTable, MigrationResult

_INDENT = " " * 12


def render_migration(plan: MigrationPlan, *, colour: bool = False, width: int | None = None) -> str:
    """Each table with its versions, what was inferred of each, and what is asked; then one line of totals."""
    blocks = ["\n".join(_table(table, _answer, colour, width)) for table in plan.tables]
    return "\n\n".join([*blocks, _totals(plan)])


def migration_in_python(plan: MigrationPlan) -> str:
    """A plan as `str()` shows it: questions are answered as a program does."""
    blocks = ["\n".join(_table(table, _answer_in_python, False, None)) for table in plan.tables]
    return "\n\n".join([*blocks, _totals(plan)])


def _answer(question: str) -> str:
    return f"--rename {shlex.quote(question)} if it is, else --no-rename"


def _answer_in_python(question: str) -> str:
    return f"renames=[{question!r}] if it is, else no_renames=[{question!r}]"


def render_migrated(result: MigrationResult) -> str:
    """One line a table."""
    return "\n".join(_migrated(table) for table in result.tables)


def _migrated(table: MigratedTable) -> str:
    if table.was_done:
        return f"{table.name}: was migrated before, schema {table.schema_id}"
    rows = f", {count(table.row_files, 'file')} of rows" if table.row_files else ""
    return f"{table.name}: migrated, {count(table.versions, 'version')}{rows}, now at schema {table.schema_id}"


def _table(table: TableMigration, answer: Callable[[str], str], colour: bool, width: int | None) -> Iterator[str]:
    name = styled(str(table.name), "bold", colour)
    if table.state is State.DONE:
        yield f"{name}: was migrated before (schema {table.versions[-1].id})"
        return
    what = styled("cannot be migrated yet", "red", colour) if table.is_blocked else "to be migrated"
    rows = f"{count(len(table.rows), 'file')} of rows" if table.rows else "no rows"
    yield f"{name}: {what}, {count(len(table.versions), 'version')}, {rows}"
    versions = {version.id: version for version in table.versions}
    for step in table.steps:
        label = f"schema {step.version}".ljust(len(_INDENT) - 3)
        lines = [line for text in _step(step, versions[step.version]) for line in _pieces(text, width)]
        for number, line in enumerate(lines):
            yield plain(f"  {label} {line}" if number == 0 else f"{_INDENT}{line}", colour)
        for question in step.questions:
            text = f"? {question.old} goes and {question.new} of the same type comes: is it a rename?"
            yield _INDENT + styled(one_line(text), "yellow", colour)
            yield plain(f"{_INDENT}  {answer(str(question))}", colour)
    kept = _kept(table)
    if kept:
        yield from (plain(f"  {line}", colour) for line in _pieces(f"kept: {kept}", width))


def _step(step: Step, version: TableSchema) -> Iterator[str]:
    """What is said of one version, a line each."""
    types = {field.name: one_line(f"{field.name} {type_line(field.type)}") for field in version.fields}
    if not step.same and not step.renamed and not step.dropped:
        yield ", ".join(types.values())
        return
    yield f"same: {', '.join(map(one_line, step.same)) or 'none'}"
    for old, new in step.renamed:
        yield one_line(f"renamed: {old} is {new} from here on")
    for name, old, new in step.retyped:
        yield one_line(f"retyped: {name} from {old} to {new}")
    if step.added:
        yield f"added: {', '.join(types[name] for name in step.added)}"
    if step.dropped:
        yield one_line(f"dropped: {', '.join(step.dropped)}")


def _kept(table: TableMigration) -> str:
    record = table.record
    if record is None:
        return ""
    parts = ["description"] if record.description else []
    parts += [f"property {key}" for key in record.properties]
    parts += [f"{key} in `metadata`" for key in record.unknown]
    return one_line(", ".join(parts))


def _totals(plan: MigrationPlan) -> str:
    pending = [table for table in plan.tables if table.state is not State.DONE]
    blocked = sum(table.is_blocked for table in pending)
    counts = {"to migrate": len(pending) - blocked, "done before": len(plan.tables) - len(pending), "blocked": blocked}
    parts = [f"{number} {what}" for what, number in counts.items() if number]
    questions = sum(len(table.questions) for table in pending)
    asked = f" {count(questions, 'question')} to answer." if questions else ""
    return f"Tables: {', '.join(parts)}.{asked}"


def _pieces(text: str, width: int | None) -> list[str]:
    return wrapped(text, None if width is None else width - len(_INDENT))
