"""Check bad rows again, and ingest those that are good by now, each once.

A replay first writes its claim to the rows that it takes up, as one commit of the quarantine, and then commits these
rows to the table. Rows are mended once the table has the snapshot of a claim of theirs, so that nothing has to be
written to them after it: a replay that dies in between has mended nothing. The next one takes such rows up again, over
the claim of the first, and whichever of the two comes to the table first keeps the other one out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any, ClassVar
from uuid import uuid4

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.arrow.line_numbers import SOURCE_LINE
from lakebed.catalog.names import TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ConflictError, SourceMismatchError, StoreError, UsageError
from lakebed.format.live_files import DataFile
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.ingest import run_history as runs
from lakebed.ingest.arguments import ReplayKeywords
from lakebed.ingest.bad_row_limit import BadRowLimit
from lakebed.ingest.checked_rows import PreparedRows, together
from lakebed.ingest.checked_write import CheckedWrite, compare_counts
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.nulled_values import QUARANTINE, NulledValues, summed
from lakebed.ingest.quarantine_table import REPLAYS, add_new_columns
from lakebed.ingest.read_settings import ReadSettings
from lakebed.ingest.row_kind_column import with_kind_column
from lakebed.ingest.run_commit import runs_since
from lakebed.ingest.run_history import RunCounts
from lakebed.ingest.run_memory import RunMemory
from lakebed.ingest.source_job import SourceJob
from lakebed.ingest.sources.declared_source import DeclaredSource, declared_read, declared_source
from lakebed.ingest.sources.json_values import read_shape, shape_of_all
from lakebed.ingest.sources.raw_source import RawSource
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat, format_of
from lakebed.ingest.sources.source_options import check_options
from lakebed.lineage.lineage_run import LineageInput, LineageOutput, LineageRun
from lakebed.lineage.run_lineage import tell_run
from lakebed.model import canonical_json
from lakebed.read.request import ReadRequest
from lakebed.readable import Readable
from lakebed.redaction import redact
from lakebed.row_level.chosen_rows import choose_rows, with_chosen
from lakebed.row_level.delete_rows import kept_rows, take_away
from lakebed.row_level.quarantined_rows import BadRowKind, RowChoice, kinds_of, mended_by, problems_of
from lakebed.row_level.row_level_commit import RowChanges, RowCounts, run_operation
from lakebed.row_level.row_target import PLACE, RowTarget, Start
from lakebed.spark.read import read_table
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite
from lakebed.write.write_result import WriteRun

OVERTAKEN = "LB6407"
ROW_KINDS_DIFFER = "LB6562"


@dataclass(frozen=True, slots=True)
class ReplayResult(Readable):
    """What a replay did: of `rows_chosen` bad rows `rows_replayed` are in the table by now, `rows_left` are bad still.
    `rows_written` went into the table: as many, or those of a file that took their place.

    `kinds` are the problems that those left have now, by column and code; rows that cannot be read again, such as lines
    of CSV files with several headers, have none. Snapshots are None where no row was mended: `snapshot_id` is the
    table's, `quarantine_snapshot_id` that in which the rows were taken up. `ignored_columns` were left out,
    `nulled` are values of the rows that were bad and became NULL, since their columns declare it.
    """

    renderer: ClassVar[str] = "lakebed.render.quarantine_text:replay_text"

    table: str
    run_id: str
    schema_id: int
    rows_chosen: int
    rows_replayed: int
    rows_left: int
    rows_written: int
    kinds: tuple[BadRowKind, ...] = ()
    snapshot_id: int | None = None
    quarantine_snapshot_id: int | None = None
    ignored_columns: tuple[str, ...] = ()
    dry_run: bool = False
    repeated: bool = False
    nulled: tuple[NulledValues, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object of `lakebed quarantine replay --json`."""
        return {
            "table": self.table,
            "run_id": self.run_id,
            "schema_id": self.schema_id,
            "rows_chosen": self.rows_chosen,
            "rows_replayed": self.rows_replayed,
            "rows_left": self.rows_left,
            "rows_written": self.rows_written,
            "kinds": [{"column": k.column, "code": k.code, "rows": k.rows} for k in self.kinds],
            "snapshot_id": self.snapshot_id,
            "quarantine_snapshot_id": self.quarantine_snapshot_id,
            "ignored_columns": list(self.ignored_columns),
            "dry_run": self.dry_run,
            "repeated": self.repeated,
            "nulled": [n.to_json() for n in self.nulled],
        }


