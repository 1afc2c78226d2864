"""Reading a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read here, in Python: the snapshot, its manifests, the schema versions that its files name. Rows are
Spark's: `file_rows` reads files, and what a kind of table does beyond that is built upon it. Filters and column pruning
reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.spark import column_metadata
from lakebed.spark.addresses import quote_name
from lakebed.spark.file_rows import FileRows
from lakebed.spark.merge import merged
from lakebed.spark.projection import CastRules
from lakebed.spark.scan import choose_scratch
from lakebed.spark.travel import SchemaChoice, Travel, resolve
from lakebed.store.base import Store
from lakebed.table.merge_plan import plan_merge
from lakebed.table.scan import DataFile, plan_files
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
    partition_filter: Callable[[tuple[Any, ...]], bool] | None = None,
) -> DataFrame:
    """Resolve, plan and build the DataFrame; see `lakebed.Lake.read` for the parameters."""
    state = resolve(tables, store, name, travel, schema, rules.time_zone)
    refuse_unreadable(state.schema)
    files: Sequence[DataFile] = ()
    if state.snapshot is not None:
        files = plan_files(store, state.table_path, state.snapshot, state.schema, partition_filter=partition_filter)
        refuse_nanosecond_files(store, files, state.schemas.load_schema)
    place = choose_scratch(spark, store, tables.path_factory.warehouse, scratch)
    rows = _rows(FileRows(spark, store, state.schemas, rules, place), files, state.schema)
    return rows.select(*_annotated(state.schema))


def _rows(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    if not schema.primary_keys:
        return reader.read(files, schema)
    plan = plan_merge(files, schema)
    plain = reader.read(plan.raw, schema)
    if not plan.sections:
        return plain
    merge = merged(reader, plan.sections, schema)
    return plain.union(merge) if plan.raw else merge


def _annotated(schema: TableSchema) -> list[Column]:
    logical = {f.name: f for f in schema.logical.fields}
    return [F.col(quote_name(f.name)).alias(f.name, metadata=column_metadata(logical[f.name])) for f in schema.fields]
