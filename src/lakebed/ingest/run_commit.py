"""Commit an ingest run; delete what it has written on failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from lakebed.arrow.plain_rows import PlainRows
from lakebed.errors import ConflictError
from lakebed.format.commit import Guard, TableStorage
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.ingest.numbering import NEXT_OFFSET, NumberedRows, next_offset
from lakebed.ingest.run_memory import RunRecord, load_log, run_of, shared_file
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.spark.row_order import UNSORTED, RowOrder
from lakebed.spark.rows_aside import RowsAside
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite

ALREADY_INGESTED = "LB6402"
TAKEN_OVER = "LB6403"
NUMBERS_LOST = "LB6435"
_SOURCE_FILE = "source_file"

#: Of so many files Spark counts the bad rows as they are written; more make its query slow.
_OBSERVED_FILES = 50
#: How often rows are numbered again before a run gives up.
_MOST_NUMBERINGS = 20


@dataclass(frozen=True, slots=True)
class RunGuard:
    """Keeps two runs from ingesting the same file. `good_until` and `bad_until` are the snapshots looked up to before.

    `again` says that files may be ingested twice, `adopted` are the runs whose bad rows are taken over. Where the run
    writes a `batch` of a stream, no other checkpoint of the stream may write meanwhile.
    """

    run_id: str
    files: Sequence[SourceFile]
    adopted: frozenset[str]
    again: bool
    good_until: int
    bad_until: int
    batch: StreamBatch | None = None

    def before_table(self, table: TableStorage, since: Sequence[Snapshot]) -> None:
        """Raise `ConflictError` where another run has ingested one of the files, or was not cut off after all."""
        self._refuse(runs_since(table, since, self.good_until))

    def before_quarantine(self, table: TableStorage, quarantine: TableStorage, since: Sequence[Snapshot]) -> None:
        """The same for the quarantine, which is committed first."""
        self.before_table(table, list(table.snapshots.newest_first(after=self.good_until)))
        self._refuse(runs_since(quarantine, since, self.bad_until))

    def check_committed(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot of a commit, which may have been there. Raises `ConflictError` where it is of another batch."""
        record = run_of(snapshot)
        if self.batch is not None and record is not None:
            self.batch.check([record])
        return snapshot

    def _refuse(self, records: Sequence[RunRecord]) -> None:
        if self.batch is not None:
            self.batch.check(records)
        for record in records:
            if record.run_id == self.run_id:
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


def runs_since(table: TableStorage, since: Sequence[Snapshot], until: int) -> list[RunRecord]:
    """The runs of snapshots after one, newest first. Those of snapshots that have expired since are in the log."""
    if since and since[-1].id > until + 1:
        return [record for record in load_log(table).by_run.values() if record.snapshot_id > until]
    return [record for record in map(run_of, since) if record is not None]


@dataclass(slots=True)
class GoodRows:
    """Good rows on their way to the table; `kind`, `arrival` and `order` are as in `RowsToWrite`.

    `in_doubt` are rows that workers have left to the checks.
    """

    writer: TableWriter
    kind: Column | None = None
    arrival: tuple[Column, ...] = ()
    order: RowOrder = UNSORTED
    in_doubt: RowsAside | None = None

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.writer.rows

    @property
    def takes_plain_rows(self) -> bool:
        """Whether rows that workers have made may be written beside those that were checked."""
        return True

    @property
    def is_observed(self) -> bool:
        """Whether Spark tells what it observed of them."""
        return self.writer.is_observed

    @property
    def aside(self) -> RowsAside | None:
        """Where bad rows go, if they are to be given, too."""
        return self.writer.aside

    def write(self, values: DataFrame) -> None:
        """Write them; see `TableWriter.write`."""
        self.writer.write(RowsToWrite(values, self.kind, self.arrival, self.order))

    def write_plain(self, rows: DataFrame, plain: PlainRows) -> RowsAside:
        """Write those rows of a source that are plain; the others, as they came, are put aside."""
        storage, aside = self.writer.target.storage, self.writer.aside
        self.writer.aside = self.in_doubt = RowsAside(storage.store, storage.path)
        try:
            self.writer.write(RowsToWrite(rows, plain=plain))
        finally:
            self.writer.aside = aside
        return self.in_doubt

    def commit(self, change: SnapshotChange, guard: Guard, after: int) -> Snapshot:
        """Make them visible."""
        return self.writer.commit(change, guard, after)

    def clear(self) -> None:
        """Delete files that are not committed, and those of bad rows."""
        self.writer.clear()
        for aside in (self.aside, self.in_doubt):
            if aside is not None:
                aside.clear()


