"""Decode the contents of files in Spark's workers, which exchange Arrow batches of one schema."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark

from lakebed.arrow.avro_file import avro_batches
from lakebed.arrow.blob_values import blob_batches
from lakebed.convert.spark_tree import fold
from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError

ORDINAL, POSITION = "_LAKEBED_ORDINAL", "_LAKEBED_POSITION"
#: After the columns of a file come the ordinal of the file and the row's place in it.
_ADDED = 2
#: What the libraries raise over bytes that are not what they should be.
_DAMAGE = (ValueError, TypeError, EOFError, LookupError, ArithmeticError, struct.error, zlib.error)
Decoder = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_FLAT: dict[type[spark.DataType], Any] = {
    spark.BooleanType: pa.bool_(),
    spark.ByteType: pa.int8(),
    spark.ShortType: pa.int16(),
    spark.IntegerType: pa.int32(),
    spark.LongType: pa.int64(),
    spark.FloatType: pa.float32(),
    spark.DoubleType: pa.float64(),
    spark.StringType: pa.string(),
    spark.BinaryType: pa.binary(),
    spark.DateType: pa.date32(),
    spark.TimestampType: pa.timestamp("us", "UTC"),
    spark.TimestampNTZType: pa.timestamp("us"),
}


def decoder(format: str, schema: pa.Schema) -> Decoder:
    """From batches of `content`, ordinal and path to rows of `schema`, which ends with the ordinal and the place.

    Raises CorruptMetadataError that names the file for one that is damaged.
    """
    own = pa.schema(list(schema)[:-_ADDED])

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content, ordinal, path in zip(*batch.columns, strict=True):
                place = 0
                for rows in _named(_rows(format, content.as_py(), own), path.as_py()):
                    added = [
                        pa.array([ordinal.as_py()] * rows.num_rows, pa.int32()),
                        pa.array(range(place, place + rows.num_rows), pa.int64()),
                    ]
                    yield pa.RecordBatch.from_arrays([*rows.columns, *added], schema=schema)
                    place += rows.num_rows

    return decode


def _named(batches: Iterator[pa.RecordBatch], path: str) -> Iterator[pa.RecordBatch]:
    """The batches of a file, whose errors say which file it is."""
    try:
        yield from batches
    except _DAMAGE as e:
        raise CorruptMetadataError.of("LB5561", f"data file {path} cannot be decoded: {reason_of(e)}", path=path) from e


def _rows(format: str, content: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    return avro_batches(content, schema) if format == "avro" else blob_batches(content, schema)


def to_arrow_schema(schema: spark.StructType) -> pa.Schema:
    """Columns as Spark's workers exchange them, everything nullable."""
    return pa.schema([(f.name, fold(f.dataType, _arrow)) for f in schema.fields])


def _arrow(type_: spark.DataType, inner: tuple[pa.DataType, ...]) -> pa.DataType:
    match type_:
        case spark.StructType():
            return pa.struct(list(zip(type_.names, inner, strict=True)))
        case spark.ArrayType():
            return pa.list_(inner[0])
        case spark.MapType():
            return pa.map_(*inner)
        case spark.DecimalType():
            return pa.decimal128(type_.precision, type_.scale)
        case _:
            return _FLAT[type(type_)]
