"""Rows of a table with data evolution, put together from the files that hold parts of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.physical.types import DataField
from lakebed.spark.addresses import quote_name
from lakebed.spark.file_rows import FileRows, System, stored_fields
from lakebed.table.row_ranges import first_row_id
from lakebed.table.scan import DataFile

_GROUP, _ROW_ID = "_LAKEBED_GROUP", "_ROW_ID"


def put_together(reader: FileRows, groups: Sequence[Sequence[DataFile]], schema: TableSchema) -> DataFrame:
    """One row a group and row id; each column from the newest file of the group (oldest first) that holds it."""
    parts = [file for group in groups for file in group]
    numbers = [number for number, group in enumerate(groups) for _ in group]
    file = F.col(System.FILE)
    rows = reader.read(parts, schema, System.FILE, System.POSITION)
    rows = rows.withColumn(_GROUP, by_file("array<int>", numbers)(file)).withColumn(
        _ROW_ID, by_file("array<bigint>", [first_row_id(f) for f in parts])(file) + F.col(System.POSITION)
    )
    held = [{f.id for f in stored_fields(reader.schemas, file)} for file in parts]
    newest = [_newest(field, schema, held) for field in schema.fields]
    return rows.groupBy(_GROUP, _ROW_ID).agg(*newest).drop(_GROUP, _ROW_ID)


def _newest(field: DataField, schema: TableSchema, held: Sequence[set[int]]) -> Column:
    """The value of the newest file that holds the column, NULL included; partition columns are the same in all."""
    column = F.col(quote_name(field.name))
    if field.name in schema.partition_keys:
        return F.any_value(column).alias(field.name)
    ages = [age if field.id in held[age] else None for age in range(len(held))]
    return F.max_by(column, by_file("array<int>", ages)(F.col(System.FILE))).alias(field.name)


def by_file(type_: str, values: Sequence[int | None]) -> Callable[[Column], Column]:
    """What is known of each file, by the file's number."""
    table = F.from_json(F.lit(json.dumps(values)), type_)
    return lambda number: F.element_at(table, number + F.lit(1))
