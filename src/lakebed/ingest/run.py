"""Run an ingest: write, count, compare, commit; leave no trace on failure."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic

from pyspark.sql import functions as F

from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, StoreError
from lakebed.format.commit_origin import duration_of, lasted
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_branch import TableBranch
from lakebed.ingest import run_history as runs
from lakebed.ingest.bad_row_limit import BadRowLimit
from lakebed.ingest.bad_rows_error import TOO_MANY_BAD, BadRowsError, bad_rows_error, kinds_of_problems, rows_of
from lakebed.ingest.checked_rows import PreparedRows
from lakebed.ingest.checked_write import CheckedWrite, compare_counts
from lakebed.ingest.quarantine_table import ensure_quarantine, quarantine_rows, without_logins
from lakebed.ingest.read_settings import ReadSettings
from lakebed.ingest.run_commit import BadRows, CountedRows, GoodRows, NumberedCommit, RunGuard
from lakebed.ingest.run_history import IngestResult, RunCounts
from lakebed.ingest.run_memory import Leftover
from lakebed.ingest.sources.source_files import check_unchanged, lineage_inputs
from lakebed.ingest.sources.source_hints import MISREAD, misread
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.lineage.lineage_run import LineageOutput, LineageRun
from lakebed.lineage.run_lineage import tell_run
from lakebed.spark.spark_errors import spark_errors

_LOG = logging.getLogger(__name__)
RUN_DIFFERS = "LB6122"
#: How many kinds of problems a dry run tells of.
_SHOWN_KINDS = 100


@dataclass(frozen=True, slots=True)
class Run:
    """What one run is about, beside what it writes.

    `leftovers` are bad rows of it that are in quarantine already, since it, or another run over the same files, was cut
    off there. `read_as` tells how files are read, `settings` what the caller said, and `hints` what they probably are.
    `guard` looks at what others commit meanwhile.
    """

    checked: CheckedWrite
    run_id: str
    skipped: tuple[str, ...]
    leftovers: tuple[Leftover, ...]
    guard: RunGuard
    limit: BadRowLimit
    tell: Callable[[str], None]
    again: bool = False
    read_as: str | None = None
    settings: ReadSettings | None = None
    hints: Callable[[], tuple[Diagnostic, ...]] = tuple

    def execute(self, parts: Sequence[SourcePart]) -> IngestResult:
        """Do it. Raises `IngestError`, with nothing of this run visible but what an interrupted one had committed."""
        if not parts:
            return self._result(RunCounts(0, 0), None, None)
        lineage = LineageRun(
            self._table, "ingest", self.run_id, lineage_inputs(self.checked.files), self.batch is not None
        )
        return tell_run(lineage, lambda: self._execute(parts), self._outputs)

    @property
    def _table(self) -> TableBranch:
        return TableBranch(self.checked.context.tables, self.checked.name)

    def _outputs(self, result: IngestResult) -> Iterator[LineageOutput]:
        """What the run has written, as OpenLineage is told."""
        yield LineageOutput(self._table, result.snapshot_id, result.rows_written)
        if result.rows_quarantined:
            quarantine = TableBranch(self._table.tables, self.checked.name.quarantine)
            yield LineageOutput(quarantine, result.quarantine_snapshot_id, result.rows_quarantined)

    def _execute(self, parts: Sequence[SourcePart]) -> IngestResult:
        began = monotonic()
        rows = self.checked.prepare(parts)
        good = self.checked.good_rows()
        bad: BadRows | None = None
        try:
            self.tell("writing rows")
            rows, counts = self.checked.write(rows, good)
            if counts.bad:
                self._check_limit(rows, counts)
            bad = self._write_bad(rows, counts)
            check_unchanged(self.checked.files, self.checked.context.sources)
            return self._commit_both(counts, good, bad, began)
        finally:
            for written in (good, bad):
                if written is not None:
                    # What is left belongs to nobody; that it cannot be deleted is no reason to fail.
                    with suppress(StoreError):
                        written.clear()

    def look(self, parts: Sequence[SourcePart]) -> IngestResult:
        """What would come of it, with nothing written. Raises what `execute` raises before it commits."""
        if not parts:
            return replace(self._result(RunCounts(0, 0), None, None), dry_run=True)
        self.tell("reading rows")
        rows, counts = self.checked.write(self.checked.prepare(parts), CountedRows())
        if counts.bad:
            self._check_limit(rows, counts)
        problems = kinds_of_problems(rows.shown(), _SHOWN_KINDS) if counts.bad else ()
        check_unchanged(self.checked.files, self.checked.context.sources)
        return replace(self._result(counts, None, None), dry_run=True, problems=problems)

    def _check_limit(self, rows: PreparedRows, counts: RunCounts) -> None:
        proven = () if counts.good else self.hints()
        if proven:
            bad = f"{rows_of(counts.bad, counts.bad)} bad"
            _, *kinds = bad_rows_error(rows.shown(), MISREAD, bad).diagnostics
            raise BadRowsError(*misread(f"{self.checked.name}: {bad}, since ", proven, "; nothing was written"), *kinds)
        passed = self.limit.passed_by(counts.bad, counts.read)
        if passed is not None:
            message = f"{self.checked.name}: {rows_of(counts.bad, counts.read)} bad, {passed}"
            raise bad_rows_error(rows.shown(), TOO_MANY_BAD, message)

    def _write_bad(self, rows: PreparedRows, counts: RunCounts) -> BadRows | None:
        known = sum(leftover.rows for leftover in self.leftovers)
        whole = any(leftover.files is None for leftover in self.leftovers)
        if known > counts.bad or (whole and known != counts.bad):
            raise self._differs(known, counts.bad)
        if known == counts.bad:
            return None
        self.tell("writing bad rows to quarantine")
        checked = self.checked
        schema = ensure_quarantine(checked.context.tables, checked.name, checked.context.clock)
        writer = checked.writer(checked.context.storage(checked.name.quarantine), schema)
        bad = BadRows(writer, tuple(f.shown for f in checked.files))
        there = sorted(path for leftover in self.leftovers for path in leftover.files or ())
        frame = without_logins(rows.bad(), [f.path for f in checked.files])
        if there:
            frame = frame.where(~F.coalesce(F.col("file").isin(there), F.lit(False)))
        try:
            with spark_errors():
                now, version = checked.context.clock(), checked.schema.id
                bad.write(quarantine_rows(frame, schema, run_id=self.run_id, schema_id=version, now=now))
            if known and bad.rows != counts.bad - known:
                raise self._differs(known, counts.bad - bad.rows)
            compare_counts("bad", counts.bad - known, bad.rows)
        except BaseException:
            with suppress(StoreError):
                bad.clear()
            raise
        return bad

    def _differs(self, known: int, now: int) -> IngestError:
        return IngestError.of(
            RUN_DIFFERS,
            f"run {self.leftovers[0].record.run_id} was cut off with {known} rows in quarantine; now {now} are bad",
            expected=str(known),
            found=str(now),
            remedy="repeat it with the same source, or give another --run-id",
            python_remedy="repeat it with the same source, or give another run_id",
        )

    def _commit_both(
        self, counts: RunCounts, good: GoodRows | NumberedCommit, bad: BadRows | None, began: float
    ) -> IngestResult:
        self.tell("committing")
        files = self.checked.files
        if bad is not None:
            files = tuple(replace(f, bad=bad.by_file.get(f.shown, 0)) for f in files)
        adopted = [x.record.run_id for x in self.leftovers if x.record.run_id != self.run_id]
        properties = runs.run_properties(
            self.run_id, self.checked.schema.id, files, counts, attempt=self.checked.attempt, adopted=adopted
        )
        properties |= lasted(began)
        if self.again:
            properties[runs.AGAIN] = "true"
        if self.read_as is not None:
            properties[runs.READ_AS] = self.read_as
        if self.settings is not None and counts.bad:
            properties[runs.SETTINGS] = self.settings.text
        took: int | None = None
        quarantined = max((x.record.snapshot_id for x in self.leftovers), default=None)
        if self.batch is not None:
            properties |= self.batch.properties
        if bad is not None:
            guard = partial(self.guard.before_quarantine, self.checked.storage, bad.writer.target.storage)
            snapshot = bad.writer.commit(self._change(properties), guard, self.guard.bad_until)
            quarantined, took = self.guard.check_committed(snapshot).id, duration_of(snapshot.properties or {})
        if quarantined is not None:
            properties[runs.QUARANTINE_SNAPSHOT] = str(quarantined)
        if not counts.good:
            return self._told(counts, None, quarantined, took)
        try:
            before = partial(self.guard.before_table, self.checked.storage)
            snapshot = good.commit(self._change(properties), before, self.guard.good_until)
            self.guard.check_committed(snapshot)
        except BaseException as error:
            if bad is not None:
                error.add_note(
                    "The bad rows of the run are in quarantine already. Repeating it with the same source and "
                    f"run_id={self.run_id!r} finishes it."
                )
            raise
        return self._told(counts, snapshot, quarantined, duration_of(snapshot.properties or {}))

    @property
    def batch(self) -> StreamBatch | None:
        """The batch of a stream that the run writes."""
        return self.guard.batch

    def _change(self, properties: Mapping[str, str]) -> SnapshotChange:
        if self.batch is None:
            return SnapshotChange(commit_user=runs.commit_user(self.run_id), properties=properties)
        return self.batch.change(properties)

    def _told(
        self, counts: RunCounts, snapshot: Snapshot | None, quarantined: int | None, took: int | None
    ) -> IngestResult:
        """The result of a run that has come to its end, which is logged."""
        fields = {
            "table": str(self.checked.name),
            "run_id": self.run_id,
            "snapshot_id": None if snapshot is None else snapshot.id,
            "quarantine_snapshot_id": quarantined,
            "rows_read": counts.read,
            "rows_written": counts.good,
            "rows_quarantined": counts.bad,
        }
        _LOG.info("ingested", extra=fields)
        return replace(self._result(counts, snapshot, quarantined), duration_ms=took)

    def _result(self, counts: RunCounts, snapshot: Snapshot | None, quarantined: int | None) -> IngestResult:
        return IngestResult(
            table=str(self.checked.name),
            run_id=self.run_id,
            schema_id=self.checked.schema.id,
            rows_read=counts.read,
            rows_written=counts.good,
            rows_quarantined=counts.bad,
            snapshot_id=None if snapshot is None else snapshot.id,
            quarantine_snapshot_id=quarantined,
            skipped_files=self.skipped,
            ignored_columns=counts.ignored,
            nulled=counts.nulled,
        )
