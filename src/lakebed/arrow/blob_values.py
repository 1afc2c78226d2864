"""Convert payloads of blob files from and to Arrow values: bytes, arrays of bytes, maps to bytes.

Damage is a ValueError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa

from lakebed.arrow.blob_file import PLACEHOLDER, Placeholder, blob_payloads, delta_varint_bytes, delta_varints
from lakebed.errors import WriteError
from lakebed.format.blob_columns import is_descriptor

#: The column that says of each row whether it is a placeholder.
IS_PLACEHOLDER = "_LAKEBED_PLACEHOLDER"
#: How many rows and about how many bytes an Arrow batch of contents holds.
_ROWS, _BYTES = 1024, 16 << 20

_HEADER = struct.Struct("<iBi")
_ARRAY, _MAP = 1094861634, 1296188226
_VERSION = 1
_NULL = -1
_EPOCH = date(1970, 1, 1)
_LONG_DECIMAL = 18
_INTEGERS = {pa.int8(): "<b", pa.int16(): "<h", pa.int32(): "<i", pa.int64(): "<q"}
Decode = Callable[[bytes], Any]
Part = bytes | memoryview
Encode = Callable[[pa.Scalar], Iterable[Part]]
IS_DESCRIPTOR, KEY_TWICE = "LB6508", "LB6509"


def blob_batches(data: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a file: its one column is the first of `schema`, of the others only `IS_PLACEHOLDER` is not NULL."""
    decode = value_decoder(schema.field(0).type)
    for payloads in _batched(blob_payloads(data)):
        values = [decode(p) if isinstance(p, bytes) else None for p in payloads]
        arrays = [pa.array(values, schema.field(0).type)]
        for field in list(schema)[1:]:
            if field.name == IS_PLACEHOLDER:
                arrays.append(pa.array([p is PLACEHOLDER for p in payloads]))
            else:
                arrays.append(pa.nulls(len(payloads), field.type))
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _batched(payloads: Sequence[bytes | Placeholder | None]) -> Iterator[list[bytes | Placeholder | None]]:
    batch: list[bytes | Placeholder | None] = []
    size = 0
    for payload in payloads:
        batch.append(payload)
        size += len(payload) if isinstance(payload, bytes) else 0
        if len(batch) == _ROWS or size > _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def value_decoder(type_: pa.DataType) -> Decode:
    """From a payload to a value of this type, as Arrow takes it."""
    if pa.types.is_list(type_):
        return array_value
    if pa.types.is_map(type_):
        key = key_decoder(type_.key_type)
        return lambda payload: map_value(payload, key)
    return lambda payload: payload


def array_value(payload: bytes) -> list[bytes | None]:
    """The elements of an ARRAY<BLOB>."""
    count = _count(payload, _ARRAY)
    data, lengths = _indexes(payload, 1)
    return list(_pieces(data, lengths[0], count))


def map_value(payload: bytes, key: Decode) -> list[tuple[Any, bytes | None]]:
    """The entries of a MAP<_, BLOB>, all keys first."""
    count = _count(payload, _MAP)
    data, (key_lengths, value_lengths) = _indexes(payload, 2)
    end = sum(n for n in key_lengths if n > 0)
    keys = list(_pieces(data[:end], key_lengths, count))
    if None in keys:
        raise ValueError("a map has a NULL key")
    if len(set(keys)) != count:
        raise ValueError("a map has a key twice")
    return list(zip((key(k) for k in keys if k is not None), _pieces(data[end:], value_lengths, count), strict=True))


def _count(payload: bytes, magic: int) -> int:
    if len(payload) < _HEADER.size:
        raise ValueError("a nested value is too short")
    found, version, count = _HEADER.unpack_from(payload)
    if found != magic or version != _VERSION or count < 0:
        raise ValueError(f"a nested value starts with {payload[: _HEADER.size].hex()}")
    return int(count)


def _indexes(payload: bytes, number: int) -> tuple[bytes, list[Sequence[int]]]:
    """What lies between the header and the indexes at the end, and the lengths that these say."""
    sizes_at = len(payload) - 4 * number
    if sizes_at < _HEADER.size:
        raise ValueError("a nested value is too short")
    sizes = struct.unpack_from(f"<{number}i", payload, sizes_at)
    start = sizes_at - sum(sizes)
    if min(sizes) < 0 or start < _HEADER.size:
        raise ValueError("the index of a nested value is cut")
    lengths, at = [], start
    for size in sizes:
        lengths.append(delta_varints(payload[at : at + size]))
        at += size
    return payload[_HEADER.size : start], lengths


def _pieces(data: bytes, lengths: Sequence[int], count: int) -> Iterator[bytes | None]:
    if len(lengths) != count or min(lengths, default=0) < _NULL or sum(n for n in lengths if n > 0) != len(data):
        raise ValueError("the lengths of a nested value do not fit its data")
    offset = 0
    for length in lengths:
        if length == _NULL:
            yield None
        else:
            yield data[offset : offset + length]
            offset += length


