"""Locate the values of blob files from the index at the end of each file, reading none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType, StructType

from lakebed.arrow.arrow_schema import to_arrow_schema
from lakebed.arrow.blob_file import PLACEHOLDER, Place, Placeholder, blob_places, index_size
from lakebed.arrow.blob_values import IS_PLACEHOLDER
from lakebed.arrow.decode_files import ORDINAL, POSITION
from lakebed.errors import CorruptMetadataError
from lakebed.format.blob_columns import BlobDescriptor
from lakebed.spark.scan import ScanFile, Scanned
from lakebed.store.base import Store

#: Enough for the index of most files in one read.
_FIRST_READ = 64 * 1024


def described(spark: SparkSession, store: Store, schema: StructType, files: Sequence[ScanFile]) -> Scanned:
    """The rows of blob files as columns of `schema`: a descriptor in place of each value.

    The indexes are read here and now: about two bytes a row. Raises CorruptMetadataError for one that is damaged.
    """
    import pyarrow as pa

    arrow = to_arrow_schema(StructType([*schema.fields]).add(ORDINAL, IntegerType()).add(POSITION, LongType()))
    tables = [_rows(file, places_of(store, file), arrow) for file in files]
    return Scanned(spark.createDataFrame(pa.concat_tables(tables)), F.col(ORDINAL), F.col(POSITION))


def _rows(file: ScanFile, places: Sequence[Place | Placeholder | None], schema: Any) -> Any:
    import pyarrow as pa

    value, *others, ordinal, position = schema
    descriptors = [_descriptor(file, p) if isinstance(p, Place) else None for p in places]
    flags = [p is PLACEHOLDER for p in places]
    between = [
        pa.array(flags) if field.name == IS_PLACEHOLDER else pa.nulls(len(places), field.type) for field in others
    ]
    numbers = pa.repeat(pa.scalar(file.ordinal, ordinal.type), len(places))
    columns = [pa.array(descriptors, value.type), *between, numbers, pa.array(range(len(places)), position.type)]
    return pa.Table.from_arrays(columns, schema=schema)


def _descriptor(file: ScanFile, place: Place) -> bytes:
    return BlobDescriptor(file.path, place.offset, place.length).to_bytes()


def places_of(store: Store, file: ScanFile) -> Sequence[Place | Placeholder | None]:
    """Where the values of a blob file lie, row by row. Raises CorruptMetadataError for a damaged index."""
    try:
        tail = store.read_range(file.path, -_FIRST_READ, _FIRST_READ)
        size = index_size(tail)
        if size > file.size:
            raise ValueError("the index is cut")
        if size > len(tail):
            tail = store.read_range(file.path, -size, size)
        return blob_places(tail[-size:], file.size)
    except ValueError as e:
        raise CorruptMetadataError.of("LB5561", f"data file {file.path} is damaged: {e}", path=file.path) from e
