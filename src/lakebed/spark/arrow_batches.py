"""Carry rows from Spark to its workers in batches of few rows, and gather these there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

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


@dataclass(slots=True)
class _Writers:
    """The jobs of a session that are inside, with and without values of any size, and the rows that it asked for."""

    large: int = 0
    others: int = 0
    is_bounded: bool = False
    asked: str | None = None
    given: str = ""


_lock = Lock()
_writers: WeakKeyDictionary[SparkSession, _Writers] = WeakKeyDictionary()


@contextmanager
def bounded_by_rows(spark: SparkSession, fields: Iterable[DataField]) -> Iterator[None]:
    """Let the jobs inside send batches of few rows of these fields, whose bytes Spark does not count.

    Binary values may be of any size, so that bytes are counted while a job with such is inside. A session that says
    how many bytes a batch may have is left as it is.
    """
    large = any(isinstance(inner, _LARGE) for field in fields for inner in types_inside(field.type))
    _count(spark, 1, large=large)
    try:
        yield
    finally:
        _count(spark, -1, large=large)


def _count(spark: SparkSession, change: int, *, large: bool) -> None:
    """Note that a job comes or goes, and set what all that are inside need."""
    with _lock:
        inside = _writers.setdefault(spark, _Writers())
        if large:
            inside.large += change
        else:
            inside.others += change
        wanted = inside.others > 0 and inside.large == 0
        if wanted and not inside.is_bounded and spark.conf.get(_MAX_BYTES, None) is None:
            _bound(spark, inside)
        elif inside.is_bounded and not wanted:
            _release(spark, inside)


def _bound(spark: SparkSession, inside: _Writers) -> None:
    inside.asked = spark.conf.get(_MAX_ROWS, None)
    asked = int(inside.asked or 0)
    inside.given = str(min(_ROWS, asked) if asked > 0 else _ROWS)
    inside.is_bounded = True
    spark.conf.set(_MAX_ROWS, inside.given)
    spark.conf.set(_MAX_BYTES, _UNBOUNDED)


def _release(spark: SparkSession, inside: _Writers) -> None:
    """Put back what was there; what somebody else has set meanwhile stays."""
    inside.is_bounded = False
    if spark.conf.get(_MAX_BYTES, None) == _UNBOUNDED:
        spark.conf.unset(_MAX_BYTES)
    if spark.conf.get(_MAX_ROWS, None) != inside.given:
        return
    if inside.asked is None:
        spark.conf.unset(_MAX_ROWS)
    else:
        spark.conf.set(_MAX_ROWS, inside.asked)


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
