"""Convert the columns of a scan to an Arrow schema."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark

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


def to_arrow_schema(schema: spark.StructType) -> pa.Schema:
    """Columns as Spark's workers exchange them, everything nullable."""
    return pa.schema([(f.name, _arrow(f.dataType)) for f in schema.fields])


def _arrow(type_: spark.DataType) -> pa.DataType:
    match type_:
        case spark.StructType():
            return pa.struct([(f.name, _arrow(f.dataType)) for f in type_.fields])
        case spark.ArrayType():
            return pa.list_(_arrow(type_.elementType))
        case spark.MapType():
            return pa.map_(_arrow(type_.keyType), _arrow(type_.valueType))
        case spark.DecimalType():
            return pa.decimal128(type_.precision, type_.scale)
        case _:
            return _FLAT[type(type_)]
