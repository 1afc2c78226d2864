"""Convert Paimon types to the Arrow types of rows, as Spark exchanges them with Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import TypeAlias

import pyarrow as pa

from lakebed.errors import UnsupportedError
from lakebed.physical import DataField, DataType
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_tree import fold

#: The types without parameters that a file may hold in the same form.
FLAT: dict[type[DataType], pa.DataType] = {
    physical.Boolean: pa.bool_(),
    physical.TinyInt: pa.int8(),
    physical.SmallInt: pa.int16(),
    physical.Int: pa.int32(),
    physical.BigInt: pa.int64(),
    physical.Float: pa.float32(),
    physical.Double: pa.float64(),
    physical.Char: pa.string(),
    physical.VarChar: pa.string(),
    physical.Binary: pa.binary(),
    physical.VarBinary: pa.binary(),
    physical.Blob: pa.binary(),
    physical.Date: pa.date32(),
}


#: Other Arrow types for some types.
Instead: TypeAlias = tuple[tuple[type[DataType], pa.DataType], ...]
#: TIME as a time of day, which is counted in milliseconds.
TIMES: Instead = ((physical.Time, pa.time32("ms")),)
#: Dates and timestamps as the numbers of days and microseconds since 1970.
COUNTED: Instead = (
    *((physical.Date, pa.int32()), (physical.Timestamp, pa.int64()), (physical.LocalZonedTimestamp, pa.int64())),
)


@lru_cache(maxsize=1024)
def row_type(type_: DataType, instead: Instead = ()) -> pa.DataType:
    """The Arrow type of a column as Spark's workers exchange it: the one of `lakebed.convert.scan_types.scan_type`.

    TIME is int32 (milliseconds of the day), both kinds of TIMESTAMP are of microseconds, one of them in UTC; `instead`
    says others, at every depth. All that is inside is nullable. Raises `UnsupportedError` (LB2109) for a type that rows
    do not have here.
    """
    made: pa.DataType = fold(type_, partial(_row_type, dict(instead)))
    return made


def row_schema(fields: Iterable[DataField]) -> pa.Schema:
    """The Arrow schema of columns. Raises as `row_type`."""
    return pa.schema([(f.name, row_type(f.type)) for f in fields])


def _row_type(
    instead: Mapping[type[DataType], pa.DataType], type_: DataType, inner: tuple[pa.DataType, ...]
) -> pa.DataType:
    match type_:
        case _ if type(type_) in instead:
            return instead[type(type_)]
        case physical.Row():
            return pa.struct([(f.name, part) for f, part in zip(type_.fields, inner, strict=True)])
        case physical.Array():
            return pa.list_(inner[0])
        case physical.Map():
            return pa.map_(*inner)
        case physical.Multiset():
            return pa.map_(inner[0], pa.int32())
        case physical.Decimal():
            return pa.decimal128(type_.precision, type_.scale)
        case physical.Time():
            return pa.int32()
        case physical.Timestamp():
            return pa.timestamp("us")
        case physical.LocalZonedTimestamp():
            return pa.timestamp("us", "UTC")
        case _ if type(type_) in FLAT:
            return FLAT[type(type_)]
        case _:
            message = f"a column of the type {type_} is not read without Spark"
            raise UnsupportedError.of("LB2109", message, found=str(type_), remedy="read the other columns")