def key_decoder(type_: pa.DataType) -> Decode:
    """From the bytes of a map's key to its value."""
    if type_ in _INTEGERS:
        return _fixed(_INTEGERS[type_])
    if pa.types.is_boolean(type_):
        number = _fixed("<B")
        return lambda data: _boolean(number(data))
    if pa.types.is_date32(type_):
        days = _fixed("<i")
        return lambda data: _EPOCH + timedelta(days=days(data))
    if pa.types.is_decimal(type_):
        return _decimal(type_.precision, type_.scale)
    if pa.types.is_string(type_):
        return lambda data: data.decode("utf-8")
    if pa.types.is_binary(type_):
        return lambda data: data
    raise ValueError(f"maps with keys of type {type_} have no form in blob files")


def _fixed(form: str) -> Decode:
    layout = struct.Struct(form)

    def decode(data: bytes) -> Any:
        if len(data) != layout.size:
            raise ValueError(f"a map has a key of {len(data)} bytes where {layout.size} are expected")
        return layout.unpack(data)[0]

    return decode


def _boolean(value: int) -> bool:
    if value not in (0, 1):
        raise ValueError(f"a map has the BOOLEAN key {value}")
    return value == 1


def _decimal(precision: int, scale: int) -> Decode:
    exact = Context(prec=40)
    short = _fixed("<q")
    if precision <= _LONG_DECIMAL:
        return lambda data: Decimal(short(data)).scaleb(-scale, exact)
    return lambda data: Decimal(int.from_bytes(data, "big", signed=True)).scaleb(-scale, exact)


def payload_encoder(type_: pa.DataType, column: str) -> Encode:
    """From a value of this type that is not NULL to the parts of its payload, of which contents are not copied.

    What it makes raises WriteError, which names `column`, for what blob files cannot hold.
    """
    if pa.types.is_list(type_):
        return lambda array: _nested_parts(_ARRAY, (_contents(array.values, column),))
    if pa.types.is_map(type_):
        key = key_encoder(type_.key_type)
        return lambda entries: _map_parts(entries.values, key, column)
    return lambda value: (_content(value, column),)


def _map_parts(entries: pa.StructArray, encode: Callable[[pa.Scalar], bytes], column: str) -> Iterator[Part]:
    keys = [encode(key) for key in entries.field(0)]
    if len(set(keys)) != len(keys):
        raise WriteError.of(
            KEY_TWICE,
            f"column {column}: a map of blobs has a key twice",
            path=column,
            remedy="leave one of the entries out",
        )
    return _nested_parts(_MAP, (keys, _contents(entries.field(1), column)))


def _nested_parts(magic: int, groups: Sequence[Sequence[Part | None]]) -> Iterator[Part]:
    """The parts of a nested value, and at its end for each group of them how long they are."""
    yield _HEADER.pack(magic, _VERSION, len(groups[0]))
    for group in groups:
        yield from (part for part in group if part is not None)
    indexes = [delta_varint_bytes(_NULL if part is None else len(part) for part in group) for group in groups]
    yield b"".join(indexes) + struct.pack(f"<{len(groups)}i", *map(len, indexes))


def _contents(values: pa.Array, column: str) -> list[Part | None]:
    return [_content(value, column) if value.is_valid else None for value in values]


def _content(value: pa.Scalar, column: str) -> memoryview:
    """The bytes of a content. Raises WriteError for what says where a content lies: no reader would look there."""
    content = memoryview(value.as_buffer())
    if is_descriptor(content):
        raise WriteError.of(
            IS_DESCRIPTOR,
            f"column {column}: a row has the descriptor of a blob where the table stores its content",
            path=column,
            remedy=f"get the contents first: lake.fetch_blobs(df, {column!r})",
        )
    return content


def key_encoder(type_: pa.DataType) -> Callable[[pa.Scalar], bytes]:
    """From the key of a map to its bytes, as `key_decoder` reads them. Raises ValueError for keys without a form."""
    if type_ in _INTEGERS:
        layout = struct.Struct(_INTEGERS[type_])
        return lambda key: layout.pack(key.as_py())
    if pa.types.is_boolean(type_):
        return lambda key: bytes([key.as_py()])
    if pa.types.is_date32(type_) or pa.types.is_time32(type_):
        return lambda key: struct.pack("<i", key.cast(pa.int32()).as_py())
    if pa.types.is_decimal(type_):
        return lambda key: _decimal_bytes(key.as_py(), type_)
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return lambda key: bytes(key.as_buffer())
    raise ValueError(f"maps with keys of type {type_} have no form in blob files")


def _decimal_bytes(value: Decimal, type_: pa.DataType) -> bytes:
    number = int(value.scaleb(type_.scale, Context(prec=40)))
    if type_.precision <= _LONG_DECIMAL:
        return struct.pack("<q", number)
    magnitude = number if number >= 0 else ~number
    return number.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True)
