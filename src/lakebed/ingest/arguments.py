"""Check the arguments of an ingest before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, TypeAlias, TypedDict

from lakebed.catalog.names import TableName
from lakebed.errors import UsageError
from lakebed.ingest.bad_row_limit import BadRowLimit
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.sources.source_listing import FileChoice
from lakebed.manifest.attributes import BAD_ROW_ACTIONS
from lakebed.write.partition_specs import NamedPartition
from lakebed.write.write_result import WriteKeywords, wrong_name

BAD_SOURCE = "LB6108"
BAD_ARGUMENT = "LB6109"


#: What may become of columns of a source that the table does not have.
UnknownColumnsAction: TypeAlias = Literal["fail", "ignore", "quarantine"]


class FileKeywords(TypedDict, total=False):
    """The keywords that say how files are read as a source; see `lakebed.Lake.ingest`."""

    format: str | None
    options: Mapping[str, str] | None
    unknown_columns: UnknownColumnsAction
    include: str | Collection[str] | None
    exclude: str | Collection[str] | None
    folders: Literal["columns", "ignore"]


class SourceKeywords(FileKeywords, total=False):
    """Those, and what is told each stage as it begins."""

    progress: Callable[[str], None] | None


class PurgeKeywords(TypedDict, total=False):
    """The keywords that say which rows are purged; see `lakebed.Table.quarantine`."""

    run_id: str | Collection[str] | None
    code: str | Collection[str] | None
    where: str | None
    older_than: timedelta | None


class ReplayKeywords(TypedDict, total=False):
    """The keywords that say which bad rows are replayed, and how they are read; see `lakebed.Table.quarantine`."""

    run_id: str | Collection[str] | None
    code: str | Collection[str] | None
    where: str | None
    format: str | None
    options: Mapping[str, str] | None
    unknown_columns: UnknownColumnsAction
    progress: Callable[[str], None] | None


class RowKeywords(TypedDict, total=False):
    """The keywords that say how rows are put into a table, wherever they come from; see `lakebed.Lake.ingest`."""

    unknown_columns: UnknownColumnsAction
    max_bad_rows: int | None
    max_bad_share: float | None
    on_bad_rows: Literal["quarantine", "null", "fail"]
    merge_schema: bool | Literal["add", "widen"] | None
    row_kinds: str | None
    order_by: str | Sequence[str] | None


class StreamKeywords(RowKeywords, total=False):
    """Those of each batch of a stream; see `lakebed.Table.stream_writer`."""

    options: Mapping[str, str] | None


class IngestKeywords(SourceKeywords, RowKeywords, total=False):
    """The keywords that say how a source is ingested; see `lakebed.Lake.ingest`."""

    run_id: str | None
    again: bool
    dry_run: bool


class WatchKeywords(SourceKeywords, RowKeywords, total=False):
    """The keywords that say how files are ingested as they come; see `lakebed.Lake.watch`."""


class OverwriteKeywords(SourceKeywords, WriteKeywords, total=False):
    """The keywords that say how a source takes the place of rows; see `lakebed.Table.overwrite_from`."""

    partitions: NamedPartition | Iterable[NamedPartition] | None
    whole: bool
    where: str | None
    order_by: str | Sequence[str] | None


class MergeKeywords(SourceKeywords, WriteKeywords, total=False):
    """The keywords that say how a source is merged; see `lakebed.Table.merge_from`."""


def check_arguments(unknown_columns: str, folders: str, run_id: str | None = None) -> None:
    """Raise `UsageError` (LB6109) for values that an argument cannot have."""
    if unknown_columns not in tuple(UnknownColumns):
        raise UsageError.of(
            BAD_ARGUMENT,
            f"unknown_columns is {unknown_columns!r}",
            expected="'fail', 'ignore' or 'quarantine'",
            found=repr(unknown_columns),
        )
    if folders not in ("columns", "ignore"):
        raise UsageError.of(
            BAD_ARGUMENT, f"folders is {folders!r}", expected="'columns' or 'ignore'", found=repr(folders)
        )
    problem = None if run_id is None else wrong_name(run_id)
    if problem is not None:
        raise UsageError.of(BAD_ARGUMENT, f"the run id is {problem}: {run_id!r}", found=repr(run_id))


def refuse_quarantine(unknown_columns: str) -> None:
    """Raise `UsageError` (LB6109) for a write whose bad rows end it."""
    if unknown_columns == UnknownColumns.QUARANTINE:
        raise UsageError.of(
            BAD_ARGUMENT,
            "only an ingest puts bad rows into quarantine: here one bad row is an error",
            expected="'fail' or 'ignore'",
            found=repr(unknown_columns),
        )


def bad_row_limit(max_bad_rows: int | None, max_bad_share: float | None) -> BadRowLimit:
    """The limits of a run. Raises `UsageError` (LB6109) for what is no number of rows, or no share."""
    if max_bad_rows is not None and max_bad_rows < 0:
        raise UsageError.of(
            BAD_ARGUMENT, f"max_bad_rows is {max_bad_rows}", expected="0 or more", found=str(max_bad_rows)
        )
    if max_bad_share is not None and not _is_share(max_bad_share):
        raise UsageError.of(
            BAD_ARGUMENT,
            f"max_bad_share is {max_bad_share!r}",
            expected="a share of all rows, from 0 to 1: 0.05 for 5%",
            found=repr(max_bad_share),
        )
    return BadRowLimit(max_bad_rows, max_bad_share)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def bad_row_action(on_bad_rows: str) -> str:
    """What becomes of a bad row. Raises `UsageError` (LB6109) for what cannot."""
    if on_bad_rows not in BAD_ROW_ACTIONS:
        raise UsageError.of(
            BAD_ARGUMENT,
            f"on_bad_rows is {on_bad_rows!r}",
            expected="'quarantine', 'null' or 'fail'",
            found=repr(on_bad_rows),
        )
    return on_bad_rows


def refuse_dry_merge(merge_schema: object) -> None:
    """Raise `UsageError` (LB6109) for a dry run that is to change the schema first."""
    if merge_schema:
        raise UsageError.of(
            BAD_ARGUMENT,
            "a dry run changes no schema, so what would come of the rows under the merged one is not known",
            found=repr(merge_schema),
            remedy="leave --merge-schema out: columns that the table has not are told",
            python_remedy="leave merge_schema out: columns that the table has not are told",
        )


def target_table(table: str) -> TableName:
    """The table of a name. Raises `UsageError` (LB6109) for a quarantine."""
    name = TableName.parse(table)
    if name.is_quarantine:
        raise UsageError.of(
            BAD_ARGUMENT,
            f"{name} is the quarantine of another table, whose bad rows alone it takes",
            found=table,
            remedy=f"name the table itself, {name.without_quarantine}",
        )
    return name


def source_paths(source: Any) -> list[str | os.PathLike[str]]:
    """The paths of a source. Raises `UsageError` (LB6108) for what is none."""
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


@dataclass(frozen=True, slots=True)
class NamedFiles:
    """What the caller says of a source of files; of those that it names, all or `only` some paths are meant."""

    paths: Sequence[str | os.PathLike[str]]
    choice: FileChoice
    format: str | None
    options: Mapping[str, object] | None
    folders: bool
    only: frozenset[str] | None = None