@dataclass(frozen=True, slots=True)
class _Group:
    """Bad rows of runs that were told alike how to read, from files of one kind: what reads and what checks them."""

    source: RawSource
    checked: CheckedWrite
    paths: frozenset[str]
    runs: frozenset[str]
    is_alone: bool

    def prepare(self, rows: DataFrame, beside: Sequence[str] = ()) -> PreparedRows | None:
        """The rows of this group, checked; None where none of them can be read."""
        own = rows
        if not self.is_alone:
            path = F.col("source_file")
            own = rows.where(F.col("run_id").isin(sorted(self.runs)))
            own = own.where(path.isin(sorted(self.paths)) if self.paths else path.isNull())
        parts = self.source.parts(own, self.paths, beside)
        return self.checked.prepare(parts) if parts else None


@dataclass(frozen=True, slots=True)
class FoundRows:
    """What the choice comes to: rows, how many of them are good, and the claims on these that came to nothing."""

    chosen: int
    good: int
    claims: tuple[str, ...] = ()
    kinds: tuple[BadRowKind, ...] = ()
    ignored: tuple[str, ...] = ()
    nulled: tuple[NulledValues, ...] = ()
    groups: tuple[_Group, ...] = ()
    until: int = 0


@dataclass
class TakeUp:
    """The change of the quarantine that writes a claim to the rows that are good by now; `found` is its last attempt.

    `find` gives what was found, and the rows with their places that are to be taken up.
    """

    claim: str
    where: str | None
    find: Callable[[Start, Sequence[DataFile]], tuple[FoundRows, DataFrame | None]]
    found: FoundRows = field(default_factory=lambda: FoundRows(0, 0))

    name, word = "replay", "UPDATE"

    @property
    def asked(self) -> str:
        """The claim is of this call only."""
        return canonical_json(["replay", self.claim])

    def make(self, start: Start, writer: TableWriter, *, dry_run: bool) -> RowChanges:
        """Find the rows, and write them with the claim."""
        files = start.needed(self.where).files
        self.found, rows = self.find(start, files)
        if rows is None or dry_run:
            return RowChanges()
        chosen = choose_rows(rows, files)
        compare_counts("good", self.found.good, sum(c.rows for c in chosen))
        taken = with_chosen(start.placed(tuple(c.file for c in chosen)), chosen)
        claims = F.concat(F.coalesce(F.col(REPLAYS), F.array().cast("array<string>")), F.array(F.lit(self.claim)))
        kept = kept_rows(start, chosen)
        frames = [start.to_write(taken.withColumn(REPLAYS, claims)), *([] if kept is None else [kept])]
        with spark_errors():
            writer.write(RowsToWrite(reduce(DataFrame.union, frames)))
        return replace(take_away(start, chosen), counts=RowCounts(updated=self.found.good))


