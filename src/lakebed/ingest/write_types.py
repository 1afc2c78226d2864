"""Choose the Spark types that columns are written as, with field ids for Parquet."""

from __future__ import annotations

from pyspark.sql import types as spark

from lakebed.convert.scan_types import scan_type
from lakebed.ingest.timestamp_encoding import StampForms
from lakebed.physical.paimon_tree import fold
from lakebed.physical.paimon_types import Array, DataType, LocalZonedTimestamp, Map, Multiset, Row, Timestamp

FIELD_ID = "parquet.field.id"


def write_type(type_: DataType, stamps: StampForms) -> spark.DataType:
    """The Spark type of a column that is written; all parts nullable, members of structs with their field ids."""

    def write(part: DataType, inner: tuple[spark.DataType, ...]) -> spark.DataType:
        match part:
            case Row():
                members = zip(part.fields, inner, strict=True)
                return spark.StructType([spark.StructField(f.name, t, True, {FIELD_ID: f.id}) for f, t in members])
            case Array():
                return spark.ArrayType(inner[0])
            case Map():
                return spark.MapType(inner[0], inner[1])
            case Multiset():
                return spark.MapType(inner[0], spark.IntegerType())
            case Timestamp() | LocalZonedTimestamp():
                return stamps.spark_type(part)
            case _:
                return scan_type(part)

    return fold(type_, write)
