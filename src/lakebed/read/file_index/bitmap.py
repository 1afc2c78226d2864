"""Read and write the bitmap index of a column: a dictionary of its values, each with its rows.

Version 1 is one unordered dictionary. Version 2 sorts it and splits it into blocks, of which only those are decoded
that a question falls into.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from lakebed.catalog.file_index_options import IndexKind, is_made_of
from lakebed.read.file_index.exact import ascending, keys_bytes, read_key
from lakebed.read.file_index.index_bytes import Cursor, DamagedError, UnknownVersionError
from lakebed.read.file_index.keys import Coding, Key
from lakebed.read.file_index.roaring import BitMap, bitmap_bytes, read_bitmap
from lakebed.read.file_index.spans import Cut, Span

_V1, _V2 = 1, 2
#: The rows of a range that holds more values than this are not put together one by one.
_MOST_BITMAPS = 10_000


@dataclass(frozen=True, slots=True)
class _Block:
    """Entries in ascending order of their keys: offsets of bitmaps, below 0 for a single row."""

    keys: tuple[Key, ...]
    offsets: tuple[int, ...]


@dataclass(slots=True)
class BitmapIndex:
    """`first` holds the first key of each block; `blocks` what has been decoded of them."""

    coding: Coding
    body: bytes
    rows: int
    null_offset: int | None
    first: tuple[Key, ...]
    starts: tuple[int, ...]
    bitmaps: int
    blocks: dict[int, _Block] = field(default_factory=dict)

    def holds(self, span: Span) -> bool:
        return next(self._entries(span), None) is not None

    def holds_null(self) -> bool:
        return self.null_offset is not None

    def rows_in(self, span: Span) -> BitMap | None:
        import pyroaring

        found = list(islice(self._entries(span), _MOST_BITMAPS + 1))
        if len(found) > _MOST_BITMAPS:
            return None
        return pyroaring.BitMap.union(pyroaring.BitMap(), *map(self._bitmap, found))

    def null_rows(self) -> BitMap:
        import pyroaring

        return pyroaring.BitMap() if self.null_offset is None else self._bitmap(self.null_offset)

    def _bitmap(self, offset: int) -> BitMap:
        import pyroaring

        if offset >= 0:
            return read_bitmap(self.body, self.bitmaps + offset, self.rows)[0]
        if -1 - offset >= self.rows:
            raise DamagedError(f"a value is in row {-1 - offset} of {self.rows}")
        return pyroaring.BitMap([-1 - offset])

    def _entries(self, span: Span) -> Iterator[int]:
        """The offsets of the keys within a span."""
        low, high = span
        start = 0 if low is None else max(bisect_right(self.first, low[0]) - 1, 0)
        for number in range(start, len(self.first)):
            if high is not None and (self.first[number], 0) >= high:
                return
            block = self._block(number)
            yield from block.offsets[_position(block.keys, low, 0) : _position(block.keys, high, len(block.keys))]

    def _block(self, number: int) -> _Block:
        if number not in self.blocks:
            cursor = Cursor(self.body, self.starts[number])
            block = _sorted_block(_block_entries(cursor, self.coding))
            if not block.keys or block.keys[0] != self.first[number]:
                raise DamagedError("a block of a dictionary starts with another value than promised")
            self.blocks[number] = block
        return self.blocks[number]


def _position(keys: tuple[Any, ...], cut: Cut | None, unlimited: int) -> int:
    """How many keys lie below a cut."""
    if cut is None:
        return unlimited
    key, above = cut
    return bisect_right(keys, key) if above else bisect_left(keys, key)


def read_bitmap_index(body: bytes, coding: Coding) -> BitmapIndex | None:
    """The index; None for types that it is not made of. Raises DamagedError, UnknownVersionError."""
    if not is_made_of(IndexKind.BITMAP, coding.type):
        return None
    cursor = Cursor(body)
    version = cursor.number("b")
    if version not in {_V1, _V2}:
        raise UnknownVersionError(f"version {version}")
    rows, values = cursor.count(), cursor.count()
    null_offset = None
    if cursor.flag():
        null_offset = cursor.number("i")
        if version == _V2:
            cursor.number("i")
    if version == _V1:
        block = _sorted_block(_entries_of(cursor, values, coding))
        first = block.keys[:1]
        return BitmapIndex(coding, body, rows, null_offset, first, (0,), cursor.position, {0: block} if first else {})
    heads = [(read_key(cursor, coding), cursor.number("i")) for _ in range(cursor.count())]
    if not ascending(tuple(key for key, _ in heads)):
        raise DamagedError("the blocks of a dictionary are out of order")
    length = cursor.count()
    base = cursor.position
    return BitmapIndex(
        coding,
        body,
        rows,
        null_offset,
        tuple(key for key, _ in heads),
        tuple(base + at for _, at in heads),
        base + length,
    )


def _entries_of(cursor: Cursor, count: int, coding: Coding) -> Iterator[tuple[Key, int]]:
    for _ in range(count):
        yield read_key(cursor, coding), cursor.number("i")


def _block_entries(cursor: Cursor, coding: Coding) -> Iterator[tuple[Key, int]]:
    for _ in range(cursor.count()):
        yield read_key(cursor, coding), cursor.number("i")
        cursor.number("i")


def _sorted_block(entries: Iterator[tuple[Key, int]]) -> _Block:
    found = sorted(entries)
    keys = tuple(key for key, _ in found)
    if not ascending(keys):
        raise DamagedError("a dictionary has a value twice")
    return _Block(keys, tuple(offset for _, offset in found))


def bitmap_index_bytes(
    coding: Coding, rows: int, found: Mapping[Key, BitMap], nulls: BitMap, *, version: int = _V2, block_size: int
) -> bytes:
    """The body of an index of so many rows: `found` has those of each key, as a bitmap, or as the number of one."""
    head = struct.pack(">bii?", version, rows, len(found), bool(nulls))
    null_offset, _, null_body = _place(nulls, 0)
    if nulls:
        head += struct.pack(">i", null_offset)
        head += struct.pack(">i", len(bitmap_bytes(nulls))) if version == _V2 else b""
    entries, bodies, end = [], [null_body], len(null_body)
    keys = sorted(found)
    for key, data in zip(keys, keys_bytes(keys, coding), strict=True):
        offset, length, body = _place(found[key], end)
        said = struct.pack(">ii", offset, length)
        entries.append((data, data + (said if version == _V2 else said[:4])))
        if body:
            bodies.append(body)
            end += len(body)
    dictionary = _blocks(entries, block_size) if version == _V2 else [entry for _, entry in entries]
    return b"".join([head, *dictionary, *bodies])


def _place(rows: BitMap, end: int) -> tuple[int, int, bytes]:
    """What an entry says of its rows, if their bitmap would be at `end`: its offset and length; and the bitmap."""
    if isinstance(rows, int):
        return -1 - rows, -1, b""
    if len(rows) == 1:
        return -1 - rows.min(), -1, b""
    data = bitmap_bytes(rows) if rows else b""
    return end, len(data), data


def _blocks(entries: Iterable[tuple[bytes, bytes]], most: int) -> list[bytes]:
    """The dictionary of version 2, of keys and their entries: the first key of each block and its start; the blocks."""
    blocks: list[list[bytes]] = []
    first: list[bytes] = []
    room = 0
    for key, entry in entries:
        if not blocks or room < len(entry):
            blocks.append([])
            first.append(key)
            room = most - 4
        blocks[-1].append(entry)
        room -= len(entry)
    made = [struct.pack(">i", len(block)) + b"".join(block) for block in blocks]
    heads, start = [struct.pack(">i", len(blocks))], 0
    for key, block in zip(first, made, strict=True):
        heads.append(key + struct.pack(">i", start))
        start += len(block)
    return [*heads, struct.pack(">i", start), *made]
