"""Reading a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read here, in Python: the snapshot, its manifests, the schema versions that its files name. Rows are
Spark's: `file_rows` reads files, and what a kind of table does beyond that is built upon it. Filters and column pruning
reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial, reduce

from pyspark.sql import DataFrame, SparkSession

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.spark.annotated import annotated
from lakebed.spark.fallback import fallback_branch, fallback_state, like
from lakebed.spark.file_rows import FileRows, System, stored_fields
from lakebed.spark.merge import merged
from lakebed.spark.projection import CastRules
from lakebed.spark.row_parts import put_together
from lakebed.spark.row_tracking import metadata_columns, tracked
from lakebed.spark.scan import Scratch, choose_scratch
from lakebed.spark.travel import SchemaChoice, TableState, Travel, resolve
from lakebed.spark.unknown_types import without_unknown
from lakebed.store.base import Store
from lakebed.table.blob_columns import refuse_blobs
from lakebed.table.merge_plan import plan_merge
from lakebed.table.row_ranges import has_data_evolution, plan_ranges
from lakebed.table.scan import DataFile, PartitionFilter, plan_files
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
    files = _plan(store, state)
    rows = read(state, files)
    # What the newest schema says of branches holds for older states too.
    branch = fallback_branch(state.newest) if travel.branch is None else None
    if branch is not None:
        if beside:
            raise UsageError.of("LB5569", f"{name} has the fallback branch {branch}: rows of both have the same ids")
        other = without_unknown(fallback_state(tables, store, name, travel, state, branch, rules.time_zone), name)
        own = frozenset(file.partition for file in files)
        missing = _plan(store, other, lambda partition: partition not in own)
        rows = rows.union(like(read(other, missing), other.schema, state.schema))
    return annotated(spark, rows, state.schema, beside)


def _wants_descriptors(blobs: str) -> bool:
    if blobs not in (CONTENT, DESCRIPTOR):
        raise UsageError.of(
            "LB5568",
            f"there is no way {blobs!r} to read blobs",
            expected=f"{CONTENT} or {DESCRIPTOR}",
            found=blobs,
        )
    return blobs == DESCRIPTOR


def _plan(store: Store, state: TableState, partition_filter: PartitionFilter | None = None) -> Sequence[DataFile]:
    refuse_unreadable(state.schema)
    if state.snapshot is None:
        return ()
    return plan_files(store, state.table_path, state.snapshot, state.schema, partition_filter=partition_filter)


def _read_state(
    spark: SparkSession,
    store: Store,
    rules: CastRules,
    scratch: Scratch,
    metadata: Sequence[System],
    descriptors: bool,
    state: TableState,
    files: Sequence[DataFile],
) -> DataFrame:
    refuse_blobs(state.schema, descriptors=descriptors)
    reader = FileRows(spark, store, state.schemas, rules, scratch, descriptors)
    return _rows(reader, files, state.schema, metadata)


def _rows(
    reader: FileRows, files: Sequence[DataFile], schema: TableSchema, metadata: Sequence[System] = ()
) -> DataFrame:
    """The table's rows, by what its files are to it."""
    if schema.primary_keys:
        plan = plan_merge(files, schema)
        made = merged(reader, plan.sections, schema) if plan.sections else None
        return _union(reader.read(plan.raw, schema) if plan.raw or made is None else None, made)
    if has_data_evolution(schema):
        ranges = plan_ranges(files, lambda file: tuple(f.id for f in stored_fields(reader.version, file)))
        made = put_together(reader, ranges.groups, schema, metadata) if ranges.groups else None
        whole = tracked(reader, ranges.whole, schema, metadata) if ranges.whole or made is None else None
        return _union(whole, made)
    return tracked(reader, files, schema, metadata)


def _union(plain: DataFrame | None, made: DataFrame | None) -> DataFrame:
    frames = [frame for frame in (plain, made) if frame is not None]
    return reduce(DataFrame.union, frames)
