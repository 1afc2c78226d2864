"""Remove all rows of a table, or of some of its partitions, as one commit. Data files stay for older snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic
from uuid import uuid4

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.commit import Guard, commit
from lakebed.format.commit_origin import lasted
from lakebed.format.conflicts import find_delta
from lakebed.format.manifest import ManifestEntry
from lakebed.format.refuse_unsupported import refuse_uncommittable
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import WHOLE_TABLE, Scope, SnapshotChange, deleting, matching_partitions
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.model import canonical_json
from lakebed.write.commit_results import CommitResults
from lakebed.write.partition_specs import NamedPartition, partition_specs, specs_text
from lakebed.write.write_lineage import tell_write
from lakebed.write.write_result import ASKED, ATTEMPT, WriteResult, WriteRun

TRUNCATE, DROP_PARTITIONS = "truncate", "drop-partitions"
#: What snapshots say of both; it is the word of the table format.
_OPERATION = "TRUNCATE"


def truncate(table: TableBranch, run: WriteRun, *, dry_run: bool = False, time_zone: str = "UTC") -> WriteResult:
    """Remove all rows; see `lakebed.Table.truncate`."""
    removal = Removal(table, writable_schema(table), WHOLE_TABLE, TRUNCATE, run, time_zone)
    return removal.look() if dry_run else removal.make()


def drop_partitions(
    table: TableBranch,
    partitions: NamedPartition | Iterable[NamedPartition],
    run: WriteRun,
    *,
    dry_run: bool = False,
    time_zone: str = "UTC",
) -> WriteResult:
    """Remove all rows of partitions; see `lakebed.Table.drop_partitions`."""
    schema = writable_schema(table)
    specs = partition_specs(schema, partitions, time_zone=time_zone)
    scope = matching_partitions(schema, specs)
    removal = Removal(table, schema, scope, DROP_PARTITIONS, run, time_zone, specs_text(specs))
    return removal.look() if dry_run else removal.make()


def writable_schema(table: TableBranch) -> TableSchema:
    """The newest schema of a table that can be written, whatever rows it holds."""
    schema = table.schemas.load_latest_schema()
    table.tables.refuse_foreign_rows(table.name)
    refuse_uncommittable(schema)
    return schema


@dataclass(frozen=True, slots=True)
class Removal:
    """Files that go: those of a scope. `asked` is what the caller has named, for a run that is repeated.

    `guard` may end the commit where others have been first, see `lakebed.format.commit`.
    """

    table: TableBranch
    schema: TableSchema
    scope: Scope
    operation: str
    run: WriteRun
    time_zone: str
    asked: tuple[str, ...] = ()
    guard: Guard | None = None

    @property
    def _storage(self) -> TableStorage:
        return self.table.storage

    def look(self) -> WriteResult:
        """What would go now."""
        return self._result.of(self._files(self._storage.snapshots.latest()), self.schema.id)

    def _files(self, latest: Snapshot | None) -> Sequence[ManifestEntry]:
        change = SnapshotChange(commit_user=self.run.commit_user, overwrite=self.scope)
        found = find_delta(self.table.store, self.table.table_path, self.schema, latest, change)
        return tuple(map(deleting, found.removed))

    def make(self) -> WriteResult:
        """Remove them. Nothing is committed where there are none, unless the run is to be done once only."""
        return tell_write(self.table, self.operation, self.run, self._make)

    def _make(self) -> WriteResult:
        storage, began = self._storage, monotonic()
        latest = storage.snapshots.latest()
        if not self.run.once and not self._files(latest):
            return self._result.of((), self.schema.id)
        attempt = uuid4().hex
        change = SnapshotChange(
            commit_user=self.run.commit_user,
            overwrite=self.scope,
            properties={**self.run.properties, ASKED: self._said, ATTEMPT: attempt, **lasted(began)},
            operation=_OPERATION,
        )
        after = 0 if self.run.once or latest is None else latest.id
        snapshot = commit(storage, change, clock=self.table.clock, after=after, guard=self.guard)
        return self._result.made(snapshot, self._said, attempt)

    def done(self) -> WriteResult | None:
        """The result where a run that is done once only was done before."""
        if not self.run.once:
            return None
        found = self._storage.snapshots.find_commit(self.run.commit_user, operation=_OPERATION)
        return None if found is None else self._result.made(found, self._said, "")

    @property
    def _said(self) -> str:
        return canonical_json([self.operation, *self.asked])

    @property
    def _result(self) -> CommitResults:
        return CommitResults(self.table, self.operation, self.run, self.time_zone)
