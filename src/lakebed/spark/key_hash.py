"""Compute hashes of keys as Spark expressions: the twin of `format.bucket_hash`.

Murmur3 of words takes no bytes apart and uses each word once: on rows of numbers it costs next to nothing. Hive's hash
takes texts byte by byte, which Spark interprets: slower by far.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.physical.paimon_types import (
    BigInt,
    Binary,
    Char,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    VarBinary,
    VarChar,
)
from lakebed.spark.bind_value import bind_value
from lakebed.spark.value_bits import double_bits, float_bits, magnitude, signed_word, unscaled, words_of

#: Of Murmur3: the factors that each word is mixed by, what is added after it, the seed.
_FIRST, _SECOND, _ADDED, _SEED = 0xCC9E2D51, 0x1B873593, 0xE6546B64, 42
_MASK = 0xFFFFFFFF


def murmur_hash(words: Sequence[Column]) -> Column:
    """The hash, an INT, of words of 32 bits, each a `bigint` of which the lower 32 bits count.

    Spark's `hash` of one INT takes the last step: the INT is the one by whose mixing it comes to the same state.
    """
    state = reduce(_with_word, words, _bigint(_SEED))
    # The last step begins with the number of bytes, which Spark takes for 4.
    state = state.bitwiseXOR(_bigint(4 * len(words) ^ 4))
    before = _rotated(_times(state - _bigint(_ADDED), pow(5, -1, 1 << 32)), 32 - 13).bitwiseXOR(_bigint(_SEED))
    word = _times(_rotated(_times(before, pow(_SECOND, -1, 1 << 32)), 32 - 15), pow(_FIRST, -1, 1 << 32))
    return F.hash(signed_word(word).cast("int"))


def _with_word(state: Column, word: Column) -> Column:
    mixed = state.bitwiseXOR(_times(_rotated(_times(word, _FIRST), 15), _SECOND))
    return (_rotated(mixed, 13) * F.lit(5) + _bigint(_ADDED)).bitwiseAND(_bigint(_MASK))


def _times(word: Column, factor: int) -> Column:
    """The lower 32 bits of a product. With signs, as a product of two words of 32 bits would be no `bigint`."""
    signed = factor - (factor >> 31 << 32)
    return (signed_word(word) * _bigint(signed)).bitwiseAND(_bigint(_MASK))


def _rotated(word: Column, by: int) -> Column:
    """A word of 32 bits rotated to the left, by a remainder, in which it stands once.

    A word times a power of two leaves by 2^32 - 1 the rotated word, but 0 for all ones, which are the divisor.
    """
    return (word * _bigint(1 << by) - F.lit(1)) % _bigint(_MASK) + F.lit(1)


def hive_hash(values: Sequence[Column], types: Sequence[DataType]) -> Column:
    """The hash of a row, a `bigint` of 32 bits and a sign. The types are those that `check_bucket_key` lets pass."""
    hashes = [F.coalesce(_hash(v, t), _bigint(0)) for v, t in zip(values, types, strict=True)]
    return reduce(_with_next, hashes, _bigint(0))


def _with_next(hashed: Column, following: Column) -> Column:
    return signed_word(hashed * F.lit(31) + following)


def _bigint(value: int) -> Column:
    return F.lit(value).cast("bigint")


def _hash(value: Column, type_: DataType) -> Column:
    match type_:
        case BigInt():
            return _hash_long(value)
        case Float():
            # Adding 0.0 makes 0.0 of -0.0.
            return float_bits(value + F.lit(0.0))
        case Double():
            return bind_value(double_bits(value + F.lit(0.0)), _hash_long)
        case Char() | VarChar():
            return _hash_bytes(value.cast("binary"))
        case Binary() | VarBinary():
            return _hash_bytes(value)
        case Decimal():
            return bind_value(unscaled(value, type_).cast("decimal(38,0)"), lambda x: _hash_decimal(x, type_.scale))
        case Date():
            return F.unix_date(value).cast("bigint")
        case _:
            return value.cast("int").cast("bigint")


def _hash_long(value: Column) -> Column:
    return signed_word(value.bitwiseXOR(F.shiftrightunsigned(value, 32)))


def _hash_bytes(data: Column) -> Column:
    def with_byte(hashed: Column, place: Column) -> Column:
        byte = F.conv(F.hex(F.substr(data, place, F.lit(1))), 16, 10).cast("bigint")
        return _with_next(hashed, byte.bitwiseXOR(F.lit(0x80)) - F.lit(0x80))

    length = F.octet_length(data)
    hashed = F.aggregate(F.sequence(F.lit(1), length), _bigint(0), with_byte)
    return F.when(length > F.lit(0), hashed).when(length == F.lit(0), _bigint(0))


def _hash_decimal(digits: Column, scale: int) -> Column:
    """The hash of Java's BigDecimal of these digits, without zeros after the point that end it."""
    if scale == 0:
        return bind_value(digits, lambda x: _hash_digits(x, F.lit(0)))
    text = magnitude(digits).cast("string")

    def hashed(shorter: Column) -> Column:
        left = F.lit(scale) - (F.length(text) - F.length(shorter))
        number = F.when(digits < F.lit(0), F.concat(F.lit("-"), shorter)).otherwise(shorter)
        return bind_value(number.cast("decimal(38,0)"), lambda x: _hash_digits(x, left))

    nonzero = bind_value(F.regexp_replace(text, f"0{{1,{scale}}}$", ""), hashed)
    return F.when(digits == F.lit(0), _bigint(0)).otherwise(nonzero)


def _hash_digits(digits: Column, scale: Column) -> Column:
    words = reduce(_with_next, words_of(magnitude(digits)))
    signed = F.when(digits < F.lit(0), -words).otherwise(words)
    return signed_word(signed * F.lit(31) + scale)
