"""Compute binary rows, buckets and the order of keys as Spark expressions.

The bytes are those of `format.binary_row`, made of a column as it is written: instants as `timestamp`, wall clocks as
`timestamp_ntz`, each also as the other with the clock in UTC; TIME as milliseconds of the day in an `int`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.errors import LakebedError, UnsupportedError
from lakebed.format.bucket_hash import check_bucket_key
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
    LocalZonedTimestamp,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarBinary,
    VarChar,
)
from lakebed.spark.bind_value import bind_value
from lakebed.spark.clocks import utc_instant
from lakebed.spark.key_hash import hive_hash, murmur_hash
from lakebed.spark.value_bits import (
    MAX_COMPACT_PRECISION,
    double_bits,
    float_bits,
    is_negative_zero,
    shortest_bytes,
    unscaled,
)

_WORD = 8
#: Texts and bytes up to this length are in their slot.
_INLINE = 7
#: Rows of so many numbers are hashed as words: the header is one number, and the expression is short.
_MOST_NUMBERS = 16
_MAX_MILLIS_PRECISION = 3
_DECIMAL_BYTES = 16
_MICROS_PER_MILLI = 1000
_EVERY_BYTE = bytes(range(256))


@dataclass(frozen=True, slots=True)
class _Stored:
    """How a value is stored, NULL where it is NULL.

    `slot` makes the 8 bytes of the slot; it is given the offset of the value's variable part. `tail` is the variable
    part and `size` its length, both None for types that have none.
    """

    slot: Callable[[Column], Column]
    tail: Column | None = None
    size: Column | None = None


@dataclass(frozen=True, slots=True)
class _Number:
    """A whole number that is stored in the first `width` bytes of a slot; the others are 0."""

    value: Column
    width: int

    def words(self) -> tuple[Column, Column]:
        """The two words of the slot, 0 where it is NULL; of the second the lower 32 bits count."""
        whole = F.coalesce(self.value.cast("bigint"), F.lit(0).cast("bigint"))
        if self.width == _WORD:
            return whole, F.shiftrightunsigned(whole, 32)
        return whole.bitwiseAND(F.lit((1 << 8 * self.width) - 1)), F.lit(0).cast("bigint")


def row_bytes(values: Sequence[Column], types: Sequence[DataType], *, prefix: bool) -> Column:
    """The binary row of `values`, with or without the arity before it, as BINARY; never NULL.

    A value stands in the expression some dozen times: give columns, not long expressions. Raises `UnsupportedError`
    (LB5021) for nested types.
    """
    header = (len(types) + 8 + 63) // 64 * _WORD
    parts = [F.lit(len(types).to_bytes(4, "big"))] if prefix else []
    parts.append(_header(values, header))
    tails: list[Column] = []
    offset = F.lit(header + _WORD * len(types))
    for value, type_ in zip(values, types, strict=True):
        stored = _stored(value, type_)
        parts.append(F.coalesce(stored.slot(offset), F.lit(bytes(_WORD))))
        if stored.tail is not None and stored.size is not None:
            tails.append(F.coalesce(stored.tail, F.lit(b"")))
            offset = offset + F.coalesce(stored.size, F.lit(0))
    return F.concat(*parts, *tails)


def bucket_of(values: Sequence[Column], types: Sequence[DataType], buckets: int, function: str) -> Column:
    """The bucket, an INT, of a row with the bucket key `values`, by the function of `bucket-function.type`.

    A NULL is hashed in its plain form, as pypaimon and Rust do; Java's writer hashes one of DECIMAL above 18 digits and
    of TIMESTAMP above milliseconds otherwise. Raises `UnsupportedError` (LB6520, LB6521) for a function that is not
    known or takes no such key.
    """
    check_bucket_key(types, function)
    count = F.lit(buckets)
    match function:
        case "mod":
            remainder = F.call_function("pmod", values[0].cast("bigint"), count)
            return F.coalesce(remainder, F.lit(0)).cast("int")
        case "hive":
            return (hive_hash(values, types).bitwiseAND(F.lit(0x7FFFFFFF)) % count).cast("int")
        case _:
            return F.abs(hash_of_row(values, types) % count)


def hash_of_row(values: Sequence[Column], types: Sequence[DataType]) -> Column:
    """The hash, an INT, of the binary row of `values`: the default function of buckets, and that of hash indexes."""
    numbers = [_number_of(value, type_) for value, type_ in zip(values, types, strict=True)]
    known = [number for number in numbers if number is not None]
    if known and len(known) == len(numbers) <= _MOST_NUMBERS and not _is_remote(values[0]):
        return murmur_hash([*_header_words(values), *(word for number in known for word in number.words())])
    # Spark hashes bytes as the format does where their number is a multiple of 4.
    return F.hash(row_bytes(values, types, prefix=False))


def _is_remote(column: Column) -> bool:
    """Whether an expression goes to a server, as a message that may be nested only some dozen times."""
    return type(column).__module__.startswith("pyspark.sql.connect")


def sort_keys(values: Sequence[Column], types: Sequence[DataType]) -> list[Column]:
    """The columns that sort rows as the format compares keys: NULL first, -0.0 before 0.0, NaN last, bytes unsigned."""
    keys: list[Column] = []
    for value, type_ in zip(values, types, strict=True):
        match type_:
            case Float() | Double():
                keys += [value, ~is_negative_zero(value)]
            case Char() | VarChar():
                # Without a collation.
                keys.append(value.cast("string"))
            case _:
                keys.append(value)
    return keys


def _header_words(values: Sequence[Column]) -> tuple[Column, Column]:
    """The header of a row with so few fields that it is one word of 64 bits."""
    nulls = [F.when(v.isNull(), F.lit(1 << 8 + i)).otherwise(F.lit(0)).cast("bigint") for i, v in enumerate(values)]
    header = reduce(Column.bitwiseOR, nulls)
    return header, F.shiftrightunsigned(header, 32)


def _header(values: Sequence[Column], length: int) -> Column:
    """The kind of the row, which is 0, and a bit a field that says whether it is NULL."""
    no_nulls = F.lit(bytes(length))
    if not values:
        return no_nulls
    nulls = [value.isNull() for value in values]
    bits = [F.when(null, F.lit(1 << i % 8)).otherwise(F.lit(0)) for i, null in enumerate(nulls)]
    marks = [_byte(reduce(Column.bitwiseOR, bits[i : i + 8]), 0) for i in range(0, len(bits), 8)]
    rest = F.lit(bytes(length - 1 - len(marks)))
    return F.when(reduce(or_, nulls), F.concat(F.lit(b"\0"), *marks, rest)).otherwise(no_nulls)


def _byte(value: Column, place: int) -> Column:
    """A byte of a whole number, the lowest at place 0: the value that stands there counted from the table's end."""
    shifted = F.shiftrightunsigned(value, 8 * place) if place else value
    return F.substr(F.lit(_EVERY_BYTE), shifted.bitwiseOR(F.lit(-256)).cast("int"), F.lit(1))


