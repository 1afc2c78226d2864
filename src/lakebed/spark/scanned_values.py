"""Change the values of a scanned column at every level of nesting, and hide it from filters that lose rows.

Spark compares a filter that it pushes into a Parquet scan with the file's statistics and dictionaries. For some types
that comparison is not the one that the filter means:

- A timestamp stored in milliseconds: the literal is cut to milliseconds first, so that `t < 12:00:00.000001` drops
  12:00:00.000.
- FLOAT and DOUBLE: -0.0 and 0.0 are taken for different numbers, so that `x = 0` drops -0.0; and writers that leave NaN
  out of the statistics have `x > 5` drop NaN, which is the largest number to Spark.

An expression that changes nothing hides such a column from the comparison. All others are handed on as they are.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_tree import fold, types_inside
from lakebed.physical.paimon_types import (
    Array,
    DataType,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    SmallInt,
    Timestamp,
    TinyInt,
)
from lakebed.read.file_index.keys import keeps_values
from lakebed.spark.sql_names import quote_name

#: From a value and its path (for messages) to what it means.
Change = Callable[[Column, str], Column]
#: The change for values of a type, None for those that stay as they are.
Changes = Callable[[DataType], Change | None]
_MILLIS = 3


def widens(stored: DataType, wanted: DataType) -> bool:
    """Whether Spark's Parquet reader, asked for the wanted type, gives stored values as a cast to it does.

    It does so for pages of every encoding, in batches and row by row, and compares no file with a filter that no value
    of the stored type can be compared with. Decimals and timestamps are left to casts: what becomes of filters on them
    depends on the stored type.
    """
    match stored, wanted:
        case ((TinyInt() | SmallInt() | Int() | Float()), Double()):
            return True
        case ((Decimal() | Timestamp() | LocalZonedTimestamp()), _):
            return False
        case _:
            return keeps_values(stored, wanted)


def is_changed(type_: DataType, changes: Changes) -> bool:
    """Whether a type holds, at any depth, what is changed."""
    return any(changes(t) is not None for t in types_inside(type_))


def with_changes(column: Column, type_: DataType, changes: Changes, path: str) -> Column:
    """The column with its plain values changed; what holds nothing of that kind is handed on as it is."""
    if not is_changed(type_, changes):
        return column
    match type_:
        case Row():
            return _row(column, type_, changes, path)
        case Array():
            element = type_.element
            return F.transform(column, lambda e: with_changes(e, element, changes, f"{path}.element"))
        case Map():
            key, value = type_.key, type_.value
            return F.map_from_entries(
                F.transform(
                    F.map_entries(column),
                    lambda e: F.struct(
                        with_changes(e.getField("key"), key, changes, f"{path}.key").alias("key"),
                        with_changes(e.getField("value"), value, changes, f"{path}.value").alias("value"),
                    ),
                )
            )
        case Multiset():
            element = type_.element
            return F.transform_keys(column, lambda k, _: with_changes(k, element, changes, f"{path}.element"))
        case _:
            change = changes(type_)
            return column if change is None else change(column, path)


def _row(column: Column, type_: Row, changes: Changes, path: str) -> Column:
    out = column
    for member in type_.fields:
        if is_changed(member.type, changes):
            inner = with_changes(column.getField(member.name), member.type, changes, f"{path}.{member.name}")
            out = out.withField(quote_name(member.name), inner)
    return out


def shielded(column: Column, type_: DataType) -> Column:
    """The same values; filters on them do not reach the files where that loses rows.

    Members of structs are treated one by one. Filters on items of lists and values of maps reach no file anyway.
    """
    match type_:
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p) if p <= _MILLIS:
            return F.timestamp_add("MICROSECOND", F.lit(0), column)
        case Float() | Double():
            # The cheapest of the expressions that Spark does not see through, and one that only changes signs.
            return F.negative(F.negative(column))
        case Row():
            out = column
            for member in type_.fields:
                if _needs_shield(member.type):
                    inner = shielded(column.getField(member.name), member.type)
                    out = out.withField(quote_name(member.name), inner)
            return out
        case _:
            return column


def _needs_shield(type_: DataType) -> bool:
    def needs(part: DataType, inner: tuple[bool, ...]) -> bool:
        match part:
            case Timestamp(precision=p) | LocalZonedTimestamp(precision=p):
                return p <= _MILLIS
            case Float() | Double():
                return True
            case Row():
                return any(inner)
            case _:
                return False

    return fold(type_, needs)
