"""Sort rows for data files: by columns one after the other, or by several at once along a Z-order curve.

Along the curve rows that are near in all columns are near: a filter on any of the columns finds its rows in few files.
The values of each column are put into as many ranges of about equally many rows, and the bits of the ranges' numbers
are interleaved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as t

from lakebed.write.sort_order import SortOrder

#: How many bits the number of a range has.
_BITS = 6
_CURVE = "_LAKEBED_CURVE"
#: How many bytes of a text or binary count.
_PREFIX = 6
_ACCURACY = 10_000


@dataclass(frozen=True, slots=True)
class RowOrder:
    """The columns by which rows are sorted, by name: one after the other, or `interleaved`."""

    columns: tuple[str, ...] = ()
    interleaved: bool = False

    @classmethod
    def of(cls, order: SortOrder) -> RowOrder:
        """The order of rows as they are written: column `v<i>` is the schema's column i."""
        return cls(tuple(f"v{place}" for place in order.places), order.interleaved)

    def __bool__(self) -> bool:
        return bool(self.columns)

    def prepare(self, rows: DataFrame) -> tuple[DataFrame, tuple[Column, ...]]:
        """The rows, with what they are sorted by where it is no column, and the columns to sort by.

        Along a curve the rows are computed once more before, to find the ranges of their values.
        """
        own = tuple(F.col(name) for name in self.columns)
        if not self.interleaved:
            return rows, own
        numbers = {f"{_CURVE}{i}": _number(rows, name) for i, name in enumerate(self.columns)}
        numbered = rows.select("*", *(number.alias(name) for name, number in numbers.items()))
        ranges = {name: _range(name, ends) for name, ends in _ends(numbered, tuple(numbers)).items()}
        placed = numbered.select("*", *(F.expr(text).alias(f"{name}r") for name, text in ranges.items()))
        curve = F.expr(_interleaved([f"{name}r" for name in ranges])).alias(_CURVE)
        return placed.select(*rows.columns, curve), (F.col(_CURVE), *own)


def _number(rows: DataFrame, name: str) -> Column:
    """Something that is ordered as the values of a column, about: what a double keeps of it."""
    column, type_ = F.col(name), rows.schema[name].dataType
    match type_:
        case t.StringType() | t.VarcharType() | t.CharType() | t.BinaryType():
            start = F.hex(F.substring(column.cast("binary"), 1, _PREFIX))
            return F.conv(F.rpad(start, 2 * _PREFIX, "0"), 16, 10).cast("double")
        case t.DateType():
            return F.unix_date(column).cast("double")
        case t.TimestampType() | t.TimestampNTZType():
            return F.unix_micros(column.cast("timestamp")).cast("double")
        case _:
            return column.cast("double")


def _ends(rows: DataFrame, names: Sequence[str]) -> dict[str, list[float]]:
    """Where the ranges of the values of each column end; fewer where many rows have one value."""
    parts = 1 << _BITS
    shares = [i / parts for i in range(1, parts)]
    found = rows.agg(*(F.percentile_approx(name, shares, _ACCURACY).alias(name) for name in names)).collect()[0]
    return {name: sorted({end for end in found[name] or () if abs(end) < float("inf")}) for name in names}


def _range(name: str, ends: Sequence[float]) -> str:
    """SQL for the number of the range that a value lies in, by bisection; NULL lies in the first."""

    def within(low: int, high: int) -> str:
        if low == high:
            return str(low)
        middle = (low + high) // 2
        return f"IF({name} <= {ends[middle]!r}D, {within(low, middle)}, {within(middle + 1, high)})"

    return f"IF({name} IS NULL, 0L, CAST({within(0, len(ends))} AS BIGINT))"


def _interleaved(names: Sequence[str]) -> str:
    """SQL for a number of the bits of several, the highest ones first."""
    count = len(names)
    return " | ".join(
        f"shiftleft(shiftright({name}, {bit}) & 1L, {bit * count + place})"
        for bit in range(_BITS)
        for place, name in enumerate(names)
    )


#: Rows come as they are.
UNSORTED = RowOrder()
