"""Read an ORC file's footer: its writer's time zone, whether it holds instants (ORC, "File Tail").

Read through a store: the tail and the footer of the first stripe, never rows. Imports pyarrow when called.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.store.base import Store

_FIRST_READ: Final = 16 * 1024
_MAGIC: Final = b"ORC"
#: Field numbers of the messages that are looked at.
_POSTSCRIPT_FOOTER, _POSTSCRIPT_COMPRESSION = 1, 2
_FOOTER_STRIPES, _FOOTER_TYPES, _FOOTER_WRITER = 3, 4, 9
_TYPE_KIND = 1
_TIMESTAMP_INSTANT: Final = 18
_STRIPE_OFFSET, _STRIPE_INDEX, _STRIPE_DATA, _STRIPE_FOOTER = 1, 2, 3, 4
_STRIPE_ZONE = 3
_JAVA = 0
_CODECS: Final = {1: "zlib", 2: "snappy", 4: "lz4", 5: "zstd"}

_Message = dict[int, list[int | bytes]]


def java_writer_zone(store: Store, path: str) -> str | None:
    """The zone of the JVM that wrote the file; None for other writers, and where there are no rows or no zone is said.

    Raises CorruptMetadataError for what is no ORC file, UnsupportedError for a codec that is not known.
    """
    with _of_orc(path):
        footer, codec = _footer(store, path)
        stripes = footer.get(_FOOTER_STRIPES)
        if not stripes or _number(footer, _FOOTER_WRITER) != _JAVA:
            return None
        stripe = _message(_bytes(stripes[0]))
        start = sum(_number(stripe, part) for part in (_STRIPE_OFFSET, _STRIPE_INDEX, _STRIPE_DATA))
        data = store.read_range(path, start, _number(stripe, _STRIPE_FOOTER))
        zone = _message(_plain(data, codec, path)).get(_STRIPE_ZONE)
        return _bytes(zone[0]).decode() if zone else None


def has_instants(store: Store, path: str) -> bool:
    """Whether a column of the file, at any depth, is a TIMESTAMP WITH LOCAL TIME ZONE in the file itself.

    Raises as `java_writer_zone` does.
    """
    with _of_orc(path):
        footer, _ = _footer(store, path)
        types = (_message(_bytes(type_)) for type_ in footer.get(_FOOTER_TYPES, []))
        return any(_number(type_, _TYPE_KIND) == _TIMESTAMP_INSTANT for type_ in types)


@contextmanager
def _of_orc(path: str) -> Iterator[None]:
    """Say which file it is whose end makes no sense."""
    try:
        yield
    except (ValueError, IndexError, zlib.error, OSError) as e:
        raise CorruptMetadataError.of(
            "LB5532", f"the end of the ORC file {path} cannot be read: {reason_of(e)}", path=path
        ) from e


def _footer(store: Store, path: str) -> tuple[_Message, int]:
    """The footer, and the number of the codec that the file is compressed with."""
    tail = store.read_range(path, -_FIRST_READ, _FIRST_READ)
    length = tail[-1]
    postscript = tail[-1 - length : -1]
    if not postscript.endswith(_MAGIC):
        raise ValueError("it is no ORC file")
    found = _message(postscript)
    size, codec = _number(found, _POSTSCRIPT_FOOTER), _number(found, _POSTSCRIPT_COMPRESSION)
    end = 1 + length
    if size + end > len(tail):
        tail = store.read_range(path, -(size + end), size + end)
    return _message(_plain(tail[-(size + end) : -end], codec, path)), codec


def _plain(data: bytes, codec: int, path: str) -> bytes:
    """What a compressed stream holds: chunks, each with a header of three bytes."""
    if codec == 0:
        return data
    if codec not in _CODECS:
        raise UnsupportedError.of("LB5533", f"ORC file {path} is compressed by codec {codec}", path=path)
    decompress = _decompressor(_CODECS[codec])
    out, place = [], 0
    while place < len(data):
        header = int.from_bytes(data[place : place + 3], "little")
        chunk = data[place + 3 : place + 3 + (header >> 1)]
        out.append(chunk if header & 1 else decompress(chunk))
        place += 3 + (header >> 1)
    return b"".join(out)


def _decompressor(codec: str) -> Callable[[bytes], bytes]:
    import pyarrow as pa

    from lakebed.format.avro_container import arrow_snappy

    match codec:
        case "zlib":
            return lambda chunk: zlib.decompress(chunk, wbits=-15)
        case "snappy":
            return arrow_snappy
        case "lz4":
            return _lz4
        case _:
            return lambda chunk: bytes(pa.CompressedInputStream(pa.BufferReader(chunk), "zstd").read())


def _lz4(block: bytes) -> bytes:
    """An LZ4 block: literals and copies of what came before."""
    out, place = bytearray(), 0
    while place < len(block):
        token, place = block[place], place + 1
        length, place = _lz4_length(block, place, token >> 4)
        out += block[place : place + length]
        place += length
        if place >= len(block):
            break
        back, place = int.from_bytes(block[place : place + 2], "little"), place + 2
        length, place = _lz4_length(block, place, token & 0xF)
        if not 0 < back <= len(out):
            raise ValueError("a copy from before the start")
        for _ in range(length + 4):
            out.append(out[-back])
    return bytes(out)


def _lz4_length(block: bytes, place: int, length: int) -> tuple[int, int]:
    if length == 0xF:
        while True:
            more, place = block[place], place + 1
            length += more
            if more != 0xFF:
                break
    return length, place


def _message(data: bytes) -> _Message:
    """The fields of a Protocol Buffers message, by number: varints as numbers, the rest as bytes."""
    found: _Message = {}
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        value: int | bytes
        match key & 7:
            case 0:
                value, place = _varint(data, place)
            case 1:
                value, place = data[place : place + 8], place + 8
            case 2:
                length, place = _varint(data, place)
                value, place = data[place : place + length], place + length
            case 5:
                value, place = data[place : place + 4], place + 4
            case kind:
                raise ValueError(f"a field of kind {kind}")
        found.setdefault(key >> 3, []).append(value)
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, place = data[place], place + 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def _number(message: _Message, field: int) -> int:
    value = message.get(field, [0])[0]
    if not isinstance(value, int):
        raise ValueError(f"field {field} is no number")
    return value


def _bytes(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a number where a message should be")
    return value
