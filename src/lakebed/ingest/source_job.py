"""Find out how a source is read, and make the run that ingests it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import TypeVar

from pyspark.sql import DataFrame, SparkSession

from lakebed.arrow.line_numbers import CsvValues, LineLookup
from lakebed.arrow.text_lines import LineRules
from lakebed.catalog.names import TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import UsageError
from lakebed.evolve.former_names import FormerNames, former_names
from lakebed.evolve.union_schema import MergeTypes
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.arguments import NamedFiles
from lakebed.ingest.bad_row_limit import BadRowLimit
from lakebed.ingest.checked_rows import NOT_DECLARED
from lakebed.ingest.checked_write import CheckedWrite
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.datetime_patterns import refuse_patterns
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.merge_on_ingest import (
    merge_frame,
    merge_parts,
    merged_columns,
)
from lakebed.ingest.read_settings import ReadSettings
from lakebed.ingest.row_kind_column import with_kind_column
from lakebed.ingest.run import Run
from lakebed.ingest.run_commit import RunGuard
from lakebed.ingest.run_history import ROWS_QUARANTINED, SCHEMA_ID, IngestResult, file_run_id, random_run_id
from lakebed.ingest.run_memory import Leftover, RunMemory
from lakebed.ingest.run_notices import all_bad, no_rows, read_in_part, read_otherwise, rows_twice
from lakebed.ingest.sources.csv_source import text_scan
from lakebed.ingest.sources.declared_source import DeclaredSource, chosen_files, declared_read, declared_source, moments
from lakebed.ingest.sources.open_source import open_files, open_frame, part_of, part_without_rows
from lakebed.ingest.sources.parquet_rebase import naming_columns
from lakebed.ingest.sources.source_files import (
    SourceFile,
    SourceFormat,
    check_compressed,
    identify,
    naming_broken,
)
from lakebed.ingest.sources.source_hints import Reading, hinted, hints, refuse_misread
from lakebed.ingest.sources.source_listing import FoundFiles, LeftOut, SourceStorage, are_gone, find_files
from lakebed.ingest.sources.source_option_values import is_wide
from lakebed.ingest.sources.source_options import SourceOptions, check_options
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.ingest.system_columns import system_roles, system_row
from lakebed.ingest.typed_rows import typed_rows
from lakebed.ingest.write_frame import ReplacingWrite
from lakebed.spark.reach import check_reach, needs_workers
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import plain_url, spark_url
from lakebed.write.write_result import WriteResult

OTHER_SOURCE = "LB6400"


@dataclass(frozen=True, slots=True)
class _LookedAt:
    """Files of a source: how they are read, all of them, those to be ingested, and those that are left out."""

    declared: DeclaredSource
    options: SourceOptions
    files: tuple[SourceFile, ...]
    fresh: tuple[SourceFile, ...]
    left_out: tuple[LeftOut, ...]
    folders: bool

    @property
    def skipped(self) -> tuple[str, ...]:
        """The paths of files that were ingested before."""
        fresh = set(self.fresh)
        return tuple(f.shown for f in self.files if f not in fresh)

    def parquet_paths(self) -> tuple[str, ...]:
        """The paths of Parquet files to be ingested."""
        return tuple(f.path for f in self.fresh) if self.declared.format is SourceFormat.PARQUET else ()

    @property
    def read_as(self) -> str:
        """What tells two ways of reading a file apart."""
        return self.declared.digest(folders=self.folders)


_Made = TypeVar("_Made")


@dataclass(frozen=True)
class SourceJob:
    """From a source to its run. `schema` is the table's newest version as the ingest begins, before any merge; `batch`
    is what the DataFrame of a stream is.
    """

    context: IngestContext
    session: Callable[[], SparkSession]
    name: TableName
    storage: TableStorage
    schema: TableSchema
    memory: RunMemory
    unknown: UnknownColumns
    limit: BadRowLimit
    tell: Callable[[str], None]
    merging: MergeTypes | None
    row_kinds: str | None
    order_by: tuple[str, ...] = ()
    batch: StreamBatch | None = None
    on_bad_rows: str | None = None

    @cached_property
    def spark(self) -> SparkSession:
        """The session, of a server that sees the same files of this machine."""
        spark = self.session()
        path = self.context.schema_file(self.name, self.schema)
        if "://" not in path:
            check_reach(spark, [path])
        return spark

    def of_frame(
        self, frame: DataFrame, options: Mapping[str, object] | None, run_id: str | None, *, dry_run: bool
    ) -> IngestResult:
        """Ingest a DataFrame."""
        checked = check_options(None, options)
        if self.batch is not None:
            self.batch.check(self.memory.records())
        if run_id is not None:
            done = self._repeated(run_id, (), ())
            if done is not None:
                return done
        if self.batch is not None:
            self.batch.check_new(self.memory.good, self.memory.bad)
        schema = self.schema
        if self.merging is not None:
            schema = merge_frame(self.context, self.name, frame, self.merging)
        run = self._run(schema, run_id or random_run_id(), checked, (), None, again=False)
        settings = self._settings(None, options, folders=False)
        opened = nullcontext((part_of(frame),)) if run.checked.reads_once else open_frame(frame)
        with opened as parts:
            run = replace(run, settings=settings.of_parts(parts))
            result = run.look(parts) if dry_run else run.execute(parts)
            return replace(result, merged=merged_columns(self.schema, schema))

    def of_files(self, named: NamedFiles, run_id: str | None, *, again: bool, dry_run: bool) -> IngestResult:
        """Ingest files, those that were not ingested before."""
        done = None if run_id is None else self.memory.finished(run_id)
        if done is not None and are_gone(named.paths, self.context.sources):
            # What was ingested may have been cleared away: whether it was the same, nobody can say any more.
            return done
        looked = self._look(named, again=again)
        if run_id is not None:
            done = self._repeated(run_id, looked.files, looked.fresh)
            if done is not None:
                return done
        if looked.fresh and looked.declared.documents is None:
            needs_workers(self.spark, [f.path for f in looked.fresh])
        with self._explained(looked, self.schema):
            schema = self._merged(looked)
        with self._explained(looked, schema):
            made_up = random_run_id() if again else file_run_id(self.name, looked.fresh or looked.files)
            run = self._run(schema, run_id or made_up, looked.options, looked.fresh, looked, again=again)
            # Before the commit: what fails behind it would hide that it was made.
            proven = self._hints(looked, schema)
            with naming_columns(looked.parquet_paths, self.context.sources):
                parts = self._opened(looked, run.checked.schema) if looked.fresh else ()
                settings = self._settings(named.format, named.options, folders=named.folders).of_parts(parts)
                run = replace(run, settings=settings)
                result = run.look(parts) if dry_run else run.execute(parts)
        result = replace(result, left_out=looked.left_out, merged=merged_columns(self.schema, schema))
        return replace(result, notices=self._notices(looked, result, proven))

    def _settings(self, format_: str | None, options: Mapping[str, object] | None, *, folders: bool) -> ReadSettings:
        said = ReadSettings.given(format_, options, unknown=self.unknown, folders=folders)
        return replace(said, row_kinds=self.row_kinds)

    def overwrite(self, named: NamedFiles, write: ReplacingWrite) -> WriteResult:
        """Put the rows of files in the place of others."""
        return self.use(named, write.make)

    def frame(self, named: NamedFiles) -> DataFrame:
        """The rows of files, with the table's columns that these have."""
        return self.use(named, typed_rows)

    def use(self, named: NamedFiles, use: Callable[[CheckedWrite, tuple[SourcePart, ...]], _Made]) -> _Made:
        """What is made of files, whether or not they were ingested before."""
        looked = self._look(named, again=True)
        if looked.declared.documents is None:
            needs_workers(self.spark, [f.path for f in looked.fresh])
        with (
            self._explained(looked, self.schema),
            naming_columns(looked.parquet_paths, self.context.sources),
        ):
            checked = self.checked(self.schema, looked.options, looked.fresh, looked.declared)
            return use(checked, self._parts(looked))

    def _parts(self, looked: _LookedAt) -> tuple[SourcePart, ...]:
        """The parts of the files, one at least."""
        filled = system_roles(self.schema.logical).values()
        fields = [f for f in self.schema.fields if f.name not in filled]
        return self._opened(looked, self.schema) or (part_without_rows(self.spark, fields),)

    @contextmanager
    def _explained(self, looked: _LookedAt, schema: TableSchema) -> Iterator[None]:
        """What fails inside says also what the files hint at, under this schema, and which of them are broken."""
        with (
            hinted(partial(self._hints, looked, schema)),
            naming_broken(lambda: looked.fresh, self.context.sources),
        ):
            yield

    def listed(self, named: NamedFiles) -> FoundFiles:
        """The files that are there by now, with those that are left out."""
        choice = chosen_files(declared_read(self.schema), named.choice)
        return find_files(named.paths, choice, self.context.sources, may_come=True)

    def _look(self, named: NamedFiles, *, again: bool) -> _LookedAt:
        storage = self.context.sources
        read = declared_read(self.schema)
        found = find_files(named.paths, chosen_files(read, named.choice), storage, may_come=named.only is not None)
        if named.only is not None:
            found = FoundFiles(tuple(f for f in found.files if f.path in named.only))
        declared = declared_source(read, found.paths, named.format, named.options)
        is_document = declared.documents is not None
        options = check_options(declared.format, declared.options, is_document=is_document, named=declared.named)
        checked = replace(options, verify_checksums=self.context.verify_checksums)
        self.tell("looking at the files")
        # Documents are read by the driver, which says itself what is wrong with them.
        scan = None if declared.documents is not None else partial(text_scan, declared.format, checked)
        files = identify(found.files, scan, storage)
        check_compressed(files, storage)
        before = frozenset[tuple[str, int, str]]() if again else self.memory.ingested()
        fresh = tuple(f for f in files if f.identity not in before)
        return _LookedAt(declared, checked, files, fresh, found.left_out, named.folders)

    def _merged(self, looked: _LookedAt) -> TableSchema:
        """The schema after the columns of the files were merged into it, where that is asked for."""
        if self.merging is None or not looked.fresh:
            return self.schema
        refuse_misread(self._hints(looked, self.schema))
        refuse_patterns(lambda: self.spark, looked.options.formats)
        parts, known = self._opened(looked, self.schema), self.schema.field_names
        return merge_parts(self.context, self.name, parts, looked.declared.format, self.merging, known)

    def _opened(self, looked: _LookedAt, schema: TableSchema) -> tuple[SourcePart, ...]:
        declared, storage = looked.declared, self.context.sources
        schema = with_kind_column(schema, self.row_kinds)
        columns = schema.field_names if looked.folders else None
        placed = [replace(f, folders=declared.folders(f, columns)) for f in looked.fresh]
        with spark_errors():
            parts = open_files(
                self.spark,
                placed,
                declared.format,
                looked.options,
                declared.names(schema),
                declared.documents,
                storage,
            )
        return tuple(declared.only(part) for part in parts)

    def _hints(self, looked: _LookedAt, schema: TableSchema) -> tuple[Diagnostic, ...]:
        declared = looked.declared
        reading = Reading(
            declared.format,
            looked.options,
            declared.documents is not None,
            tuple(schema.field_names),
            declared.names(schema),
            declared.documents.encoding if declared.documents is not None else None,
        )
        return hints(looked.fresh, reading, self.context.sources)

    def _notices(
        self, looked: _LookedAt, result: IngestResult, proven: tuple[Diagnostic, ...]
    ) -> tuple[Diagnostic, ...]:
        fresh = set(looked.fresh)
        skipped = self.memory.finished_with(f for f in looked.files if f not in fresh)
        return (
            *read_otherwise(skipped, looked.read_as),
            *(() if result.dry_run else rows_twice(tuple(self.memory.finished_with(looked.fresh)), result)),
            *read_in_part(proven, result),
            *(() if result.dry_run else all_bad(result)),
            *no_rows(looked.fresh, result),
        )

    def _repeated(self, run_id: str, files: Sequence[SourceFile], fresh: Sequence[SourceFile]) -> IngestResult | None:
        """The result of a run that was done before; None where it was not, or was cut off.

        `files` are all of the source, `fresh` those that would be ingested now. Raises `UsageError` where the run was
        about something else.
        """
        record = self.memory.record(run_id)
        if record is None:
            return None
        done = self.memory.finished(run_id)
        theirs = {f.identity for f in record.sources}
        ours = {f.identity for f in fresh}
        if done is None:
            same = ours == theirs
        else:
            # Files that earlier runs had ingested were skipped then as they are now.
            same = ours <= theirs and (any(f.identity in theirs for f in files) or not (files or theirs))
        if not same:
            other = next((f.path for f in files if f.identity not in theirs), None)
            raise UsageError.of(
                OTHER_SOURCE,
                f"run {run_id} has been used for another source" + (f"; {other!r} was not in it" if other else ""),
                path=other,
                expected=", ".join(f.path for f in record.sources) or "a DataFrame",
                found=run_id,
                remedy="give each run a --run-id of its own",
                python_remedy="give each run a run_id of its own",
            )
        return done

    def _run(
        self,
        schema: TableSchema,
        run_id: str,
        options: SourceOptions,
        files: tuple[SourceFile, ...],
        looked: _LookedAt | None,
        *,
        again: bool,
    ) -> Run:
        memory = self.memory
        interrupted, newest = memory.interrupted(run_id), schema
        if interrupted is not None:
            # The rest of the run is checked as its beginning was, whatever has become of the schema since.
            version = interrupted.number(SCHEMA_ID)
            schema = schema if version is None else self.storage.schemas.load_schema(version)
        leftovers = memory.leftovers(files, schema.id)
        if interrupted is not None and not files:
            leftovers = (Leftover(interrupted, interrupted.number(ROWS_QUARANTINED) or 0),)
        adopted = frozenset(x.record.run_id for x in leftovers) - {run_id}
        return Run(
            checked=self.checked(schema, options, files, None if looked is None else looked.declared),
            run_id=run_id,
            skipped=() if looked is None else looked.skipped,
            leftovers=leftovers,
            guard=RunGuard(run_id, files, adopted, again, memory.good.until, memory.bad.until, self.batch),
            limit=self.limit,
            tell=self.tell,
            again=again,
            read_as=None if looked is None else looked.read_as,
            hints=tuple if looked is None else partial(self._hints, looked, newest),
        )

    def checked(
        self,
        schema: TableSchema,
        options: SourceOptions,
        files: tuple[SourceFile, ...],
        declared: DeclaredSource | None,
        paths: Sequence[str] | None = None,
    ) -> CheckedWrite:
        """What rows of a source are checked and written by; of a DataFrame where nothing is `declared`.

        `paths` are where the rows come from, where those are not the `files`, which are to be ingested.
        """
        refuse_patterns(lambda: self.spark, options.formats)
        context = self.context
        known = {}
        if declared is not None:
            known = moments(declared.event_time, paths or [f.path for f in files], context.sources)
        return CheckedWrite(
            context=context,
            session=lambda: self.spark,
            name=self.name,
            storage=self.storage,
            schema=schema,
            rules=Rules(context.time_zone, options.formats),
            files=files,
            system=system_row(schema, context.clock, context.time_zone, known),
            unknown=self.unknown,
            columns=None if declared is None else declared.columns,
            declared=NOT_DECLARED if declared is None else declared.schema,
            former=cache(partial(self._former_names, schema)),
            row_kinds=self.row_kinds,
            order_by=self.order_by,
            on_bad_rows=self.on_bad_rows,
            lines=partial(self._lines, options, files, declared),
        )

    def _lines(
        self, options: SourceOptions, files: tuple[SourceFile, ...], declared: DeclaredSource | None
    ) -> LineLookup | None:
        """What finds the lines of bad rows of files."""
        if not files or declared is None or declared.documents is not None:
            return None
        return _line_lookup(self.spark, files, declared.format, options, self.context.sources)

    def _former_names(self, schema: TableSchema) -> FormerNames:
        manager = self.context.tables.get_schema_manager(self.name.database, self.name.table)
        return former_names(schema.fields, (version.fields for version in manager.versions()))


