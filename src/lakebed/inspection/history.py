"""Load the history of a table: schema versions, what each changed, and snapshots."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

from lakebed.catalog import TableManager, TableName, TableRef, TableSchema
from lakebed.catalog.annotations import applied_version, approvals_of
from lakebed.format.commit_origin import CommitOrigin, duration_of, operation_of
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.readable import Readable


@dataclass(frozen=True, slots=True)
class Version:
    """One schema version and, in words, what it changed against the version before it (nothing for the first)."""

    schema: TableSchema
    changes: tuple[str, ...]

    @property
    def approvals(self) -> tuple[dict[str, Any], ...]:
        """The approvals of the manifest that `apply` made it with, as they stood there."""
        return approvals_of(self.schema) if applied_version(self.schema) == self.schema.id else ()


@dataclass(frozen=True, slots=True)
class History(Readable):
    """Versions and snapshots, each in ascending order of their numbers."""

    renderer: ClassVar[str] = "lakebed.render.history_text:history_text"
    html_renderer: ClassVar[str] = "lakebed.render.notebook_html:history_html"

    name: TableName
    versions: tuple[Version, ...]
    snapshots: tuple[Snapshot, ...]

    def newest(self, count: int) -> History:
        """The last `count` events in time, versions and snapshots together."""
        times = [v.schema.time_millis for v in self.versions] + [s.time_millis for s in self.snapshots]
        kept = set(sorted(range(len(times)), key=times.__getitem__)[-count:])
        versions = tuple(v for i, v in enumerate(self.versions) if i in kept)
        snapshots = tuple(s for i, s in enumerate(self.snapshots, len(self.versions)) if i in kept)
        return replace(self, versions=versions, snapshots=snapshots)

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed history --json`. Times are milliseconds since 1970."""
        return {
            "table": str(self.name),
            "versions": [
                {
                    "schema_id": v.schema.id,
                    "time_millis": v.schema.time_millis,
                    "columns": len(v.schema.fields),
                    "changes": list(v.changes),
                    "approvals": list(v.approvals),
                }
                for v in self.versions
            ],
            "snapshots": [
                {
                    "id": s.id,
                    "schema_id": s.schema_id,
                    "time_millis": s.time_millis,
                    "kind": s.commit_kind,
                    "operation": s.operation,
                    "did": operation_of(s),
                    "duration_ms": duration_of(s.properties or {}),
                    "user": s.commit_user,
                    "origin": CommitOrigin.of(s).to_json(),
                    "delta_record_count": s.delta_record_count,
                    "total_record_count": s.total_record_count,
                    "properties": dict(s.properties or {}),
                }
                for s in self.snapshots
            ],
        }


@dataclass(frozen=True, slots=True)
class TableSummary:
    """The newest schema version of a table and its newest snapshot: None where there is none, or it cannot be read."""

    name: TableName
    schema_id: int | None = None
    snapshot: Snapshot | None = None

    def to_json(self) -> dict[str, Any]:
        """An entry of `lakebed tables --json`. Times are milliseconds since 1970."""
        newest = self.snapshot
        return {
            "table": str(self.name),
            "schema_id": self.schema_id,
            "snapshot_id": None if newest is None else newest.id,
            "rows": None if newest is None else newest.total_record_count,
            "time_millis": None if newest is None else newest.time_millis,
        }


def summary_of(name: TableName, tables: TableManager) -> TableSummary:
    """Look at a table: two listings and one small file. Raises `LakebedError` for what cannot be read."""
    ids = tables.get_schema_manager(name.database, name.table).ids()
    snapshot = TableBranch(tables, name).snapshots.latest()
    return TableSummary(name, ids[-1] if ids else None, snapshot)


def history_of(table: TableBranch, *, encodings: bool = False) -> History:
    """Load every version and snapshot that is still there. Raises `NotFoundError` for a table that does not exist.

    Changes of encoding hints are told one by one with `encodings`.
    """
    from lakebed.evolve import describe_changes

    schemas, snapshots = table.schemas, table.snapshots
    loaded = [schemas.load_schema(i) for i in schemas.ids()] or [schemas.load_latest_schema()]
    versions = [Version(loaded[0], ())]
    versions += [Version(new, describe_changes(old, new, encodings=encodings)) for old, new in pairwise(loaded)]
    return History(table.name, tuple(versions), tuple(snapshots.load(i) for i in snapshots.ids()))


def schema_of(table: TableBranch, ref: TableRef) -> TableSchema:
    """The version that a reference to a branch says, or the one of its snapshot or tag; else the newest."""
    schemas, snapshots = table.schemas, table.snapshots
    if ref.schema_id is not None:
        return schemas.load_schema(ref.schema_id)
    if ref.snapshot is None and ref.tag is None:
        return schemas.load_latest_schema()
    state = snapshots.load(ref.snapshot) if ref.snapshot is not None else snapshots.tag(ref.tag or "")
    return schemas.load_schema(state.schema_id)
