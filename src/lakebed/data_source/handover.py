"""Hand over batches as Spark expects them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.types import StructType

from lakebed.errors import UsageError


def as_asked(batch: pa.RecordBatch, schema: StructType, table: str) -> pa.RecordBatch:
    """Spark wants its own word on which columns hold no NULL, and would take a NULL there for a value."""
    asked = list(zip(batch.schema, schema.fields, strict=True))
    for (_, column), values in zip(asked, batch.columns, strict=True):
        if values.null_count and not column.nullable:
            raise UsageError.of(
                "LB5602",
                f"column {column.name!r} of table {table} holds NULL, and the schema that is given says NOT NULL",
                path=column.name,
                remedy="leave NOT NULL out of the schema",
            )
    arrow = pa.schema([field.with_nullable(column.nullable) for field, column in asked])
    return pa.RecordBatch.from_arrays(batch.columns, schema=arrow)
