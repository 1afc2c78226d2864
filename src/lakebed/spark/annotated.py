"""Annotate the columns of a DataFrame, and the members of structs, with a schema's attributes."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.spark import column_metadata, has_nested_metadata, with_metadata
from lakebed.model import Schema
from lakebed.spark.sql_names import quote_name


def annotated(spark: SparkSession, rows: DataFrame, schema: TableSchema, beside: Sequence[str] = ()) -> DataFrame:
    """`rows`, whose columns are those of the schema and `beside`, with its annotations in the metadata of their fields.

    An alias says the metadata of a column and costs nothing; there is none for members of structs, and a cast would
    keep filters from the files. A union takes the metadata at every level from its first part: an empty one says it
    here, and the optimizer takes it away.
    """
    logical = schema.logical
    fields = {f.name: f for f in logical.fields}
    wanted = Schema(tuple(fields[f.name] for f in schema.fields), logical.extra)
    if has_nested_metadata(wanted):
        others = list(rows.schema.fields)[len(wanted.fields) :]
        shapes = with_metadata(StructType(list(rows.schema.fields)[: len(wanted.fields)]), wanted)
        empty = spark.sql("SELECT 1").where(F.lit(False))
        rows = empty.select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in (*shapes.fields, *others))).union(
            rows
        )
    first, *rest = wanted.fields
    metadata = [column_metadata(first, schema_extra=wanted.extra), *map(column_metadata, rest)]
    named = zip(wanted.fields, metadata, strict=True)
    own = (F.col(quote_name(f.name)).alias(f.name, metadata=said) for f, said in named)
    return rows.select(*own, *(F.col(quote_name(name)) for name in beside))
