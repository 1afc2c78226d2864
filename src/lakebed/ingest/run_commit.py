"""Commit an ingest run; undo staging on failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CommitOutcomeUnknownError, ConflictError, StoreError
from lakebed.format.commit import Guard, TableStorage, append
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.ingest.numbering import NEXT_OFFSET, NumberedRows, next_offset
from lakebed.ingest.run_memory import run_of, shared_file
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.write import Staging
from lakebed.spark.scan import page_checks
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import spark_url
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite
from lakebed.store.base import Store
from lakebed.write.write_result import ATTEMPT

ALREADY_INGESTED = "LB6402"
TAKEN_OVER = "LB6403"
NUMBERS_LOST = "LB6435"

#: How often rows are numbered again before a run gives up.
_MOST_NUMBERINGS = 20


@dataclass(frozen=True, slots=True)
class RunGuard:
    """Keeps two runs from ingesting the same file. `good_until` and `bad_until` are the snapshots looked up to before.

    `again` says that files may be ingested twice, `adopted` are the runs whose bad rows are taken over.
    """

    run_id: str
    files: Sequence[SourceFile]
    adopted: frozenset[str]
    again: bool
    good_until: int
    bad_until: int

    def before_table(self, since: Sequence[Snapshot]) -> None:
        """Raise `ConflictError` where another run has ingested one of the files, or was not cut off after all."""
        for snapshot in since:
            record = run_of(snapshot)
            if record is None or record.run_id == self.run_id:
                continue
            if record.run_id in self.adopted:
                raise ConflictError.of(
                    TAKEN_OVER,
                    f"run {record.run_id}, whose bad rows this run took for left over, has come to its end meanwhile",
                    found=record.run_id,
                    remedy="repeat the command: it sees what is there by now",
                )
            path = None if self.again else shared_file(record, self.files)
            if path is not None:
                raise ConflictError.of(
                    ALREADY_INGESTED,
                    f"{path!r} was ingested by run {record.run_id} meanwhile",
                    path=path,
                    found=record.run_id,
                    remedy="repeat the command: it skips what is in the table by now",
                )

    def before_quarantine(self, table: TableStorage, since: Sequence[Snapshot]) -> None:
        """The same for the quarantine, which is committed first."""
        self.before_table(list(table.snapshots.newest_first(after=self.good_until)))
        self.before_table(since)


@dataclass(frozen=True, slots=True)
class Committer:
    """Commits files of a run and takes them back where that fails."""

    user: str
    attempt: str
    clock: Callable[[], int]

    def commit(
        self, storage: TableStorage, staging: Staging, properties: Mapping[str, str], guard: Guard, after: int
    ) -> Snapshot:
        """Publish the files of a staging; see `append`. The snapshot may be that of another attempt of the same run."""
        try:
            files = staging.place()
            snapshot = append(
                storage,
                files,
                commit_user=self.user,
                properties=properties,
                clock=self.clock,
                after=after,
                guard=guard,
            )
        except CommitOutcomeUnknownError:
            raise
        except BaseException:
            if not self._is_visible(storage):
                staging.take_back()
            raise
        if (snapshot.properties or {}).get(ATTEMPT) != self.attempt:
            # The same run was committed by somebody else meanwhile: our files belong to no snapshot.
            staging.take_back()
        return snapshot

    def _is_visible(self, storage: TableStorage) -> bool:
        """Whether a commit is there, or may be: when the storage does not answer, nothing is deleted."""
        try:
            return storage.snapshots.find_commit(self.user) is not None
        except StoreError:
            return True


@dataclass(slots=True)
class PlainRows:
    """Good rows of a table whose records have no numbers."""

    store: Store
    table: TableStorage
    schema: TableSchema
    staging: Staging = field(init=False)

    def __post_init__(self) -> None:
        self.staging = self._new()

    def _new(self) -> Staging:
        return Staging(self.store, self.table.path, self.schema)

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.staging.rows

    def write(self, values: DataFrame) -> None:
        """Write them; see `Staging.write`."""
        self.staging.write(values)

    def commit(self, committer: Committer, properties: Mapping[str, str], guard: Guard, after: int) -> Snapshot:
        """Make them visible."""
        return committer.commit(self.table, self.staging, properties, guard, after)

    def renew(self) -> None:
        """Forget what was written."""
        self.staging.clear()
        self.staging = self._new()

    def clear(self) -> None:
        """Delete what is still in staging."""
        self.staging.clear()


@dataclass(slots=True)
class RoutedRows:
    """Good rows of a table whose rows have an order or a bucket; `kind` and `arrival` are as in `RowsToWrite`."""

    writer: TableWriter
    kind: Column | None = None
    arrival: tuple[Column, ...] = ()

    @property
    def table(self) -> TableStorage:
        """The table that they are written to."""
        return self.writer.target.storage

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.writer.rows

    def write(self, values: DataFrame) -> None:
        """Write them; see `TableWriter.write`."""
        self.writer.write(RowsToWrite(values, self.kind, self.arrival))

    def commit(self, committer: Committer, properties: Mapping[str, str], guard: Guard, after: int) -> Snapshot:
        """Make them visible."""
        change = SnapshotChange(commit_user=committer.user, properties=properties)
        return self.writer.commit(change, guard, after)

    def renew(self) -> None:
        """Forget what was written."""
        self.writer.clear()

    def clear(self) -> None:
        """Delete files that are not committed."""
        self.writer.clear()


class _NumbersLostError(Exception):
    """Somebody else has taken the numbers."""


@dataclass(slots=True)
class NumberedCommit:
    """Good rows of a table whose records are numbered. `operation` is the place of the column of operations."""

    plain: PlainRows | RoutedRows
    numbered: NumberedRows
    operation: int | None
    largest: Callable[[], int | None]

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.numbered.rows

    def write(self, values: DataFrame) -> None:
        """Write them, not numbered yet."""
        columns = [c for c in values.columns if c.startswith("v") and c[1:].isdecimal()]
        self.numbered.write(values.select(*columns, "block"))
        self.numbered.count()
        if self.operation is not None and self.numbered.rows:
            self.numbered.check_corrections(self.operation)

    def commit(self, committer: Committer, properties: Mapping[str, str], guard: Guard, after: int) -> Snapshot:
        """Number them and make them visible; again, with other numbers, where somebody else was first."""
        table = self.plain.table
        for _ in range(_MOST_NUMBERINGS):
            base = next_offset(table, self.largest)
            with spark_errors():
                self.plain.write(self.numbered.numbered(base))

            def checked(since: Sequence[Snapshot], base: int = base) -> None:
                guard(since)
                if next_offset(table, self.largest) != base:
                    raise _NumbersLostError

            said = {**properties, NEXT_OFFSET: str(base + self.numbered.rows)}
            try:
                return self.plain.commit(committer, said, checked, after)
            except _NumbersLostError:
                self.plain.renew()
        raise ConflictError.of(
            NUMBERS_LOST,
            f"other writers were first {_MOST_NUMBERINGS} times, and the rows had to be numbered again each time",
            path=table.path,
            remedy="repeat the command when fewer write to the table",
        )

    def clear(self) -> None:
        """Delete what is still in staging."""
        self.numbered.clear()
        self.plain.clear()


@dataclass(slots=True)
class BadRows:
    """Bad rows on their way to quarantine, and how many of them each file has."""

    store: Store
    path: str
    schema: TableSchema
    staging: Staging = field(init=False)
    by_file: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.staging = Staging(self.store, self.path, self.schema)

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.staging.rows

    def write(self, values: DataFrame) -> None:
        """Write them; see `Staging.write`."""
        self.staging.write(values)

    def count(self, session: SparkSession, files: Sequence[str]) -> None:
        """Count those of each file, which a later run has to know if this one is cut off."""
        if len(files) == 1:
            self.by_file = {files[0]: self.rows}
        elif files and "source_file" in self.schema.field_names:
            reader = session.read.schema("source_file string").options(**page_checks())
            written = reader.parquet(spark_url(self.staging.directory))
            with spark_errors():
                counted = written.groupBy("source_file").agg(F.count("*").alias("rows")).collect()
            self.by_file = {row["source_file"]: row["rows"] for row in counted}

    def clear(self) -> None:
        """Delete what is still in staging."""
        self.staging.clear()
