"""Hand over batches as Spark expects them, and errors without this library's traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from pyspark.sql.types import StructType

from lakebed.errors import LakebedError, UsageError


@contextmanager
def plainly() -> Iterator[None]:
    """Errors without the places in this library that raised them: Spark shows what it gets as it is."""
    try:
        yield
    except LakebedError as error:
        raise type(error)(*error.diagnostics) from None


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
