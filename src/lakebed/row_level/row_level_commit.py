"""Commit a change of rows, made again where what it has read was changed meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Protocol

from lakebed.errors import ConflictError, StoreError, UsageError
from lakebed.format import binary_row
from lakebed.format.index_changes import check_unchanged
from lakebed.format.live_files import (
    DataFile,
    delta_manifests,
    entries_of,
    file_vectors,
    partition_types,
)
from lakebed.format.manifest import Kind
from lakebed.format.snapshot import COMPACT, Snapshot
from lakebed.format.snapshot_change import DeletedRows, SnapshotChange, deleting
from lakebed.model import JsonValue, canonical_json
from lakebed.row_level.row_target import RowTarget, Start
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.write.commit_results import CommitResults
from lakebed.write.write_lineage import tell_write
from lakebed.write.write_result import ASKED, WriteResult, WriteRun

ROWS_CHANGED = "LB6542"
OUTPACED = "LB6543"
COUNTS = "lakebed.row-counts"
#: How often a change is made again on top of what others have committed.
_MOST_RUNS = 10


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows of the table that a change concerns."""

    deleted: int = 0
    updated: int = 0
    inserted: int = 0

    def by_kind(self) -> dict[str, int]:
        """The rows that make these changes in a table with a primary key."""
        kinds = {"+I": self.inserted, "+U": self.updated, "-D": self.deleted}
        return {kind: rows for kind, rows in kinds.items() if rows}


@dataclass(frozen=True, slots=True)
class RowChanges:
    """What a change comes to on top of one state: files that go, rows that go, and how many rows it is about.

    The rows that come are with the writer. `reads_new_rows`: what others add meanwhile matters, since rows were added
    that the table had not. `replaces` is the filter that names the rows whose place is taken: what others add of these
    matters. `is_compaction`: the rows stay the same ones.
    """

    files: tuple[DataFile, ...] = ()
    rows: tuple[DeletedRows, ...] = ()
    counts: RowCounts = RowCounts()
    reads_new_rows: bool = False
    replaces: str | None = None
    is_compaction: bool = False


class RowOperation(Protocol):
    """A change of rows: what it is called in results and in snapshots, what it was asked for, and how it is made."""

    @property
    def name(self) -> str:
        """What results call it, such as `delete`."""
        ...

    @property
    def word(self) -> str:
        """The word of the table format, such as `DELETE`."""
        ...

    @property
    def asked(self) -> str:
        """What tells it from other changes under the same run id. It says no value: a snapshot is kept for long."""
        ...

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows, and write those that come; with `dry_run` nothing is written."""
        ...


def run_operation(target: RowTarget, operation: RowOperation, run: WriteRun, *, dry_run: bool = False) -> WriteResult:
    """Make and commit a change; once only where the run says so."""
    call = _Call(target, operation, run)
    done = None if dry_run else call.done()
    if done is not None:
        return done
    if dry_run:
        return call.repeat(dry_run=True)
    return tell_write(target.table, operation.name, run, lambda: call.repeat(dry_run=False))


def done_before(target: RowTarget, operation: RowOperation, run: WriteRun) -> WriteResult | None:
    """The result of the same run where it was done before."""
    return _Call(target, operation, run).done()


@dataclass(frozen=True, slots=True)
class _Call:
    target: RowTarget
    operation: RowOperation
    run: WriteRun

    def done(self) -> WriteResult | None:
        """The result where a run that is done once only was done before."""
        if not self.run.once:
            return None
        found = self.target.storage.snapshots.find_commit(self.run.commit_user, operation=self.operation.word)
        return None if found is None else self.committed(found, "")

    def repeat(self, *, dry_run: bool) -> WriteResult:
        """Make the change, again where others were first."""
        for left in reversed(range(_MOST_RUNS)):
            try:
                return self.attempt(dry_run=dry_run)
            except ConflictError as error:
                if not left:
                    raise self.outpaced(error) from error
        raise AssertionError

    def attempt(self, *, dry_run: bool) -> WriteResult:
        """Make the change on top of the newest state."""
        start = self.target.begin()
        writer = start.writer()
        try:
            with spark_errors():
                changes = self.operation.make(start, writer, dry_run=dry_run)
            if dry_run:
                return self._planned(start, changes)
            if not self.run.once and not (changes.files or changes.rows or writer.entries):
                return self._results.of((), start.schema.id)
            return self._commit(start, writer, changes)
        except BaseException:
            with suppress(StoreError):
                writer.clear()
            raise

    def _commit(self, start: Start, writer: TableWriter, changes: RowChanges) -> WriteResult:
        counts = changes.counts
        said: dict[str, JsonValue] = dict(asdict(counts))
        change = SnapshotChange(
            commit_user=self.run.commit_user,
            deleted=tuple(map(start.entry, changes.files)),
            deleted_rows=changes.rows,
            planned_on=start.state.snapshot,
            compaction=changes.is_compaction,
            properties={**self.run.properties, ASKED: self.operation.asked, COUNTS: canonical_json(said)},
            operation=self.operation.word,
        )
        guard = _Unchanged(start, changes, writer)
        after = 0 if self.run.once else start.snapshot_id
        snapshot = writer.commit(change, guard, after)
        return self.committed(snapshot, writer.attempt)

    def committed(self, snapshot: Snapshot, attempt: str) -> WriteResult:
        """What a snapshot of this run has done. Raises `UsageError` where it is that of another change."""
        counts = _counts(snapshot.properties or {})
        is_keyed = bool(self.target.storage.schemas.load_latest_schema().primary_keys)
        # Of no row that it is about a change writes rows only where it compacts: those stay what they were.
        by_kind = (counts.by_kind() or None) if is_keyed else None
        result = self._results.made(snapshot, self.operation.asked, attempt, by_kind)
        if is_keyed and result.files_removed:
            # The rows went with their files.
            kinds = {kind: rows for kind, rows in result.rows_by_kind.items() if kind != "-D"}
            result = replace(result, rows_by_kind=kinds)
        return _with_counts(result, counts)

    def _planned(self, start: Start, changes: RowChanges) -> WriteResult:
        gone = tuple(deleting(start.entry(file)) for file in changes.files)
        return _with_counts(self._results.of(gone, start.schema.id), changes.counts)

    @property
    def _results(self) -> CommitResults:
        target = self.target
        return CommitResults(target.table, self.operation.name, self.run, target.context.time_zone)

    def outpaced(self, error: ConflictError) -> ConflictError:
        """The error after the last attempt."""
        label = self.target.table.label
        return ConflictError.of(
            OUTPACED,
            f"others changed the rows of {label} that this call was about, {_MOST_RUNS} times while it was made: "
            f"{error.diagnostics[0].message}",
            path=label,
            remedy="repeat it when fewer write to these rows",
        )


def _with_counts(result: WriteResult, counts: RowCounts) -> WriteResult:
    return replace(result, rows_deleted=counts.deleted, rows_updated=counts.updated, rows_inserted=counts.inserted)


def _counts(properties: Mapping[str, str]) -> RowCounts:
    """What a snapshot of ours says; properties are anybody's to write."""
    try:
        said = json.loads(properties.get(COUNTS, "{}"))
        return RowCounts(**{name: int(said.get(name, 0)) for name in ("deleted", "updated", "inserted")})
    except (ValueError, TypeError, AttributeError):
        return RowCounts()


