"""Read tables with row tracking: ids and sequence numbers of rows, and rows whose parts lie in several files.

A file that was written anew, as by compaction, holds ids and sequence numbers as columns. In any other file a row's id
is that of the file's first row plus the row's place, and its sequence number is that of the file's commit (Paimon
documentation, "Row Tracking"). With data evolution the columns of a row lie in several files, and are joined by its id.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.format.deletion_vectors import read_positions
from lakebed.format.live_files import DataFile
from lakebed.format.row_ranges import (
    column_sequence,
    doubtful_fields,
    first_row_id,
    has_row_tracking,
    is_blob_file,
    stored_fields,
)
from lakebed.physical.paimon_types import DataField
from lakebed.spark.file_constants import by_number
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.sql_names import quote_name
from lakebed.store.base import Store

#: The metadata columns that a read can have, by their names.
METADATA_COLUMNS = (System.ROW_ID, System.SEQUENCE_NUMBER)
_GROUP, _ROW = "_LAKEBED_GROUP", "_LAKEBED_ROW"
#: Never the value of a column where another file has one.
_LAST = -1


def metadata_columns(names: Collection[str], schema: TableSchema) -> tuple[System, ...]:
    """The columns of these names, in this order. Raises UsageError for a name or a table that has none."""
    known = {column.value: column for column in METADATA_COLUMNS} if has_row_tracking(schema) else {}
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name not in known:
            raise UsageError.of(
                "LB5566",
                f"there is no metadata column {name!r}",
                path=name,
                expected=" or ".join(known) or "none: the table has no row tracking",
                remedy="leave it out of metadata_columns",
            )
    return tuple(known[name] for name in dict.fromkeys(names))


def tracked(reader: FileRows, files: Sequence[DataFile], schema: TableSchema, metadata: Sequence[System]) -> DataFrame:
    """The rows of whole files, followed by the columns `metadata`."""
    if not metadata:
        return reader.read(files, schema)
    rows = reader.read(files, schema, System.FILE, System.POSITION, *metadata)
    known = stored_or_known(files)
    own = (F.col(quote_name(f.name)) for f in schema.fields)
    return rows.select(*own, *(known[column].alias(column) for column in metadata))


def stored_or_known(files: Sequence[DataFile]) -> Mapping[System, Column]:
    """The metadata columns of rows that `FileRows.read(files, ..., FILE, POSITION, ...)` gave: what a file stores wins.

    NULL for the ids of rows in files without row ids.
    """
    file = F.col(System.FILE)
    start = by_number("bigint", [f.meta.first_row_id for f in files])(file)
    written = by_number("bigint", [f.meta.max_sequence_number for f in files])(file)
    return {
        System.ROW_ID: F.coalesce(F.col(System.ROW_ID), start + F.col(System.POSITION)),
        System.SEQUENCE_NUMBER: F.coalesce(F.col(System.SEQUENCE_NUMBER), written),
    }


def put_together(
    reader: FileRows, groups: Sequence[Sequence[DataFile]], schema: TableSchema, metadata: Sequence[System] = ()
) -> DataFrame:
    """One row a group and row id; each column from the newest file of the group that holds it, then `metadata`.

    The groups are those of a `RangePlan`. A row that the deletion vector of one of its files deletes is gone from all.
    """
    deleted = _deleted(reader.spark, reader.store, groups)
    placed = [(number, file) for number, group in enumerate(groups) for file in _needed(reader, group, schema)]
    numbers, parts = [number for number, _ in placed], [file for _, file in placed]
    file = F.col(System.FILE)
    whole = [replace(part, deletions=None) for part in parts]
    rows = reader.read(whole, schema, System.FILE, System.POSITION, System.PLACEHOLDER, *metadata)
    starts = by_number("bigint", [first_row_id(f) for f in parts])
    rows = rows.withColumn(_GROUP, by_number("int", numbers)(file))
    rows = rows.withColumn(_ROW, starts(file) + F.col(System.POSITION))
    if deleted is not None:
        rows = rows.join(deleted, [_GROUP, _ROW], "left_anti")
    order = _Order(reader, parts)
    columns = [order.newest(field, schema) for field in schema.fields]
    known = stored_or_known(parts)
    columns += [F.max_by(known[column], order.of_data_files()).alias(column) for column in metadata]
    return rows.groupBy(_GROUP, _ROW).agg(*columns).drop(_GROUP, _ROW)


def _needed(reader: FileRows, group: Sequence[DataFile], schema: TableSchema) -> list[DataFile]:
    """The files of a group less those of blobs that are not wanted, where data files tell which rows there are."""
    wanted = {f.id for f in schema.fields}
    data = [file for file in group if not is_blob_file(file)]
    blobs = [file for file in group if is_blob_file(file)]
    return data + [f for f in blobs if not data or wanted & {held.id for held in stored_fields(reader.version, f)}]


def _deleted(spark: SparkSession, store: Store, groups: Sequence[Sequence[DataFile]]) -> DataFrame | None:
    """The rows that are deleted, by group and row id; None for none."""
    import pyarrow as pa

    parts = [(number, part) for number, group in enumerate(groups) for part in group]
    marked = [(number, part, part.deletions) for number, part in parts if part.deletions]
    if not marked:
        return None
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
