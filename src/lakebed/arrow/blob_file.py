"""Read blob files: one column of BLOB, ARRAY<BLOB> or MAP<_, BLOB> (Paimon specification, "File Format").

An entry is magic number, payload, length of the entry and checksum. The file ends with an index of the entries'
lengths, delta-varint compressed, its length and a version. Damage is a ValueError.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_MAGIC = struct.pack("<i", 1481511375)
_TRAILER = struct.Struct("<qI")
_LENGTH = 8
_FOOTER = struct.Struct("<ib")
_OVERHEAD = len(_MAGIC) + _TRAILER.size
_VERSION = 1
_NULL: Final = -1
_PLACEHOLDER: Final = -2


class Placeholder:
    """What stands where this file does not hold the row's value: an older file does."""


PLACEHOLDER = Placeholder()


@dataclass(frozen=True, slots=True)
class BlobPlace:
    """Where a payload lies in its file, in bytes."""

    offset: int
    length: int


def blob_payloads(data: bytes) -> list[bytes | Placeholder | None]:
    """The payloads of a whole file, in the order of its rows."""
    places = blob_places(data[-index_size(data) :], len(data))
    return [_payload(data, p) if isinstance(p, BlobPlace) else p for p in places]


def index_size(tail: bytes) -> int:
    """How many bytes at the end of a file are its index, from the last bytes of the file, at least 5 of them."""
    if len(tail) < _FOOTER.size:
        raise ValueError("the file is too short")
    length, version = _FOOTER.unpack_from(tail, len(tail) - _FOOTER.size)
    if version != _VERSION:
        raise ValueError(f"version {version} of blob files is not known")
    if length < 0:
        raise ValueError("the index has a negative length")
    return int(length) + _FOOTER.size


def blob_places(index: bytes, file_size: int) -> list[BlobPlace | Placeholder | None]:
    """Where the payload of each row lies; `index` is the last `index_size` bytes of a file of `file_size` bytes."""
    if len(index) != index_size(index):
        raise ValueError("the index is cut")
    end = file_size - len(index)
    places: list[BlobPlace | Placeholder | None] = []
    offset = 0
    for length in delta_varints(index[: -_FOOTER.size]):
        if length == _NULL:
            places.append(None)
        elif length == _PLACEHOLDER:
            places.append(PLACEHOLDER)
        elif length < _OVERHEAD or offset + length > end:
            raise ValueError(f"no entry of {length} bytes at offset {offset}")
        else:
            places.append(BlobPlace(offset + len(_MAGIC), length - _OVERHEAD))
            offset += length
    return places


def _payload(data: bytes, place: BlobPlace) -> bytes:
    start, end = place.offset - len(_MAGIC), place.offset + place.length
    stored, checksum = _TRAILER.unpack_from(data, end)
    whole = place.length + _OVERHEAD
    if data[start : place.offset] != _MAGIC or stored != whole:
        raise ValueError(f"no entry of {whole} bytes at offset {start}")
    if checksum != zlib.crc32(data[start : end + _LENGTH]):
        raise ValueError(f"the entry at offset {start} is damaged")
    return data[place.offset : end]


def delta_varints(data: bytes) -> Sequence[int]:
    """Numbers of which each but the first is stored as what it adds to the one before."""
    total, found = 0, []
    for delta in _varints(data):
        total += delta
        found.append(total)
    return found


def _varints(data: bytes) -> Iterator[int]:
    """Zigzag numbers of seven bits a byte, the lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
            if shift >= 70:
                raise ValueError("the index holds a number of more than 64 bits")
        else:
            yield (value >> 1) ^ -(value & 1)
            value = shift = 0
    if shift:
        raise ValueError("the index ends within a number")
