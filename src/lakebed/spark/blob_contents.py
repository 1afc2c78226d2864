"""Fetch the contents of blobs by their descriptors, in Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType

from lakebed.errors import UsageError
from lakebed.format.blob_columns import read_blob
from lakebed.spark.worker_python import check_workers
from lakebed.store.base import Store

#: About how many bytes of contents go on together.
_BYTES = 16 << 20


def fetched(rows: DataFrame, columns: Sequence[str], store: Store, root: str) -> DataFrame:
    """`rows` with the contents that the descriptors in `columns` point to; `root` is the warehouse of the store.

    Raises UsageError for a column that is not one of bytes. The query fails on bytes that are no descriptor.
    """
    schema = rows.schema
    kinds = {field.name: field.dataType for field in schema.fields}
    for column in columns:
        if not isinstance(kinds.get(column), BinaryType):
            raise UsageError.of("LB5570", f"{column!r} is no column of descriptors", path=column, expected="BINARY")
    places = [list(kinds).index(column) for column in dict.fromkeys(columns)]

    def fetch(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from _with_contents(batch, places, store, root)

    if not places:
        return rows
    check_workers(rows.sparkSession)
    return rows.mapInArrow(fetch, schema)


def _with_contents(batch: pa.RecordBatch, places: Sequence[int], store: Store, root: str) -> Iterator[pa.RecordBatch]:
    start, size = 0, 0
    found: list[list[bytes | None]] = [[] for _ in places]
    for row in range(batch.num_rows):
        for values, place in zip(found, places, strict=True):
            descriptor = batch.column(place)[row].as_py()
            content = None if descriptor is None else read_blob(store, root, descriptor)
            values.append(content)
            size += len(content or b"")
        if size > _BYTES or row + 1 == batch.num_rows:
            yield _replaced(batch.slice(start, row + 1 - start), places, found)
            start, size = row + 1, 0
            found = [[] for _ in places]


def _replaced(batch: pa.RecordBatch, places: Sequence[int], found: Sequence[list[Any]]) -> pa.RecordBatch:
    arrays = list(batch.columns)
    for place, values in zip(places, found, strict=True):
        arrays[place] = pa.array(values, arrays[place].type)
    return pa.RecordBatch.from_arrays(arrays, schema=batch.schema)