def _bytes(value: Column, width: int, *, of: int | None = None) -> Column:
    """The lowest `width` bytes of a whole number, little-endian, with zeros up to `of` bytes."""
    zeros = [F.lit(bytes(of - width))] if of is not None and of > width else []
    return F.concat(*(_byte(value, place) for place in range(width)), *zeros)


def _number_of(value: Column, type_: DataType) -> _Number | None:
    """The number in the slot of a value; None where the slot is not the value, or the number takes long to compute."""
    match type_:
        case Boolean() | TinyInt():
            return _Number(value.cast("int"), 1)
        case SmallInt():
            return _Number(value.cast("int"), 2)
        case Int() | Time():
            return _Number(value, 4)
        case Date():
            return _Number(F.unix_date(value), 4)
        case BigInt():
            return _Number(value, _WORD)
        case Decimal(precision=p) if p <= MAX_COMPACT_PRECISION:
            return _Number(unscaled(value, type_), _WORD)
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p) if p <= _MAX_MILLIS_PRECISION:
            return _Number(F.unix_millis(utc_instant(value)), _WORD)
        case _:
            return None


def _stored(value: Column, type_: DataType) -> _Stored:
    number = _number_of(value, type_)
    if number is not None:
        return _Stored(lambda _: _bytes(number.value, number.width, of=_WORD))
    match type_:
        case Float():
            return _bound_number(float_bits(value), 4)
        case Double():
            return _bound_number(double_bits(value), _WORD)
        case Decimal():
            return _wide_decimal(value, type_)
        case Timestamp() | LocalZonedTimestamp():
            return _timestamp(value)
        case Char() | VarChar():
            return _text(value.cast("binary"), F.octet_length(value))
        case Binary() | VarBinary():
            return _text(value, F.octet_length(value))
        case _:
            raise _refused(type_)


def _refused(type_: DataType) -> LakebedError:
    return UnsupportedError.of("LB5021", f"a value of type {type_.root} inside a binary row is not supported")


def _bound_number(value: Column, width: int) -> _Stored:
    """A number whose expression is too long to stand there for each byte."""
    return _Stored(lambda _: bind_value(value, lambda x: _bytes(x, width, of=_WORD)))


def _timestamp(value: Column) -> _Stored:
    instant = utc_instant(value)
    nanos = F.call_function("pmod", F.unix_micros(instant), F.lit(_MICROS_PER_MILLI)) * F.lit(1000)
    millis = bind_value(F.unix_millis(instant), lambda x: _bytes(x, _WORD))
    return _in_tail(nanos, millis, F.when(value.isNotNull(), F.lit(_WORD)))


def _wide_decimal(value: Column, type_: Decimal) -> _Stored:
    digits = shortest_bytes(unscaled(value, type_))
    tail = F.rpad(digits, F.lit(_DECIMAL_BYTES), F.lit(b"\0"))
    return _in_tail(F.octet_length(digits), tail, F.when(value.isNotNull(), F.lit(_DECIMAL_BYTES)))


def _in_tail(note: Column, tail: Column, size: Column) -> _Stored:
    """A value in the variable part, with a number of 32 bits that is noted in its slot before the offset."""

    def slot(offset: Column) -> Column:
        return F.concat(bind_value(note, lambda x: _bytes(x, 4)), _bytes(offset, 4))

    return _Stored(slot, tail, size)


def _text(data: Column, length: Column) -> _Stored:
    """Bytes in the slot, with their number and a mark behind them, or in the variable part, padded to whole words."""
    is_short = length <= F.lit(_INLINE)
    padded = (length + F.lit(_WORD - 1)).bitwiseAND(F.lit(-_WORD))
    inline = F.concat(F.rpad(data, F.lit(_INLINE), F.lit(b"\0")), _byte(length.bitwiseOR(F.lit(0x80)), 0))

    def slot(offset: Column) -> Column:
        return F.when(is_short, inline).otherwise(F.concat(_bytes(length, 4), _bytes(offset, 4)))

    tail = F.when(is_short, F.lit(b"")).otherwise(F.rpad(data, padded, F.lit(b"\0")))
    return _Stored(slot, tail, F.when(is_short, F.lit(0)).otherwise(padded))
