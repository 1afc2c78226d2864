"""Blob files: one BLOB column, each value an entry of its own (Paimon specification, "File Format", "BLOB").

An entry is magic number, value, length of the entry and checksum. The file ends with an index of the entries' lengths,
delta-varint compressed, its length and a version.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

_MAGIC = struct.pack("<i", 1481511375)
_TRAILER = struct.Struct("<qI")
_LENGTH = 8
_FOOTER = struct.Struct("<ib")
_VERSION = 1
_NULL: Final = -1
_PLACEHOLDER: Final = -2


class Placeholder:
    """What stands where this file does not hold the row's value: an older file does."""


PLACEHOLDER = Placeholder()


def blob_values(data: bytes) -> list[bytes | Placeholder | None]:
    """The values of a blob file, in order. Raises ValueError for damage."""
    lengths = _index(data)
    values: list[bytes | Placeholder | None] = []
    offset = 0
    for length in lengths:
        if length == _NULL:
            values.append(None)
        elif length == _PLACEHOLDER:
            values.append(PLACEHOLDER)
        else:
            values.append(_entry(data, offset, length))
            offset += length
    return values


def _entry(data: bytes, offset: int, length: int) -> bytes:
    value_end = offset + length - _TRAILER.size
    if length < len(_MAGIC) + _TRAILER.size or offset + length > len(data) or data[offset : offset + 4] != _MAGIC:
        raise ValueError(f"no entry of {length} bytes at offset {offset}")
    stored, checksum = _TRAILER.unpack_from(data, value_end)
    if stored != length or checksum != zlib.crc32(data[offset : value_end + _LENGTH]):
        raise ValueError(f"the entry at offset {offset} is damaged")
    return data[offset + len(_MAGIC) : value_end]


def _index(data: bytes) -> Sequence[int]:
    if len(data) < _FOOTER.size:
        raise ValueError("the file is too short")
    length, version = _FOOTER.unpack_from(data, len(data) - _FOOTER.size)
    start = len(data) - _FOOTER.size - length
    if version != _VERSION:
        raise ValueError(f"version {version} is not known")
    if length < 0 or start < 0:
        raise ValueError("the index is cut")
    return list(_running_sums(_varints(data[start : start + length])))


def _running_sums(deltas: Iterator[int]) -> Iterator[int]:
    total = 0
    for delta in deltas:
        total += delta
        yield total


def _varints(data: bytes) -> Iterator[int]:
    """Zigzag numbers of seven bits a byte, the lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0
    if shift:
        raise ValueError("the index ends within a number")