@dataclass(frozen=True)
class Replay:
    """One replay of bad rows of a table. `asked` says which rows, and how they are read."""

    context: IngestContext
    name: TableName
    session: Callable[[], SparkSession]
    asked: ReplayKeywords
    run_id: str = field(default_factory=runs.random_run_id)
    attempt: str = field(default_factory=lambda: uuid4().hex)

    def execute(self, *, dry_run: bool) -> ReplayResult:
        """Do it, or only say what would be done."""
        refuse_unwritable(self._schema)
        if not self.has_quarantine:
            return self.result(FoundRows(0, 0), dry_run=dry_run)
        operation = TakeUp(runs.claim_of(self.run_id, self.attempt), self.choice.where, self._find)
        self.tell("checking bad rows")
        taken = self.take_up(operation, dry_run=dry_run)
        found = operation.found
        if taken is None:
            return self.result(found, dry_run=dry_run)
        table, quarantine = TableBranch(self.context.tables, self.name), self._target.table
        lineage = LineageRun(table, "replay", self.run_id, (LineageInput(redact(quarantine.root)),))
        snapshot = tell_run(
            lineage,
            lambda: self._commit(found, taken, operation.claim),
            lambda made: [LineageOutput(table, made.id, found.good)],
        )
        return self.result(found, snapshot, taken)

    def take_up(self, operation: TakeUp, *, dry_run: bool) -> int | None:
        """Write the claim to the rows; the snapshot of the quarantine that has it, None where there is no such row."""
        if not dry_run:
            add_new_columns(self.context.tables, self.name, self.context.clock)
        return run_operation(self._target, operation, WriteRun.of(), dry_run=dry_run).snapshot_id

    def result(
        self, found: FoundRows, snapshot: Snapshot | None = None, taken: int | None = None, *, dry_run: bool = False
    ) -> ReplayResult:
        return ReplayResult(
            table=str(self.name),
            run_id=self.run_id,
            schema_id=self._schema.id,
            rows_chosen=found.chosen,
            rows_replayed=found.good,
            rows_left=found.chosen - found.good,
            rows_written=found.good,
            kinds=_summed(found.kinds),
            snapshot_id=None if snapshot is None else snapshot.id,
            quarantine_snapshot_id=taken,
            ignored_columns=found.ignored,
            dry_run=dry_run,
            nulled=summed(found.nulled),
        )

    @cached_property
    def choice(self) -> RowChoice:
        """The rows that are meant. Raises `UsageError` for what chooses none."""
        return RowChoice.of(self.asked.get("run_id"), self.asked.get("code"), self.asked.get("where"))

    @property
    def has_quarantine(self) -> bool:
        """Whether there has been a bad row."""
        return self.context.tables.exists(self.name.quarantine)

    @cached_property
    def _storage(self) -> TableStorage:
        return self.context.storage(self.name)

    @cached_property
    def _schema(self) -> TableSchema:
        return self._storage.schemas.load_latest_schema()

    @cached_property
    def _target(self) -> RowTarget:
        table = TableBranch(self.context.tables, self.name.quarantine, clock=self.context.clock)
        return RowTarget(self.context, table, self.session)

    def tell(self, stage: str) -> None:
        """Say that a stage begins."""
        tell = self.asked.get("progress")
        if tell is not None:
            tell(stage)

    def memory(self) -> RunMemory:
        """What is known of runs by now."""
        memory = RunMemory(self.name, self._storage, self._target.storage)
        memory.load()
        return memory

    # --- finding ------------------------------------------------------------------------------------------------------

    def open_rows(self, start: Start, files: Sequence[DataFile]) -> tuple[RunMemory, DataFrame]:
        """The rows of files that are chosen and bad still, with their places, and what is known of runs by then.

        Rows of a run that was cut off stay unless it is named: whoever ingests its files again brings them again.
        """
        # After the state of the quarantine was looked up: who claims a row later sees this claim.
        memory = self.memory()
        rows = start.placed(tuple(files))
        rows = rows if self.choice.where is None else rows.where(self.choice.where)
        told = {"problems": problems_of(start.schema), "mended_by": mended_by(start.schema, memory.claims())}
        if start.schema.field(REPLAYS) is None:
            told[REPLAYS] = F.lit(None).cast("array<string>")
        bad = rows.withColumns(told).where(self.choice.condition() & F.col("mended_by").isNull())
        unfinished = () if self.choice.runs else sorted(memory.unfinished())
        return memory, bad.where(~F.col("run_id").isin(unfinished)) if unfinished else bad

    @staticmethod
    def claims_on(condition: Column) -> Column:
        """The claims on rows for which a condition is true, of all of them together."""
        return F.array_distinct(F.flatten(F.collect_set(F.when(condition, F.col(REPLAYS)))))

    def _find(self, start: Start, files: Sequence[DataFile]) -> tuple[FoundRows, DataFrame | None]:
        memory, rows = self.open_rows(start, files)
        with spark_errors():
            counted = rows.groupBy("run_id", "source_file").count().collect()
        chosen = sum(row["count"] for row in counted)
        groups = self._groups(memory, {(row["run_id"], row["source_file"]) for row in counted})
        beside = (*PLACE, REPLAYS)
        found = FoundRows(chosen, 0, groups=groups, until=memory.good.until)
        good: list[DataFrame] = []
        for group in groups:
            prepared = group.prepare(rows, beside)
            if prepared is not None:
                found = self._judged(found, group, prepared, beside)
                good.append(prepared.all(*beside).where(~F.col("bad")).select(*PLACE))
        claims = tuple(sorted(set(found.claims) - set(memory.claims())))
        return replace(found, claims=claims), reduce(DataFrame.union, good) if found.good else None

    def _judged(self, found: FoundRows, group: _Group, prepared: PreparedRows, beside: Sequence[str]) -> FoundRows:
        """What was found, and the rows of a group. Raises `SourceMismatchError` for keys that are not declared."""
        bad = F.col("bad")
        metrics = [
            F.count_if(~bad).alias("good"),
            F.count_if(bad).alias("bad"),
            self.claims_on(~bad).alias("claims"),
        ]
        nullable = prepared.nullable
        metrics += [metric for column in nullable for metric in column.metrics]
        if prepared.has_shape:
            metrics.append(shape_of_all(F.col("shape")).alias("shape"))
        with spark_errors():
            row = prepared.all(*beside).agg(*metrics).collect()[0]
        ignored = prepared.ignored
        if prepared.has_shape:
            problems, more = group.checked.unknown_columns(read_shape(row["shape"]))
            if problems:
                raise SourceMismatchError(*problems)
            ignored += more
        return replace(
            found,
            good=found.good + row["good"],
            claims=(*found.claims, *(row["claims"] or ())),
            kinds=(*found.kinds, *(_kinds(prepared) if row["bad"] else ())),
            ignored=tuple(dict.fromkeys((*found.ignored, *ignored))),
            nulled=(*found.nulled, *(one for column in nullable for one in column.counted(row.asDict()))),
        )

    def _groups(self, memory: RunMemory, places: Collection[tuple[str, str | None]]) -> tuple[_Group, ...]:
        """The places, each a run and a file, by how they are read."""
        by_settings: dict[str, tuple[ReadSettings, set[tuple[str, str | None]]]] = {}
        for run, path in places:
            settings = settings_of(memory, run).put_over(self.asked.get("format"), self.asked.get("options"))
            settings = replace(settings, unknown=self._unknown(settings))
            kind = SourceFormat.PARQUET if path is None else self._format(path, settings)
            by_settings.setdefault(f"{kind} {path is None} {settings.text}", (settings, set()))[1].add((run, path))
        is_alone = len(by_settings) == 1
        found = [self._group(memory, *group, is_alone=is_alone) for _, group in sorted(by_settings.items())]
        kinds = {group.checked.row_kinds for group in found}
        if len(kinds) > 1:
            named = ", ".join(sorted(kind or "none" for kind in kinds))
            raise UsageError.of(
                ROW_KINDS_DIFFER,
                f"the bad rows are of runs that had different columns to say what rows do: {named}",
                path=str(self.name),
                found=named,
                remedy="replay them apart: choose rows by --run-id",
                python_remedy="replay them apart: choose rows by run_id",
            )
        return tuple(found)

    def _format(self, path: str, settings: ReadSettings) -> SourceFormat:
        return format_of([path], settings.format or declared_read(self._schema).format)

    def _group(
        self,
        memory: RunMemory,
        settings: ReadSettings,
        places: Collection[tuple[str, str | None]],
        *,
        is_alone: bool,
    ) -> _Group:
        paths = sorted(path for _, path in places if path is not None)
        schema = self._schema
        if paths:
            declared = declared_source(declared_read(schema), paths, settings.format, settings.options)
            is_document = declared.documents is not None
            options = check_options(declared.format, declared.options, is_document=is_document)
        else:
            # A DataFrame knows nothing of how the table's files are read.
            declared = DeclaredSource(SourceFormat.PARQUET, settings.options, None)
            options = check_options(None, settings.options)
        job = self.job(settings, memory)
        checked = replace(job.checked(schema, options, (), declared, paths), attempt=self.attempt)
        fields = with_kind_column(schema, settings.row_kinds).fields
        is_typed = declared.format is SourceFormat.PARQUET
        source = RawSource(declared, options, settings, fields, declared.names(schema), is_typed)
        return _Group(source, checked, frozenset(paths), frozenset(run for run, _ in places), is_alone)

    def job(self, settings: ReadSettings, memory: RunMemory) -> SourceJob:
        """What reads and checks rows that come by these settings."""
        return SourceJob(
            self.context,
            self.session,
            self.name,
            self._storage,
            self._schema,
            memory,
            self._unknown(settings),
            BadRowLimit(),
            self.tell,
            None,
            settings.row_kinds,
            on_bad_rows=QUARANTINE,
        )

    def _unknown(self, settings: ReadSettings) -> UnknownColumns:
        """What becomes of columns that the table does not have."""
        said = self.asked.get("unknown_columns")
        return settings.unknown if said is None else UnknownColumns(said)

    # --- ingesting ----------------------------------------------------------------------------------------------------

    def _commit(self, found: FoundRows, taken: int, claim: str) -> Snapshot:
        """Ingest the rows that were taken up. They have been found good, and are read as they were then."""
        rows = self._claimed(claim)
        prepared = [p for group in found.groups if (p := group.prepare(rows)) is not None]
        checked = found.groups[0].checked
        good = checked.good_rows()
        try:
            self.tell("writing rows")
            _, counts = checked.write(together(prepared), good)
            compare_counts("good", found.good, counts.good)
            self.tell("committing")
            change = SnapshotChange(
                commit_user=runs.commit_user(self.run_id), properties=self.properties(found, taken, counts)
            )
            return good.commit(change, partial(self.refuse_overtaken, found, claim), found.until)
        finally:
            # What is left belongs to nobody; that it cannot be deleted is no reason to fail.
            with suppress(StoreError):
                good.clear()

    def _claimed(self, claim: str) -> DataFrame:
        """The rows that have a claim, in the order of their files as far as it is known."""
        context, table = self.context, self._target.table
        request = ReadRequest(time_zone=context.time_zone, verify_checksums=context.verify_checksums)
        rows = read_table(self.session(), table, request).where(F.array_contains(REPLAYS, F.lit(claim)))
        rows = rows.withColumn("problems", problems_of(table.schemas.load_latest_schema()))
        return rows.sortWithinPartitions("source_file", "ingested_at", SOURCE_LINE, "source_offset")

    def properties(
        self, found: FoundRows, taken: int, counts: RunCounts, files: Sequence[SourceFile] = ()
    ) -> dict[str, str]:
        """What the table's snapshot tells of the replay."""
        properties = runs.run_properties(self.run_id, self._schema.id, files, counts, attempt=self.attempt)
        properties |= {runs.ROWS_REPLAYED: str(found.good), runs.QUARANTINE_SNAPSHOT: str(taken)}
        if found.claims:
            properties[runs.CLAIMS_OVER] = canonical_json([*found.claims])
        return properties

    def refuse_overtaken(self, found: FoundRows, claim: str, since: Sequence[Snapshot]) -> None:
        """Raise `ConflictError` (LB6407) where another replay has mended one of the rows, or may not any more."""
        for record in runs_since(self._storage, since, found.until):
            if record.claim in found.claims or claim in record.claims_over:
                raise ConflictError.of(
                    OVERTAKEN,
                    f"run {record.run_id} has mended some of the same bad rows of {self.name} meanwhile",
                    path=str(self.name),
                    found=record.run_id,
                    remedy="repeat the replay: it leaves out what is mended by now",
                )


def settings_of(memory: RunMemory, run: str) -> ReadSettings:
    """How a run was told to read, as far as it is known."""
    record = memory.bad.by_run.get(run) or memory.good.by_run.get(run)
    return ReadSettings.parse(None if record is None else record.properties.get(runs.SETTINGS))


def _summed(kinds: Sequence[BadRowKind]) -> tuple[BadRowKind, ...]:
    """One of each kind, the most frequent first."""
    counts = Counter[tuple[str | None, str]]()
    for kind in kinds:
        counts[kind.column, kind.code] += kind.rows
    ordered = sorted(counts.items(), key=lambda kind: (-kind[1], kind[0][0] or "", kind[0][1]))
    return tuple(BadRowKind(column, code, rows) for (column, code), rows in ordered)


def _kinds(prepared: PreparedRows) -> tuple[BadRowKind, ...]:
    """The kinds of the problems of the rows that are bad still."""
    kinds = prepared.bad().select(F.explode(kinds_of(F.col("problems"))).alias("kind"))
    with spark_errors():
        found = kinds.groupBy("kind").count().collect()
    return tuple(BadRowKind(row["kind"]["column"], row["kind"]["code"], row["count"]) for row in found)
