"""Compute the bits of numbers, which Spark has no functions for, by arithmetic that is exact in every session."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import Decimal
from lakebed.spark.bind_value import bind_value

#: Up to so many digits the unscaled value of a decimal is a `bigint`.
MAX_COMPACT_PRECISION = 18
_INFINITY = float("inf")
_HEX = "0123456789ABCDEF"


@dataclass(frozen=True, slots=True)
class _Form:
    """A binary form of IEEE 754: bits of the fraction and of the whole, and the least exponent."""

    fraction: int
    width: int
    least: int

    @property
    def infinity(self) -> int:
        """The bits of infinity: those of the sign and of the fraction are 0."""
        return (1 << self.width - 1) - (1 << self.fraction)

    @property
    def sign(self) -> int:
        """The bit of the sign, as a number of `width` bits."""
        return -1 << self.width - 1

    @property
    def not_a_number(self) -> int:
        """The bits of Java's NaN."""
        return self.infinity + (1 << self.fraction - 1)


_SINGLE, _DOUBLE = _Form(23, 32, -126), _Form(52, 64, -1022)


def float_bits(value: Column) -> Column:
    """The bits of a FLOAT, a `bigint` of 32 bits and a sign; every NaN has those of Java's."""
    return bind_value(value.cast("double"), lambda x: _bits(x, _SINGLE))


def double_bits(value: Column) -> Column:
    """The bits of a DOUBLE, a `bigint`; every NaN has those of Java's."""
    return bind_value(value, lambda x: _bits(x, _DOUBLE))


def is_below_zero(value: Column) -> Column:
    """Whether a DOUBLE has a sign: also -0.0, which Spark takes for 0.0."""
    return (value < F.lit(0.0)) | is_negative_zero(value)


def is_negative_zero(value: Column) -> Column:
    """Whether a FLOAT or DOUBLE is -0.0: by its reciprocal, which division refuses to compute."""
    return (value == F.lit(0.0)) & (F.pow(value, F.lit(-1.0)) < F.lit(0.0))


def _bits(value: Column, form: _Form) -> Column:
    magnitude = bind_value(F.abs(value), lambda x: _magnitude_bits(x, form))
    signed = F.when(is_below_zero(value), magnitude.bitwiseOR(F.lit(form.sign))).otherwise(magnitude)
    return F.when(F.isnan(value), F.lit(form.not_a_number).cast("bigint")).otherwise(signed)


def _magnitude_bits(value: Column, form: _Form) -> Column:
    """The bits of a number that is not below 0 and no NaN."""
    exact = bind_value(_exponent(value, form), lambda exponent: _finite_bits(value, exponent, form))
    infinite = F.when(value == F.lit(_INFINITY), F.lit(form.infinity).cast("bigint"))
    return infinite.when(value == F.lit(0.0), F.lit(0).cast("bigint")).otherwise(exact)


def _exponent(value: Column, form: _Form) -> Column:
    """The exponent that a number is stored with. The logarithm may round to the wrong side of a power of two."""

    def exact(rounded: Column) -> Column:
        scaled = _scaled(value, rounded)
        above = F.when(scaled >= F.lit(2.0), F.lit(1)).when(scaled < F.lit(1.0), F.lit(-1)).otherwise(F.lit(0))
        return F.greatest(rounded + above, F.lit(form.least))

    return bind_value(F.floor(F.log2(value)).cast("int"), exact)


def _scaled(value: Column, exponent: Column) -> Column:
    """The number by a power of two, exactly; infinity where a number is so small that the power is no DOUBLE."""
    return value * F.pow(F.lit(2.0), F.negative(exponent))


def _finite_bits(value: Column, exponent: Column, form: _Form) -> Column:
    """The exponent, counted from 0, above the fraction. The leading 1 of the fraction, if any, counts it up by 1."""
    fraction = (_scaled(value, exponent) * F.lit(float(1 << form.fraction))).cast("bigint")
    return F.shiftleft((exponent - F.lit(form.least)).cast("bigint"), form.fraction) + fraction


def unscaled(value: Column, type_: Decimal) -> Column:
    """The digits of a DECIMAL as a whole number: a `bigint` up to 18 digits, a `decimal(38,0)` above."""
    if type_.precision <= MAX_COMPACT_PRECISION:
        return (value * _whole(10**type_.scale)).cast("bigint")
    if type_.scale == 0:
        return value.cast("decimal(38,0)")
    return bind_value(value.cast("string"), lambda text: _shifted(text, type_.scale))


def _shifted(text: Column, places: int) -> Column:
    """The number that a text stands for, with the point moved. Small numbers have an exponent in some sessions."""
    exponent = F.substring_index(text, "E", -1).cast("int") + F.lit(places)
    exponent = F.when(F.contains(text, F.lit("E")), exponent).otherwise(F.lit(places))
    digits = F.concat(F.substring_index(text, "E", 1), F.lit("E"), exponent.cast("string"))
    return digits.cast("decimal(38,0)")


def shortest_bytes(value: Column) -> Column:
    """The fewest bytes of a whole `decimal(38,0)` in two's complement, big-endian, as Java's BigInteger has them."""

    def of(number: Column) -> Column:
        is_negative = number < _whole(0)
        digits = bind_value(F.when(is_negative, _whole(-1) - number).otherwise(number), _whole_bytes_in_hex)
        inverted = F.translate(digits, _HEX, _HEX[::-1])
        return F.unhex(F.when(is_negative, inverted).otherwise(digits))

    return bind_value(value, of)


def _whole_bytes_in_hex(number: Column) -> Column:
    """The hexadecimal digits of a number from 0, of whole bytes, of which the first bit is 0."""

    def padded(digits: Column) -> Column:
        is_odd = F.length(digits) % F.lit(2) == F.lit(1)
        sign = F.when(is_odd, F.lit("0")).when((digits == F.lit("")) | (digits >= F.lit("8")), F.lit("00"))
        return F.concat(F.coalesce(sign, F.lit("")), digits)

    words = (F.lpad(F.hex(word), 8, "0") for word in words_of(number))
    return bind_value(F.regexp_replace(F.concat(*words), "^0+", ""), padded)


def magnitude(number: Column) -> Column:
    """A whole decimal without its sign. Spark's `abs` and `-` round numbers of more than 34 digits."""
    return F.when(number < _whole(0), _whole(0) - number).otherwise(number)


def words_of(number: Column) -> tuple[Column, Column, Column, Column]:
    """The four words of 32 bits, the highest first, of a whole `decimal(38,0)` from 0."""
    upper, lower = _quotient(number, 1 << 64), number % _whole(1 << 64)
    rest = (lower % _whole(1 << 32)).cast("bigint")
    return F.shiftrightunsigned(upper, 32), _low_word(upper), _quotient(lower, 1 << 32), rest


def _low_word(value: Column) -> Column:
    return value.bitwiseAND(F.lit(0xFFFFFFFF))


def _quotient(number: Column, by: int) -> Column:
    return F.call_function("div", number, _whole(by))


def _whole(value: int) -> Column:
    """A whole number as a decimal of just its digits, so that products keep all of theirs."""
    return F.lit(str(value)).cast(f"decimal({len(str(value))},0)")


def signed_word(value: Column) -> Column:
    """The lower 32 bits of a `bigint`, as an `int` has them."""
    return F.shiftright(F.shiftleft(value, 32), 32)
