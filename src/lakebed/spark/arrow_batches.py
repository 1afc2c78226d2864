"""Carry rows from Spark to its workers in batches of few rows, and gather these there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock

import pyarrow as pa
from pyspark.sql import SparkSession

from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import Binary, Blob, DataField, VarBinary, Variant

#: Rows of a batch on its way: rows of 128 KiB fill the 64 MiB that Spark allows a batch by itself.
_ROWS = 512
_MAX_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
#: Where it is set, Spark from 4.1 on asks for the size of the batch after each row, which takes longer than the rows.
_MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_UNBOUNDED = str(2**31 - 1)
_LARGE = (Binary, VarBinary, Variant, Blob)
_GATHERED_ROWS, _GATHERED_BYTES = 8192, 16 << 20

_lock = Lock()


@contextmanager
def bounded_by_rows(spark: SparkSession, fields: Iterable[DataField]) -> Iterator[None]:
    """Let the jobs inside send batches of few rows of these fields, whose bytes Spark does not count.

    Binary values may be of any size, so that their bytes are counted. A session that says how many bytes a batch may
    have is left as it is.
    """
    if any(isinstance(inner, _LARGE) for field in fields for inner in types_inside(field.type)):
        yield
        return
    with _lock:
        own = spark.conf.get(_MAX_BYTES, None) is not None
        rows = spark.conf.get(_MAX_ROWS, None)
        if not own:
            asked = int(rows or 0)
            spark.conf.set(_MAX_ROWS, str(min(_ROWS, asked) if asked > 0 else _ROWS))
            spark.conf.set(_MAX_BYTES, _UNBOUNDED)
    try:
        yield
    finally:
        if not own:
            with _lock:
                spark.conf.unset(_MAX_BYTES)
                if rows is None:
                    spark.conf.unset(_MAX_ROWS)
                else:
                    spark.conf.set(_MAX_ROWS, rows)


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that are worth their own costs; no batch without rows."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _GATHERED_ROWS or size >= _GATHERED_BYTES:
            yield from _one(held)
            held, rows, size = [], 0, 0
    yield from _one(held)


def _one(held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()
