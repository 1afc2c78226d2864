"""Rows of a fallback branch as rows of the main branch."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.spark import scan_type
from lakebed.spark.addresses import quote_name
from lakebed.spark.fallback import branch_column


def like(rows: DataFrame, schema: TableSchema, wanted: TableSchema) -> DataFrame:
    """Rows of the fallback branch as columns of the main branch, by name; a column that it lacks is NULL.

    Raises UnsupportedError for a column of another type.
    """
    columns = []
    for field in wanted.fields:
        lacks = branch_column(field, schema) is None
        value = F.lit(None).cast(scan_type(field.type)) if lacks else F.col(quote_name(field.name))
        columns.append(value.alias(field.name))
    return rows.select(*columns)
