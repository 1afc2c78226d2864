"""Add, subtract, multiply and divide as the table format does, in the column's own type.

Nothing here depends on whether the session is in ANSI mode. Decimals that do not fit become NULL, as the format says.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

_EXACT_SCALE, _WIDEST, _EXACT_FACTOR = 6, 38, 18


def refused(code: str, message: str) -> Column:
    """A value that is an error of Spark when a row needs it."""
    return F.raise_error(F.lit(f"{code}: {message}"))


def sum_fits(kind: T.DataType) -> bool:
    """Whether Spark adds two such values without cutting digits."""
    return not isinstance(kind, T.DecimalType) or kind.precision < _WIDEST or kind.scale <= _EXACT_SCALE


def product_fits(kind: T.DataType) -> bool:
    """Whether Spark multiplies two such values without cutting digits."""
    return not isinstance(kind, T.DecimalType) or kind.precision <= _EXACT_FACTOR


def added(a: Column, b: Column, kind: T.DataType, column: str) -> Column:
    """`a + b`, neither of them NULL."""
    return _in_type(a + b if _is_float(kind) else F.try_add(a, b), kind, column)


def subtracted(a: Column, b: Column, kind: T.DataType, column: str) -> Column:
    """`a - b`, neither of them NULL."""
    return _in_type(a - b if _is_float(kind) else F.try_subtract(a, b), kind, column)


def negated(a: Column, kind: T.DataType, column: str) -> Column:
    """`-a`, NULL for NULL."""
    if _is_float(kind):
        return -a
    return F.when(a.isNotNull(), _in_type(F.try_subtract(F.lit(0).cast(kind), a), kind, column))


def multiplied(a: Column, b: Column, kind: T.DataType, column: str) -> Column:
    """`a * b`, neither of them NULL; a decimal is rounded half up to its column's scale."""
    return _in_type(a * b if _is_float(kind) else F.try_multiply(a, b), kind, column)


def divided(a: Column, b: Column, kind: T.DataType, column: str) -> Column:
    """`a / b`, neither of them NULL: whole numbers are cut towards zero, floats follow IEEE 754."""
    if isinstance(kind, T.DecimalType):
        return refused("LB5505", f"column {column}: a decimal product cannot be taken back exactly").cast(kind)
    if _is_float(kind):
        sign = F.when(a.eqNullSafe(F.lit(0.0)) | F.isnan(a), F.lit(float("nan"))).otherwise(
            F.when(a > 0, F.lit(float("inf"))).otherwise(F.lit(float("-inf")))
        )
        return F.when(b == 0, sign).otherwise(F.try_divide(a, b)).cast(kind)
    return _in_type(F.when(b != 0, F.call_function("div", a, b)), kind, column)


def _is_float(kind: T.DataType) -> bool:
    return isinstance(kind, (T.FloatType, T.DoubleType))


def _in_type(value: Column, kind: T.DataType, column: str) -> Column:
    if _is_float(kind):
        return value.cast(kind)
    fitting = value.try_cast(kind)
    if isinstance(kind, T.DecimalType):
        return fitting
    return F.coalesce(fitting, refused("LB5507", f"column {column}: the result does not fit {kind.simpleString()}"))
