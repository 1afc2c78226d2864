"""Read a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read in Python: `lakebed.read.read_plan` says which files of a snapshot are needed and what they are to
the table. Rows are Spark's: `file_rows` reads files; what a kind of table does beyond that is built upon it. Filters
and column pruning reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial, reduce
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.spark import scan_schema, scan_type
from lakebed.errors import UsageError
from lakebed.format.blob_columns import holds_blobs, refuse_blobs
from lakebed.format.merge_plan import MergePlan
from lakebed.format.row_ranges import RangePlan
from lakebed.physical.paimon_types import Blob
from lakebed.read.fallback_branch import branch_column
from lakebed.read.planned_read import Condition, PlannedState, condition, planned_read
from lakebed.read.read_plan import Plain, ReadPlan
from lakebed.read.travel import SchemaChoice, TableState, Travel
from lakebed.spark.annotated import annotated
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.projection import CastRules
from lakebed.spark.row_merge.merge import merged
from lakebed.spark.row_parts import put_together
from lakebed.spark.row_tracking import metadata_columns, tracked
from lakebed.spark.scan import Scratch, choose_scratch
from lakebed.spark.spark_errors import checksum_failures, known_failures
from lakebed.spark.sql_names import quote_name
from lakebed.store.base import Store

#: What rows hold of a blob.
CONTENT, DESCRIPTOR = "content", "descriptor"


@known_failures()
def read_table(
    spark: SparkSession,
    tables: TableManager,
    store: Store,
    name: TableName,
    travel: Travel,
    schema: SchemaChoice,
    *,
    rules: CastRules,
    where: str | None = None,
    limit: int | None = None,
    scratch: str | None = None,
    metadata: Collection[str] = (),
    blobs: str = CONTENT,
) -> DataFrame:
    """Resolve, plan and build the DataFrame; see `lakebed.Lake.read` for the parameters."""
    place = choose_scratch(spark, store, tables.path_factory.warehouse, scratch)
    descriptors = _wants_descriptors(blobs)
    wanted = session_condition(spark, where)
    planned = planned_read(tables, store, name, travel, schema, wanted, time_zone=rules.time_zone, limit=limit)
    state = planned.main.state
    beside = metadata_columns(metadata, state.schema)
    read = partial(_read_state, spark, store, rules, place, beside, descriptors)
    rows = read(planned.main)
    if planned.fallback is not None:
        other = planned.fallback
        if beside:
            raise UsageError.of(
                "LB5569", f"{name} has the fallback branch {other.branch}: rows of both have the same ids"
            )
        rows = rows.union(like(read(other), other.state.schema, state.schema))
    rows = annotated(spark, rows, state.schema, beside)
    if where is not None:
        rows = rows.where(where)
    return rows if limit is None else rows.limit(limit)


def session_condition(spark: SparkSession, where: str | None) -> Condition:
    """What can be told of a filter without Spark, by the settings of the session that will apply it."""
    if where is None:
        return condition(None, time_zone="UTC")
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    return condition(where, time_zone=zone, case_sensitive=spark.conf.get("spark.sql.caseSensitive") == "true")


def check_filter(spark: SparkSession, schema: TableSchema, where: str) -> None:
    """Let Spark refuse a filter over the columns of a schema; no rows are read."""
    _ = spark.createDataFrame([], scan_schema(schema.fields)).where(where).schema


def count_rows(
    spark: SparkSession,
    store: Store,
    state: TableState,
    plan: ReadPlan,
    where: str | None,
    rules: CastRules,
    scratch: Scratch,
    shown: TableSchema,
) -> int:
    """How many rows of a plan a filter is true for, by reading them; blobs are fetched if the filter needs them.

    `shown` is the schema that the filter is about: the main branch's, where the plan is a fallback branch's.
    """
    descriptors = not _needs_contents(where, state.schema)
    if not descriptors:
        refuse_blobs(state.schema, descriptors=False)
    rows = rows_of_plan(FileRows(spark, store, state.schemas, rules, scratch, descriptors), plan, state.schema)
    if shown is not state.schema:
        rows = like(rows, state.schema, shown)
    with checksum_failures():
        return (rows if where is None else rows.where(where)).count()


def _needs_contents(where: str | None, schema: TableSchema) -> bool:
    """Whether blobs have to be fetched: there are nested ones, which have no descriptors, or the filter may name one.

    It may where its text holds the column's name, or a star that stands for all columns.
    """
    text = (where or "").casefold().replace("``", "`")
    blobs = [field for field in schema.fields if holds_blobs(field.type)]
    nested = any(not isinstance(field.type, Blob) for field in blobs)
    return nested or any("*" in text or field.name.casefold() in text for field in blobs)


def _wants_descriptors(blobs: str) -> bool:
    if blobs not in (CONTENT, DESCRIPTOR):
        raise UsageError.of(
            "LB5568",
            f"there is no way {blobs!r} to read blobs",
            expected=f"{CONTENT} or {DESCRIPTOR}",
            found=blobs,
        )
    return blobs == DESCRIPTOR


def _read_state(
    spark: SparkSession,
    store: Store,
    rules: CastRules,
    scratch: Scratch,
    metadata: Sequence[System],
    descriptors: bool,
    planned: PlannedState,
) -> DataFrame:
    state = planned.state
    refuse_blobs(state.schema, descriptors=descriptors)
    reader = FileRows(spark, store, state.schemas, rules, scratch, descriptors)
    return rows_of_plan(reader, planned.plan, state.schema, metadata)


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
