"""Tell what the commit of a write has done, from the manifests that it has written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.format import binary_row
from lakebed.format.commit_origin import duration_of
from lakebed.format.live_files import delta_manifests, entries_of, partition_types
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.new_files import rows_of_entries
from lakebed.format.partition import partition_text
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.write.write_result import ASKED, ATTEMPT, OTHER_RUN, WriteResult, WriteRun


@dataclass(frozen=True, slots=True)
class CommitResults:
    """Makes the results of one kind of write of a table. `time_zone` is that of instants in names of partitions."""

    table: TableBranch
    operation: str
    run: WriteRun
    time_zone: str

    def made(
        self, snapshot: Snapshot, asked: str, attempt: str, rows_by_kind: Mapping[str, int] | None = None
    ) -> WriteResult:
        """What a snapshot did, which this attempt or an earlier one of the same run has made.

        Raises `UsageError` (LB5105) where the run was asked for something else than `asked` then.
        """
        properties = snapshot.properties or {}
        if properties.get(ASKED) != asked:
            raise other_run(self.table.label, asked, snapshot)
        metas = delta_manifests(self.table.store, self.table.table_path, snapshot)
        entries = tuple(entries_of(self.table.store, self.table.table_path, metas))
        result = self.of(entries, snapshot.schema_id, rows_by_kind)
        repeated, took = properties.get(ATTEMPT) != attempt, duration_of(properties)
        return replace(result, snapshot_id=snapshot.id, repeated=repeated, duration_ms=took)

    def of(
        self, entries: Sequence[ManifestEntry], schema_id: int, rows_by_kind: Mapping[str, int] | None = None
    ) -> WriteResult:
        """What a commit of these entries did, or would do. Without `rows_by_kind` all rows of new files are inserts."""
        new = [e for e in entries if e.kind == Kind.ADD]
        gone = [e for e in entries if e.kind == Kind.DELETE]
        added, rows = [e.file for e in new], rows_of_entries(new)
        return WriteResult(
            table=self.table.label,
            operation=self.operation,
            schema_id=schema_id,
            snapshot_id=None,
            rows_by_kind=rows_by_kind if rows_by_kind is not None else {"+I": rows} if rows else {},
            rows_removed=rows_of_entries(gone),
            files_added=len(added),
            files_removed=len(gone),
            bytes_added=sum(file.file_size for file in added),
            bytes_removed=sum(e.file.file_size for e in gone),
            partitions=lost_partitions(self.table.schemas.load_schema(schema_id), gone, time_zone=self.time_zone),
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