@dataclass(frozen=True)
class _Unchanged:
    """A guard of a commit: ends it where others have changed what was read.

    That files are gone, the commit sees itself. Of files whose rows were written elsewhere it is seen here that no
    other row of them was deleted meanwhile, of buckets of keys that no other row has come, and where it matters that
    nobody has added rows.
    """

    start: Start
    changes: RowChanges
    writer: TableWriter

    def __call__(self, since: Sequence[Snapshot]) -> None:
        newer = [s for s in since if s.id > self.start.snapshot_id]
        if not newer:
            return
        if self.changes.files:
            self._check_vectors(newer[0])
        replaces = self.changes.replaces
        if replaces is not None and self.start.has_new_files(replaces):
            raise ConflictError.of(
                ROWS_CHANGED,
                f"snapshot {newer[0].id} has files with rows that may have to go, which this change has not seen",
                remedy="repeat the operation: it looks at the table as it is by now",
            )
        if (self.start.plan.is_keyed and not self.changes.is_compaction) or self.changes.reads_new_rows:
            for snapshot in newer:
                if snapshot.commit_kind != COMPACT:
                    self._check_rows(snapshot)

    def _check_vectors(self, newest: Snapshot) -> None:
        storage = self.start.target.storage
        now = file_vectors(storage.store, storage.path, newest, self.start.schema)
        for file in self.changes.files:
            check_unchanged(
                file.meta.file_name, file.deletions, now.get((file.partition, file.bucket, file.meta.file_name))
            )

    @cached_property
    def _decode(self) -> Callable[[bytes], tuple[object, ...]]:
        return binary_row.codec(partition_types(self.start.schema)).decode

    def _check_rows(self, snapshot: Snapshot) -> None:
        """Whether a snapshot has rows of keys that are written here, or any new rows where these matter."""
        storage = self.start.target.storage
        ours = {(self._decode(e.partition), e.bucket) for e in self.writer.entries}
        every = self.changes.reads_new_rows
        for entry in entries_of(storage.store, storage.path, delta_manifests(storage.store, storage.path, snapshot)):
            place = self._decode(entry.partition), entry.bucket
            if entry.kind == Kind.ADD if every else place in ours:
                raise ConflictError.of(
                    ROWS_CHANGED,
                    f"snapshot {snapshot.id} has changed rows of bucket {place[1]} of partition {place[0]}, which this "
                    "change has read before",
                    path=entry.file.file_name,
                    remedy="repeat the operation: it looks at the table as it is by now",
                )


def check_where(where: str | None, operation: str) -> str:
    """The filter of a change. Raises `UsageError` where there is none, or one that is no text."""
    if not isinstance(where, str | None):
        raise UsageError.of(
            "LB6544",
            f"the filter of {operation} is no text: {where!r}",
            expected="a boolean expression of Spark SQL, such as \"day < DATE'2024-01-01'\"",
            found=repr(where),
            remedy="write the filter as a text: files are chosen by what it says",
        )
    if where is None or not where.strip():
        raise UsageError.of(
            "LB6544",
            f"{operation} has no filter",
            expected="a boolean expression of Spark SQL, such as \"day < DATE'2024-01-01'\"",
            remedy='give where="true" where every row is meant; `truncate` removes all rows without reading them',
        )
    return where
