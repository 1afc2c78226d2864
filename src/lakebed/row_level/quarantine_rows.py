"""List and show the rows of a table's quarantine; the door to all that can be done with them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, Unpack

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.arrow.line_numbers import SOURCE_LINE
from lakebed.catalog.names import TableName
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.arguments import PurgeKeywords, ReplayKeywords, check_arguments, target_table
from lakebed.ingest.columns.checkers import PROBLEM
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.mask_personal_data import PersonalColumns, mask_rows, personal_columns
from lakebed.ingest.run_memory import RunMemory
from lakebed.maintenance.durations import millis_of
from lakebed.read.request import ReadRequest, check_keywords
from lakebed.row_level.purge_rows import PurgeChoice, PurgeResult, purge_rows
from lakebed.row_level.quarantined_rows import (
    COLUMNS,
    QuarantinedRun,
    RowChoice,
    mended_by,
    problems_of,
    quarantined_runs,
)
from lakebed.row_level.replay_file import FileReplay
from lakebed.row_level.replay_rows import Replay, ReplayResult
from lakebed.row_level.row_target import RowTarget
from lakebed.spark.read import read_table

_NO_ROWS = (
    "run_id string, ingested_at timestamp, source_file string, source_offset bigint, source_line bigint, raw string, "
    f"schema_id bigint, problems array<{PROBLEM}>, mended_by string"
)


@dataclass(frozen=True)
class Quarantine:
    """The bad rows of a table: which there are, and the way back. Made by `lakebed.Table.quarantine`.

    `spark` of each method is a session, or a function that gives one, which is called when it is needed. Until the
    first bad row comes there is no quarantine, and no row is in it.
    """

    context: IngestContext
    name: TableName
    check: Callable[[], None]

    @classmethod
    def of(cls, context: IngestContext, table: str, check: Callable[[], None] = lambda: None) -> Quarantine:
        """The quarantine of a table; `check` raises where rows may not be ingested into it.

        Raises `NotFoundError` where there is no such table, `UsageError` (LB6109) for the name of a quarantine.
        """
        name = target_table(table)
        _ = context.storage(name)
        return cls(context, name, check)

    def list(self, spark: SparkSession | Callable[[], SparkSession] | None = None) -> tuple[QuarantinedRun, ...]:
        """The runs that have bad rows, the newest first: files, rows, counts by column and code, mended ones.

        Without `spark` they are counted by Arrow in this process; `UnsupportedError` says where only Spark can.
        """
        if not self._exists:
            return ()
        if spark is None:
            from lakebed.row_level.count_bad_runs import count_bad_runs

            return count_bad_runs(self._table, self._request(), self._memory().claims(), self._personal)
        return quarantined_runs(mask_rows(self._read(spark, RowChoice(), with_mended=True), self._personal))

    def rows(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        *,
        run_id: str | Collection[str] | None = None,
        code: str | Collection[str] | None = None,
        where: str | None = None,
        mended: bool = False,
        unmasked: bool = False,
    ) -> DataFrame:
        """The bad rows of these runs, with one of these codes, that `where` (SQL over the quarantine) is true for.

        The columns are `run_id`, `ingested_at`, `source_file`, `source_offset`, `source_line` (from 1), `raw` (the row
        as it was read), `schema_id`, `problems`, and `mended_by`, the run that has put the row into the table since:
        such rows are left out unless `mended`. What columns with personal data (`lakebed.dev/personalData` in the
        manifest) hold is `***` unless `unmasked`. Raises `UsageError` for arguments that make no sense.
        """
        choice = RowChoice.of(run_id, code, where)
        if not self._exists:
            return _session(spark).createDataFrame([], _NO_ROWS)
        found = self._read(spark, choice, with_mended=mended)
        return found if unmasked else mask_rows(found, self._personal)

    def replay(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        source: Any = None,
        *,
        dry_run: bool = False,
        **asked: Unpack[ReplayKeywords],
    ) -> ReplayResult:
        """Check bad rows again, and put those that are good by now into the table, each once; the others stay.

        `run_id`, `code` and `where` choose rows as in `rows`; mended ones are left out. They are checked as by ingest,
        against the newest schema, and read as their run was told to: `format`, `options` (these go before
        those of the run) and `unknown_columns` say otherwise. Rows are taken up as one commit of the quarantine and
        ingested as one of the table, under one new run; a call that dies in between has mended nothing, and another
        call takes the rows up again. Bad rows of a run that was cut off stay unless it is named: who repeats it, or
        ingests its files by another run, may bring them again. In a table with a primary key the rows come after all
        that are there. `dry_run`: only count.

        `source`, a path or several, takes the place of the rows that are chosen: its rows are ingested, and the bad
        rows are mended by them, however many they are. All of its rows have to be good; `format` and `options` say how
        it is read. The same source is ingested once.

        Raises `SourceMismatchError` for columns that are not declared, `UnsupportedError` (LB6561) for rows whose text
        does not say enough, `ConflictError` (LB6407) where another replay was first, and what an ingest raises.

        Keywords: `run_id`, `code`, `where`, `format`, `options`, `unknown_columns`, `progress`.
        """
        check_keywords("Quarantine.replay", ReplayKeywords, asked, "source", "dry_run")
        check_arguments(asked.get("unknown_columns") or "fail", "columns")
        self.context.tables.refuse_foreign_rows(self.name)
        self.check()
        replay = Replay(self.context, self.name, cache(spark if callable(spark) else lambda: spark), asked)
        return (replay if source is None else FileReplay(replay, source)).execute(dry_run=dry_run)

    def purge(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        *,
        every: bool = False,
        expire: bool = False,
        dry_run: bool = False,
        **asked: Unpack[PurgeKeywords],
    ) -> PurgeResult:
        """Remove rows from the quarantine, as one snapshot: those that are mended, or with `every` also bad ones.

        `run_id`, `code` and `where` choose rows as in `rows`, `older_than` those that came longer ago. The files that
        hold them are written anew. Older snapshots of the quarantine and tags keep the rows, which the result tells;
        `expire` takes all snapshots but the newest away. Bad rows of a run that was cut off stay unless it is named:
        the run still needs them when it is repeated. `dry_run`: only count.

        Raises `UsageError` for arguments that make no sense, `ConflictError` when others were first each time.

        Keywords: `run_id`, `code`, `where`, `older_than`.
        """
        check_keywords("Quarantine.purge", PurgeKeywords, asked, "every", "expire", "dry_run")
        rows = RowChoice.of(asked.get("run_id"), asked.get("code"), asked.get("where"))
        older = asked.get("older_than")
        before = None if older is None else self.context.clock() - millis_of(older)
        if not self._exists:
            return PurgeResult(str(self.name), 0, dry_run=dry_run)
        target = RowTarget(self.context, self._table, cache(spark if callable(spark) else lambda: spark))
        choice = PurgeChoice(rows, every, before)
        return purge_rows(target, self._memory, choice, expires=expire, dry_run=dry_run)

    def _memory(self) -> RunMemory:
        memory = RunMemory(self.name, self.context.storage(self.name), self.context.storage(self.name.quarantine))
        memory.load()
        return memory

    @property
    def _exists(self) -> bool:
        return self.context.tables.exists(self.name.quarantine)

    @property
    def _table(self) -> TableBranch:
        return TableBranch(self.context.tables, self.name.quarantine, clock=self.context.clock)

    def masked(self, rows: DataFrame) -> DataFrame:
        """Rows of the quarantine, read as a table, with the masks of `rows`; masked problems are structs."""
        columns = self._personal
        if not columns.personal:
            return rows
        return mask_rows(rows.withColumn("problems", problems_of(self._table.schemas.load_latest_schema())), columns)

    @property
    def _personal(self) -> PersonalColumns:
        schemas = self.context.tables.get_schema_manager(self.name.database, self.name.table)
        return personal_columns(schemas.versions())

    def _request(self, where: str | None = None) -> ReadRequest:
        zone, verify = self.context.time_zone, self.context.verify_checksums
        return ReadRequest(where=where, time_zone=zone, verify_checksums=verify)

    def _read(
        self, spark: SparkSession | Callable[[], SparkSession], choice: RowChoice, *, with_mended: bool
    ) -> DataFrame:
        """Bad rows with `COLUMNS`."""
        table = self._table
        stored = read_table(_session(spark), table, self._request(choice.where))
        schema = table.schemas.load_latest_schema()
        told = {"problems": problems_of(schema), "mended_by": mended_by(schema, self._memory().claims())}
        if schema.field(SOURCE_LINE) is None:
            told[SOURCE_LINE] = F.lit(None).cast("bigint")
        rows = stored.withColumns(told).select(*COLUMNS)
        rows = rows.where(choice.condition())
        return rows if with_mended else rows.where(rows["mended_by"].isNull())


def _session(spark: SparkSession | Callable[[], SparkSession]) -> SparkSession:
    return spark() if callable(spark) else spark
