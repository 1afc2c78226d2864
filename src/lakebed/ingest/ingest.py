"""Ingest rows of a source into a table under its declared schema, all or nothing.

One pass reads, checks and writes the good rows and counts all of them; a second one writes the bad rows, if there are
any. What was written has to agree with what was counted. Then the quarantine is committed, then the table, both under
one run id. Whatever fails before leaves nothing that anybody sees; a run that was cut off between the two commits is
finished when it is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Literal

from pyspark.sql import DataFrame, SparkSession

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import IngestError, UsageError
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.arguments import (
    BAD_ARGUMENT,
    NamedFiles,
    OverwriteKeywords,
    RowKeywords,
    SourceKeywords,
    StreamKeywords,
    bad_row_action,
    bad_row_limit,
    check_arguments,
    refuse_dry_merge,
    refuse_quarantine,
    source_paths,
    target_table,
)
from lakebed.ingest.bad_row_limit import BadRowLimit
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.merge_on_ingest import (
    MergeChoice,
    merge_types,
)
from lakebed.ingest.nulled_values import QUARANTINE
from lakebed.ingest.row_kind_column import check_row_kinds
from lakebed.ingest.run_history import IngestResult
from lakebed.ingest.run_memory import RunMemory
from lakebed.ingest.source_job import SourceJob
from lakebed.ingest.sources.source_listing import file_choice
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.ingest.write_frame import ReplacingWrite
from lakebed.spark.spark_errors import known_failures
from lakebed.write.sort_order import sort_columns
from lakebed.write.write_result import WriteResult

__all__ = ["BadRowsError", "IngestContext", "IngestResult", "ingest"]


@known_failures(IngestError)
def ingest(
    context: IngestContext,
    spark: SparkSession | Callable[[], SparkSession],
    table: str,
    source: Any,
    *,
    format: str | None = None,
    options: Mapping[str, object] | None = None,
    run_id: str | None = None,
    again: bool = False,
    unknown_columns: Literal["fail", "ignore", "quarantine"] = "fail",
    max_bad_rows: int | None = None,
    max_bad_share: float | None = None,
    on_bad_rows: Literal["quarantine", "null", "fail"] = "quarantine",
    merge_schema: MergeChoice = None,
    include: str | Collection[str] | None = None,
    exclude: str | Collection[str] | None = None,
    folders: Literal["columns", "ignore"] = "columns",
    row_kinds: str | None = None,
    order_by: str | Sequence[str] | None = None,
    dry_run: bool = False,
    progress: Callable[[str], None] | None = None,
) -> IngestResult:
    """Put the rows of a source into a table.

    Args:
        context: the lake.
        spark: a session, classic or Connect, that sees the same files; or what gives one, which is called when what
            can be told without it has been looked at.
        table: `db.table`.
        source: a path, several paths (files, directories, patterns), or a DataFrame.
        format: `csv`, `json` (lines) or `parquet`; by the names of the files where None.
        options: of Spark's reader, those that do not defeat the checks.
        run_id: a run that has committed under this id is not repeated; its result is returned. For files the default
            is made from the table and the files, for a DataFrame and with `again` it is random.
        again: also read files that an earlier run has read.
        unknown_columns: whether columns that are not declared fail the run, are left out, or make rows bad that have
            a value there, which go to quarantine with it.
        max_bad_rows: with more bad rows than this the run fails.
        max_bad_share: with a larger share of all rows bad than this, from 0 to 1, the run fails.
        on_bad_rows: what becomes of a row with a bad value in a column of which the schema says nothing
            (`lakebed.dev/onBadRow`): it goes to quarantine, its value becomes NULL where the column takes NULL, or
            it fails the run.
        merge_schema: `add` first gives the table the columns of the source that it has not, `widen` also widens types;
            only what is safe. The schema version that this makes stays when the run fails.
        include: patterns of the files to read, all where None; `*.csv` is held against names, `2024/**/*.csv` against
            paths below the source.
        exclude: patterns of files to leave out.
        folders: whether folders named `key=value` are columns. All below the source are, and of those on the way to it
            the ones that are columns of the table.
        row_kinds: the column of the source, not of the table, that says what each row does to its key: `+I`, `-U`, `+U`
            or `-D`. For tables with a primary key, whose rows are all inserts without it.
        order_by: columns of the table by which its new files are sorted. For tables without a primary key.
        dry_run: write nothing: only say how many rows are good and bad, and the kinds of problems with an example of
            each. The source is read twice where rows are bad. Nobody's schema changes, so without `merge_schema`.
        progress: told each stage as it begins.

    Raises:
        NotFoundError: there is no such table or file.
        UnsupportedError: a table or a source that is not written or read.
        UsageError: arguments that make no sense.
        BadRowsError: more bad rows than allowed.
        IngestError: the source does not fit the table, or the run failed. Nothing of it is visible.
    """
    check_arguments(unknown_columns, folders, run_id)
    choice = file_choice(include, exclude)
    if dry_run:
        refuse_dry_merge(merge_schema)
    asked: RowKeywords = {
        "unknown_columns": unknown_columns,
        "max_bad_rows": max_bad_rows,
        "max_bad_share": max_bad_share,
        "on_bad_rows": on_bad_rows,
        "merge_schema": merge_schema,
        "row_kinds": row_kinds,
        "order_by": order_by,
    }
    job = replace(table_job(context, spark, table, asked), tell=progress or untold)
    job.memory.load()
    if isinstance(source, DataFrame):
        if format is not None:
            raise UsageError.of(BAD_ARGUMENT, "a DataFrame has no format", found=format, remedy="leave format out")
        return job.of_frame(source, options, run_id, dry_run=dry_run)
    named = NamedFiles(source_paths(source), choice, format, options, folders == "columns")
    return job.of_files(named, run_id, again=again, dry_run=dry_run)


@known_failures(IngestError)
def ingest_batch(context: IngestContext, frame: DataFrame, batch: StreamBatch, asked: StreamKeywords) -> IngestResult:
    """Put the rows of a batch of a stream into its table, once; see `lakebed.Table.stream_writer`."""
    job = replace(table_job(context, lambda: frame.sparkSession, batch.table, asked), batch=batch)
    job.memory.load()
    return job.of_frame(frame, asked.get("options"), batch.run_id, dry_run=False)


def table_job(
    context: IngestContext, spark: SparkSession | Callable[[], SparkSession], table: str, asked: RowKeywords
) -> SourceJob:
    """What ingests into a table, which is looked at; of its runs nothing is known yet.

    Raises `NotFoundError`, `UnsupportedError` and `UsageError` as `ingest` does, where the table cannot take such rows.
    """
    limit = bad_row_limit(asked.get("max_bad_rows"), asked.get("max_bad_share"))
    action = bad_row_action(asked.get("on_bad_rows", QUARANTINE))
    merging, row_kinds = merge_types(asked.get("merge_schema")), asked.get("row_kinds")
    name = target_table(table)
    storage = context.storage(name)
    schema = storage.schemas.load_latest_schema()
    refuse_unwritable(schema)
    check_row_kinds(schema, row_kinds, merging is not None)
    names = sort_columns(schema if merging is None else None, asked.get("order_by"))
    quarantine = context.storage(name.quarantine) if context.tables.exists(name.quarantine) else None
    memory = RunMemory(name, storage, quarantine)
    opened = cache(spark if callable(spark) else lambda: spark)
    unknown = UnknownColumns(asked.get("unknown_columns") or "fail")
    job = SourceJob(context, opened, name, storage, schema, memory, unknown, limit, untold, merging, row_kinds, names)
    return replace(job, on_bad_rows=action)


def untold(stage: str) -> None:
    """Tell nobody of a stage."""


@known_failures(IngestError)
def replace_with_files(
    context: IngestContext,
    spark: SparkSession | Callable[[], SparkSession],
    table: TableBranch,
    write: ReplacingWrite,
    source: Any,
    asked: OverwriteKeywords,
) -> WriteResult:
    """Put the rows of files in the place of others; see `lakebed.Table.overwrite_from`."""
    names = sort_columns(write.schema, asked.get("order_by"))
    named, job = _job(context, spark, table, write.storage, write.schema, source, asked)
    return write.done() or replace(job, order_by=names).overwrite(named, write)


@known_failures(IngestError)
def read_files(
    context: IngestContext,
    spark: SparkSession | Callable[[], SparkSession],
    table: TableBranch,
    source: Any,
    asked: SourceKeywords,
) -> DataFrame:
    """The rows of files as a frame; see `lakebed.Table.merge_from`."""
    storage = context.storage(table.name, table.branch)
    named, job = _job(context, spark, table, storage, table.schemas.load_latest_schema(), source, asked)
    return job.frame(named)


def _job(
    context: IngestContext,
    spark: SparkSession | Callable[[], SparkSession],
    table: TableBranch,
    storage: TableStorage,
    schema: TableSchema,
    source: Any,
    asked: SourceKeywords,
) -> tuple[NamedFiles, SourceJob]:
    """The files that keywords name, and what reads them whether or not they were ingested before."""
    unknown, folders = asked.get("unknown_columns") or "fail", asked.get("folders", "columns")
    check_arguments(unknown, folders)
    refuse_quarantine(unknown)
    choice = file_choice(asked.get("include"), asked.get("exclude"))
    named = NamedFiles(source_paths(source), choice, asked.get("format"), asked.get("options"), folders == "columns")
    opened, tell = cache(spark if callable(spark) else lambda: spark), asked.get("progress") or untold
    memory = RunMemory(table.name, storage, None)
    limit = BadRowLimit()
    job = SourceJob(
        context, opened, table.name, storage, schema, memory, UnknownColumns(unknown), limit, tell, None, None
    )
    return named, job
