"""Convert Paimon types to the Spark types that a scan of data files is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyspark.sql import types as spark_types

from lakebed.diagnostics import Diagnostic
from lakebed.errors import UnsupportedError
from lakebed.physical import DataField, DataType, path_text
from lakebed.physical import paimon_types as physical

#: Digits of a second that Spark's timestamps have.
MAX_MICROS = 6

_Path = tuple[str, ...]
_FLAT: dict[type[DataType], Callable[[], spark_types.DataType]] = {
    physical.Boolean: spark_types.BooleanType,
    physical.TinyInt: spark_types.ByteType,
    physical.SmallInt: spark_types.ShortType,
    physical.Int: spark_types.IntegerType,
    physical.BigInt: spark_types.LongType,
    physical.Float: spark_types.FloatType,
    physical.Double: spark_types.DoubleType,
    physical.Char: spark_types.StringType,
    physical.VarChar: spark_types.StringType,
    physical.Binary: spark_types.BinaryType,
    physical.VarBinary: spark_types.BinaryType,
    physical.Date: spark_types.DateType,
    physical.Time: spark_types.IntegerType,
    physical.Variant: spark_types.VariantType,
    physical.Blob: spark_types.BinaryType,
}


def scan_type(type_: DataType, *, nanos_as_long: bool = False) -> spark_types.DataType:
    """What a Parquet scan is asked for: TIME is `int` (milliseconds of the day), TIMESTAMP is `timestamp_ntz`.

    Everything inside is nullable. `nanos_as_long` asks for TIMESTAMP(7..9) of both kinds as `bigint`, which is how
    Spark reads INT64 nanoseconds. Raises `UnsupportedError` for a type that Spark's reader has no type for.
    """
    scans = _Scans(nanos_as_long)
    found = scans.type(type_, ())
    if scans.problems:
        raise UnsupportedError(*scans.problems)
    return found


def scan_schema(fields: Iterable[DataField], *, nanos_as_long: bool = False) -> spark_types.StructType:
    """The scan types of columns, by name. Raises `UnsupportedError` with all columns that Spark cannot scan."""
    scans = _Scans(nanos_as_long)
    found = scans.struct(fields, ())
    if scans.problems:
        raise UnsupportedError(*scans.problems)
    return found


class _Scans:
    """Builds scan types and collects what Spark cannot scan."""

    def __init__(self, nanos_as_long: bool) -> None:
        self.problems: list[Diagnostic] = []
        self._nanos_as_long = nanos_as_long

    def type(self, type_: DataType, path: _Path) -> spark_types.DataType:
        if type(type_) in _FLAT:
            return _FLAT[type(type_)]()
        match type_:
            case physical.Decimal():
                return spark_types.DecimalType(type_.precision, type_.scale)
            case physical.Timestamp() | physical.LocalZonedTimestamp():
                return self._timestamp(type_)
            case physical.Array():
                return spark_types.ArrayType(self.type(type_.element, (*path, "element")))
            case physical.Map():
                key = self.type(type_.key, (*path, "key"))
                return spark_types.MapType(key, self.type(type_.value, (*path, "value")))
            case physical.Multiset():
                return spark_types.MapType(self.type(type_.element, (*path, "element")), spark_types.IntegerType())
            case physical.Row():
                return self.struct(type_.fields, path)
            case _:
                message = f"Spark cannot scan a column of the type {type_}"
                remedy = "read the other columns"
                where = path_text(path) or None
                self.problems.append(Diagnostic("LB2109", message, path=where, found=str(type_), remedy=remedy))
                return spark_types.NullType()

    def _timestamp(self, type_: physical.Timestamp | physical.LocalZonedTimestamp) -> spark_types.DataType:
        if self._nanos_as_long and type_.precision > MAX_MICROS:
            return spark_types.LongType()
        return (
            spark_types.TimestampType()
            if isinstance(type_, physical.LocalZonedTimestamp)
            else spark_types.TimestampNTZType()
        )

    def struct(self, fields: Iterable[DataField], path: _Path) -> spark_types.StructType:
        return spark_types.StructType(
            [spark_types.StructField(f.name, self.type(f.type, (*path, f.name))) for f in fields]
        )
