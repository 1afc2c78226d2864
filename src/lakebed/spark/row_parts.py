"""Join the parts of rows that lie in several files (data evolution), as DataFrames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.file_columns import doubtful_fields, stored_fields
from lakebed.format.live_files import DataFile
from lakebed.format.row_ranges import column_sequence, first_row_id, is_blob_file
from lakebed.physical.paimon_types import DataField
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.row_tracking import stored_or_known
from lakebed.spark.sql_names import by_number, quote_name
from lakebed.store.base import Store

_GROUP, _ROW = "_LAKEBED_GROUP", "_LAKEBED_ROW"
#: Never the value of a column where another file has one.
_LAST = -1


def put_together(
    reader: FileRows, groups: Sequence[Sequence[DataFile]], schema: TableSchema, metadata: Sequence[System] = ()
) -> DataFrame:
    """One row a group and row id; each column from the newest file of the group that holds it, then `metadata`.

    The groups are those of a `RangePlan`. A row that the deletion vector of one of its files deletes is gone from all.
    """
    parts = [file for group in groups for file in group]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    file = F.col(System.FILE)
    whole = [replace(part, deletions=None) for part in parts]
    rows = reader.read(whole, schema, System.FILE, System.POSITION, System.PLACEHOLDER, *metadata)
    starts = by_number("bigint", [first_row_id(f) for f in parts])
    rows = rows.withColumn(_GROUP, by_number("int", numbers)(file))
    rows = rows.withColumn(_ROW, starts(file) + F.col(System.POSITION))
    if any(part.deletions for part in parts):
        rows = rows.join(_deleted(reader.spark, reader.store, parts, numbers), [_GROUP, _ROW], "left_anti")
    order = _Order(reader, parts)
    columns = [order.newest(field, schema) for field in schema.fields]
    known = stored_or_known(parts)
    columns += [F.max_by(known[column], order.of_data_files()).alias(column) for column in metadata]
    return rows.groupBy(_GROUP, _ROW).agg(*columns).drop(_GROUP, _ROW)


def _deleted(spark: SparkSession, store: Store, parts: Sequence[DataFile], numbers: Sequence[int]) -> DataFrame:
    """The rows that are deleted, by group and row id."""
    import pyarrow as pa

    marked = [(number, part, part.deletions) for number, part in zip(numbers, parts, strict=True) if part.deletions]
    positions = read_positions(store, [vector for _, _, vector in marked])
    groups, rows = [], []
    for (number, part, _), places in zip(marked, positions, strict=True):
        start = first_row_id(part)
        groups.append(pa.repeat(pa.scalar(number, pa.int32()), len(places)))
        rows.append(pa.array([start + place for place in places], pa.int64()))
    return F.broadcast(
        spark.createDataFrame(pa.table({_GROUP: pa.concat_arrays(groups), _ROW: pa.concat_arrays(rows)}))
    )


class _Order:
    """Which file of a row has the value of a column."""

    def __init__(self, reader: FileRows, parts: Sequence[DataFile]) -> None:
        self._parts = parts
        self._doubtful = [doubtful_fields(reader.version, file) for file in parts]
        self._held = [{f.id: f.name for f in stored_fields(reader.version, file)} for file in parts]

    def newest(self, field: DataField, schema: TableSchema) -> Column:
        """The value of the newest file that holds the column, NULL included; partition columns are the same in all.

        A placeholder is no value: it stands for that of the next older file.
        """
        column = F.col(quote_name(field.name))
        ages = self._ages(field)
        if field.name in schema.partition_keys or all(age is None for age in ages):
            return F.any_value(column).alias(field.name)
        age = by_number("int", ages)(F.col(System.FILE))
        return F.max_by(column, F.when(~F.col(System.PLACEHOLDER), age)).alias(field.name)

    def _ages(self, field: DataField) -> Sequence[int | None]:
        """Numbers that are the higher the newer a file's values of the column are; None for a file without it.

        Only numbers of one group are compared. Between equal sequence numbers the first file wins. A data file that
        need not hold the column is older than every blob file.
        """
        holders = [number for number, held in enumerate(self._held) if field.id in held]

        def age_of(number: int) -> tuple[bool, int, int]:
            file, name = self._parts[number], self._held[number][field.id]
            return field.id not in self._doubtful[number], column_sequence(file, name), -number

        holders.sort(key=age_of)
        ages: list[int | None] = [None] * len(self._parts)
        for age, number in enumerate(holders):
            ages[number] = age
        return ages

    def of_data_files(self) -> Column:
        """Higher for newer data files, for what the newest of them says of the whole row."""
        ages = [_LAST if is_blob_file(f) else len(self._parts) - n for n, f in enumerate(self._parts)]
        return by_number("int", ages)(F.col(System.FILE))