@dataclass(slots=True)
class CountedRows:
    """Good rows that are counted only, and go nowhere."""

    rows: int = 0
    aside: None = None
    is_observed: bool = True

    def write(self, values: DataFrame) -> None:
        """Count them."""
        self.rows = values.count()


class _NumbersLostError(Exception):
    """Somebody else has taken the numbers."""


@dataclass(slots=True)
class NumberedCommit:
    """Good rows of a table whose records are numbered. `operation` is the place of the column of operations."""

    good: GoodRows
    numbered: NumberedRows
    operation: int | None
    largest: Callable[[], int | None]
    aside: None = None

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.numbered.rows

    @property
    def is_observed(self) -> bool:
        """Whether Spark tells what it observed of them."""
        return self.rows > 0 and not self.numbered.is_repeated

    def write(self, values: DataFrame) -> None:
        """Put them aside, not numbered yet."""
        columns = [c for c in values.columns if c.startswith("v") and c[1:].isdecimal()]
        self.numbered.write(values.select(*columns, "block"))
        if self.operation is not None and self.numbered.rows:
            self.numbered.check_corrections(self.operation)

    def commit(self, change: SnapshotChange, guard: Guard, after: int) -> Snapshot:
        """Number them and make them visible; again, with other numbers, where somebody else was first."""
        table = self.good.writer.target.storage
        for _ in range(_MOST_NUMBERINGS):
            base = next_offset(table, self.largest)
            with spark_errors():
                self.good.write(self.numbered.numbered(base))

            def checked(since: Sequence[Snapshot], base: int = base) -> None:
                guard(since)
                if next_offset(table, self.largest) != base:
                    raise _NumbersLostError

            said = {**change.properties, NEXT_OFFSET: str(base + self.numbered.rows)}
            try:
                return self.good.commit(replace(change, properties=said), checked, after)
            except _NumbersLostError:
                self.good.clear()
        raise ConflictError.of(
            NUMBERS_LOST,
            f"other writers were first {_MOST_NUMBERINGS} times, and the rows had to be numbered again each time",
            path=table.path,
            remedy="repeat the command when fewer write to the table",
        )

    def clear(self) -> None:
        """Delete what was put aside, and files that are not committed."""
        self.numbered.aside.clear()
        self.good.clear()


@dataclass(slots=True)
class BadRows:
    """Bad rows of `files` on their way to quarantine, and how many of them each file has."""

    writer: TableWriter
    files: tuple[str, ...] = ()
    by_file: dict[str, int] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many were written."""
        return self.writer.rows

    def write(self, values: DataFrame) -> None:
        """Write rows of columns `v0`, `v1`, ... of the quarantine.

        Those of each file are counted, which a later run has to know if this one is cut off.
        """
        names, files = self.writer.target.plan.schema.field_names, self.files
        counts = len(files) > 1 and _SOURCE_FILE in names
        if not counts or len(files) > _OBSERVED_FILES:
            self.writer.write(RowsToWrite(values))
            self.by_file = self._counted() if counts else dict.fromkeys(files[:1], self.rows)
            return
        seen, place = Observation(), F.col(f"v{names.index(_SOURCE_FILE)}")
        metrics = (F.count_if(place == F.lit(file)).alias(f"n{i}") for i, file in enumerate(files))
        self.writer.write(RowsToWrite(values.observe(seen, *metrics)))
        found = seen.get if self.writer.is_observed else {}
        self.by_file = {f: found[f"n{i}"] for i, f in enumerate(files)} if "n0" in found else self._counted()

    def _counted(self) -> dict[str, int]:
        """How many rows of each file the new files have."""
        with spark_errors():
            counted = self.writer.written().groupBy(_SOURCE_FILE).agg(F.count("*").alias("rows")).collect()
        return {row[_SOURCE_FILE]: row["rows"] for row in counted}

    def clear(self) -> None:
        """Delete files that are not committed."""
        self.writer.clear()
