"""Cast text and bytes: cut to lengths, and parse text as BOOLEAN, numbers and bytes.

Nothing is trimmed but around floating point numbers; a text outside the grammar cannot be converted. Dates, times and
timestamps are read in `lakebed.spark.casts.time_casts`.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import (
    MAX_LENGTH,
    BigInt,
    Binary,
    Char,
    Decimal,
    Double,
    Float,
    Int,
    SmallInt,
    TinyInt,
    VarBinary,
    VarChar,
)
from lakebed.spark.casts.conversion import Conversion, Guarded, Partial
from lakebed.spark.casts.number_casts import Integer, Numeric, spark_name

Text = Char | VarChar
Bytes = Binary | VarBinary

_TRUE = ("t", "true", "y", "yes", "1")
_FALSE = ("f", "false", "n", "no", "0")
_INTEGER = r"\A[+-]?[0-9]+(?:\.[0-9]*)?\z"
_BELOW_ONE = r"\A[+-]?\.[0-9]*\z"
#: A number with an exponent, and what ends a long one; DECIMAL takes other digits than those of ASCII too.
_SCIENTIFIC = r"\A\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+\s*\z"
_LONG_EXPONENT = r"[eE][+-]?0*+\p{Nd}{5}"
_DECIMAL = r"\A[+-]?(?:\p{Nd}+(?:\.\p{Nd}*)?|\.\p{Nd}+)(?:[eE][+-]?\p{Nd}{1,10})?\z"


def fit(col: Column, source: Text | None, target: Text) -> Column:
    """Text cut to the target's length in code points; CHAR is padded with blanks on the right.

    `source` is the type of a text that comes from a text column; what its own type bounds is not cut again, so that
    widening stays the column itself.
    """
    if isinstance(target, Char):
        return F.rpad(col, target.length, " ")
    bound = MAX_LENGTH if source is None else source.length
    return col if target.length >= min(bound, MAX_LENGTH) else F.substring(col, 1, target.length)


def fit_bytes(col: Column, source: Bytes | None, target: Bytes) -> Column:
    """Bytes cut to the target's length; BINARY is padded with zeros on the right."""
    if isinstance(target, Binary):
        return F.rpad(col, target.length, F.lit(b"\x00"))
    bound = MAX_LENGTH if source is None else source.length
    return col if target.length >= bound else F.substring(col, 1, target.length)


def to_bytes(col: Column, target: Bytes) -> Column:
    """Text as UTF-8."""
    return fit_bytes(col.cast("binary"), None, target)


def from_bytes(col: Column) -> Column:
    """Bytes read as UTF-8, malformed parts replaced by U+FFFD. The length rule does not apply to it."""
    return F.make_valid_utf8(col.cast("string"))


def to_boolean(col: Column) -> Conversion:
    """One of ten words in any case: t true y yes 1, f false n no 0."""
    word = F.lower(col)
    return Partial(F.when(word.isin(*_TRUE), F.lit(True)).when(word.isin(*_FALSE), F.lit(False)))


def to_number(col: Column, target: Numeric) -> Conversion:
    """Text to a number."""
    match target:
        case TinyInt() | SmallInt() | Int() | BigInt():
            return Partial(_to_integer(col, target))
        case Decimal():
            # NULL is the value of what does not fit, so the grammar alone tells what is no number.
            return Guarded(to_decimal(col, target), ~col.rlike(_DECIMAL))
        case Float() | Double():
            return Partial(_to_floating(col, target))


def to_decimal(col: Column, target: Decimal) -> Column:
    """Text to a number of this type, rounded to its scale; NULL where it does not fit, or is none.

    Java writes a number out with all its zeros before it rounds it, and older versions of Spark with it: that takes
    minutes, or fails, where they are many. A double tells without them what is nought or far too large for any DECIMAL.
    """
    size = F.abs(col.try_cast("double"))
    bounded = (
        F.when(~col.rlike(_SCIENTIFIC), F.when(~col.rlike(_LONG_EXPONENT), col))
        .when(size < F.lit(1e-99), F.lit("0"))
        .when(size < F.lit(1e99), col)
    )
    return F.when(has_exponent(col), bounded).otherwise(col).try_cast(spark_name(target))


def has_exponent(number: Column) -> Column:
    """Whether the text of a number is written with an exponent."""
    return number.contains("e") | number.contains("E")


def _to_integer(col: Column, target: Integer) -> Column:
    whole = F.substring_index(col, ".", 1).try_cast(spark_name(target))
    return F.when(col.rlike(_INTEGER), whole).when(col.rlike(_BELOW_ONE), F.lit(0).cast(spark_name(target)))


def _to_floating(col: Column, target: Float | Double) -> Column:
    # Spark reads `inf` and any case of `nan` and `infinity`; Java only reads NaN and Infinity.
    foreign = col.rlike("(?i)inf|nan") & ~col.rlike("Infinity|NaN")
    return F.when(~foreign, col.try_cast(spark_name(target)))
