"""Read and write the container of a data file's indexes: which column has which index, and where.

Version 1 has its directory at the head, version 2 at the tail. Positions count from the start of the container. Version
1 is written, which every reader knows.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from lakebed.read.file_index.index_bytes import Cursor, DamagedError, UnknownVersionError, text_bytes
from lakebed.store.base import Store

_MAGIC = 1493475289347502
_TAIL_MAGIC = int.from_bytes(b"PAFIDX02", "big")
_PREFIX, _TRAILER = 12, 12
#: The start that stands for an index without a body: nothing was written into it.
_EMPTY = -1
#: Most directories are much smaller, so that one request gets them.
_FIRST_REQUEST = 4096
_LARGE = 1 << 24


class Source(Protocol):
    """Where the bytes of a container come from."""

    @property
    def name(self) -> str:
        """How a person finds it."""
        ...

    def read(self, start: int, length: int) -> bytes:
        """`length` bytes from `start`, or as many as there are."""
        ...

    def size(self) -> int:
        """All bytes of the container."""
        ...


@dataclass(frozen=True, slots=True)
class Embedded:
    """A container inside the manifest entry of the data file called `file_name`."""

    data: bytes
    file_name: str

    @property
    def name(self) -> str:
        return f"the index in the manifest entry of {self.file_name}"

    def read(self, start: int, length: int) -> bytes:
        return self.data[start : start + length]

    def size(self) -> int:
        return len(self.data)


@dataclass(frozen=True, slots=True)
class Beside:
    """A container in a file of its own."""

    store: Store
    path: str

    @property
    def name(self) -> str:
        return f"index file {self.path}"

    def read(self, start: int, length: int) -> bytes:
        return self.store.read_range(self.path, start, length)

    def size(self) -> int:
        return self.store.size(self.path)


@dataclass(frozen=True, slots=True)
class IndexBody:
    """Where the body of one index lies."""

    start: int
    length: int


#: The indexes by column, as it was named when the file was written, and kind.
Directory = Mapping[str, Mapping[str, IndexBody]]


def read_directory(source: Source) -> Directory:
    """What indexes a container has. Raises DamagedError, UnknownVersionError, and what the store raises."""
    first = source.read(0, _FIRST_REQUEST)
    head = Cursor(first)
    if head.number("q") != _MAGIC:
        raise DamagedError("does not start as an index does")
    match head.number("i"):
        case 1:
            length = head.count()
            data = first if length <= len(first) else _read(source, 0, length)
            return _entries(Cursor(data[:length], head.position), "i")
        case 2:
            return _entries(Cursor(_footer(source)), "q")
        case version:
            raise UnknownVersionError(f"version {version}")


def _footer(source: Source) -> bytes:
    size = source.size()
    tail = Cursor(source.read(max(size - _TRAILER, 0), _TRAILER))
    length = tail.count()
    if tail.number("q") != _TAIL_MAGIC:
        raise DamagedError("does not end as an index does")
    start = size - _TRAILER - length
    if start < _PREFIX:
        raise DamagedError(f"has a footer of {length} bytes in {size} bytes")
    return _read(source, start, length)


def _entries(cursor: Cursor, code: str) -> Directory:
    found: dict[str, dict[str, IndexBody]] = {}
    for _ in range(cursor.count()):
        kinds = found.setdefault(cursor.text(), {})
        for _ in range(cursor.count()):
            kind, start, length = cursor.text(), cursor.number(code), cursor.number(code)
            if start == _EMPTY:
                continue
            if start < 0 or length < 0:
                raise DamagedError(f"has an index of {length} bytes at {start}")
            kinds[kind] = IndexBody(start, length)
    return found


def read_body(source: Source, place: IndexBody) -> bytes:
    """The body of one index. Raises DamagedError where it is cut, and what the store raises."""
    return _read(source, place.start, place.length)


def _read(source: Source, start: int, length: int) -> bytes:
    """Exactly these bytes; a length that may be nonsense is not asked for before the size is known."""
    if length > _LARGE and start + length > source.size():
        raise DamagedError(f"promises {length} bytes at {start} and has {source.size()} bytes in all")
    data = source.read(start, length) if length else b""
    if len(data) != length:
        raise DamagedError(f"promises {length} bytes at {start}, of which {len(data)} are there")
    return data


def container_bytes(indexes: Mapping[str, Mapping[str, bytes]]) -> bytes:
    """The container of the bodies of indexes by column and kind."""
    heads = [(text_bytes(c), [(text_bytes(kind), body) for kind, body in of.items()]) for c, of in indexes.items()]
    # The magic number, the version, the length of the head and the number of columns; at the end 4 bytes without use.
    length = 24 + sum(len(column) + 4 + sum(len(kind) + 8 for kind, _ in kinds) for column, kinds in heads)
    head = [struct.pack(">qiii", _MAGIC, 1, length, len(heads))]
    start = length
    for column, kinds in heads:
        head.append(column + struct.pack(">i", len(kinds)))
        for kind, body in kinds:
            head.append(kind + struct.pack(">ii", start, len(body)))
            start += len(body)
    return b"".join([*head, struct.pack(">i", 0), *(body for _, kinds in heads for _, body in kinds)])
