"""Add what all rows of a file share as columns: values of its partition, and values by its number."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.convert.scan_types import scan_type
from lakebed.physical.paimon_types import (
    BigInt,
    Boolean,
    DataType,
    Date,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
)

_EPOCH = "timestamp_ntz'1970-01-01 00:00:00'"


def partition_columns(
    types: Sequence[DataType], partitions: Sequence[tuple[Any, ...]], ordinal: Column
) -> tuple[Column, ...]:
    """One column a partition key.

    `partitions` are the distinct partition rows in internal values (see `lakebed.format.binary_row`); `ordinal` is the
    column that says, for each row, which of them it belongs to.
    """
    if not types:
        return ()
    if len(partitions) == 1:
        row = F.from_json(F.lit(json.dumps(_encode(types, partitions[0]))), _row_type(types))
    else:
        row = by_number(_row_type(types), [_encode(types, p) for p in partitions])(ordinal)
    return tuple(_decode(row.getField(f"p{i}"), t) for i, t in enumerate(types))


def by_number(element: str, values: Sequence[Any]) -> Callable[[Column], Column]:
    """The value of a number, counted from 0. `values` are JSON values of the Spark type `element`."""
    table = F.from_json(F.lit(json.dumps(values)), f"array<{element}>")
    return lambda number: F.element_at(table, number + F.lit(1))


def _encode(types: Sequence[DataType], partition: tuple[Any, ...]) -> dict[str, Any]:
    return {f"p{i}": _json_value(t, v) for i, (t, v) in enumerate(zip(types, partition, strict=True))}


def _json_value(type_: DataType, value: Any) -> Any:
    """Timestamps are nanoseconds and are cut to Spark's microseconds."""
    match value:
        case int() if isinstance(type_, (Timestamp, LocalZonedTimestamp)):
            return value // 1000
        case None | bool() | int() | str():
            return value
        case bytes():
            return value.hex()
        case float():
            text = repr(value)
            return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(text, text)
        case _:
            return str(value)


def _row_type(types: Sequence[DataType]) -> str:
    return "struct<" + ",".join(f"p{i}:{_json_type(t)}" for i, t in enumerate(types)) + ">"


def _json_type(type_: DataType) -> str:
    match type_:
        case Boolean():
            return "boolean"
        case TinyInt() | SmallInt() | Int() | BigInt() | Date() | Time() | Timestamp() | LocalZonedTimestamp():
            return "bigint"
        case _:
            return "string"


def _decode(value: Column, type_: DataType) -> Column:
    """The JSON value as the column's scan type."""
    match type_:
        case Date():
            return F.date_add(F.lit("1970-01-01").cast("date"), value.cast("int"))
        case LocalZonedTimestamp():
            return F.timestamp_micros(value)
        case Timestamp():
            return F.timestamp_add("MICROSECOND", value, F.expr(_EPOCH))
        case _ if scan_type(type_).simpleString() == "binary":
            return F.unhex(value)
        case _:
            return value.cast(scan_type(type_))
