"""Read and write blob files: one column of BLOB, ARRAY<BLOB> or MAP<_, BLOB> (Paimon specification, "File Format").

An entry is magic number, payload, length of the entry and checksum. The file ends with an index of the entries'
lengths, delta-varint compressed, its length and a version. Damage is a ValueError.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lakebed.store.base import Output

_MAGIC = struct.pack("<i", 1481511375)
_TRAILER = struct.Struct("<qI")
_ENTRY_LENGTH, _CHECKSUM = struct.Struct("<q"), struct.Struct("<I")
_LENGTH = _ENTRY_LENGTH.size
_FOOTER = struct.Struct("<ib")
_OVERHEAD = len(_MAGIC) + _TRAILER.size
_VERSION = 1
_NULL: Final = -1
_PLACEHOLDER: Final = -2
#: Smaller parts are put together before they go to a store; larger ones go there as they are, without a copy.
_SMALL = 64 << 10


class Placeholder:
    """What stands where this file does not hold the row's value: an older file does."""


PLACEHOLDER = Placeholder()


@dataclass(frozen=True, slots=True)
class BlobPlace:
    """Where a payload lies in its file, in bytes."""

    offset: int
    length: int

    @property
    def entry(self) -> tuple[int, int]:
        """Where the entry around the payload begins and ends."""
        return self.offset - len(_MAGIC), self.offset + self.length + _TRAILER.size


def blob_payloads(data: bytes) -> list[bytes | Placeholder | None]:
    """The payloads of a whole file, in the order of its rows."""
    places = blob_places(data[-index_size(data) :], len(data))
    return [payload_at(data, p) if isinstance(p, BlobPlace) else p for p in places]


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


def payload_at(data: bytes, place: BlobPlace) -> bytes:
    """The payload at a place in the bytes of whole entries. Damage is a ValueError."""
    start, end = place.offset - len(_MAGIC), place.offset + place.length
    stored, checksum = _TRAILER.unpack_from(data, end)
    whole = place.length + _OVERHEAD
    if data[start : place.offset] != _MAGIC or stored != whole:
        raise ValueError(f"no entry of {whole} bytes at offset {start}")
    if checksum != zlib.crc32(data[start : end + _LENGTH]):
        raise ValueError(f"the entry at offset {start} is damaged")
    return data[place.offset : end]


class BlobFileWriter:
    """Writes the rows of one blob file to `output`, in their order. No row is held: a payload goes on part by part."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._small = bytearray()
        self._lengths: list[int] = []
        #: How many bytes the entries have.
        self.size = 0

    @property
    def rows(self) -> int:
        """How many rows were added."""
        return len(self._lengths)

    def add_null(self) -> None:
        """Add a row without a value."""
        self._lengths.append(_NULL)

    def add(self, parts: Iterable[bytes | memoryview]) -> None:
        """Add a row whose payload is these parts, one after the other."""
        start, checksum = self.size, self._write(_MAGIC, 0)
        for part in parts:
            checksum = self._write(part, checksum)
        length = self.size - start + _TRAILER.size
        checksum = self._write(_ENTRY_LENGTH.pack(length), checksum)
        self._write(_CHECKSUM.pack(checksum), 0)
        self._lengths.append(length)

    def finish(self) -> None:
        """Write the index. The output is not closed."""
        index = delta_varint_bytes(self._lengths)
        self._small += index + _FOOTER.pack(len(index), _VERSION)
        self._send()

    def _write(self, part: bytes | memoryview, checksum: int) -> int:
        """Write a part of an entry; the checksum of what came before and of it."""
        if len(part) < _SMALL:
            self._small += part
        else:
            self._send()
            self._output.write(part)
        if len(self._small) >= _SMALL:
            self._send()
        self.size += len(part)
        return zlib.crc32(part, checksum)

    def _send(self) -> None:
        if self._small:
            self._output.write(bytes(self._small))
            self._small.clear()


def delta_varint_bytes(numbers: Iterable[int]) -> bytes:
    """Numbers as `delta_varints` reads them."""
    made, before = bytearray(), 0
    for number in numbers:
        delta = number - before
        rest = (delta << 1) ^ (delta >> 63)
        while rest > 0x7F:
            made.append(rest & 0x7F | 0x80)
            rest >>= 7
        made.append(rest)
        before = number
    return bytes(made)


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
