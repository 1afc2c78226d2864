"""Encode and decode `BinaryRow`, the form of partitions, keys and statistics inside manifests.

A row is little-endian and made of 8-byte words: a header (row kind and null bits), one slot a field, the variable part.
In Avro the row is preceded by its arity as a 4-byte big-endian int; `encode` writes and `decode` expects that prefix.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context
from decimal import Decimal as Number
from functools import lru_cache
from typing import Any

from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, LakebedError, UnsupportedError
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

PREFIX = 4
#: The row without fields, as an unpartitioned table's partition and an append file's key are written.
EMPTY_ROW = bytes(12)
#: Decimals of 38 digits must pass through unrounded, whatever the caller's decimal context is.
_EXACT = Context(prec=100)
_MAX_COMPACT_PRECISION = 18
_MAX_MILLIS_PRECISION = 3
_NANOS_PER_MILLI = 1_000_000
_INLINE = 7
_LOW = 0xFFFFFFFF

#: Puts a value: (value, variable part, start of the variable part) -> slot.
_Put = Callable[[Any, bytearray, int], Any]
#: Gets a value: (slot, row bytes without prefix) -> value.
_Get = Callable[[Any, memoryview], Any]


@dataclass(frozen=True, slots=True)
class _Slot:
    """`code` is the struct code of the 8 bytes; `put` and `get` are None where the slot is the value."""

    code: str
    put: _Put | None = None
    get: _Get | None = None


def _get_floating(value: float, _: memoryview) -> float:
    """A number, of which every NaN is the same object: Python finds a tuple with it again by that alone."""
    return value if value == value else math.nan


def _unscaled(value: Number, scale: int) -> int:
    shifted = value.scaleb(scale, _EXACT)
    whole = int(shifted)
    if whole != shifted:
        raise ValueError(f"{value} has more than {scale} decimal places")
    return whole


def _append_variable(payload: bytes, length: int, tail: bytearray, start: int) -> int:
    """Add `payload`, padded to words; the slot holds the length and the offset from the start of the row."""
    offset = start + len(tail)
    tail += payload
    tail += bytes(-len(payload) % 8)
    return offset << 32 | length


def _slice(slot: int, row: memoryview) -> bytes:
    """The variable part that a slot of length and offset points at."""
    offset, length = slot >> 32, slot & _LOW
    if offset + length > len(row):
        raise ValueError(f"a value of {length} bytes at offset {offset} ends after the row of {len(row)} bytes")
    return bytes(row[offset : offset + length])


def _put_bytes(value: bytes, tail: bytearray, start: int) -> int:
    size = len(value)
    if size <= _INLINE:
        return int.from_bytes(value, "little") | (0x80 | size) << 56
    return _append_variable(value, size, tail, start)


def _get_bytes(slot: int, row: memoryview) -> bytes:
    if slot >> 63:
        return slot.to_bytes(8, "little")[: slot >> 56 & 0x7F]
    return _slice(slot, row)


def _put_text(value: str, tail: bytearray, start: int) -> int:
    return _put_bytes(value.encode(), tail, start)


def _get_text(slot: int, row: memoryview) -> str:
    return _get_bytes(slot, row).decode()


def _decimal(type_: Decimal) -> _Slot:
    scale = type_.scale
    if type_.precision <= _MAX_COMPACT_PRECISION:
        return _Slot("q", lambda v, _t, _s: _unscaled(v, scale), lambda slot, _r: Number(slot).scaleb(-scale, _EXACT))

    def put(value: Number, tail: bytearray, start: int) -> int:
        whole = _unscaled(value, scale)
        size = (whole if whole >= 0 else ~whole).bit_length() // 8 + 1
        return _append_variable(whole.to_bytes(size, "big", signed=True).ljust(16, b"\0"), size, tail, start)

    def get(slot: int, row: memoryview) -> Number:
        return Number(int.from_bytes(_slice(slot, row), "big", signed=True)).scaleb(-scale, _EXACT)

    return _Slot("Q", put, get)


def _put_nanos(value: int, tail: bytearray, start: int) -> int:
    millis, nanos = divmod(value, _NANOS_PER_MILLI)
    return _append_variable(struct.pack("<q", millis), nanos, tail, start)


def _get_nanos(slot: int, row: memoryview) -> int:
    millis = struct.unpack_from("<q", row, slot >> 32)[0]
    return int(millis) * _NANOS_PER_MILLI + (slot & _LOW)


def _refused(type_: DataType) -> _Slot:
    def refuse(*_: Any) -> Any:
        raise UnsupportedError.of("LB5021", f"a value of type {type_.root} inside a binary row is not supported")

    return _Slot("Q", refuse, refuse)


def _slot(type_: DataType) -> _Slot:
    match type_:
        case Boolean():
            return _Slot("?7x")
        case TinyInt():
            return _Slot("b7x")
        case SmallInt():
            return _Slot("h6x")
        case Int() | Date() | Time():
            return _Slot("i4x")
        case BigInt():
            return _Slot("q")
        case Float():
            return _Slot("f4x", get=_get_floating)
        case Double():
            return _Slot("d", get=_get_floating)
        case Decimal():
            return _decimal(type_)
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p) if p <= _MAX_MILLIS_PRECISION:
            return _Slot("q", lambda v, _t, _s: v // _NANOS_PER_MILLI, lambda slot, _r: slot * _NANOS_PER_MILLI)
        case Timestamp() | LocalZonedTimestamp():
            return _Slot("Q", _put_nanos, _get_nanos)
        case Char() | VarChar():
            return _Slot("Q", _put_text, _get_text)
        case Binary() | VarBinary():
            return _Slot("Q", _put_bytes, _get_bytes)
        case _:
            return _refused(type_)


class RowCodec:
    """Encodes and decodes rows of fixed field types. Make one by `codec(types)` and keep it in a loop."""

    __slots__ = ("_arity", "_getters", "_header", "_prefix", "_putters", "_singles", "_slots", "_start")

    def __init__(self, types: Sequence[DataType]) -> None:
        slots = [_slot(t) for t in types]
        self._arity = len(slots)
        self._header = (len(slots) + 63 + 8) // 64 * 8
        self._start = self._header + 8 * len(slots)
        self._prefix = len(slots).to_bytes(PREFIX, "big")
        self._slots = struct.Struct("<" + "".join(s.code for s in slots))
        self._singles = tuple((struct.Struct("<" + s.code), s.get) for s in slots)
        self._putters = tuple(s.put for s in slots)
        self._getters = tuple((i, s.get) for i, s in enumerate(slots) if s.get is not None)

    def encode(self, values: Sequence[Any]) -> bytes:
        """The prefixed row of `values`: internal values, None is NULL.

        Raises ValueError where a value does not fit its type, UnsupportedError for a nested value.
        """
        if len(values) != self._arity:
            raise ValueError(f"{len(values)} values for a row of {self._arity} fields")
        nulls, tail, slots = 0, bytearray(), []
        for i, (value, put) in enumerate(zip(values, self._putters, strict=True)):
            if value is None:
                nulls |= 1 << i
                slots.append(0)
            else:
                slots.append(value if put is None else put(value, tail, self._start))
        try:
            fixed = self._slots.pack(*slots)
        except (struct.error, OverflowError) as e:
            raise ValueError(f"a value does not fit its type: {e}") from e
        return b"".join((self._prefix, (nulls << 8).to_bytes(self._header, "little"), fixed, tail))

    def decode(self, data: bytes) -> tuple[Any, ...]:
        """The values of a prefixed row. A NULL is read in both encodings that writers use for wide types.

        Raises CorruptMetadataError where the bytes are no row of these types, UnsupportedError for a nested value.
        """
        if data[:PREFIX] != self._prefix:
            found = int.from_bytes(data[:PREFIX], "big")
            raise _corrupt(f"a binary row has {found} fields where {self._arity} were expected")
        row = memoryview(data)[PREFIX:]
        try:
            values = list(self._slots.unpack_from(row, self._header))
            nulls = int.from_bytes(row[: self._header], "little") >> 8
            for i, get in self._getters:
                if not nulls >> i & 1:
                    values[i] = get(values[i], row)
        except (struct.error, ValueError) as e:
            raise _corrupt(f"a binary row cannot be decoded: {e}") from e
        if nulls:
            values = [None if nulls >> i & 1 else v for i, v in enumerate(values)]
        return tuple(values)

    def value(self, data: bytes, place: int) -> Any:
        """The value of one field of a prefixed row; None where it is NULL. Raises as `decode`, for this field."""
        if data[:PREFIX] != self._prefix:
            self.decode(data)
        slot, get = self._singles[place]
        try:
            if data[PREFIX + 1 + (place >> 3)] >> (place & 7) & 1:
                return None
            found = slot.unpack_from(data, PREFIX + self._header + 8 * place)[0]
            return found if get is None else get(found, memoryview(data)[PREFIX:])
        except (struct.error, ValueError, IndexError) as e:
            raise _corrupt(f"a binary row cannot be decoded: {reason_of(e)}") from e


def _corrupt(message: str) -> LakebedError:
    return CorruptMetadataError.of("LB5020", message)


@lru_cache(maxsize=256)
def codec(types: tuple[DataType, ...]) -> RowCodec:
    """The codec of these field types, made once."""
    return RowCodec(types)


def encode(types: Sequence[DataType], values: Sequence[Any]) -> bytes:
    """`values` as a row with its arity prefix; see `RowCodec.encode`."""
    return codec(tuple(types)).encode(values)


def decode(types: Sequence[DataType], data: bytes) -> tuple[Any, ...]:
    """The values of a row with its arity prefix; see `RowCodec.decode`."""
    return codec(tuple(types)).decode(data)
