"""Cast columns whose type has changed (Paimon schema spec, "Casts"), as native Spark expressions.

`cast_column` turns a stored column into the type that the wanted schema says. The values are the table format's
wherever Spark's own cast gives something else, whatever the session's time zone and ANSI setting are. Widening casts
stay plain casts, so that Spark can push filters through them into the scan.

Where Java Paimon does something that looks like an oversight, the values here differ: seconds become an instant without
a shift by the zone's offset; text with a day that does not exist, with an hour 24, with letters in a fraction or with a
time beyond 32 bits cannot be converted; TIMESTAMP(4) and (5) cut every digit beyond their precision; BIGINT to BOOLEAN
looks at all 64 bits; malformed UTF-8 is replaced per maximal part, as by other engines. Timestamps before 1970 do round
towards zero when they are cut to fewer than three digits, as in Java.
"""

from __future__ import annotations

from pyspark.sql import Column

from lakebed.errors import UnsupportedError, UsageError
from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    STRING,
    Array,
    BigInt,
    Binary,
    Boolean,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    Map,
    Row,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
    equal_ignoring_nullability,
    type_line,
)
from lakebed.spark.casts import nested_casts as nested
from lakebed.spark.casts import number_casts as numbers
from lakebed.spark.casts import text_casts as text
from lakebed.spark.casts import time_casts as time
from lakebed.spark.casts.conversion import Conversion, Total, impossible, settle

__all__ = ["cast_column", "cast_fails"]


def cast_column(
    col: Column,
    source: DataType,
    target: DataType,
    *,
    time_zone: str,
    on_error: str = "error",
    column: str = "",
    file: Column | None = None,
) -> Column:
    """The values of `col`, stored as `source`, read as `target`.

    `col` has the scan type of `source`, the result that of `target` (`lakebed.convert.scan_types`). NULL stays
    NULL. Identical types, nullability aside, return `col` itself. `time_zone` is the zone of casts between wall clocks
    and instants. A value that cannot be converted fails the query with a message that names `file` (a column of
    text), `column`, both types and the value, or is NULL for `on_error="null"`. A pair of types that the format does
    not convert raises `UnsupportedError` (LB6902).
    """
    if on_error not in ("error", "null"):
        raise UsageError.of("LB6903", f"on_error is {on_error!r}", expected="'error' or 'null'", found=repr(on_error))
    if equal_ignoring_nullability(source, target):
        return col
    conversion = _conversion(col, source, target, time_zone, column)
    return settle(conversion, col, source, target, on_error=on_error, column=column, file=file)


def cast_fails(col: Column, source: DataType, target: DataType, *, time_zone: str, column: str = "") -> Column | None:
    """Whether a value is one that `cast_column` cannot convert; None where there can be none. Raises as that does."""
    if equal_ignoring_nullability(source, target):
        return None
    return impossible(_conversion(col, source, target, time_zone, column), col)


def _conversion(col: Column, source: DataType, target: DataType, time_zone: str, column: str) -> Conversion:
    conversion = _convert(col, source, target, time_zone)
    if conversion is None:
        raise UnsupportedError.of(
            "LB6902",
            f"{type_line(source)} cannot be read as {type_line(target)}" + (f" (column {column})" if column else ""),
            path=column or None,
            expected=type_line(target),
            found=type_line(source),
            remedy="read the table under a schema version from before the change",
        )
    return conversion


def _convert(col: Column, source: DataType, target: DataType, time_zone: str) -> Conversion | None:
    match target:
        case Char() | VarChar():
            return _to_text(col, source, target, time_zone)
        case Date() | Time() | Timestamp() | LocalZonedTimestamp():
            return _to_temporal(col, source, target, time_zone)
        case Binary() | VarBinary():
            return _to_bytes(col, source, target)
        case _:
            return _to_number(col, source, target)


def _to_text(col: Column, source: DataType, target: Char | VarChar, time_zone: str) -> Conversion | None:
    unbounded = isinstance(target, VarChar) and target.length == MAX_LENGTH
    match source:
        case Char() | VarChar():
            return Total(text.fit(col, source, target))
        case Binary() | VarBinary():
            return Total(text.from_bytes(col))
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt() | Decimal() | Float() | Double():
            return Total(text.fit(numbers.to_text(col, source), None, target))
        case Array() | Map() | Row():
            return Total(nested.to_text(col, source, lambda part, type_: _printed(part, type_, time_zone)))
        case Date() if unbounded:
            return Total(time.date_to_text(col))
        case Time() if unbounded:
            return Total(time.time_to_text(col, source))
        case Timestamp() | LocalZonedTimestamp() if unbounded:
            return Total(time.stamp_to_text(col, source, time_zone))
        case _:
            return None


def _printed(part: Column, type_: DataType, time_zone: str) -> Column:
    """A part of a nested value as unbounded text."""
    return cast_column(part, type_, STRING, time_zone=time_zone)


def _to_number(col: Column, source: DataType, target: DataType) -> Conversion | None:
    match source, target:
        case Char() | VarChar(), Boolean():
            return text.to_boolean(col)
        case TinyInt() | SmallInt() | Int() | BigInt(), Boolean():
            return numbers.to_boolean(col)
        case _, TinyInt() | SmallInt() | Int() | BigInt() | Decimal() | Float() | Double():
            pass
        case _:
            return None
    match source, target:
        case Char() | VarChar(), _:
            return text.to_number(col, target)
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt() | Decimal() | Float() | Double(), _:
            return numbers.to_number(col, source, target)
        case Timestamp() | LocalZonedTimestamp(), Int() | BigInt():
            return Total(time.stamp_to_seconds(col, source, target))
        case _:
            return None


def _to_bytes(col: Column, source: DataType, target: Binary | VarBinary) -> Conversion | None:
    match source:
        case Char() | VarChar():
            return Total(text.to_bytes(col, target))
        case Binary() | VarBinary():
            return Total(text.fit_bytes(col, source, target))
        case _:
            return None


def _to_temporal(
    col: Column, source: DataType, target: Date | Time | Timestamp | LocalZonedTimestamp, time_zone: str
) -> Conversion | None:
    match source, target:
        case Char() | VarChar(), Date():
            return time.text_to_date(col)
        case Char() | VarChar(), Time():
            return time.text_to_time(col)
        case Char() | VarChar(), Timestamp() | LocalZonedTimestamp():
            return time.text_to_stamp(col, target, time_zone)
        case Timestamp() | LocalZonedTimestamp(), Date():
            return Total(time.stamp_to_date(col, source, time_zone))
        case Timestamp() | LocalZonedTimestamp(), Time():
            return Total(time.stamp_to_time(col, source, time_zone))
        case Timestamp() | LocalZonedTimestamp(), Timestamp() | LocalZonedTimestamp():
            return Total(time.stamp_to_stamp(col, source, target, time_zone))
        case Date(), Timestamp() | LocalZonedTimestamp():
            return Total(time.date_to_stamp(col, target, time_zone))
        case Time(), Timestamp() | LocalZonedTimestamp():
            return Total(time.time_to_stamp(col, target))
        case Int() | BigInt(), Timestamp() | LocalZonedTimestamp():
            return time.seconds_to_stamp(col, source, target)
        case _:
            return None
