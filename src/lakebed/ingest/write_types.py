"""Choose the Spark types that columns are written as, with field ids for Parquet."""

from __future__ import annotations

from pyspark.sql import types as spark

from lakebed.convert.spark import scan_type
from lakebed.ingest.timestamp_encoding import StampForms
from lakebed.physical.paimon_types import Array, DataField, DataType, LocalZonedTimestamp, Map, Multiset, Row, Timestamp

FIELD_ID = "parquet.field.id"


def write_type(type_: DataType, stamps: StampForms) -> spark.DataType:
    """The Spark type of a column that is written; all parts nullable, members of structs with their field ids."""
    match type_:
        case Row():
            return spark.StructType([_field(f, stamps) for f in type_.fields])
        case Array():
            return spark.ArrayType(write_type(type_.element, stamps))
        case Map():
            return spark.MapType(write_type(type_.key, stamps), write_type(type_.value, stamps))
        case Multiset():
            return spark.MapType(write_type(type_.element, stamps), spark.IntegerType())
        case Timestamp() | LocalZonedTimestamp():
            return stamps.spark_type(type_)
        case _:
            return scan_type(type_)


def _field(field: DataField, stamps: StampForms) -> spark.StructField:
    return spark.StructField(field.name, write_type(field.type, stamps), True, {FIELD_ID: field.id})
