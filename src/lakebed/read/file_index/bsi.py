"""Read and write the bit-sliced index of a column of numbers.

It has one set of slices for the numbers from 0 on, and one for the magnitudes of those below.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from lakebed.catalog.file_index_options import IndexKind, is_made_of
from lakebed.read.file_index.index_bytes import Cursor, DamagedError, UnknownVersionError
from lakebed.read.file_index.keys import Coding
from lakebed.read.file_index.roaring import BitMap, bitmap_bytes, read_bitmap
from lakebed.read.file_index.slices import Slices
from lakebed.read.file_index.spans import Span

_V1 = 1
_MOST_DIGITS = 64
#: Beyond every 64-bit number.
_LOWEST, _HIGHEST = -(1 << 64), 1 << 64


@dataclass(frozen=True, slots=True)
class BitSlicedIndex:
    """`positive` holds the numbers from 0 on, `negative` the magnitudes of the others; None where there is none."""

    rows: int
    positive: Slices | None
    negative: Slices | None

    def holds(self, span: Span) -> bool:
        return bool(self.rows_in(span))

    def holds_null(self) -> bool:
        return len(self._present()) < self.rows

    def rows_in(self, span: Span) -> BitMap:
        import pyroaring

        first, last = bounds(span)
        found = pyroaring.BitMap()
        if self.positive is not None and last >= 0:
            found |= self.positive.between(max(first, 0), last)
        if self.negative is not None and first < 0:
            found |= self.negative.between(max(-last, 1), -first)
        return found

    def null_rows(self) -> BitMap:
        return self._present().flip(0, self.rows)

    def _present(self) -> BitMap:
        import pyroaring

        parts = (part.present for part in (self.positive, self.negative) if part is not None)
        return pyroaring.BitMap.union(pyroaring.BitMap(), *parts)


def bounds(span: Span) -> tuple[int, int]:
    """The first and the last number of a span of numbers."""
    low, high = span
    first = _LOWEST if low is None else int(low[0]) + low[1]
    last = _HIGHEST if high is None else int(high[0]) - 1 + high[1]
    return first, last


def read_bsi(body: bytes, coding: Coding) -> BitSlicedIndex | None:
    """The index; None for types that it is not made of. Raises DamagedError, UnknownVersionError."""
    if not is_made_of(IndexKind.BSI, coding.type):
        return None
    cursor = Cursor(body)
    version = cursor.number("b")
    if version != _V1:
        raise UnknownVersionError(f"version {version}")
    rows = cursor.count()
    positive = _slices(cursor, rows) if cursor.flag() else None
    negative = _slices(cursor, rows) if cursor.flag() else None
    if positive is not None and negative is not None and not positive.present.isdisjoint(negative.present):
        raise DamagedError("a row has two numbers")
    return BitSlicedIndex(rows, positive, negative)


def _slices(cursor: Cursor, rows: int) -> Slices:
    version = cursor.number("b")
    if version != _V1:
        raise UnknownVersionError(f"version {version} of bit slices")
    low, high = cursor.number("q"), cursor.number("q")
    present = _bitmap(cursor, rows)
    count = cursor.count()
    if not 0 <= low <= high or count > _MOST_DIGITS:
        raise DamagedError(f"{count} bit slices of numbers from {low} to {high}")
    return Slices(low, high, present, tuple(_bitmap(cursor, rows) for _ in range(count)))


def _bitmap(cursor: Cursor, rows: int) -> BitMap:
    found, cursor.position = read_bitmap(cursor.data, cursor.position, rows)
    return found


def bsi_bytes(rows: int, positive: Slices, negative: Slices) -> bytes:
    """The body of an index of so many rows: the numbers from 0 on, and the magnitudes of the others."""
    parts = [struct.pack(">bi", _V1, rows)]
    for part in (positive, negative):
        parts.append(struct.pack(">?", bool(part.present)))
        if part.present:
            parts += (struct.pack(">bqq", _V1, part.low, part.high), bitmap_bytes(part.present))
            parts.append(struct.pack(">i", len(part.digits)))
            parts += map(bitmap_bytes, part.digits)
    return b"".join(parts)
