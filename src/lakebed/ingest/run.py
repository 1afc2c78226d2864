"""Run an ingest: write, count, compare, commit; leave no trace on failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import uuid4

from pyspark.sql import Column, Observation, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import TableName
from lakebed.catalog.node import siblings
from lakebed.catalog.options import ROWKIND_FIELD
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, SourceMismatchError, StoreError
from lakebed.evolve.former_names import FormerNames
from lakebed.format.commit import TableStorage
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.ingest import run_history as runs
from lakebed.ingest.bad_rows_error import BAD_ROW_FAILS, TOO_MANY_BAD, BadRowsError, bad_rows_error, cut_rows_error
from lakebed.ingest.checked_rows import NOT_DECLARED, PreparedRows, prepare
from lakebed.ingest.columns.column_names import Names, missing_column, none_known, unknown_column
from lakebed.ingest.columns.expected_text import expected_text
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.numbering import NumberedRows
from lakebed.ingest.quarantine import ensure_quarantine, quarantine_rows, without_logins
from lakebed.ingest.row_kind_column import arrival, kind_of_operation, kind_of_text, with_kind_column
from lakebed.ingest.run_commit import BadRows, Committer, NumberedCommit, PlainRows, RoutedRows, RunGuard
from lakebed.ingest.run_history import IngestResult, RunCounts
from lakebed.ingest.run_memory import Leftover
from lakebed.ingest.sources.json_values import Shape, read_shape, shape_of_all, unknown_keys
from lakebed.ingest.sources.source_files import SourceFile, check_unchanged
from lakebed.ingest.sources.source_hints import MISREAD, misread
from lakebed.ingest.sources.source_listing import SourceStorage, storage_like
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.ingest.system_columns import OPERATION, SystemRow
from lakebed.read.request import ReadRequest
from lakebed.spark.read import read_table
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name
from lakebed.spark.table_writer import TableWriter, WriteTarget
from lakebed.store.base import Store
from lakebed.write.plan_write import plan_write

COUNTS_DIFFER = "LB6119"
RUN_DIFFERS = "LB6122"


@dataclass(frozen=True, slots=True)
class IngestContext:
    """The lake that is written to: its tables, its time zone, the clock in milliseconds, and the options that its
    storage was opened with.

    `verify_checksums`: hold pages of Parquet files against their checksums, of sources too.
    """

    tables: TableManager
    time_zone: str
    clock: Callable[[], int]
    storage_options: Mapping[str, Any] | None = None
    verify_checksums: bool = True

    @property
    def store(self) -> Store:
        """Where the bytes are."""
        return self.tables.store

    @property
    def warehouse(self) -> str:
        """The warehouse's path or URL."""
        return self.tables.path_factory.warehouse

    @property
    def sources(self) -> SourceStorage:
        """How the storages of sources are opened."""
        return storage_like(self.warehouse, self.storage_options)

    def storage(self, name: TableName) -> TableStorage:
        """A table as a committer sees it. Raises `NotFoundError` where there is none."""
        schemas = self.tables.get_schema_manager(name.database, name.table)
        return TableStorage(self.store, self.tables.table_path(name), schemas)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the caller lets pass."""

    ignore_unknown: bool = False
    max_bad_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What one run is about.

    `leftovers` are bad rows of it that are in quarantine already, since it, or another run over the same files, was cut
    off there. `columns` are those of the source that count, None for all, `declared` their types there. `former` finds
    the names that columns bore before, `read_as` tells how files are read, and `hints` what they probably are.
    `guard` looks at what others commit meanwhile, `system` fills the system columns. `row_kinds` is a column of the
    source, not of the table, that says what each row does to its key.
    """

    context: IngestContext
    session: Callable[[], SparkSession]
    name: TableName
    storage: TableStorage
    schema: TableSchema
    rules: Rules
    run_id: str
    files: tuple[SourceFile, ...]
    skipped: tuple[str, ...]
    leftovers: tuple[Leftover, ...]
    guard: RunGuard
    system: SystemRow | None
    limits: Limits
    tell: Callable[[str], None]
    again: bool = False
    columns: frozenset[str] | None = None
    declared: SourceSchema = NOT_DECLARED
    former: Callable[[], FormerNames] = dict
    read_as: str | None = None
    hints: Callable[[], tuple[Diagnostic, ...]] = tuple
    row_kinds: str | None = None
    attempt: str = field(default_factory=lambda: uuid4().hex)

    @property
    def kind_column(self) -> str | None:
        """The column that says what a row does to its key, one of the source's or one of the table's."""
        return self.row_kinds or (self.schema.options.get(ROWKIND_FIELD) if self.schema.primary_keys else None)

    @property
    def checked(self) -> TableSchema:
        """What rows are checked against: the columns of the table and, after them, that of the row kinds."""
        return with_kind_column(self.schema, self.row_kinds)

    @property
    def spark(self) -> SparkSession:
        """The session that reads, checks and writes."""
        return self.session()

    def execute(self, parts: Sequence[SourcePart]) -> IngestResult:
        """Do it. Raises `IngestError`, with nothing of this run visible but what an interrupted one had committed."""
        if not parts:
            return self._result(RunCounts(0, 0), None, None)
        with spark_errors():
            rows = prepare(
                self.spark,
                parts,
                self.checked,
                self.rules,
                ignore_unknown=self.limits.ignore_unknown,
                system=self.system,
                declared=self.declared,
                former=self.former,
                kinds=self.kind_column,
            )
        good = self._good_rows()
        bad: BadRows | None = None
        try:
            self.tell("writing rows")
            counts = self._write_good(rows, good)
            if counts.bad:
                self._check_limit(rows, counts)
            bad = self._write_bad(rows, counts)
            check_unchanged(self.files, self.context.sources)
            return self._commit_both(counts, good, bad)
        finally:
            for written in (good, bad):
                if written is not None:
                    # What is left in staging belongs to nobody; that it cannot be deleted is no reason to fail.
                    with suppress(StoreError):
                        written.clear()

    def _good_rows(self) -> PlainRows | RoutedRows | NumberedCommit:
        column = None if self.system is None else self.system.offset
        plain = self._rows_of_table(column)
        if self.system is None or column is None:
            return plain
        names = self.schema.field_names
        rows = NumberedRows(
            self.spark, self.context.store, self.storage.path, names.index(column), [f.path for f in self.files]
        )
        operation = self.system.roles.get(OPERATION)
        return NumberedCommit(
            plain, rows, None if operation is None else names.index(operation), partial(self._largest, column)
        )

    def _rows_of_table(self, offset: str | None) -> PlainRows | RoutedRows:
        """How rows are written; by their numbers in the column `offset`, where there is one, they are in order."""
        plan, context = plan_write(self.schema), self.context
        if plan.is_plain:
            return PlainRows(context.store, self.storage, self.schema)
        target = WriteTarget(self.storage, plan, context.warehouse, context.storage_options, context.clock)
        writer = TableWriter(self.session, target, self.attempt)
        if not plan.is_keyed:
            return RoutedRows(writer)
        in_order = arrival([f.path for f in self.files]) if offset is None else (self._value(offset),)
        return RoutedRows(writer, self._row_kind(), in_order)

    def _row_kind(self) -> Column | None:
        """What a row does to its key, where the rows say it."""
        if self.kind_column is not None:
            return kind_of_text(self._value(self.kind_column))
        operation = None if self.system is None else self.system.roles.get(OPERATION)
        return None if operation is None else kind_of_operation(self._value(operation))

    def _value(self, name: str) -> Column:
        return F.col(f"v{self.checked.field_names.index(name)}")

    def _largest(self, column: str) -> int | None:
        """The largest offset of all rows of the table."""
        context = self.context
        request = ReadRequest(schema="latest", time_zone=context.time_zone, verify_checksums=context.verify_checksums)
        frame = read_table(self.spark, TableBranch(context.tables, self.name), request)
        found = frame.agg(F.max(quote_name(column)).cast("decimal(20,0)")).collect()[0][0]
        return None if found is None else int(found)

    def _write_good(self, rows: PreparedRows, good: PlainRows | RoutedRows | NumberedCommit) -> RunCounts:
        seen = Observation()
        metrics = [F.count(F.lit(1)).alias("rows")]
        metrics += [F.sum(F.col(flag).cast("long")).alias(flag) for flag in ("bad", "fatal", "cut")]
        if rows.has_shape:
            metrics.append(shape_of_all(F.col("shape")).alias("shape"))
        with spark_errors():
            checked = rows.all()
            good.write(checked.observe(seen, *metrics).where(~F.col("bad")))
            found = seen.get if good.rows else {}
            if "rows" not in found:
                # A plan that adapts itself forgets what it observed where no good row is left to be shuffled; over
                # Spark Connect 4.0 wherever rows are shuffled.
                found = checked.agg(*metrics).collect()[0].asDict()
        counts = RunCounts(found["rows"] - (found["bad"] or 0), found["bad"] or 0, rows.ignored)
        if found["cut"]:
            raise cut_rows_error(rows.bad(), found["cut"])
        if rows.has_shape:
            counts = replace(counts, ignored=self._check_keys(read_shape(found["shape"]), rows))
        if found["fatal"]:
            message = (
                f"{self.name}: {found['fatal']} bad rows of the kind that ends the run (lakebed.dev/onBadRow: fail)"
            )
            raise bad_rows_error(rows.bad(), BAD_ROW_FAILS, message)
        if not self.schema.primary_keys:
            # Of rows with one key only the last one may be written.
            self._compare("good", counts.good, good.rows)
        return counts

    def _check_keys(self, shape: Shape, rows: PreparedRows) -> tuple[str, ...]:
        """Columns of JSON lines are known only after they have been read: the same rules as for other sources.

        Returns the columns of the source that are left out.
        """
        if not shape.keys:
            return rows.ignored
        declared = self.checked.logical.fields
        problems: list[Diagnostic] = []
        ignored = list(rows.ignored)
        filled = (*rows.folders, *(() if self.system is None else self.system.roles.values()))
        if self.system is not None:
            problems += self.system.taken(list(self._counted(shape).keys))
        for node in siblings(self.checked.fields, declared):
            if not node.nullable and node.path[0] not in (*shape.keys, *filled):
                names = Names(list(shape.keys), self.checked.field_names)
                problems.append(missing_column(node.path, expected_text(node.meant, node.extra), names))
        for key in unknown_keys(self._counted(shape), tuple((f.name, f.type) for f in declared)):
            former = self.former().get(key.path, ())
            name, ignore = key.path[-1], self.limits.ignore_unknown
            told = tuple(unknown_column(key.text, name, Names(key.beside, key.declared), former, ignore=ignore))
            problems += told
            ignored += () if told else (key.text,)
        if self.limits.ignore_unknown:
            problems += none_known(list(self._counted(shape).keys), self.checked.field_names)
        if problems:
            raise SourceMismatchError(*problems)
        return tuple(dict.fromkeys(ignored))

    def _counted(self, shape: Shape) -> Shape:
        """Less the keys that the declared source leaves out."""
        if self.columns is None:
            return shape
        return Shape(keys={name: inner for name, inner in shape.keys.items() if name in self.columns})

    def _check_limit(self, rows: PreparedRows, counts: RunCounts) -> None:
        limit = self.limits.max_bad_rows
        proven = () if counts.good else self.hints()
        if proven:
            bad = "the only row is bad" if counts.bad == 1 else f"all {counts.bad} rows are bad"
            _, *kinds = bad_rows_error(rows.bad(), MISREAD, bad).diagnostics
            raise BadRowsError(*misread(f"{self.name}: {bad}, since ", proven, "; nothing was written"), *kinds)
        if limit is not None and counts.bad > limit:
            are = "is" if counts.bad == 1 else "are"
            message = f"{self.name}: {counts.bad} of {counts.read} rows {are} bad, more than {limit}"
            raise bad_rows_error(rows.bad(), TOO_MANY_BAD, message)

    def _write_bad(self, rows: PreparedRows, counts: RunCounts) -> BadRows | None:
        known = sum(leftover.rows for leftover in self.leftovers)
        whole = any(leftover.files is None for leftover in self.leftovers)
        if known > counts.bad or (whole and known != counts.bad):
            raise self._differs(known, counts.bad)
        if known == counts.bad:
            return None
        self.tell("writing bad rows to quarantine")
        schema = ensure_quarantine(self.context.tables, self.name)
        bad = BadRows(self.context.store, self.context.tables.table_path(self.name.quarantine), schema)
        there = sorted(path for leftover in self.leftovers for path in leftover.files or ())
        frame = without_logins(rows.bad(), [f.path for f in self.files])
        if there:
            frame = frame.where(~F.coalesce(F.col("file").isin(there), F.lit(False)))
        try:
            with spark_errors():
                bad.write(
                    quarantine_rows(
                        frame, schema, run_id=self.run_id, schema_id=self.schema.id, now=self.context.clock()
                    )
                )
            if known and bad.rows != counts.bad - known:
                raise self._differs(known, counts.bad - bad.rows)
            self._compare("bad", counts.bad - known, bad.rows)
            bad.count(self.spark, [f.shown for f in self.files])
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

    def _compare(self, kind: str, counted: int, written: int) -> None:
        if counted != written:
            raise IngestError.of(
                COUNTS_DIFFER,
                f"{counted} {kind} rows were counted, {written} were written: the source gives other rows each time",
                expected=str(counted),
                found=str(written),
                remedy="ingest a source that stays as it is, for example a file",
            )

    def _commit_both(
        self, counts: RunCounts, good: PlainRows | RoutedRows | NumberedCommit, bad: BadRows | None
    ) -> IngestResult:
        self.tell("committing")
        files = self.files if bad is None else tuple(replace(f, bad=bad.by_file.get(f.shown, 0)) for f in self.files)
        adopted = [x.record.run_id for x in self.leftovers if x.record.run_id != self.run_id]
        properties = runs.run_properties(
            self.run_id, self.schema.id, files, counts, attempt=self.attempt, adopted=adopted
        )
        if self.again:
            properties[runs.AGAIN] = "true"
        if self.read_as is not None:
            properties[runs.READ_AS] = self.read_as
        quarantined = max((x.record.snapshot_id for x in self.leftovers), default=None)
        committer = Committer(runs.commit_user(self.run_id), self.attempt, self.context.clock)
        if bad is not None:
            storage = self.context.storage(self.name.quarantine)
            guard = partial(self.guard.before_quarantine, self.storage)
            quarantined = committer.commit(storage, bad.staging, properties, guard, self.guard.bad_until).id
        if quarantined is not None:
            properties[runs.QUARANTINE_SNAPSHOT] = str(quarantined)
        if not counts.good:
            return self._result(counts, None, quarantined)
        try:
            snapshot = good.commit(committer, properties, self.guard.before_table, self.guard.good_until)
        except BaseException as error:
            if bad is not None:
                error.add_note(
                    "The bad rows of the run are in quarantine already. Repeating it with the same source and "
                    f"run_id={self.run_id!r} finishes it."
                )
            raise
        return self._result(counts, snapshot, quarantined)

    def _result(self, counts: RunCounts, snapshot: Snapshot | None, quarantined: int | None) -> IngestResult:
        return IngestResult(
            table=str(self.name),
            run_id=self.run_id,
            schema_id=self.schema.id,
            rows_read=counts.read,
            rows_written=counts.good,
            rows_quarantined=counts.bad,
            snapshot_id=None if snapshot is None else snapshot.id,
            quarantine_snapshot_id=quarantined,
            skipped_files=self.skipped,
            ignored_columns=counts.ignored,
        )
