"""Cast numbers and booleans: among each other and to text.

Integers keep their low bits when they are narrowed; floating point numbers saturate first. A decimal that does not fit
is NULL. The results do not depend on the session's ANSI setting: nothing here is cast out of range.
"""

from __future__ import annotations

import decimal

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import BigInt, Boolean, Decimal, Double, Float, Int, SmallInt, TinyInt
from lakebed.spark.casts.conversion import Conversion, Guarded, Total

Integer = TinyInt | SmallInt | Int | BigInt
Floating = Float | Double
Numeric = Integer | Decimal | Floating

_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
#: Decimal digits that hold every value of an integer type.
_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_INT_RANGE = (-(2**31), 2**31 - 1)
_BIGINT_RANGE = (-(2**63), 2**63 - 1)


def spark_name(type_: Numeric | Boolean) -> str:
    """The Spark SQL name of a number type or BOOLEAN."""
    return f"decimal({type_.precision},{type_.scale})" if isinstance(type_, Decimal) else type_.root.lower()


def wrap(col: Column, source: Integer, target: Integer) -> Column:
    """The low bits of an integer, as two's complement; a plain cast where the target is at least as wide."""
    if _BITS[source.root] <= _BITS[target.root]:
        return col.cast(spark_name(target))
    # Shifts never overflow, so that the cast that follows is always in range.
    carrier = BigInt() if isinstance(source, BigInt) else Int()
    spare = _BITS[carrier.root] - _BITS[target.root]
    low = F.shiftright(F.shiftleft(col.cast(spark_name(carrier)), spare), spare)
    return low.cast(spark_name(target))


def to_number(col: Column, source: Numeric | Boolean, target: Numeric) -> Conversion:
    """BOOLEAN and numbers to numbers."""
    match source, target:
        case Float() | Double(), Decimal():
            return _floating_to_decimal(col, target)
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt() | Decimal(), Decimal():
            return Total(col.cast(spark_name(target)) if _fits(source, target) else col.try_cast(spark_name(target)))
        case TinyInt() | SmallInt() | Int() | BigInt(), TinyInt() | SmallInt() | Int() | BigInt():
            return Total(wrap(col, source, target))
        case Decimal(), TinyInt() | SmallInt() | Int() | BigInt():
            return Total(wrap(_decimal_to_bigint(col, source), BigInt(), target))
        case Float() | Double(), TinyInt() | SmallInt() | Int() | BigInt():
            return Total(_floating_to_integer(col, target))
        case _:
            return Total(col.cast(spark_name(target)))


def to_boolean(col: Column) -> Conversion:
    """Integers to BOOLEAN: not zero."""
    return Total(col.cast("boolean"))


def to_text(col: Column, source: Numeric | Boolean) -> Column:
    """The number's text as Java prints it: `1.0E10`, `NaN`; decimals plain, with all digits of their scale."""
    if isinstance(source, Decimal):
        # Only the ANSI forms of the cast never write an exponent; of those, `try_cast` needs no session setting.
        return col.try_cast("string")
    return col.cast("string")


def _fits(source: Boolean | Integer | Decimal, target: Decimal) -> bool:
    whole = target.precision - target.scale
    match source:
        case Boolean():
            return whole >= 1
        case Decimal():
            return whole >= source.precision - source.scale and target.scale >= source.scale
        case _:
            return whole >= _DIGITS[source.root]


def _floating_to_decimal(col: Column, target: Decimal) -> Conversion:
    wide = col.cast("double")
    infinite = F.lit(float("inf"))
    return Guarded(wide.try_cast(spark_name(target)), F.isnan(wide) | (F.abs(wide) == infinite))


def _floating_to_integer(col: Column, target: Integer) -> Column:
    narrow = not isinstance(target, BigInt)
    low, high = _INT_RANGE if narrow else _BIGINT_RANGE
    carrier: Integer = Int() if narrow else BigInt()
    name = spark_name(carrier)
    saturated = (
        F.when(F.isnan(col), F.lit(0).cast(name))
        .when(col >= F.lit(float(high)), F.lit(high).cast(name))
        .when(col <= F.lit(float(low)), F.lit(low).cast(name))
        .otherwise(col.cast(name))
    )
    return wrap(saturated, carrier, target)


def _decimal_to_bigint(col: Column, source: Decimal) -> Column:
    """The whole part, cut towards zero, and of that the low 64 bits."""
    if source.precision - source.scale <= 18:
        return col.cast("bigint")
    whole = F.when(col < 0, F.ceil(col)).otherwise(F.floor(col)) if source.scale else col
    modulus, half = F.lit(decimal.Decimal(2**64)), F.lit(decimal.Decimal(2**32))
    # A remainder has no more digits than the number: 19 are too few for one of 2^64.
    unsigned = F.pmod(whole.cast("decimal(38,0)"), modulus)
    high = F.call_function("div", unsigned, half).cast("bigint")
    return F.shiftleft(high, 32).bitwiseOR((unsigned % half).cast("bigint"))
