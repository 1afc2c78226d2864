"""Tell what was done to tables outside of `apply`: to schema versions, against manifests, and in data files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from lakebed.catalog import TableManager, TableName
from lakebed.catalog.annotations import applied_version
from lakebed.diagnostics import Diagnostic
from lakebed.evolve import Plan, TablePlan, describe_changes
from lakebed.format.commit_origin import CommitOrigin
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.inspection.file_columns import live_data_files, other_columns
from lakebed.readable import Readable


@dataclass(frozen=True, slots=True)
class OutsideVersion:
    """A schema version that others made. `changes` are None where the version before it is gone.

    `written_by` is the first snapshot under it: who wrote it is most often who made the version. None where none is
    there.
    """

    schema_id: int
    time_millis: int
    changes: tuple[str, ...] | None
    written_by: Snapshot | None

    def to_json(self) -> dict[str, Any]:
        """The version, and of the snapshot who made it."""
        by = self.written_by
        writer = None if by is None else {"snapshot": by.id, "user": by.commit_user, **CommitOrigin.of(by).to_json()}
        changes = None if self.changes is None else list(self.changes)
        return {
            "schema_id": self.schema_id,
            "time_millis": self.time_millis,
            "changes": changes,
            "first_written_by": writer,
        }


@dataclass(frozen=True, slots=True)
class TableDrift:
    """How a table, its manifest and its data files have come apart.

    `applied` is the version that `apply` made last, None where it made none. `versions` came after it. `undone` are
    changes that applying the manifest would make and that undo some of them, `pending` the others. `broken` are the
    consumers that `versions` break, and why. `files` are those that were looked at, None where that was not asked for,
    `problems` what is wrong with them.
    """

    table: str
    schema_id: int | None
    applied: int | None = None
    versions: tuple[OutsideVersion, ...] = ()
    undone: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    files: int | None = None
    problems: tuple[Diagnostic, ...] = ()
    annotations_drifted: bool = False
    broken: tuple[str, ...] = ()

    @property
    def is_drift(self) -> bool:
        """Whether something is not as the manifest says that was not asked for by it."""
        return bool(self.undone or self.problems or self.annotations_drifted)

    def to_json(self) -> dict[str, Any]:
        """The object of one table in `lakebed drift --json`."""
        return {
            "table": self.table,
            "schema_id": self.schema_id,
            "applied": self.applied,
            "versions": [v.to_json() for v in self.versions],
            "undone": list(self.undone),
            "pending": list(self.pending),
            "broken_consumers": list(self.broken),
            "annotations_drifted": self.annotations_drifted,
            "files": self.files,
            "problems": [d.to_json() for d in self.problems],
            "drift": self.is_drift,
        }


@dataclass(frozen=True, slots=True)
class DriftReport(Readable):
    """The declared tables, and those that no manifest declares, where that was looked at."""

    renderer: ClassVar[str] = "lakebed.render.drift_text:drift_text"

    tables: tuple[TableDrift, ...]
    undeclared: tuple[str, ...] = ()

    @property
    def is_drift(self) -> bool:
        """Whether a table has drifted."""
        return any(table.is_drift for table in self.tables)

    @property
    def is_pending(self) -> bool:
        """Whether something declared is not applied."""
        return any(table.pending for table in self.tables)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed drift --json`."""
        return {"tables": [t.to_json() for t in self.tables], "undeclared": list(self.undeclared)}


def measure_drift(plan: Plan, tables: TableManager, *, files: bool = False) -> DriftReport:
    """How the tables of a plan that asks for leave have come apart from their manifests; with `files` their data files.

    Of each live Parquet file the footer is read.
    """
    return DriftReport(tuple(_table(planned, tables, files) for planned in plan.tables), plan.undeclared)


def _table(planned: TablePlan, tables: TableManager, files: bool) -> TableDrift:
    asked = {undoes: tuple(c.summary for c in planned.changes if c.undoes_others is undoes) for undoes in (True, False)}
    if planned.create:
        return TableDrift(planned.name, None, pending=asked[False])
    table = TableBranch(tables, TableName.parse(planned.name))
    applied = applied_version(table.schemas.load_latest_schema())
    found = live_data_files(table) if files else None
    return TableDrift(
        planned.name,
        planned.base_id,
        applied,
        () if applied is None else tuple(_versions(table, applied)),
        asked[True],
        asked[False],
        None if found is None else len(found),
        () if found is None else tuple(other_columns(table, found)),
        planned.annotations_drifted,
        () if planned.drift is None else planned.drift.broken,
    )


def _versions(table: TableBranch, applied: int) -> Iterator[OutsideVersion]:
    """The versions after the one that `apply` made last, each with what it did, and who wrote under it first."""
    later = [number for number in table.schemas.ids() if number > applied]
    writers = _first_writers(table, applied) if later else {}
    before = table.schemas.find(applied)
    for number in later:
        version = table.schemas.load_schema(number)
        changes = None if before is None else describe_changes(before, version)
        yield OutsideVersion(number, version.time_millis, changes, writers.get(number))
        before = version


def _first_writers(table: TableBranch, applied: int) -> dict[int, Snapshot]:
    """The first snapshot under each version after `applied`; older snapshots are not looked at."""
    found: dict[int, Snapshot] = {}
    for snapshot in table.snapshots.newest_first():
        if snapshot.schema_id <= applied:
            break
        found[snapshot.schema_id] = snapshot
    return found
