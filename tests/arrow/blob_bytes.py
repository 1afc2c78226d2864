"""The bytes of blob files, made apart from Lakebed's writer, from the description of the format."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence

from lakebed.arrow.blob_file import Placeholder

Payload = bytes | Placeholder | None


def varint(number: int) -> bytes:
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while rest > 0x7F:
        out.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*out, rest])


def index_bytes(lengths: Iterable[int]) -> bytes:
    out, before = b"", 0
    for length in lengths:
        out += varint(length - before)
        before = length
    return out


def file_bytes(payloads: Sequence[Payload]) -> bytes:
    data, lengths = b"", []
    for payload in payloads:
        if isinstance(payload, bytes):
            length = len(payload) + 16
            body = struct.pack("<i", 1481511375) + payload + struct.pack("<q", length)
            data += body + struct.pack("<I", zlib.crc32(body))
            lengths.append(length)
        else:
            lengths.append(-1 if payload is None else -2)
    index = index_bytes(lengths)
    return data + index + struct.pack("<ib", len(index), 1)


def lengths_bytes(values: Sequence[bytes | None]) -> bytes:
    return index_bytes(-1 if v is None else len(v) for v in values)


def array_bytes(values: Sequence[bytes | None]) -> bytes:
    index = lengths_bytes(values)
    head = struct.pack("<iBi", 1094861634, 1, len(values))
    return head + b"".join(v for v in values if v is not None) + index + struct.pack("<i", len(index))


def map_bytes(entries: Sequence[tuple[bytes, bytes | None]]) -> bytes:
    keys, values = [k for k, _ in entries], [v for _, v in entries]
    first, second = lengths_bytes(keys), lengths_bytes(values)
    head = struct.pack("<iBi", 1296188226, 1, len(entries))
    data = b"".join(keys) + b"".join(v for v in values if v is not None)
    return head + data + first + second + struct.pack("<ii", len(first), len(second))
