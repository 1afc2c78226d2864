"""Read and write the range bitmap of a column: a sorted dictionary in chunks, and bit slices."""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from lakebed.catalog.file_index_options import IndexKind, is_made_of
from lakebed.read.file_index.exact import ascending, keys_bytes, read_key
from lakebed.read.file_index.index_bytes import Cursor, DamagedError, UnknownVersionError
from lakebed.read.file_index.keys import Coding, Key
from lakebed.read.file_index.roaring import BitMap, bitmap_bytes, read_bitmap
from lakebed.read.file_index.slices import Slices
from lakebed.read.file_index.spans import Cut, Span

_V1 = 1
_MOST_DIGITS = 64


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Entries from number `code` on: `key`, and then `size` more whose bytes start at `start`."""

    key: Key
    code: int
    size: int
    start: int


@dataclass(frozen=True, slots=True)
class _SlicesHead:
    """The rows that are not NULL, and where the slices lie: offset and length of each, counted from `start`."""

    present: BitMap
    places: tuple[tuple[int, int], ...]
    start: int


@dataclass(slots=True)
class RangeBitmap:
    """An index of `values` distinct values, whose bit slices start at `slices_start`; decoded when it is asked."""

    coding: Coding
    body: bytes
    rows: int
    values: int
    chunks: Sequence[_Chunk]
    slices_start: int
    decoded: dict[int, tuple[Key, ...]] = field(default_factory=dict)

    def holds(self, span: Span) -> bool:
        first, after = self._numbers(span)
        return first < after

    def holds_null(self) -> bool:
        return len(self._present()) < self.rows

    def rows_in(self, span: Span) -> BitMap:
        import pyroaring

        first, after = self._numbers(span)
        return self._slices().between(first, after - 1) if first < after else pyroaring.BitMap()

    def null_rows(self) -> BitMap:
        return self._present().flip(0, self.rows)

    def _numbers(self, span: Span) -> tuple[int, int]:
        """The number of the first entry within a span, and that of the first entry after it."""
        low, high = span
        first = 0 if low is None else self._below(low)
        return first, self.values if high is None else self._below(high)

    def _below(self, cut: Cut) -> int:
        """How many entries lie below a cut."""
        key, above = cut
        find = bisect_right if above else bisect_left
        number = find(self.chunks, key, key=lambda chunk: chunk.key) - 1
        if number < 0:
            return 0
        return self.chunks[number].code + 1 + find(self._keys(number), key)

    def _keys(self, number: int) -> tuple[Key, ...]:
        """The keys of a chunk after its first one."""
        if number not in self.decoded:
            chunk = self.chunks[number]
            cursor = Cursor(self.body, chunk.start)
            if self.coding.code is None:
                cursor.take(4 * chunk.size)
            keys = tuple(read_key(cursor, self.coding) for _ in range(chunk.size))
            if not ascending((chunk.key, *keys)):
                raise DamagedError("a chunk of a dictionary is out of order")
            self.decoded[number] = keys
        return self.decoded[number]

    def _present(self) -> BitMap:
        """The rows that are not NULL."""
        import pyroaring

        return self._slices_head().present if self.values else pyroaring.BitMap()

    def _slices_head(self) -> _SlicesHead:
        cursor = Cursor(self.body, self.slices_start)
        head = Cursor(cursor.take(cursor.count()))
        version = head.number("b")
        if version != _V1:
            raise UnknownVersionError(f"version {version} of bit slices")
        digits, length, places_length = head.number("b"), head.count(), head.count()
        if not 0 < digits <= _MOST_DIGITS or places_length != 8 * digits:
            raise DamagedError(f"{digits} bit slices with {places_length} bytes of places")
        places = tuple((head.count(), head.count()) for _ in range(digits))
        return _SlicesHead(self._bitmap(cursor.position, length), places, cursor.position + length)

    def _slices(self) -> Slices:
        head = self._slices_head()
        digits = tuple(self._bitmap(head.start + at, length) for at, length in head.places)
        return Slices(0, self.values - 1, head.present, digits)

    def _bitmap(self, start: int, length: int) -> BitMap:
        found, end = read_bitmap(self.body, start, self.rows)
        if end - start != length:
            raise DamagedError(f"a bitmap of {end - start} bytes where {length} were promised")
        return found


def read_range_bitmap(body: bytes, coding: Coding) -> RangeBitmap | None:
    """The index; None for types that it is not made of. Raises DamagedError, UnknownVersionError."""
    if not is_made_of(IndexKind.RANGE_BITMAP, coding.type):
        return None
    cursor = Cursor(body)
    head = Cursor(cursor.take(cursor.count()))
    version = head.number("b")
    if version != _V1:
        raise UnknownVersionError(f"version {version}")
    rows, values = head.count(), head.count()
    if values:
        read_key(head, coding)
        read_key(head, coding)
    length = head.count()
    start = cursor.position
    chunks = _read_chunks(Cursor(body[: start + length], start), coding) if values else ()
    if sum(chunk.size + 1 for chunk in chunks) != values:
        raise DamagedError(f"a dictionary has another number of entries than the {values} promised")
    return RangeBitmap(coding, body, rows, values, chunks, start + length)


def _read_chunks(cursor: Cursor, coding: Coding) -> tuple[_Chunk, ...]:
    head = Cursor(cursor.take(cursor.count()))
    version = head.number("b")
    if version != _V1:
        raise UnknownVersionError(f"version {version} of a dictionary")
    count, offsets_length, chunks_length = head.count(), head.count(), head.count()
    if offsets_length != 4 * count:
        raise DamagedError(f"{offsets_length} bytes of offsets for {count} chunks")
    cursor.take(offsets_length)
    heads = Cursor(cursor.take(chunks_length))
    found: list[_Chunk] = []
    code = 0
    for _ in range(count):
        chunk = _read_chunk(heads, coding, cursor.position)
        if chunk.code != code or (found and not ascending((found[-1].key, chunk.key))):
            raise DamagedError("the chunks of a dictionary are out of order")
        found.append(chunk)
        code += 1 + chunk.size
    return tuple(found)


def _read_chunk(cursor: Cursor, coding: Coding, keys_start: int) -> _Chunk:
    """The head of one chunk; they follow one another without gaps, whatever their offsets say."""
    version = cursor.number("b")
    if version != _V1:
        raise UnknownVersionError(f"version {version} of a chunk")
    key, code, start, size = read_key(cursor, coding), cursor.count(), cursor.count(), cursor.count()
    cursor.take(8)
    return _Chunk(key, code, size, keys_start + start)


def range_bitmap_bytes(coding: Coding, rows: int, keys: Sequence[Key], slices: Slices, *, chunk_size: int) -> bytes:
    """The body of an index of so many rows: the different keys, ascending, and the slices of their numbers."""
    stored = keys_bytes(keys, coding)
    dictionary = _dictionary_bytes(stored, chunk_size, is_text=coding.code is None)
    bounds = stored[0] + stored[-1] if stored else b""
    head = struct.pack(">bii", _V1, rows, len(keys)) + bounds + struct.pack(">i", len(dictionary))
    return struct.pack(">i", len(head)) + head + dictionary + _slices_bytes(slices, len(keys))


def _dictionary_bytes(keys: Sequence[bytes], most: int, *, is_text: bool) -> bytes:
    chunks = list(_chunks(keys, most, is_text=is_text))
    heads, offsets, bodies = bytearray(), bytearray(), bytearray()
    for code, (first, *inside) in chunks:
        joined, starts = b"".join(inside), b""
        if is_text:
            ends = accumulate(map(len, inside), initial=0)
            starts = b"".join(struct.pack(">i", start) for start, _ in zip(ends, inside, strict=False))
        lengths = (len(starts), len(joined)) if is_text else (len(joined), len(first))
        offsets += struct.pack(">i", len(heads))
        heads += struct.pack(">b", _V1) + first + struct.pack(">iiiii", code, len(bodies), len(inside), *lengths)
        bodies += starts + joined
    head = struct.pack(">biii", _V1, len(chunks), len(offsets), len(heads))
    return struct.pack(">i", len(head)) + head + offsets + heads + bodies


def _chunks(keys: Sequence[bytes], most: int, *, is_text: bool) -> Iterator[tuple[int, list[bytes]]]:
    """The keys in chunks, each with the number of its first one; those after the first have so many bytes at most."""
    chunk: list[bytes] = []
    room = 0
    for number, key in enumerate(keys):
        if chunk and len(key) <= room and not (is_text and 4 * len(chunk) > most):
            chunk.append(key)
            room -= len(key)
            continue
        if chunk:
            yield number - len(chunk), chunk
        chunk, room = [key], most
    if chunk:
        yield len(keys) - len(chunk), chunk


def _slices_bytes(slices: Slices, keys: int) -> bytes:
    """The slices of the numbers of so many keys. Without any key the greatest number is -1, of 64 digits."""
    import pyroaring

    count = max((keys - 1).bit_length(), 1) if keys else _MOST_DIGITS
    missing = [pyroaring.BitMap()] * (count - len(slices.digits))
    present, digits = bitmap_bytes(slices.present), [bitmap_bytes(digit) for digit in (*slices.digits, *missing)]
    head = struct.pack(">bbii", _V1, count, len(present), 8 * count)
    starts = accumulate(map(len, digits), initial=0)
    head += b"".join(struct.pack(">ii", start, len(digit)) for start, digit in zip(starts, digits, strict=False))
    return struct.pack(">i", len(head)) + head + present + b"".join(digits)
