"""Read a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read in Python: `lakebed.read.plan_read` says which files of which states are needed and what they are to
the table. Rows are Spark's: `file_rows` reads files; what a kind of table does beyond that is built upon it. Filters
and column pruning reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_schema, scan_type
from lakebed.convert.spark import column_metadata, has_nested_metadata, with_metadata
from lakebed.errors import UsageError
from lakebed.format.blob_columns import holds_blobs, refuse_blobs
from lakebed.format.merge_plan import MergePlan
from lakebed.format.row_ranges import RangePlan
from lakebed.format.table_branch import TableBranch
from lakebed.model import Schema
from lakebed.read.count import known_rows
from lakebed.read.needed_columns import chosen_columns, with_columns
from lakebed.read.needed_files import Plain, ReadPlan
from lakebed.read.plan_read import Condition, PlannedRead, PlannedState, branch_column, condition, find_state, plan_read
from lakebed.read.request import ReadRequest
from lakebed.read.system_tables import read_system_table
from lakebed.read.table_state import TableState
from lakebed.read.where_sql import may_name, unknown_names
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.projection import CastRules
from lakebed.spark.row_merge.merge_sections import merged
from lakebed.spark.row_tracking import metadata_columns, put_together, tracked
from lakebed.spark.scan import Scratch, choose_scratch
from lakebed.spark.spark_errors import file_failures, known_failures
from lakebed.spark.sql_names import quote_name
from lakebed.spark.understood import filtered, understood

#: What rows hold of a blob.
CONTENT, DESCRIPTOR = "content", "descriptor"


@known_failures()
def read_table(spark: SparkSession, table: TableBranch, request: ReadRequest, scratch: str | None = None) -> DataFrame:
    """Plan and build the DataFrame; see `lakebed.Lake.read` for what is asked."""
    executor = Executor.of(spark, table, request, scratch)
    state = find_state(table, request)
    asked = _with_filtered(table, state.schema, request)
    planned = plan_read(table, asked, session_condition(spark, request.where), state=state)
    beside = metadata_columns(request.metadata_columns, state.schema)
    if beside and planned.fallback is not None:
        raise UsageError.of(
            "LB5569", f"{table.name} has the fallback branch {planned.fallback.branch}: rows of both have the same ids"
        )
    rows, schema = _read_states(executor, planned, asked, beside)
    rows = filtered(rows, request.where)
    if request.columns is not None:
        rows = rows.select(*map(quote_name, request.columns), *beside)
        schema = replace(schema, fields=chosen_columns(table.name, schema, request.columns))
    rows = annotated(spark, rows, schema, beside)
    return rows if request.limit is None else rows.limit(request.limit)


def _with_filtered(table: TableBranch, schema: TableSchema, request: ReadRequest) -> ReadRequest:
    """The request with the columns of its filter too, where it chooses columns."""
    if request.columns is None:
        return request
    chosen = chosen_columns(table.name, schema, request.columns)
    looked_at = () if request.where is None else may_name(request.where, schema.fields)
    return replace(request, columns=tuple(dict.fromkeys(f.name for f in (*chosen, *looked_at))))


def _read_states(
    executor: Executor, planned: PlannedRead, request: ReadRequest, metadata: Sequence[System]
) -> tuple[DataFrame, TableSchema]:
    """The rows of both states as columns of one schema, the main branch's or the part of it that is read."""
    rows, schema = _read_state(executor, planned.main, request, metadata)
    if planned.fallback is not None:
        added, other = _read_state(executor, planned.fallback, request, ())
        rows = rows.union(like(added, other, schema))
    return rows, schema


def _read_state(
    executor: Executor, planned: PlannedState, request: ReadRequest, metadata: Sequence[System]
) -> tuple[DataFrame, TableSchema]:
    schema = planned.state.schema
    if request.columns is not None:
        schema = with_columns(schema, request.columns, planned.plan)
    descriptors = _wants_descriptors(request.blobs) or not _has_blobs(schema)
    refuse_blobs(schema.fields, schema.options, descriptors=descriptors)
    reader = executor.reader(planned.state, descriptors=descriptors)
    return rows_of_plan(reader, planned.plan, schema, metadata), schema


def read_system_rows(spark: SparkSession, table: TableBranch, system: str, request: ReadRequest) -> DataFrame:
    """The rows of a system table as a DataFrame."""
    found = read_system_table(table, system, request)
    rows = spark.createDataFrame(list(found.rows), scan_schema(found.columns))
    rows = filtered(rows, request.where)
    if request.columns is not None:
        with understood("the columns"):
            rows = rows.select(*map(quote_name, request.columns))
    return rows if request.limit is None else rows.limit(request.limit)


@dataclass(frozen=True, slots=True)
class Executor:
    """What reads the planned files of one table: the session, the rules of casts, and where lists of files lie."""

    spark: SparkSession
    table: TableBranch
    rules: CastRules
    scratch: Scratch

    @classmethod
    def of(cls, spark: SparkSession, table: TableBranch, request: ReadRequest, scratch: str | None) -> Executor:
        """As a request asks for it; see `choose_scratch`."""
        rules = CastRules(request.time_zone, request.on_cast_error, verify_checksums=request.verify_checksums)
        return cls(spark, table, rules, choose_scratch(spark, table.store, table.warehouse, scratch))

    def reader(self, state: TableState, *, descriptors: bool = False) -> FileRows:
        """The reader of one state's files."""
        return FileRows(self.spark, self.table.store, state.schemas, self.rules, self.scratch, descriptors)


