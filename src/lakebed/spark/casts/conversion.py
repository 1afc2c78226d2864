"""Represent the result of a cast: its value, and where it is impossible.

NULL is a legal result of some conversions (a decimal that does not fit), so "NULL" and "cannot be converted" are kept
apart until `settle` applies the caller's policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import DataType, type_line

#: How much of a value an error message shows, in characters.
SHOWN = 80


@dataclass(frozen=True, slots=True)
class Total:
    """Every value converts; a NULL in `value` is a result."""

    value: Column


@dataclass(frozen=True, slots=True)
class Partial:
    """`value` is NULL exactly where the source is NULL or cannot be converted."""

    value: Column


@dataclass(frozen=True, slots=True)
class Guarded:
    """`impossible` is true where the source cannot be converted; elsewhere `value` counts, NULL or not."""

    value: Column
    impossible: Column


Conversion: TypeAlias = Total | Partial | Guarded


def settle(
    conversion: Conversion,
    col: Column,
    source: DataType,
    target: DataType,
    *,
    on_error: str,
    column: str,
    file: Column | None = None,
) -> Column:
    """The final column: impossible values are NULL for `on_error="null"`, else the query fails where they are read."""
    match conversion, on_error:
        case (Total(value), _) | (Partial(value), "null"):
            return value
        case Guarded(value, impossible), "null":
            return F.when(~impossible, value)
        case Partial(value), _:
            return F.coalesce(value, F.when(col.isNotNull(), _failure(col, source, target, column, file)))
        case Guarded(value, impossible), _:
            return F.when(impossible, _failure(col, source, target, column, file)).otherwise(value)


def impossible(conversion: Conversion, col: Column) -> Column | None:
    """Whether a value cannot be converted, NULL or false where it can; None where every value can."""
    match conversion:
        case Total():
            return None
        case Partial(value):
            return col.isNotNull() & value.isNull()
        case Guarded(impossible=condition):
            return condition


def shown(col: Column) -> Column:
    """The beginning of a value as text, for messages."""
    return F.substring(col.cast("string"), 1, SHOWN)


def _failure(col: Column, source: DataType, target: DataType, column: str, file: Column | None) -> Column:
    where = f"column {column}: " if column else ""
    begin = [F.lit("[LB6901] ")]
    if file is not None:
        begin += [F.lit("file "), F.coalesce(file, F.lit("?")), F.lit(", ")]
    said = (
        F.lit(f"{where}the stored {type_line(source)} value '"),
        shown(col),
        F.lit(f"' cannot be read as {type_line(target)}"),
    )
    return F.raise_error(F.concat(*begin, *said))
