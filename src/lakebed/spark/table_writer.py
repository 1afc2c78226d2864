"""Write rows of a table to data files and commit them, numbered anew where others were first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.arrow.write_task import WriteTask
from lakebed.catalog.options import CHANGELOG_PRODUCER
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CommitOutcomeUnknownError, ConflictError, SequenceNumbersTakenError, StoreError
from lakebed.format.changelog import changelog_producer
from lakebed.format.commit import Guard, commit
from lakebed.format.commit_origin import lasted
from lakebed.format.hash_index import (
    HashIndexes,
    HashIndexGuard,
    find_hash_indexes,
    hash_index_paths,
    refuse_unindexed,
)
from lakebed.format.index_manifest import IndexFile
from lakebed.format.live_files import DataFile, data_files, entry_of_file
from lakebed.format.manifest import FileSource, ManifestEntry
from lakebed.format.new_files import NewFiles, rows_of_entries
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.sequence_numbers import SequenceGuard, next_sequence
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import Scope, SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.maintenance.orphans import files_of_write
from lakebed.spark.arrow_batches import LargeRowError
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.projection import CastRules
from lakebed.spark.row_merge.merge_sections import first_rows, without_keys
from lakebed.spark.row_order import UNSORTED, RowOrder
from lakebed.spark.rows_aside import RowsAside
from lakebed.spark.scan import choose_scratch
from lakebed.spark.sql_names import quote_name
from lakebed.spark.write_rows import Compacted, RowsToWrite, WrittenRows, write_rows
from lakebed.store.safe_delete import Inside
from lakebed.write.first_row_files import NOTHING, FilesBeside, find_beside
from lakebed.write.plan_write import WritePlan
from lakebed.write.write_result import ATTEMPT

NUMBERS_LOST = "LB6530"
NOT_SEEN = "LB6531"
PRODUCER_CHANGED = "LB5068"

#: How often rows are numbered again before a write gives up.
_MOST_NUMBERINGS = 20


@dataclass(frozen=True, slots=True)
class WriteTarget:
    """A table as its rows are written: how its storage is opened by workers, its branch, its plan.

    `clock` gives milliseconds since 1970.
    """

    storage: TableStorage
    plan: WritePlan
    warehouse: str
    storage_options: Mapping[str, Any] | None
    clock: Callable[[], int]


@dataclass(slots=True)
class TableWriter:
    """One write of one table: rows become files, files become a snapshot, and what belongs to none is deleted.

    `replaces` says which rows of the table go, from the entries of the new files; None for none. `entries` are those of
    data files, `changelog` those of the files that tell consumers all rows that came, `indexes` those of the hash
    indexes of dynamic buckets. A write that replaces rows has no changelog: it could not tell which ones went.
    `leaving` are the paths of files that go with the commit beside, `compacted_from` is the state that compacted rows
    are of. `aside` takes the rows that are not to be written, where there may be such.
    """

    spark: Callable[[], SparkSession]
    target: WriteTarget
    attempt: str = field(default_factory=lambda: uuid4().hex)
    replaces: Callable[[Sequence[ManifestEntry]], Scope] | None = None
    entries: tuple[ManifestEntry, ...] = ()
    changelog: tuple[ManifestEntry, ...] = ()
    indexes: tuple[IndexFile, ...] = ()
    leaving: frozenset[str] = frozenset()
    compacted_from: Snapshot | None = None
    aside: RowsAside | None = None
    _order: RowOrder = UNSORTED
    _compacted: Compacted | None = None
    _is_repeated: bool = False
    _began: float = field(default_factory=monotonic)
    _first: int = 0
    _seen: Snapshot | None = None
    _beside: FilesBeside = NOTHING

    @property
    def rows(self) -> int:
        """Rows in all files."""
        return rows_of_entries(self.entries)

    @property
    def is_observed(self) -> bool:
        """Whether Spark tells what it observed of the rows: of none it may not, and of a job that failed too much."""
        put_aside = self.aside is not None and bool(self.aside.files)
        return (bool(self.entries) or put_aside) and not self._is_repeated

    @property
    def makes_changelog(self) -> bool:
        """Whether all rows are told to consumers."""
        return self.target.plan.has_changelog and self.replaces is None and self._compacted is None

    @property
    def _has_own_numbers(self) -> bool:
        """Whether rows get numbers of their own; compacted rows are no newer than they were."""
        return self.target.plan.has_buckets and self._compacted is None

    @property
    def _keeps_first(self) -> bool:
        """Whether rows are written as the first ones of their keys."""
        return self.target.plan.keeps_first and self._compacted is None

    def files(self) -> tuple[DataFile, ...]:
        """The data files that are not committed yet, with their paths."""
        return self._files(self.entries)

    def _files(self, entries: Sequence[ManifestEntry]) -> tuple[DataFile, ...]:
        return data_files(self.target.storage.path, self.target.plan.schema, entries)

    def write(self, rows: RowsToWrite) -> None:
        """Run the job; its files are added to those that there are. What a failed job has written is deleted."""
        self._order, self._compacted = rows.order, rows.compacted
        if self._has_own_numbers:
            self._count_from_latest()
        if self.aside is not None:
            rows = replace(rows, aside=self.aside.begin())
        new = self._run(rows)
        indexes = {(file.partition, file.bucket): file for file in (*self.indexes, *new.indexes)}
        left = [file for file in self.indexes if file not in indexes.values()]
        added, changelog = (*self.entries, *new.added), (*self.changelog, *new.changelog)
        self._take(NewFiles(added, changelog, tuple(indexes.values())))
        self._delete(self._index_paths(left))
        if self._keeps_first:
            beside = self._find_beside()
            self.entries = beside.placed(self.target.plan.schema, self.entries)
            if beside.matter:
                self._number_again()

    def _take(self, files: NewFiles) -> None:
        self.entries, self.changelog, self.indexes = files.added, files.changelog, files.indexes

    def _find_beside(self) -> FilesBeside:
        """The files that may hold keys of first rows, as of the snapshot that their numbers are counted from."""
        target = self.target
        if self.replaces is None:
            entries = self.entries
            self._beside = find_beside(target.storage, target.plan.schema, self._seen, entries, self.leaving)
        return self._beside

    def _count_from_latest(self) -> None:
        """Choose numbers above those of all rows that there are by now."""
        storage = self.target.storage
        self._seen = storage.snapshots.latest()
        self._first = next_sequence(storage, self._seen)

    def new_task(self, compacted: Compacted | None = None) -> WriteTask:
        """What each task of a job writes."""
        target = self.target
        source = FileSource.APPEND if compacted is None else FileSource.COMPACT
        return WriteTask.under(
            target.plan.schema,
            location=target.warehouse,
            table_path=target.storage.path,
            created=target.clock(),
            first_sequence=self._first,
            storage_options=target.storage_options,
            makes_changelog=self.makes_changelog,
            hash_indexes=self._hash_indexes() if target.plan.has_dynamic_buckets else None,
            source=source,
            level=0 if compacted is None else compacted.level,
            sequence=None if compacted is None else compacted.sequence,
        )

    def _hash_indexes(self) -> HashIndexes:
        """What says which buckets keys are in; rows in the place of others find none. Compacted ones stay in theirs."""
        storage, schema = self.target.storage, self.target.plan.schema
        if self._compacted is not None:
            return replace(find_hash_indexes(storage, schema, self.compacted_from), fixed=True)
        return find_hash_indexes(storage, schema, None if self.replaces else self._seen, self.indexes)

    def take(self, entries: Sequence[ManifestEntry]) -> None:
        """Take the files that the tasks of somebody else's job have written, of a table without a key."""
        self._look_for(entries)
        self._take(NewFiles(tuple(entries)))

    def _run(self, rows: RowsToWrite) -> NewFiles:
        task = self.new_task(rows.compacted)
        try:
            written = self._written(rows, task)
            self._look_for(written.files.entries)
            if task.hash_indexes is not None and self._has_own_numbers and self.replaces is None:
                storage, schema = self.target.storage, self.target.plan.schema
                refuse_unindexed(storage, schema, self._seen, written.files.added, task.hash_indexes)
            if self.aside is not None and rows.aside is not None:
                self.aside.task, self.aside.columns = task, written.columns
                self.aside.files, self.aside.rows = written.aside, written.aside_rows
                self.aside.bad_rows = written.bad_rows
            return written.files
        except BaseException:
            self.discard_failed(task.id)
            raise

    def _written(self, rows: RowsToWrite, task: WriteTask) -> WrittenRows:
        try:
            return write_rows(rows, self.target.plan, task)
        except LargeRowError:
            self.discard_failed(task.id)
            self._is_repeated = True
            return write_rows(rows, self.target.plan, task, counts_bytes=True)

    def _look_for(self, entries: Sequence[ManifestEntry]) -> None:
        """Raise `StoreError` (LB6531) where files of workers are not seen from here: on this machine every one is
        looked for, elsewhere the first.
        """
        storage = self.target.storage
        files = self._files(entries)
        for file in files if "://" not in storage.path else files[:1]:
            if not storage.store.exists(file.path):
                raise StoreError.of(
                    NOT_SEEN,
                    f"a worker of Spark has written {file.path}, which is not there",
                    path=file.path,
                    remedy="let the warehouse lie where all machines and processes of the cluster see it",
                )

    def commit(self, change: SnapshotChange, guard: Guard | None = None, after: int = 0) -> Snapshot:
        """Publish the files, and what else `change` says. Files that come to belong to no snapshot are deleted.

        Rows with a key are numbered anew, and written again, where others took their numbers. The snapshot may be that
        of another attempt of the same user.
        """
        storage = self.target.storage
        for _ in range(_MOST_NUMBERINGS):
            try:
                return self._commit_once(change, guard, after)
            except SequenceNumbersTakenError:
                self._number_again()
        raise ConflictError.of(
            NUMBERS_LOST,
            f"other writers were first {_MOST_NUMBERINGS} times, and the rows had to be numbered again each time",
            path=storage.path,
            remedy="repeat the write when fewer write to the table",
        )

    def _commit_once(self, change: SnapshotChange, guard: Guard | None, after: int) -> Snapshot:
        target, entries = self.target, self.entries
        guards: list[Guard] = [] if guard is None else [guard]
        if self._has_own_numbers:
            every = (*entries, *self.changelog)
            alone = self._keeps_first and self.replaces is None
            guards.append(SequenceGuard.of(target.storage, target.plan.schema, every, self._seen, alone=alone))
            if target.plan.has_dynamic_buckets and self.replaces is None:
                guards.append(HashIndexGuard.of(target.storage, target.plan.schema, every, self._seen))

        def checked(since: Sequence[Snapshot]) -> None:
            if entries:
                newest = target.storage.schemas.load_latest_schema()
                refuse_unwritable(newest)
                self._check_producer(newest)
            for each in guards:
                each(since)

        properties = {**lasted(self._began), **change.properties, ATTEMPT: self.attempt}
        change = replace(change, added=entries, changelog=self.changelog, indexes=self.indexes, properties=properties)
        if self._beside.waiting:
            taken = (entry_of_file(target.plan.schema, file) for file in self._beside.waiting)
            change = replace(change, deleted=(*change.deleted, *taken))
        try:
            if self.replaces is not None:
                change = replace(change, overwrite=self.replaces(entries))
            snapshot = commit(target.storage, change, clock=target.clock, after=after, guard=checked)
        except SequenceNumbersTakenError:
            raise
        except BaseException as error:
            if isinstance(error, CommitOutcomeUnknownError) or self._is_visible(change):
                # They may belong to a snapshot.
                self._take(NewFiles())
            self.clear()
            raise
        if (snapshot.properties or {}).get(ATTEMPT) == self.attempt:
            self._take(NewFiles())
        else:
            # The same run was committed by somebody else meanwhile: our files belong to no snapshot.
            self.clear()
        return snapshot

    def _check_producer(self, newest: TableSchema) -> None:
        """Raise `ConflictError` (LB5068) where the table tells consumers of rows in another way by now."""
        found, ours = changelog_producer(newest), changelog_producer(self.target.plan.schema)
        if self.replaces is None and self._compacted is None and found != ours:
            raise ConflictError.of(
                PRODUCER_CHANGED,
                f"the option {CHANGELOG_PRODUCER} was changed while rows were written",
                path=CHANGELOG_PRODUCER,
                expected=ours,
                found=found,
                remedy="repeat the write: it does as the option says now",
            )

    def _is_visible(self, change: SnapshotChange) -> bool:
        """Whether a commit is there, or may be: when the storage does not answer, nothing is deleted."""
        snapshots, user, number = self.target.storage.snapshots, change.commit_user, change.commit_identifier
        try:
            return snapshots.find_commit(user, number, kind=change.kind, operation=change.operation) is not None
        except StoreError:
            return True

    def _number_again(self) -> None:
        """Write the rows again, from our own files, with numbers above all that there are by now.

        The files of a changelog have every row that came, under the number that data files have it under. Of first rows
        those are left out whose keys the table has by now.
        """
        old = self._files((*self.entries, *self.changelog))
        old_indexes = self.indexes
        rows = self._as_written(self._read(self.changelog or self.entries, System.SEQUENCE_NUMBER, System.VALUE_KIND))
        arrival = (F.col(System.SEQUENCE_NUMBER),)
        placed_by = self._seen
        self._count_from_latest()
        if self._keeps_first:
            self._refuse_moved(placed_by)
            rows = self._without_known(rows)
        self.indexes = ()
        try:
            self._take(self._run(RowsToWrite(rows, F.col(System.VALUE_KIND), arrival, self._order)))
        except BaseException:
            self.indexes = old_indexes
            raise
        if self._keeps_first:
            self.entries = self._beside.placed(self.target.plan.schema, self.entries)
        self._delete([*(path for file in old for path in file.paths), *self._index_paths(old_indexes)])

    def _refuse_moved(self, placed_by: Snapshot | None) -> None:
        """Raise `ConflictError` (LB5097) where others have put keys into dynamic buckets since rows were placed.

        Which of them the table has by now is looked for in the buckets that they were placed in.
        """
        target = self.target
        if not target.plan.has_dynamic_buckets or self._seen is None:
            return
        try:
            HashIndexGuard.of(target.storage, target.plan.schema, self.entries, placed_by)(())
        except ConflictError:
            self.clear()
            raise

    def _as_written(self, frame: DataFrame) -> DataFrame:
        """Rows of files as they are written: column `v<i>` is the schema's column i."""
        names = enumerate(self.target.plan.schema.field_names)
        values = (F.col(quote_name(name)).alias(f"v{i}") for i, name in names)
        system = (F.col(column).alias(column) for column in (System.SEQUENCE_NUMBER, System.VALUE_KIND))
        return frame.select(*values, *system)

    def _without_known(self, rows: DataFrame) -> DataFrame:
        """First rows whose keys no reader sees yet; before them rows that others have written and not compacted."""
        schema, reader, beside = self.target.plan.schema, self._reader(), self._find_beside()
        if beside.waiting:
            waiting = first_rows(reader, beside.waiting, schema)
            before = {System.SEQUENCE_NUMBER.value: F.lit(-1).cast("bigint"), System.VALUE_KIND.value: F.lit(0)}
            rows = self._as_written(waiting.withColumns(before)).union(rows)
        keys = [f"v{schema.field_names.index(key)}" for key in schema.primary_keys]
        return without_keys(rows, reader, beside.older, schema, keys)

    def written(self) -> DataFrame:
        """The rows of the data files that are not committed yet."""
        return self._read(self.entries)

    def _read(self, entries: Sequence[ManifestEntry], *system: System) -> DataFrame:
        return self._reader().read(self._files(entries), self.target.plan.schema, *system)

    def _reader(self) -> FileRows:
        spark, storage = self.spark(), self.target.storage
        scratch = choose_scratch(spark, storage.store, self.target.warehouse, None)
        return FileRows(spark, storage.store, storage.schemas, CastRules("UTC"), scratch)

    def clear(self) -> None:
        """Delete the files, as well as possible, where no snapshot has them."""
        files = self._files((*self.entries, *self.changelog))
        self._delete([*(path for file in files for path in file.paths), *self._index_paths(self.indexes)])
        self._take(NewFiles())

    def _index_paths(self, files: Sequence[IndexFile]) -> list[str]:
        return hash_index_paths(self.target.storage.path, self.target.plan.schema, files)

    def _delete(self, paths: Sequence[str]) -> None:
        inside = Inside(self.target.storage.store, self.target.storage.path)
        for path in paths:
            # One that stays is found by the clean-up of orphan files, unless it lies behind a link.
            with suppress(StoreError):
                inside.delete(path)

    def discard_failed(self, id_: str) -> None:
        """Delete what tasks of a failed job have written before another one failed."""
        with suppress(StoreError):
            storage = self.target.storage
            self._delete(files_of_write(Inside(storage.store, storage.path), id_))
