"""Add row ids and sequence numbers of rows (Paimon documentation, "Row Tracking").

A file that was written anew, as by compaction, holds them as columns. In any other file a row's id is that of the
file's first row plus the row's place, and its sequence number is that of the file's commit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.format.live_files import DataFile
from lakebed.format.row_ranges import has_row_tracking
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.sql_names import by_number, quote_name

#: The metadata columns that a read can have, by their names.
METADATA_COLUMNS = (System.ROW_ID, System.SEQUENCE_NUMBER)


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
