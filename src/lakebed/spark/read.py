"""Reading a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read here, in Python: the snapshot, its manifests, the schema versions that its files name. Rows are
Spark's: `file_rows` reads files, and what a kind of table does beyond that is built upon it. Filters and column pruning
reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.spark.annotated import annotated
from lakebed.spark.fallback import fallback_branch, fallback_state, like, partitions_of
from lakebed.spark.file_rows import FileRows
from lakebed.spark.merge import merged
from lakebed.spark.projection import CastRules
from lakebed.spark.row_parts import put_together
from lakebed.spark.scan import Scratch, choose_scratch
from lakebed.spark.travel import SchemaChoice, TableState, Travel, resolve
from lakebed.spark.unknown_types import without_unknown
from lakebed.store.base import Store
from lakebed.table.merge_plan import plan_merge
from lakebed.table.row_ranges import has_data_evolution, plan_ranges
from lakebed.table.scan import DataFile, PartitionFilter, plan_files
from lakebed.table.support import refuse_nanosecond_files, refuse_unreadable


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
    partition_filter: PartitionFilter | None = None,
) -> DataFrame:
    """Resolve, plan and build the DataFrame; see `lakebed.Lake.read` for the parameters."""
    place = choose_scratch(spark, store, tables.path_factory.warehouse, scratch)
    read = partial(_read_state, spark, store, rules, place)
    state = without_unknown(resolve(tables, store, name, travel, schema, rules.time_zone), name)
    files = _plan(store, state, partition_filter)
    rows = read(state, files)
    # What the newest schema says of branches holds for older states too.
    branch = fallback_branch(state.schemas.load_latest_schema()) if travel.branch is None else None
    if branch is not None:
        other = without_unknown(fallback_state(tables, store, name, travel, state, branch, rules.time_zone), name)
        own = partitions_of(store, state)
        wanted = partition_filter or (lambda _: True)
        missing = _plan(store, other, lambda p: p not in own and wanted(p))
        rows = rows.union(like(read(other, missing), other.schema, state.schema))
    return annotated(spark, rows, state.schema)


def _plan(store: Store, state: TableState, partition_filter: PartitionFilter | None) -> Sequence[DataFile]:
    refuse_unreadable(state.schema)
    if state.snapshot is None:
        return ()
    files = plan_files(store, state.table_path, state.snapshot, state.schema, partition_filter=partition_filter)
    refuse_nanosecond_files(store, files, state.schemas.load_schema)
    return files


def _read_state(
    spark: SparkSession,
    store: Store,
    rules: CastRules,
    scratch: Scratch,
    state: TableState,
    files: Sequence[DataFile],
) -> DataFrame:
    return _rows(FileRows(spark, store, state.schemas, rules, scratch), files, state.schema)


def _rows(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    """The table's rows, by what its files are to it."""
    if schema.primary_keys:
        plan = plan_merge(files, schema)
        return _union(reader, schema, plan.raw, merged(reader, plan.sections, schema) if plan.sections else None)
    if has_data_evolution(schema):
        ranges = plan_ranges(files)
        parts = put_together(reader, ranges.groups, schema) if ranges.groups else None
        return _union(reader, schema, ranges.whole, parts)
    return reader.read(files, schema)


def _union(reader: FileRows, schema: TableSchema, plain: Sequence[DataFile], made: DataFrame | None) -> DataFrame:
    if made is None:
        return reader.read(plain, schema)
    return reader.read(plain, schema).union(made) if plain else made
