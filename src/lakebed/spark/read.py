"""Reading a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read in Python: `lakebed.pruning.read_plan` says which files of a snapshot are needed and what they are to
the table. Rows are Spark's: `file_rows` reads files, and what a kind of table does beyond that is built upon it. Filters
and column pruning reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial, reduce
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.pruning.predicate import Predicate
from lakebed.pruning.read_plan import EVERY_ROW, Plain, ReadPlan, plan_read, with_limit
from lakebed.pruning.sql import parse_where
from lakebed.spark.annotated import annotated
from lakebed.spark.fallback import fallback_branch, fallback_state, like
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.merge import merged
from lakebed.spark.projection import CastRules
from lakebed.spark.row_parts import put_together
from lakebed.spark.row_tracking import metadata_columns, tracked
from lakebed.spark.scan import Scratch, choose_scratch
from lakebed.spark.travel import SchemaChoice, TableState, Travel, resolve
from lakebed.spark.unknown_types import without_unknown
from lakebed.store.base import Store
from lakebed.table.blob_columns import refuse_blobs
from lakebed.table.merge_plan import MergePlan
from lakebed.table.row_ranges import RangePlan
from lakebed.table.scan import PartitionFilter
from lakebed.table.support import refuse_unreadable

#: What rows hold of a blob.
CONTENT, DESCRIPTOR = "content", "descriptor"


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
    state = without_unknown(resolve(tables, store, name, travel, schema, rules.time_zone), name)
    beside = metadata_columns(metadata, state.schema)
    read = partial(_read_state, spark, store, rules, place, beside, descriptors)
    plan = _plan(store, state, _predicate(spark, where, state.schema))
    # What the newest schema says of branches holds for older states too.
    branch = fallback_branch(state.newest) if travel.branch is None else None
    if limit is not None and branch is None:
        plan = with_limit(plan, limit)
    rows = read(state, plan)
    if branch is not None:
        if beside:
            raise UsageError.of("LB5569", f"{name} has the fallback branch {branch}: rows of both have the same ids")
        other = without_unknown(fallback_state(tables, store, name, travel, state, branch, rules.time_zone), name)
        # A partition that the predicate leaves out is no partition of this plan: it leaves it out of the other, too.
        own = plan.partitions
        missing = _plan(store, other, _predicate(spark, where, other.schema), lambda partition: partition not in own)
        rows = rows.union(like(read(other, missing), other.schema, state.schema))
    rows = annotated(spark, rows, state.schema, beside)
    if where is not None:
        rows = rows.where(where)
    return rows if limit is None else rows.limit(limit)


def _wants_descriptors(blobs: str) -> bool:
    if blobs not in (CONTENT, DESCRIPTOR):
        raise UsageError.of(
            "LB5568",
            f"there is no way {blobs!r} to read blobs",
            expected=f"{CONTENT} or {DESCRIPTOR}",
            found=blobs,
        )
    return blobs == DESCRIPTOR


def _predicate(spark: SparkSession, where: str | None, schema: TableSchema) -> Predicate:
    """What can be told of the filter without Spark, which applies it to the rows in any case."""
    if where is None:
        return EVERY_ROW
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    case_sensitive = spark.conf.get("spark.sql.caseSensitive") == "true"
    return parse_where(where, schema, time_zone=zone, case_sensitive=case_sensitive)


def _plan(
    store: Store, state: TableState, predicate: Predicate, partition_filter: PartitionFilter | None = None
) -> ReadPlan:
    refuse_unreadable(state.schema)
    return plan_read(
        store,
        state.table_path,
        state.snapshot,
        state.schema,
        state.schemas.load_schema,
        predicate,
        partition_filter=partition_filter,
    )


def _read_state(
    spark: SparkSession,
    store: Store,
    rules: CastRules,
    scratch: Scratch,
    metadata: Sequence[System],
    descriptors: bool,
    state: TableState,
    plan: ReadPlan,
) -> DataFrame:
    refuse_blobs(state.schema, descriptors=descriptors)
    reader = FileRows(spark, store, state.schemas, rules, scratch, descriptors)
    return _rows(reader, plan, state.schema, metadata)


def _rows(reader: FileRows, plan: ReadPlan, schema: TableSchema, metadata: Sequence[System]) -> DataFrame:
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