def _line_lookup(
    spark: SparkSession,
    files: Sequence[SourceFile],
    format_: SourceFormat,
    options: SourceOptions,
    storage: SourceStorage,
) -> LineLookup | None:
    """What finds the lines of rows of these files; None where rows are no lines."""
    over_lines = is_wide(options.encoding) or options.is_on("multiline", False)
    if format_ is SourceFormat.PARQUET or over_lines:
        return None
    is_csv = format_ is SourceFormat.CSV
    rules = LineRules(
        options.get("linesep", "").encode(options.encoding),
        skips_blank=is_csv,
        comment=options.get("comment", "").encode(options.encoding) if is_csv else b"",
        header=is_csv and options.is_on("header", True),
    )
    return LineLookup(
        storage.open,
        {name: (f.path, f.size) for f in files for name in (f.path, plain_url(spark_url(f.path)))},
        rules,
        options.encoding,
        _csv_values(options) if is_csv else None,
        # Spark reads the line that begins where a piece does with the piece before.
        is_behind=not needs_workers(spark, [f.path for f in files]),
    )


def _csv_values(options: SourceOptions) -> CsvValues:
    strips = tuple(options.is_on(f"ignore{side}whitespace", False) for side in ("leading", "trailing"))
    quote, escape = options.get("quote", '"'), options.get("escape", '"')
    return CsvValues(options.separator, quote, escape, options.get("nullvalue", ""), (strips[0], strips[1]))
