"""Count the rows of a table and describe its columns in one job, and commit that as its statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, ClassVar, Literal, TypeAlias

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import each_name
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import LakebedError, NotCountableError, OutcomeUnknownError, StoreError, UsageError
from lakebed.format.commit import commit
from lakebed.format.commit_origin import lasted
from lakebed.format.snapshot import ANALYZE, Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_statistics import (
    ColumnSummary,
    TableStatistics,
    is_ordered,
    remove_statistics,
    write_statistics,
)
from lakebed.model import JsonValue, canonical_json
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField, DataType, type_line
from lakebed.read.count import count_from_metadata
from lakebed.read.plan_read import plan_read
from lakebed.read.request import ReadRequest, Travel
from lakebed.readable import Readable
from lakebed.spark.counted_moments import with_counted_moments
from lakebed.spark.read import count_table, read_table
from lakebed.spark.spark_errors import spark_errors
from lakebed.write.commit_results import other_run
from lakebed.write.write_result import ASKED, ATTEMPT, WriteRun

BAD_COLUMN = "LB6580"

#: Columns by name, `all` that can be described, or none of them.
Columns: TypeAlias = Sequence[str] | Literal["all"] | None

#: What a value takes, of types that always take the same; Spark's numbers.
_SIZES: dict[type[DataType], int] = {
    physical.Boolean: 1,
    physical.TinyInt: 1,
    physical.SmallInt: 2,
    physical.Int: 4,
    physical.BigInt: 8,
    physical.Float: 4,
    physical.Double: 8,
    physical.Date: 4,
    physical.Timestamp: 8,
    physical.LocalZonedTimestamp: 8,
}
_TEXTS: dict[type[DataType], int] = {
    physical.Char: 20,
    physical.VarChar: 20,
    physical.Binary: 100,
    physical.VarBinary: 100,
}
#: What is asked of each column, in the order of the answers.
_ASKED = 6


@dataclass(frozen=True, slots=True)
class TableAnalysis(Readable):
    """What an analysis found: `statistics` of the newest snapshot, None where there is none, and the new snapshot.

    `left_out` are columns of types that are not described. `repeated`: the run was done before, nothing was done now.
    """

    renderer: ClassVar[str] = "lakebed.render.maintain_text:analysis_text"

    table: str
    snapshot_id: int | None
    statistics: TableStatistics | None = None
    left_out: tuple[str, ...] = ()
    run_id: str | None = None
    repeated: bool = False

    def to_json(self) -> dict[str, Any]:
        """The object of `lakebed analyze --json`; `statistics` is as the file of statistics."""
        return {
            "table": self.table,
            "snapshot_id": self.snapshot_id,
            "run_id": self.run_id,
            "repeated": self.repeated,
            "statistics": None if self.statistics is None else self.statistics.to_json(),
            "left_out": list(self.left_out),
        }


def analyze(
    spark: SparkSession | Callable[[], SparkSession],
    table: TableBranch,
    request: ReadRequest,
    columns: Columns,
    run: WriteRun,
) -> TableAnalysis:
    """Describe the newest snapshot of a table, see `lakebed.Table.analyze`."""
    began = monotonic()
    schema = table.schemas.load_latest_schema()
    fields, left_out = _chosen(table.label, schema, columns)
    names: list[JsonValue] = ["all"] if columns == "all" else [*sorted(f.name for f in fields)]
    asked = canonical_json(["analyze", *names])
    done = table.snapshots.find_commit(run.commit_user, kind=ANALYZE) if run.once else None
    if done is not None:
        if (done.properties or {}).get(ASKED) != asked:
            raise other_run(table.label, asked, done)
        return TableAnalysis(table.label, done.id, None, left_out, run.run_id, repeated=True)
    newest = table.snapshots.latest()
    if newest is None:
        return TableAnalysis(table.label, None, None, left_out, run.run_id)
    state = replace(request, travel=Travel(snapshot=newest.id, branch=request.travel.branch), schema=schema.id)
    with spark_errors():
        found = _describe(spark if callable(spark) else lambda: spark, table, state, schema, fields)
    statistics = TableStatistics(newest.id, schema.id, *found)
    snapshot = _commit(table, statistics, replace(run, properties={**run.properties, **lasted(began)}), asked)
    return TableAnalysis(table.label, snapshot.id, statistics, left_out, run.run_id)


def _commit(table: TableBranch, statistics: TableStatistics, run: WriteRun, asked: str) -> Snapshot:
    name = write_statistics(table.store, table.table_path, statistics)
    properties = {**run.properties, ASKED: asked, ATTEMPT: name}
    change = SnapshotChange(commit_user=run.commit_user, statistics=name, properties=properties)
    try:
        snapshot = commit(table.storage, change, clock=table.clock, after=0 if run.once else statistics.snapshot_id)
    except OutcomeUnknownError:
        # The snapshot may be there, or may still appear.
        raise
    except LakebedError:
        with suppress(StoreError):
            remove_statistics(table.store, table.table_path, name)
        raise
    if snapshot.statistics != name:
        # The same run, somewhere else, was first.
        with suppress(StoreError):
            remove_statistics(table.store, table.table_path, name)
    return snapshot


def _chosen(table: str, schema: TableSchema, columns: Columns) -> tuple[tuple[DataField, ...], tuple[str, ...]]:
    """The columns to describe, and those of all that cannot be. Raises `UsageError` (LB6580) for a wrong name."""
    if columns is None:
        return (), ()
    if columns == "all":
        every = [(f, _is_described(f.type)) for f in schema.fields]
        return tuple(f for f, yes in every if yes), tuple(f.name for f, yes in every if not yes)
    names = list(dict.fromkeys(each_name(columns)))
    fields = {f.name: f for f in schema.fields}
    problems = [
        _bad_column(table, name, fields) for name in names if name not in fields or not _is_described(fields[name].type)
    ]
    if problems:
        raise UsageError(*problems)
    return tuple(fields[name] for name in names), ()


def _bad_column(table: str, name: str, fields: dict[str, DataField]) -> Diagnostic:
    if name not in fields:
        return Diagnostic(
            BAD_COLUMN,
            f"{table} has no column {name!r} that could be analyzed",
            path=name,
            found=name,
            suggestions=near_names(name, fields),
            remedy=f"`lakebed show {table}` lists the columns",
        )
    shown = type_line(fields[name].type)
    return Diagnostic(
        BAD_COLUMN,
        f"column {name!r} of {table}, of type {shown}, cannot be analyzed",
        path=name,
        expected="a number, a text, bytes, a date or a timestamp, or BOOLEAN",
        found=shown,
        remedy="leave it out; --all-columns takes those that can be",
        python_remedy='leave it out; "all" takes those that can be',
    )


def _is_described(type_: DataType) -> bool:
    return isinstance(type_, physical.Decimal) or type(type_) in _SIZES or type(type_) in _TEXTS


def _describe(
    spark: Callable[[], SparkSession],
    table: TableBranch,
    request: ReadRequest,
    schema: TableSchema,
    fields: Sequence[DataField],
) -> tuple[int, int, dict[str, ColumnSummary]]:
    """Rows, bytes and columns, by one aggregation; rows alone come from metadata where these tell."""
    places = {name: place for place, name in enumerate(schema.field_names)}
    if fields:
        rows = read_table(spark(), table, request)
        plain = rows.toDF(*(f"c{i}" for i in range(len(rows.columns))))
        wanted = [a for f in fields for a in _aggregates(F.col(f"c{places[f.name]}"), f.type)]
        (answer,) = with_counted_moments(plain.agg(F.count(F.lit(1)), *wanted)).collect()
        count, values = int(answer[0]), list(answer)[1:]
    else:
        count, values = _count(spark, table, request), []
    summaries = {f.name: _summary(f, values[i * _ASKED : (i + 1) * _ASKED]) for i, f in enumerate(fields)}
    files = [file for state in plan_read(table, request, None).states for file in state.plan.files]
    stored = sum(file.meta.row_count for file in files)
    return count, sum(file.size for file in files) * count // stored if stored else 0, summaries


def _count(spark: Callable[[], SparkSession], table: TableBranch, request: ReadRequest) -> int:
    try:
        return count_from_metadata(table, request)
    except NotCountableError:
        return count_table(spark(), table, request)


def _aggregates(column: Column, type_: DataType) -> tuple[Column, ...]:
    """Distinct values, NULLs, lengths and ends, as Spark's ANALYZE has them."""
    if type(type_) in _TEXTS:
        length = F.length(column)
        lengths = F.ceil(F.avg(length)), F.max(length)
    else:
        lengths = F.lit(None), F.lit(None)
    ends = (F.min(column), F.max(column)) if is_ordered(type_) else (F.lit(None), F.lit(None))
    distinct = F.least(F.approx_count_distinct(column), F.count(column))
    return distinct, F.count(F.when(column.isNull(), 1)), *lengths, *ends


def _summary(field: DataField, values: Sequence[Any]) -> ColumnSummary:
    distinct, nulls, average, longest, low, high = values
    size = _size(field.type)
    ends = (_internal(field.type, low), _internal(field.type, high))
    return ColumnSummary(
        field.id,
        field.type,
        int(distinct),
        int(nulls),
        size if average is None else int(average),
        size if longest is None else int(longest),
        *ends,
    )


def _size(type_: DataType) -> int:
    if isinstance(type_, physical.Decimal):
        return 8 if type_.precision <= 18 else 16
    return _SIZES.get(type(type_)) or _TEXTS[type(type_)]


def _internal(type_: DataType, value: Any) -> Any:
    """What Spark gives as an internal value: microseconds become nanoseconds."""
    is_moment = isinstance(type_, physical.Timestamp | physical.LocalZonedTimestamp)
    return value * 1000 if is_moment and value is not None else value
