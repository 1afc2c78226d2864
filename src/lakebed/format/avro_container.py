"""Rewrite headers and blocks of Avro container files where the Avro library falls short.

The library gives no access to the plain numbers below logical types, whose Python values end at the year 9999, nor to
blocks without reading the schema of each file anew, and needs one library more for Snappy. All are a matter of the
container: its header holds the schema and the codec, its blocks are bytes (Avro specification, "Object Container
Files").
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

MAGIC: Final = b"Obj\x01"
_SCHEMA, _CODEC = "avro.schema", "avro.codec"
_SYNC = 16
_CHECKSUM = 4


@dataclass(frozen=True, slots=True)
class Header:
    """What a container says of itself: the writer's schema as JSON, the codec, the mark between blocks, its length."""

    text: bytes
    codec: str
    sync: bytes
    length: int

    @property
    def schema(self) -> Any:
        """The writer's schema. Raises ValueError where it is no JSON."""
        return json.loads(self.text)


def read_header(data: bytes) -> Header:
    """The header of a container file. Raises ValueError or EOFError for what is none."""
    source = _Bytes(data)
    if source.take(len(MAGIC)) != MAGIC:
        raise ValueError("this is no Avro file")
    meta: dict[str, bytes] = {}
    while count := source.number():
        if count < 0:
            source.number()
        for _ in range(abs(count)):
            key = source.take(source.number()).decode()
            meta[key] = source.take(source.number())
    sync = source.take(_SYNC)
    return Header(meta[_SCHEMA], meta.get(_CODEC, b"null").decode(), sync, source.place)


def with_schema(data: bytes, header: Header, schema: Any) -> bytes:
    """The same container under another schema of the same shape."""
    return _head(json.dumps(schema).encode(), header.codec, header.sync) + data[header.length :]


def with_stored_values(data: bytes, header: Header) -> bytes:
    """The same container under its schema `without_logical_types`, which is made once for all that have the schema."""
    return _head(_stored_values(header.text), header.codec, header.sync) + data[header.length :]


@lru_cache(maxsize=64)
def _stored_values(text: bytes) -> bytes:
    return json.dumps(without_logical_types(json.loads(text))).encode()


def with_opaque_records(data: bytes, header: Header) -> bytes:
    """The same container under a schema that says nothing of what is in its blocks."""
    return _head(b'"null"', header.codec, header.sync) + data[header.length :]


def without_snappy(data: bytes, decompress: Callable[[bytes], bytes]) -> bytes:
    """The same container with its blocks, which are in Snappy, plain; `decompress` is for one of them."""
    header = read_header(data)
    source = _Bytes(data, header.length)
    out = [_head(header.text, "null", header.sync)]
    while not source.at_end:
        count = source.number()
        block = decompress(source.take(source.number())[:-_CHECKSUM])
        if source.take(_SYNC) != header.sync:
            raise ValueError("the end of a block is not where it should be")
        out += [_varint(count), _varint(len(block)), block, header.sync]
    return b"".join(out)


def arrow_snappy(block: bytes) -> bytes:
    """Decompress a Snappy block with PyArrow. Raises ImportError without it."""
    import pyarrow as pa

    # The length of the contents comes first, seven bits a byte.
    length = shift = 0
    for byte in block:
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    plain: bytes = pa.Codec("snappy").decompress(block, decompressed_size=length, asbytes=True)
    return plain


def without_logical_types(schema: Any) -> Any:
    """A schema in JSON form whose values are what is stored: numbers and bytes."""
    match schema:
        case Mapping():
            inner = {k: without_logical_types(v) if k in _INNER else v for k, v in schema.items()}
            inner.pop("logicalType", None)
            return inner
        case list():
            return [without_logical_types(s) for s in schema]
        case _:
            return schema


#: Where schemas stand within a schema.
_INNER = ("type", "items", "values", "fields")


class _Bytes:
    """Reads Avro's primitive values from bytes."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self.place = place

    @property
    def at_end(self) -> bool:
        return self.place >= len(self._data)

    def take(self, length: int) -> bytes:
        found = self._data[self.place : self.place + length]
        if length < 0 or len(found) != length:
            raise EOFError("the file is cut off")
        self.place += length
        return found

    def number(self) -> int:
        value = shift = 0
        while True:
            (byte,) = self.take(1)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return (value >> 1) ^ -(value & 1)
            shift += 7


def _varint(number: int) -> bytes:
    value = number << 1 if number >= 0 else (-number << 1) - 1
    out = io.BytesIO()
    while value > 0x7F:
        out.write(bytes([value & 0x7F | 0x80]))
        value >>= 7
    out.write(bytes([value]))
    return out.getvalue()


def _head(schema: bytes, codec: str, sync: bytes) -> bytes:
    meta = {_SCHEMA: schema, _CODEC: codec.encode()}
    pairs = (_varint(len(k)) + k.encode() + _varint(len(v)) + v for k, v in meta.items())
    return b"".join([MAGIC, _varint(len(meta)), *pairs, _varint(0), sync])