def session_condition(spark: SparkSession, where: str | None, *, alias: str | None = None) -> Condition:
    """What can be told of a filter without Spark, by the settings of the session that will apply it."""
    if where is None:
        return condition(None, time_zone="UTC")
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    return condition(where, time_zone=zone, case_sensitive=is_case_sensitive(spark), alias=alias)


def is_case_sensitive(spark: SparkSession) -> bool:
    """Whether the session tells names apart that differ in case."""
    return spark.conf.get("spark.sql.caseSensitive") == "true"


def check_filter(spark: SparkSession, schema: TableSchema, where: str) -> None:
    """Raise `UsageError` (LB6555) where Spark refuses a filter over the columns of a schema; no rows are read."""
    filtered(spark.createDataFrame([], scan_schema(schema.fields)), where)


@known_failures()
def count_table(spark: SparkSession, table: TableBranch, request: ReadRequest, scratch: str | None = None) -> int:
    """How many rows a read gives; only files of which metadata do not tell are read."""
    where = request.where
    planned = plan_read(table, request, session_condition(spark, where))
    shown = planned.main.state.schema
    # Metadata may tell without looking at the part of the filter that Spark refuses.
    if where is not None and unknown_names(where, shown):
        check_filter(spark, shown, where)
    known = [known_rows(table.store, one.plan) for one in planned.states]
    rows = sum(one.rows for one in known)
    if all(one.exact for one in known):
        return rows
    executor = Executor.of(spark, table, request, scratch)
    rest = zip(planned.states, (one.rest for one in known), strict=True)
    return rows + sum(_count_rows(executor, one, plan, where, shown) for one, plan in rest if plan.files)


def _count_rows(
    executor: Executor, planned: PlannedState, plan: ReadPlan, where: str | None, shown: TableSchema
) -> int:
    """How many rows of a plan a filter is true for, by reading them; blobs are fetched if the filter needs them.

    `shown` is the schema that the filter is about: the main branch's, where the plan is a fallback branch's.
    """
    looked_at = tuple(may_name(where or "", shown.fields))
    schema = with_columns(planned.state.schema, [f.name for f in looked_at], plan)
    descriptors = not _has_blobs(schema)
    if not descriptors:
        refuse_blobs(schema.fields, schema.options, descriptors=False)
    rows = rows_of_plan(executor.reader(planned.state, descriptors=descriptors), plan, schema)
    if shown is not planned.state.schema:
        rows = like(rows, schema, replace(shown, fields=looked_at))
    with file_failures():
        return filtered(rows, where).count()


def _has_blobs(schema: TableSchema) -> bool:
    return any(holds_blobs(field.type) for field in schema.fields)


def _wants_descriptors(blobs: str) -> bool:
    if blobs not in (CONTENT, DESCRIPTOR):
        raise UsageError.of(
            "LB5568",
            f"there is no way {blobs!r} to read blobs",
            expected=f"{CONTENT} or {DESCRIPTOR}",
            found=blobs,
        )
    return blobs == DESCRIPTOR


def rows_of_plan(reader: FileRows, plan: ReadPlan, schema: TableSchema, metadata: Sequence[System] = ()) -> DataFrame:
    """The table's rows, by what its files are to it."""
    match plan.parts:
        case Plain(files=files):
            return tracked(reader, files, schema, metadata)
        case MergePlan(raw=raw, sections=sections):
            made = merged(reader, sections, schema) if sections else None
            return _union(reader.read(raw, schema) if raw or made is None else None, made)
        case RangePlan(whole=whole, groups=groups):
            made = put_together(reader, groups, schema, metadata) if groups else None
            return _union(tracked(reader, whole, schema, metadata) if whole or made is None else None, made)
    assert_never(plan.parts)


def _union(plain: DataFrame | None, made: DataFrame | None) -> DataFrame:
    frames = [frame for frame in (plain, made) if frame is not None]
    return reduce(DataFrame.union, frames)


def like(rows: DataFrame, schema: TableSchema, wanted: TableSchema) -> DataFrame:
    """Rows of the fallback branch as columns of the main branch, by name; a column that it lacks is NULL.

    Raises UnsupportedError for a column of another type.
    """
    columns = []
    for field in wanted.fields:
        lacks = branch_column(field, schema) is None
        value = F.lit(None).cast(scan_type(field.type)) if lacks else F.col(quote_name(field.name))
        columns.append(value.alias(field.name))
    return rows.select(*columns)


def annotated(spark: SparkSession, rows: DataFrame, schema: TableSchema, beside: Sequence[str] = ()) -> DataFrame:
    """`rows`, whose columns are those of the schema and `beside`, with its annotations in the metadata of their fields.

    An alias says the metadata of a column and costs nothing; there is none for members of structs, and a cast would
    keep filters from the files. A union takes the metadata at every level from its first part: an empty one says it
    here, and the optimizer takes it away.
    """
    logical = schema.logical
    fields = {f.name: f for f in logical.fields}
    wanted = Schema(tuple(fields[f.name] for f in schema.fields), logical.extra)
    if has_nested_metadata(wanted):
        others = list(rows.schema.fields)[len(wanted.fields) :]
        shapes = with_metadata(StructType(list(rows.schema.fields)[: len(wanted.fields)]), wanted)
        empty = spark.sql("SELECT 1").where(F.lit(False))
        rows = empty.select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in (*shapes.fields, *others))).union(
            rows
        )
    metadata = [column_metadata(first, schema_extra=wanted.extra) for first in wanted.fields[:1]]
    metadata += map(column_metadata, wanted.fields[1:])
    named = zip(wanted.fields, metadata, strict=True)
    own = (F.col(quote_name(f.name)).alias(f.name, metadata=said) for f, said in named)
    return rows.select(*own, *(F.col(quote_name(name)) for name in beside))
