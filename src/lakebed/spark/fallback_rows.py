"""Rows of a fallback branch as rows of the main branch."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.spark import scan_type
from lakebed.errors import UnsupportedError
from lakebed.physical.types import with_nullability
from lakebed.spark.addresses import quote_name


def like(rows: DataFrame, schema: TableSchema, wanted: TableSchema) -> DataFrame:
    """Rows of the fallback branch as columns of the main branch, by name; a column that it lacks is NULL.

    Raises UnsupportedError for a column of another type.
    """
    have = {f.name: f for f in schema.fields}
    columns = []
    for field in wanted.fields:
        other = have.get(field.name)
        if other is None:
            columns.append(F.lit(None).cast(scan_type(field.type)).alias(field.name))
            continue
        if with_nullability(other.type, True) != with_nullability(field.type, True):
            raise UnsupportedError.of(
                "LB5053",
                f"column {field.name!r} is {field.type} on the main branch and {other.type} on the fallback branch",
                path=field.name,
                expected=str(field.type),
                found=str(other.type),
                remedy="give the column one type on both branches",
            )
        columns.append(F.col(quote_name(field.name)))
    return rows.select(*columns)
