"""Block filter push-down on types where Parquet statistics would lose rows.

Spark compares a filter that it pushes into a Parquet scan with the file's statistics and dictionaries. For some types
that comparison is not the one that the filter means:

- A timestamp stored in milliseconds: the literal is cut to milliseconds first, so that `t < 12:00:00.000001` drops
  12:00:00.000.
- FLOAT and DOUBLE: -0.0 and 0.0 are taken for different numbers, so that `x = 0` drops -0.0; and writers that leave NaN
  out of the statistics have `x > 5` drop NaN, which is the largest number to Spark.

An expression that changes nothing hides such a column from the comparison. All others are handed on as they are.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_tree import fold
from lakebed.physical.paimon_types import DataType, Double, Float, LocalZonedTimestamp, Row, Timestamp
from lakebed.spark.sql_names import quote_name

_MILLIS = 3


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
