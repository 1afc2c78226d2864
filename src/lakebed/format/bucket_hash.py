"""Compute the bucket of a row from its key, by each function that `bucket-function.type` names.

`default` is Murmur3 (32 bits, seed 42) of the key's binary row, `mod` the remainder of one number, `hive` the hash of
Hive's buckets. A bucket has two steps: the hash of a key, and the bucket that it falls into among a number of them.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal as Number
from typing import Any

from lakebed.catalog.options import BUCKET_FUNCTION_TYPE, BUCKET_KEY
from lakebed.errors import LakebedError, UnsupportedError
from lakebed.format import binary_row
from lakebed.physical.paimon_types import (
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
    SmallInt,
    Time,
    TinyInt,
    VarBinary,
    VarChar,
)

#: The functions by the words of the option `bucket-function.type`.
DEFAULT, MOD, HIVE = "default", "mod", "hive"

_SEED = 42
_MASK = 0xFFFFFFFF
_MAX_INT = 0x7FFFFFFF
_HASHED_BY_HIVE = (
    *(Boolean, TinyInt, SmallInt, Int, BigInt, Float, Double, Decimal, Date, Time),
    *(Char, VarChar, Binary, VarBinary),
)


def check_bucket_key(types: Sequence[DataType], function: str) -> None:
    """Raises `UnsupportedError` (LB6520, LB6521) where the function is not known or takes no key of these types."""
    match function:
        case "default":
            return
        case "mod":
            if len(types) != 1 or not isinstance(types[0], Int | BigInt):
                raise _not_taken(function, "one column, INT or BIGINT", types)
        case "hive":
            if not all(isinstance(type_, _HASHED_BY_HIVE) for type_ in types):
                raise _not_taken(function, "columns that are no timestamps and not nested", types)
        case _:
            raise UnsupportedError.of(
                "LB6520",
                f"rows cannot be put into buckets by the function {function!r}",
                path=BUCKET_FUNCTION_TYPE,
                expected=f"{DEFAULT}, {MOD} or {HIVE}",
                found=function,
            )


def _not_taken(function: str, expected: str, types: Sequence[DataType]) -> LakebedError:
    found = ", ".join(map(str, types))
    message = f"rows cannot be put into buckets by the function {function!r} and a key of ({found})"
    return UnsupportedError.of("LB6521", message, path=BUCKET_KEY, expected=expected, found=found)


def hash_key(types: Sequence[DataType], values: Sequence[Any], function: str) -> int:
    """What the function makes of a key, whatever the number of buckets; None in `values` is NULL.

    Raises `UnsupportedError` where the function takes no such key, ValueError where a value does not fit its type.
    """
    check_bucket_key(types, function)
    row = binary_row.encode(types, values)[binary_row.PREFIX :]
    match function:
        case "mod":
            return int(values[0] or 0)
        case "hive":
            return _hash_as_hive(types, values)
        case _:
            return hash_row(row)


def bucket_of_hash(hashed: int, buckets: int, function: str) -> int:
    """The bucket among `buckets` of a key with such a hash."""
    match function:
        case "mod":
            return hashed % buckets
        case "hive":
            return (hashed & _MAX_INT) % buckets
        case _:
            # Java's remainder is that of the absolute value, with the sign of the hash.
            return abs(hashed) % buckets


def bucket_of_row(types: Sequence[DataType], values: Sequence[Any], buckets: int, function: str = DEFAULT) -> int:
    """The bucket of a row with such a key; raises what `hash_key` raises."""
    return bucket_of_hash(hash_key(types, values, function), buckets, function)


def hash_row(row: bytes) -> int:
    """The signed hash of a binary row without its arity prefix; the length is a multiple of 4."""
    h = _SEED
    for k in struct.unpack(f"<{len(row) // 4}I", row):
        k = k * 0xCC9E2D51 & _MASK
        k = (k << 15 | k >> 17) * 0x1B873593 & _MASK
        h ^= k
        h = ((h << 13 | h >> 19) & _MASK) * 5 + 0xE6546B64 & _MASK
    h ^= len(row)
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return _signed(h)


def bucket(row: bytes, buckets: int) -> int:
    """The bucket of a key row (without prefix) among `buckets`, by the default function."""
    return bucket_of_hash(hash_row(row), buckets, DEFAULT)


def _hash_as_hive(types: Sequence[DataType], values: Sequence[Any]) -> int:
    hashed = 0
    for type_, value in zip(types, values, strict=True):
        hashed = 31 * hashed + (0 if value is None else _hive_hash(type_, value))
    return _signed(hashed & _MASK)


def _hive_hash(type_: DataType, value: Any) -> int:
    """The hash of one value; its lower 32 bits count."""
    match type_:
        case BigInt():
            return _hash_long(int(value))
        case Float():
            return _bits("f", "i", float(value))
        case Double():
            return _hash_long(_bits("d", "q", float(value)))
        case Char() | VarChar():
            return _hash_bytes(str(value).encode())
        case Binary() | VarBinary():
            return _hash_bytes(bytes(value))
        case Decimal():
            return _hash_decimal(value)
        case _:
            return int(value)


def _hash_long(value: int) -> int:
    return value ^ (value & 0xFFFFFFFFFFFFFFFF) >> 32


def _bits(code: str, whole: str, value: float) -> int:
    """The bits of a number; both zeros have those of 0.0, every NaN those of Java's one."""
    if value != value:
        value = float("nan")
    found: int = struct.unpack(f"<{whole}", struct.pack(f"<{code}", value or 0.0))[0]
    return found


def _hash_bytes(data: bytes) -> int:
    hashed = 0
    for byte in data:
        hashed = 31 * hashed + (byte ^ 0x80) - 0x80 & _MASK
    return hashed


def _hash_decimal(value: Number) -> int:
    """The hash of Java's BigDecimal without zeros at its end, but with none of a whole number taken away."""
    sign, digits, exponent = value.as_tuple()
    whole, scale = int("".join(map(str, digits))), -int(exponent)
    if scale < 0:
        whole, scale = whole * 10**-scale, 0
    while scale > 0 and whole % 10 == 0:
        whole, scale = whole // 10, scale - 1
    if not whole:
        return 0
    hashed = 0
    for word in struct.unpack(">4I", whole.to_bytes(16, "big")):
        hashed = 31 * hashed + word & _MASK
    return 31 * (-hashed if sign else hashed) + scale


def _signed(h: int) -> int:
    return h - (h >> 31 << 32)
