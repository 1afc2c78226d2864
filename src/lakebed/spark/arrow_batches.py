"""Carry rows from Spark to its workers in batches of few rows, and gather these there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from threading import Lock
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.physical.paimon_tree import fold, types_inside
from lakebed.physical.paimon_types import (
    Array,
    Binary,
    Blob,
    DataField,
    DataType,
    Map,
    Multiset,
    Row,
    Unknown,
    VarBinary,
    VarChar,
    Variant,
)
from lakebed.spark.spark_errors import is_sparks

#: Rows of a batch on its way: rows of 32 KiB fill the 64 MiB that Spark allows a batch by itself. With a quarter of the
#: rows all that there is to do takes a fifth longer.
_ROWS = 2048
_MAX_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
#: Where it is set, Spark from 4.1 on asks for the size of the batch after each row, which takes longer than the rows.
_MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
_UNBOUNDED = str(2**31 - 1)
_OF_ANY_SIZE = (Binary, VarBinary, Variant, Blob, Unknown)
_REPEATED = (Array, Map, Multiset)
#: Without counting, so many rows of so many bytes are the most that a batch has.
_LARGE_ROW = 256 << 10
_FOUND_LARGE = "LAKEBED_LARGE_ROW"
#: Bytes of the widest value of a fixed size, twice for an entry of a map.
_WIDEST = 32
_GATHERED_ROWS, _GATHERED_BYTES = 8192, 16 << 20


class LargeRowError(Exception):
    """A row is too large for batches whose bytes are not counted."""


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


def needs_count(fields: Iterable[DataField]) -> bool:
    """Whether rows of these fields may be of any size: they hold binary values, or several texts in one value."""
    return any(map(_is_of_any_size, fields))


def is_counting(spark: SparkSession) -> bool:
    """Whether the session itself says how many bytes a batch may have."""
    return spark.conf.get(_MAX_BYTES, None) not in (None, _UNBOUNDED)


def _is_of_any_size(field: DataField) -> bool:
    for inner in types_inside(field.type):
        if isinstance(inner, _OF_ANY_SIZE):
            return True
        if isinstance(inner, _REPEATED):
            _, *held = types_inside(inner)
            if any(isinstance(t, (VarChar, *_REPEATED)) for t in held):
                return True
    return False


@contextmanager
def bounded_by_rows(spark: SparkSession, *, counts_bytes: bool) -> Iterator[None]:
    """Let the jobs inside send batches of few rows, whose bytes Spark does not count; see `refuse_large_rows`.

    With `counts_bytes` they are counted for all jobs that are inside. A session that says how many bytes a batch may
    have is left as it is.

    Raises `LargeRowError` where a row was too large.
    """
    _count(spark, 1, large=counts_bytes)
    try:
        yield
    except Exception as error:
        if not counts_bytes and is_sparks(error) and _FOUND_LARGE in str(error):
            raise LargeRowError from None
        raise
    finally:
        _count(spark, -1, large=counts_bytes)


def refuse_large_rows(rows: DataFrame, values: Iterable[tuple[Column, DataType]]) -> DataFrame:
    """The rows, of which one that is too large for bytes that are not counted fails the job."""
    sizes = [size for value, type_ in values for size in fold(type_, _sizes)(value)]
    if not sizes:
        return rows
    is_large = reduce(Column.__add__, sizes) > F.lit(_LARGE_ROW)
    return rows.where(F.when(is_large, F.raise_error(F.lit(_FOUND_LARGE)).cast("boolean")).otherwise(F.lit(True)))


#: About how many bytes the parts of a value have that may be large.
_Sizes = Callable[[Column], list[Column]]


def _sizes(type_: DataType, inside: tuple[_Sizes, ...]) -> _Sizes:
    match type_:
        case Row():
            members = list(zip(type_.fields, inside, strict=True))
            return lambda value: [size for f, sizes in members for size in sizes(value.getField(f.name))]
        case Array() | Map() | Multiset():
            return lambda value: [F.coalesce(F.size(value), F.lit(0)).cast("bigint") * F.lit(_WIDEST)]
        case VarChar():
            return lambda value: [F.coalesce(F.octet_length(value), F.lit(0)).cast("bigint")]
        case _:
            return lambda _: []


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


def gathered(
    batches: Iterable[pa.RecordBatch], *, most_rows: int = _GATHERED_ROWS, most_bytes: int = _GATHERED_BYTES
) -> Iterator[pa.RecordBatch]:
    """The same rows in batches that are worth their own costs, of about so many rows or bytes; none without rows."""
    held: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        held.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= most_rows or size >= most_bytes:
            yield from _one(held)
            held, rows, size = [], 0, 0
    yield from _one(held)


def _one(held: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()
