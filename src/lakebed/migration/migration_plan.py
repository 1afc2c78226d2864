"""Define the plan of a migration: versions, inferences, rows and questions of each table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from lakebed.catalog.metadata import TableMetadata
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import PathFactory
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.migration.inference import Step
from lakebed.migration.renames import Rename
from lakebed.readable import Readable

MAYBE_RENAMED = "LB3753"


class State(StrEnum):
    """Where a table stands in the target."""

    NEW = "new"
    #: Some of its files are there, from a run that was interrupted, on a store that cannot move directories.
    PARTIAL = "partial"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class RowFile:
    """One file that is copied as it is: its path inside the table's directory, and its size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class TableMigration:
    """What becomes of one table.

    `versions` are the target's schema files, oldest first, `record` its `metadata` file (None where the source has
    none). `source_digest` stands for all that was read. A table with `problems` is not migrated.
    """

    name: TableName
    state: State
    versions: tuple[TableSchema, ...]
    steps: tuple[Step, ...]
    record: TableMetadata | None
    rows: tuple[RowFile, ...]
    source_digest: str
    problems: tuple[Diagnostic, ...] = ()
    notes: tuple[Diagnostic, ...] = ()

    @property
    def questions(self) -> tuple[Rename, ...]:
        """The pairs of columns of which it has to be said whether they are renames."""
        return tuple(question for step in self.steps for question in step.questions)

    @property
    def is_blocked(self) -> bool:
        """Whether it cannot be migrated as things stand."""
        return self.state is not State.DONE and bool(self.problems or self.questions)

    @property
    def obstacles(self) -> tuple[Diagnostic, ...]:
        """Everything that stands against the migration of this table, questions included."""
        return (*self.problems, *map(_asked, self.questions)) if self.is_blocked else ()

    def to_json(self) -> dict[str, Any]:
        """The table's part of `lakebed migrate --json`."""
        return {
            "name": str(self.name),
            "state": str(self.state),
            "versions": [version.to_json() for version in self.versions],
            "inferred": [_step_json(step) for step in self.steps],
            "record": None if self.record is None else self.record.to_json(),
            "row_files": len(self.rows),
            "row_bytes": sum(file.size for file in self.rows),
            "questions": [str(question) for question in self.questions],
            "blocked": self.is_blocked,
        }


@dataclass(frozen=True, slots=True)
class MigrationPlan(Readable):
    """What a migration of a Mini Paimon warehouse would do; it runs as it was reviewed, or is refused as stale."""

    renderer: ClassVar[str] = "lakebed.render.migration_text:migration_in_python"

    source: PathFactory
    target: PathFactory
    tables: tuple[TableMigration, ...]
    schema_only: bool = False
    notes: tuple[Diagnostic, ...] = ()

    @property
    def is_blocked(self) -> bool:
        """Whether any table cannot be migrated as things stand."""
        return any(table.is_blocked for table in self.tables)

    @property
    def is_noop(self) -> bool:
        """Whether every table was migrated before."""
        return all(table.state is State.DONE for table in self.tables)

    @property
    def obstacles(self) -> tuple[Diagnostic, ...]:
        """Everything that stands against it, of all tables."""
        return tuple(d for table in self.tables for d in table.obstacles)

    @property
    def all_notes(self) -> tuple[Diagnostic, ...]:
        """What is worth knowing and stops nothing."""
        return (*self.notes, *(note for table in self.tables if table.state is not State.DONE for note in table.notes))

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed migrate --dry-run --json`."""
        return {
            "source": self.source.warehouse,
            "target": self.target.warehouse,
            "schema_only": self.schema_only,
            "tables": [table.to_json() for table in self.tables],
        }


def count(number: int, noun: str) -> str:
    """`1 table`, `2 tables`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _asked(question: Rename) -> Diagnostic:
    return Diagnostic(
        MAYBE_RENAMED,
        f"{question.table}: in version {question.version} {question.old} goes and {question.new} of the same type "
        "comes: is it a rename?",
        path=question.new,
        remedy=f"Answer with --rename '{question}', and its values stay, or with --no-rename '{question}'.",
        python_remedy=f"answer with renames=['{question}'], and its values stay, or with no_renames=['{question}']",
    )


def _step_json(step: Step) -> dict[str, Any]:
    return {
        "version": step.version,
        "same": list(step.same),
        "renamed": [{"from": old, "to": new} for old, new in step.renamed],
        "retyped": [{"column": name, "from": old, "to": new} for name, old, new in step.retyped],
        "added": list(step.added),
        "dropped": list(step.dropped),
        "questions": [str(question) for question in step.questions],
    }
