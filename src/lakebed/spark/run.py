"""One run of ingest: write, count, compare, commit; or leave no trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from uuid import uuid4

from pyspark.sql import Observation, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import IngestError, LakebedError, StoreError
from lakebed.spark import runs
from lakebed.spark.bad_rows import BAD_ROW_FAILS, TOO_MANY_BAD, bad_rows_error
from lakebed.spark.checks import Place, missing_column, unknown_column
from lakebed.spark.json_values import Shape, read_shape, shape_of_all, unknown_keys
from lakebed.spark.prepare import PreparedRows, prepare
from lakebed.spark.quarantine import ensure_quarantine, quarantine_rows
from lakebed.spark.runs import IngestResult, RunCounts
from lakebed.spark.source_files import SourceFile, check_unchanged
from lakebed.spark.sources import SourcePart
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.values import Rules
from lakebed.spark.write import Staging
from lakebed.store.base import Store
from lakebed.table.commit import TableStorage, append
from lakebed.table.snapshot import Snapshot

COUNTS_DIFFER = "LB6119"
RUN_DIFFERS = "LB6122"

#: What `append` says when nobody knows whether the commit was made.
_UNKNOWN_OUTCOME = "LB5071"


@dataclass(frozen=True, slots=True)
class IngestContext:
    """The lake that is written to: its tables, store and path, its time zone, and the clock in milliseconds."""

    tables: TableManager
    store: Store
    warehouse: str
    time_zone: str
    clock: Callable[[], int]

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
    """What one run is about. `interrupted` is the quarantine's snapshot of the same run, where it was cut off."""

    context: IngestContext
    spark: SparkSession
    name: TableName
    storage: TableStorage
    schema: TableSchema
    rules: Rules
    run_id: str
    files: tuple[SourceFile, ...]
    skipped: tuple[str, ...]
    interrupted: Snapshot | None
    limits: Limits
    tell: Callable[[str], None]
    attempt: str = field(default_factory=lambda: uuid4().hex)

    def execute(self, parts: Sequence[SourcePart]) -> IngestResult:
        """Do it. Raises `IngestError`, with nothing of this run visible but what an interrupted one had committed."""
        with spark_errors():
            rows = prepare(self.spark, parts, self.schema, self.rules, ignore_unknown=self.limits.ignore_unknown)
        if rows is None:
            return self._result(RunCounts(0, 0), None, None)
        good = Staging(self.context.store, self.storage.path, self.schema)
        bad: Staging | None = None
        try:
            self.tell("writing rows")
            counts = self._write_good(rows, good)
            if counts.bad:
                self._check_limit(rows, counts)
            bad = self._write_bad(rows, counts)
            check_unchanged(self.files)
            return self._commit_both(counts, good, bad)
        finally:
            for staging in (good, bad):
                if staging is not None:
                    # What is left in staging belongs to nobody; that it cannot be deleted is no reason to fail.
                    with suppress(StoreError):
                        staging.clear()

    def _write_good(self, rows: PreparedRows, staging: Staging) -> RunCounts:
        seen = Observation()
        metrics = [F.count(F.lit(1)).alias("rows")]
        metrics += [F.sum(F.col(flag).cast("long")).alias(flag) for flag in ("bad", "fatal")]
        if rows.has_shape:
            metrics.append(shape_of_all(F.col("shape")).alias("shape"))
        with spark_errors():
            checked = rows.all()
            staging.write(checked.observe(seen, *metrics).where(~F.col("bad")))
            staging.collect()
            # A plan that adapts itself forgets what it observed where no good row is left to be shuffled.
            found = seen.get if staging.rows else checked.agg(*metrics).collect()[0].asDict()
        counts = RunCounts(found["rows"] - (found["bad"] or 0), found["bad"] or 0)
        if rows.has_shape:
            self._check_keys(read_shape(found["shape"]))
        if found["fatal"]:
            message = (
                f"{self.name}: {found['fatal']} bad rows of the kind that ends the run (lakebed.dev/onBadRow: fail)"
            )
            raise bad_rows_error(rows.bad(), BAD_ROW_FAILS, message)
        self._compare("good", counts.good, staging.rows)
        return counts

    def _check_keys(self, shape: Shape) -> None:
        """Columns of JSON lines are known only after they have been read: the same rules as for other sources."""
        if not shape.keys:
            return
        declared = self.schema.logical.fields
        problems: list[Diagnostic] = []
        for column, member in zip(self.schema.fields, declared, strict=True):
            if not column.type.nullable and column.name not in shape.keys:
                place = Place(column.type, member.type, (column.name,), member.extra)
                problems.append(missing_column(place, list(shape.keys)))
        if not self.limits.ignore_unknown:
            names = [f.name for f in declared]
            for path in unknown_keys(shape, tuple((f.name, f.type) for f in declared)):
                problems.append(unknown_column(path, near_names(path, names)))
        if problems:
            raise IngestError(*problems)

    def _check_limit(self, rows: PreparedRows, counts: RunCounts) -> None:
        limit = self.limits.max_bad_rows
        if limit is not None and counts.bad > limit:
            message = f"{self.name}: {counts.bad} of {counts.read} rows are bad, more than {limit}"
            raise bad_rows_error(rows.bad(), TOO_MANY_BAD, message)

    def _write_bad(self, rows: PreparedRows, counts: RunCounts) -> Staging | None:
        if self.interrupted is not None:
            known = runs.bad_rows_of(self.interrupted)
            if known != counts.bad:
                raise IngestError.of(
                    RUN_DIFFERS,
                    f"run {self.run_id} was cut off with {known} rows in quarantine; now {counts.bad} are bad",
                    expected=str(known),
                    found=str(counts.bad),
                    remedy="repeat it with the same source, or use another run id",
                )
            return None
        if not counts.bad:
            return None
        self.tell("writing bad rows to quarantine")
        schema = ensure_quarantine(self.context.tables, self.name)
        staging = Staging(self.context.store, self.context.tables.table_path(self.name.quarantine), schema)
        try:
            with spark_errors():
                staging.write(
                    quarantine_rows(
                        rows.bad(), schema, run_id=self.run_id, schema_id=self.schema.id, now=self.context.clock()
                    )
                )
            staging.collect()
            self._compare("bad", counts.bad, staging.rows)
        except BaseException:
            with suppress(StoreError):
                staging.clear()
            raise
        return staging

    def _compare(self, kind: str, counted: int, written: int) -> None:
        if counted != written:
            raise IngestError.of(
                COUNTS_DIFFER,
                f"{counted} {kind} rows were counted, {written} were written: the source gives other rows each time",
                expected=str(counted),
                found=str(written),
                remedy="ingest a source that stays as it is, for example a file",
            )

    def _commit_both(self, counts: RunCounts, good: Staging, bad: Staging | None) -> IngestResult:
        self.tell("committing")
        properties = runs.run_properties(self.run_id, self.schema.id, self.files, counts, attempt=self.attempt)
        quarantined = self.interrupted
        if bad is not None:
            quarantined = self._commit(self.context.storage(self.name.quarantine), bad, properties)
        if quarantined is not None:
            properties[runs.QUARANTINE_SNAPSHOT] = str(quarantined.id)
        snapshot = self._commit(self.storage, good, properties) if counts.good else None
        return self._result(counts, snapshot, quarantined)

    def _commit(self, storage: TableStorage, staging: Staging, properties: dict[str, str]) -> Snapshot:
        user = runs.commit_user(self.run_id)
        try:
            files = staging.place()
            snapshot = append(storage, files, commit_user=user, properties=properties, clock=self.context.clock)
        except BaseException as error:
            if not (isinstance(error, LakebedError) and error.code == _UNKNOWN_OUTCOME) and not _is_visible(
                storage, user
            ):
                staging.take_back()
            raise
        if (snapshot.properties or {}).get(runs.ATTEMPT) != self.attempt:
            # The same run was committed by somebody else meanwhile: our files belong to no snapshot.
            staging.take_back()
        return snapshot

    def _result(self, counts: RunCounts, snapshot: Snapshot | None, quarantined: Snapshot | None) -> IngestResult:
        return IngestResult(
            table=str(self.name),
            run_id=self.run_id,
            schema_id=self.schema.id,
            rows_read=counts.read,
            rows_written=counts.good,
            rows_quarantined=counts.bad,
            snapshot_id=None if snapshot is None else snapshot.id,
            quarantine_snapshot_id=None if quarantined is None else quarantined.id,
            skipped_files=self.skipped,
        )


def _is_visible(storage: TableStorage, user: str) -> bool:
    """Whether a commit is there, or may be: when the storage does not answer, nothing is deleted."""
    try:
        return storage.snapshots.find_commit(user) is not None
    except StoreError:
        return True
