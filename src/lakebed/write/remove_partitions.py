"""Remove all rows of a table, or of some of its partitions, as one commit. Data files stay for older snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.format import binary_row
from lakebed.format.commit import commit
from lakebed.format.conflicts import find_delta
from lakebed.format.live_files import delta_manifests, entries_of, partition_types
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.partition import partition_text
from lakebed.format.refuse_unsupported import refuse_uncommittable
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import WHOLE_TABLE, Scope, SnapshotChange, matching_partitions
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.model import canonical_json
from lakebed.write.partition_specs import NamedPartition, partition_specs
from lakebed.write.write_result import ASKED, ATTEMPT, OTHER_RUN, WriteResult, WriteRun

TRUNCATE, DROP_PARTITIONS = "truncate", "drop-partitions"
#: What snapshots say of both; it is the word of the table format.
_OPERATION = "TRUNCATE"


def truncate(table: TableBranch, run: WriteRun, *, dry_run: bool = False, time_zone: str = "UTC") -> WriteResult:
    """Remove all rows; see `lakebed.Table.truncate`."""
    removal = _Removal(table, _writable(table), WHOLE_TABLE, TRUNCATE, run, time_zone)
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
    schema = _writable(table)
    specs = partition_specs(schema, partitions, time_zone=time_zone)
    asked = sorted(canonical_json({k: None if v is None else str(v) for k, v in spec.items()}) for spec in specs)
    scope = matching_partitions(schema, specs)
    removal = _Removal(table, schema, scope, DROP_PARTITIONS, run, time_zone, tuple(asked))
    return removal.look() if dry_run else removal.make()


def _writable(table: TableBranch) -> TableSchema:
    """The newest schema of a table that can be written, whatever rows it holds."""
    schema = table.schemas.load_latest_schema()
    table.tables.refuse_foreign_rows(table.name)
    refuse_uncommittable(schema)
    return schema


@dataclass(frozen=True, slots=True)
class _Removal:
    """Files that go: those of a scope. `asked` is what the caller has named, for a run that is repeated."""

    table: TableBranch
    schema: TableSchema
    scope: Scope
    operation: str
    run: WriteRun
    time_zone: str
    asked: tuple[str, ...] = ()

    @property
    def _storage(self) -> TableStorage:
        table = self.table
        return TableStorage(table.store, table.table_path, table.schemas, table.branch)

    def look(self) -> WriteResult:
        """What would go now."""
        return self._result(self._files(self._storage.snapshots.latest()), None)

    def _files(self, latest: Snapshot | None) -> Sequence[ManifestEntry]:
        change = SnapshotChange(commit_user=self.run.commit_user, overwrite=self.scope)
        return find_delta(self.table.store, self.table.table_path, self.schema, latest, change).removed

    def make(self) -> WriteResult:
        """Remove them. Nothing is committed where there are none, unless the run is to be done once only."""
        storage = self._storage
        latest = storage.snapshots.latest()
        if not self.run.once and not self._files(latest):
            return self._result((), None)
        attempt = uuid4().hex
        said = canonical_json([self.operation, *self.asked])
        change = SnapshotChange(
            commit_user=self.run.commit_user,
            overwrite=self.scope,
            properties={**self.run.properties, ASKED: said, ATTEMPT: attempt},
            operation=_OPERATION,
        )
        after = 0 if self.run.once or latest is None else latest.id
        snapshot = commit(storage, change, clock=self.table.clock, after=after)
        properties = snapshot.properties or {}
        if properties.get(ASKED) != said:
            raise other_run(self.table.label, said, snapshot)
        metas = delta_manifests(storage.store, storage.path, snapshot)
        gone = [e for e in entries_of(storage.store, storage.path, metas) if e.kind == Kind.DELETE]
        result = self._result(gone, snapshot)
        return replace(result, repeated=properties.get(ATTEMPT) != attempt)

    def _result(self, gone: Sequence[ManifestEntry], snapshot: Snapshot | None) -> WriteResult:
        return WriteResult(
            table=self.table.label,
            operation=self.operation,
            schema_id=self.schema.id if snapshot is None else snapshot.schema_id,
            snapshot_id=None if snapshot is None else snapshot.id,
            rows_removed=sum(e.file.row_count for e in gone),
            files_removed=len(gone),
            bytes_removed=sum(e.file.file_size for e in gone),
            partitions=lost_partitions(self.schema, gone, time_zone=self.time_zone),
            run_id=self.run.run_id,
        )


def lost_partitions(schema: TableSchema, gone: Sequence[ManifestEntry], *, time_zone: str) -> tuple[str, ...]:
    """The partitions of entries that go, as the system table `partitions` names them."""
    types = partition_types(schema)
    if not types:
        return ()
    values: set[tuple[Any, ...]] = {binary_row.decode(types, data) for data in {e.partition for e in gone}}
    keys, options = schema.partition_keys, schema.options
    return tuple(sorted(partition_text(keys, types, v, options, time_zone=time_zone) for v in values))


def other_run(table: str, asked: str, snapshot: Snapshot) -> UsageError:
    """The error where the commit user of a run has made a snapshot for something else than `asked`."""
    return UsageError.of(
        OTHER_RUN,
        f"commit user {snapshot.commit_user!r} has made snapshot {snapshot.id} for something else",
        path=table,
        expected=asked,
        found=(snapshot.properties or {}).get(ASKED, snapshot.operation or snapshot.commit_kind),
        remedy="give each run an id, or a commit user, of its own",
    )
