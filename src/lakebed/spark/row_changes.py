"""Read what changed between two snapshots: added rows, changelogs, or the difference of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.blob_columns import refuse_blobs
from lakebed.format.live_files import DataFile
from lakebed.format.row_kinds import INSERTS, KINDS, ROW_KIND
from lakebed.format.table_branch import TableBranch
from lakebed.read.plan_changes import ChangesAsked, CommitChanges, Commits, Mode, StateDifference, plan_changes
from lakebed.read.request import ReadRequest
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.read import Executor, annotated, read_table
from lakebed.spark.row_merge.merge_sections import key_columns, merged, same_key
from lakebed.spark.spark_errors import known_failures
from lakebed.spark.sql_names import quote_name

_OLD, _NEW, _SIDE, _PLACE = "_LAKEBED_OLD", "_LAKEBED_NEW", "_LAKEBED_SIDE", "_LAKEBED_PLACE"


@known_failures()
def read_changes(
    spark: SparkSession, table: TableBranch, asked: ChangesAsked, request: ReadRequest, scratch: str | None = None
) -> DataFrame:
    """Build the DataFrame of the changes; see `plan_changes` for what is asked."""
    planned = plan_changes(table, asked, request)
    match planned:
        case CommitChanges():
            executor = Executor.of(spark, table, request, scratch)
            return _told(executor, planned, row_kinds=asked.row_kinds)
        case StateDifference():
            new = read_table(spark, table, planned.until, scratch)
            since = planned.since
            old = spark.createDataFrame([], new.schema) if since is None else read_table(spark, table, since, scratch)
            rows = _difference(old, new, planned.state.schema)
            if asked.row_kinds:
                return rows
            kept = rows.where(F.col(ROW_KIND).isin("+I", "+U")).drop(ROW_KIND)
            return annotated(spark, kept, planned.state.schema)
    assert_never(planned)


# --- what commits changed ---------------------------------------------------------------------------------------------


def _told(executor: Executor, planned: CommitChanges, *, row_kinds: bool) -> DataFrame:
    told, files = planned.told, planned.files
    schema = told.state.schema
    refuse_blobs(schema.fields, schema.options, descriptors=False)
    reader = executor.reader(told.state)
    if row_kinds:
        return _each_row(reader, told, files)
    one_a_key = _last_image if told.mode is Mode.CHANGELOG else _one_a_key
    return annotated(executor.spark, one_a_key(reader, files, schema), schema)


def _each_row(reader: FileRows, told: Commits, files: Sequence[DataFile]) -> DataFrame:
    """Every row of the files, with its kind; rows of append tables are inserts."""
    schema = told.state.schema
    own = list(_columns(schema))
    if not told.have_kinds:
        return reader.read(files, schema).select(F.lit(KINDS[0]).alias(ROW_KIND), *own)
    kind = F.coalesce(F.col(System.VALUE_KIND).cast("int"), F.lit(0))
    rows = reader.read(files, schema, System.VALUE_KIND)
    if told.ignore_deletes:
        rows = rows.where(kind.isin(*INSERTS))
    names = F.array(*map(F.lit, KINDS))
    return rows.select(F.element_at(names, kind + F.lit(1)).alias(ROW_KIND), *own)


def _one_a_key(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    if not schema.primary_keys or not files:
        return reader.read(files, schema)
    buckets: dict[object, list[DataFile]] = {}
    for file in files:
        # All are level 0 to the merge: the order of their commits says which is newer.
        buckets.setdefault((file.partition, file.bucket), []).append(replace(file, meta=replace(file.meta, level=0)))
    return merged(reader, [tuple(b) for b in buckets.values()], schema)


def _last_image(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    """What a changelog says last of each key, where that is no delete. Files stand in the order of the changes."""
    rows = reader.read(files, schema, System.FILE, System.SEQUENCE_NUMBER, System.VALUE_KIND)
    kind = F.col(System.VALUE_KIND)
    newest = Window.partitionBy(*key_columns(schema)).orderBy(
        F.col(System.FILE).desc(), F.col(System.SEQUENCE_NUMBER).desc()
    )
    # A before-image is never the last word, and may have the number of the image after it.
    last = rows.where(kind != F.lit(KINDS.index("-U"))).withColumn(_PLACE, F.row_number().over(newest))
    kept = last.where((F.col(_PLACE) == 1) & (kind != F.lit(KINDS.index("-D"))))
    return kept.select(*_columns(schema))


# --- the difference of two states -------------------------------------------------------------------------------------


def _difference(old: DataFrame, new: DataFrame, schema: TableSchema) -> DataFrame:
    """Rows of one state that the other has not; with keys, those whose other columns differ are updates."""
    if not schema.primary_keys:
        parts = (new.exceptAll(old), "+I"), (old.exceptAll(new), "-D")
        return reduce(DataFrame.union, (r.select(F.lit(k).alias(ROW_KIND), *_columns(schema)) for r, k in parts))
    return _by_key(old, new, schema)


def _by_key(old: DataFrame, new: DataFrame, schema: TableSchema) -> DataFrame:
    def side(rows: DataFrame, name: str) -> DataFrame:
        whole = F.struct(*_columns(schema)).alias(name)
        keys = (F.col(quote_name(k)).alias(f"{name}_{i}") for i, k in enumerate(schema.primary_keys))
        return rows.select(whole, *keys)

    same = same_key(schema, [(F.col(f"{_OLD}_{i}"), F.col(f"{_NEW}_{i}")) for i, _ in enumerate(schema.primary_keys)])
    both = side(old, _OLD).join(side(new, _NEW), same, "full_outer")
    before, after = F.col(_OLD), F.col(_NEW)
    changed = both.where(~before.eqNullSafe(after))

    def row(kind: str, values: Column) -> Column:
        return F.struct(F.lit(kind).alias(ROW_KIND), values.alias(_SIDE))

    rows = (
        F.when(before.isNull(), F.array(row("+I", after)))
        .when(after.isNull(), F.array(row("-D", before)))
        .otherwise(F.array(row("-U", before), row("+U", after)))
    )
    flat = changed.select(F.explode(rows).alias(_SIDE)).select(f"{_SIDE}.{ROW_KIND}", f"{_SIDE}.{_SIDE}")
    return flat.select(ROW_KIND, *(F.col(_SIDE).getField(f.name).alias(f.name) for f in schema.fields))


def _columns(schema: TableSchema) -> Iterator[Column]:
    return (F.col(quote_name(f.name)) for f in schema.fields)
