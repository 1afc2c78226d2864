"""Ingest: rows of a source into an append table under its declared schema, all or nothing.

One pass reads, checks and writes the good rows and counts all of them; a second one writes the bad rows, if there are
any. What was written has to agree with what was counted. Then the quarantine is committed, then the table, both under
one run id. Whatever fails before leaves nothing that anybody sees; a run that was cut off between the two commits is
finished when it is repeated.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from lakebed.catalog.names import TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.spark.bad_rows import BadRowsError
from lakebed.spark.run import IngestContext, Limits, Run
from lakebed.spark.runs import IngestResult, RunMemory, file_run_id, random_run_id, schema_of
from lakebed.spark.source_files import SourceFile, find_files, format_of, identify
from lakebed.spark.source_options import SourceOptions, check_options
from lakebed.spark.sources import open_files, open_frame
from lakebed.spark.stamp_forms import stamp_forms
from lakebed.spark.values import Rules, TextFormats
from lakebed.spark.write import refuse_legacy_dates
from lakebed.table.commit import TableStorage
from lakebed.table.support import refuse_unwritable

__all__ = ["BadRowsError", "IngestContext", "IngestResult", "ingest"]

BAD_SOURCE = "LB6108"
BAD_ARGUMENT = "LB6109"
LEGACY_PATTERNS = "LB6123"

_PARSER_POLICY = "spark.sql.legacy.timeParserPolicy"


def ingest(
    context: IngestContext,
    spark: SparkSession,
    table: str,
    source: Any,
    *,
    format: str | None = None,
    options: Mapping[str, object] | None = None,
    run_id: str | None = None,
    again: bool = False,
    unknown_columns: Literal["fail", "ignore"] = "fail",
    max_bad_rows: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> IngestResult:
    """Put the rows of a source into a table.

    Args:
        context: the lake.
        spark: a session, classic or Connect, that sees the same files.
        table: `db.table`.
        source: a path, several paths (files, directories, globs), or a DataFrame.
        format: `csv`, `json` (lines) or `parquet`; by the names of the files where None.
        options: of Spark's reader, those that do not defeat the checks.
        run_id: a run that has committed under this id is not repeated; its result is returned. For files the default
            is made from the table and the files, for a DataFrame and with `again` it is random.
        again: also read files that an earlier run has read.
        unknown_columns: whether columns that are not declared fail the run or are left out.
        max_bad_rows: with more bad rows than this the run fails.
        progress: told each stage as it begins.

    Raises:
        NotFoundError: there is no such table or file.
        UnsupportedError: a table or a source that is not written or read.
        UsageError: arguments that make no sense.
        BadRowsError: more bad rows than allowed.
        IngestError: the source does not fit the table, or the run failed. Nothing of it is visible.
    """
    _check_arguments(unknown_columns, max_bad_rows, run_id)
    name = _table_name(table)
    storage = context.storage(name)
    schema = storage.schemas.load_latest_schema()
    refuse_unwritable(schema)
    refuse_legacy_dates(spark)
    quarantine = context.storage(name.quarantine) if context.tables.exists(name.quarantine) else None
    memory = RunMemory(name, storage, quarantine)
    memory.load()
    done = None if run_id is None else memory.finished(run_id)
    if done is not None:
        return done
    limits = Limits(unknown_columns == "ignore", max_bad_rows)
    job = _Job(context, spark, name, storage, schema, memory, limits, progress or (lambda _: None))
    if isinstance(source, DataFrame):
        if format is not None:
            raise UsageError.of(BAD_ARGUMENT, "a DataFrame has no format", found=format, remedy="leave format out")
        return job.of_frame(source, options, run_id)
    return job.of_files(_paths(source), format, options, run_id, again=again)


def _check_arguments(unknown_columns: str, max_bad_rows: int | None, run_id: str | None) -> None:
    if unknown_columns not in ("fail", "ignore"):
        raise UsageError.of(
            BAD_ARGUMENT,
            f"unknown_columns is {unknown_columns!r}",
            expected="'fail' or 'ignore'",
            found=repr(unknown_columns),
        )
    if max_bad_rows is not None and max_bad_rows < 0:
        raise UsageError.of(
            BAD_ARGUMENT, f"max_bad_rows is {max_bad_rows}", expected="0 or more", found=str(max_bad_rows)
        )
    if run_id is not None and not run_id.strip():
        raise UsageError.of(BAD_ARGUMENT, "the run id is blank", found=repr(run_id))


def _table_name(table: str) -> TableName:
    name = TableName.parse(table)
    if name.is_quarantine:
        raise UsageError.of(
            BAD_ARGUMENT,
            f"{name} is the quarantine of another table and takes that table's bad rows only",
            found=table,
            remedy="ingest into the table itself",
        )
    return name


def _paths(source: Any) -> list[str | os.PathLike[str]]:
    if isinstance(source, (str, os.PathLike)):
        return [source]
    if isinstance(source, Sequence) and source and all(isinstance(s, (str, os.PathLike)) for s in source):
        return list(source)
    raise UsageError.of(
        BAD_SOURCE,
        f"{type(source).__name__} is no source of rows",
        expected="a path, a list of paths, or a Spark DataFrame",
        found=type(source).__name__,
    )


class _Job:
    """From a source to its run."""

    def __init__(
        self,
        context: IngestContext,
        spark: SparkSession,
        name: TableName,
        storage: TableStorage,
        schema: TableSchema,
        memory: RunMemory,
        limits: Limits,
        tell: Callable[[str], None],
    ) -> None:
        self._context = context
        self._spark = spark
        self._name = name
        self._storage = storage
        self._schema = schema
        self._memory = memory
        self._limits = limits
        self._tell = tell

    def of_frame(self, frame: DataFrame, options: Mapping[str, object] | None, run_id: str | None) -> IngestResult:
        checked = check_options(None, options)
        run = self._run(run_id or random_run_id(), checked, (), ())
        with open_frame(frame) as parts:
            return run.execute(parts)

    def of_files(
        self,
        sources: Sequence[str | os.PathLike[str]],
        format_: str | None,
        options: Mapping[str, object] | None,
        run_id: str | None,
        *,
        again: bool,
    ) -> IngestResult:
        paths = find_files(sources)
        kind = format_of(paths, format_)
        checked = check_options(kind, options)
        self._tell("looking at the files")
        files = identify(paths)
        known = frozenset[tuple[str, int, str]]() if again else self._memory.ingested()
        fresh = tuple(f for f in files if (f.path, f.size, f.sha256) not in known)
        skipped = tuple(f.path for f in files if f not in fresh)
        made_up = random_run_id() if again else file_run_id(self._name, fresh or files)
        run = self._run(run_id or made_up, checked, fresh, skipped)
        if not fresh:
            return run.execute(())
        parts = open_files(self._spark, [f.path for f in fresh], kind, checked, run.schema.field_names)
        return run.execute(parts)

    def _run(self, run_id: str, options: SourceOptions, files: tuple[SourceFile, ...], skipped: tuple[str, ...]) -> Run:
        self._refuse_legacy_patterns(options.formats)
        interrupted = self._memory.interrupted(run_id)
        schema = self._schema
        if interrupted is not None:
            # The rest of the run is checked as its beginning was, whatever has become of the schema since.
            version = schema_of(interrupted)
            schema = schema if version is None else self._storage.schemas.load_schema(version)
        return Run(
            context=self._context,
            spark=self._spark,
            name=self._name,
            storage=self._storage,
            schema=schema,
            rules=Rules(self._context.time_zone, stamp_forms(schema.fields), options.formats),
            run_id=run_id,
            files=files,
            skipped=skipped,
            interrupted=interrupted,
            limits=self._limits,
            tell=self._tell,
        )

    def _refuse_legacy_patterns(self, formats: TextFormats) -> None:
        """Patterns mean something else, and are read leniently, under Spark's old parser."""
        if formats.date is None and formats.timestamp is None and formats.wall_clock is None:
            return
        policy = (self._spark.conf.get(_PARSER_POLICY, "CORRECTED") or "CORRECTED").upper()
        if policy != "CORRECTED":
            raise UsageError.of(
                LEGACY_PATTERNS,
                "datetime patterns need Spark's present parser",
                expected=f"{_PARSER_POLICY}=CORRECTED",
                found=policy,
                remedy=f"set {_PARSER_POLICY}=CORRECTED, or leave the patterns out",
            )
