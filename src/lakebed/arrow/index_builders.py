"""Build the file indexes of a column while its rows are written: bloom filters, bitmaps, bit slices, range bitmaps.

Memory is that of the index: the bits of a filter or slice, an entry for each different value of a bitmap.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, assert_never

import pyarrow as pa
import pyarrow.compute as pc
import pyroaring
import xxhash

from lakebed.arrow.index_keys import in_order
from lakebed.catalog.file_index_options import IndexKind, Parameters
from lakebed.read.file_index.bitmap import bitmap_index_bytes
from lakebed.read.file_index.bloom import bloom_bytes
from lakebed.read.file_index.bsi import bsi_bytes
from lakebed.read.file_index.keys import Coding, Key
from lakebed.read.file_index.range_bitmap import range_bitmap_bytes
from lakebed.read.file_index.roaring import BitMap, bits_of
from lakebed.read.file_index.slices import Slices


class IndexBuilder(Protocol):
    """An index that is being built."""

    def add(self, keys: pa.Array, first: int) -> None:
        """Take the keys of rows into account, as `index_keys` gives them; `first` is the number of the first row."""
        ...

    def body(self, rows: int) -> bytes | None:
        """The body of the index of a file with so many rows; None where it can have none."""
        ...


def index_builder(kind: IndexKind, coding: Coding, parameters: Parameters) -> IndexBuilder:
    """What builds an index of a kind."""
    match kind:
        case IndexKind.BLOOM_FILTER:
            return _BloomBuilder(coding, parameters)
        case IndexKind.BITMAP | IndexKind.RANGE_BITMAP:
            return _BitmapBuilder(kind, coding, parameters)
        case IndexKind.BSI:
            return _BitSlicesBuilder()
    assert_never(kind)


class _BloomBuilder:
    """Builds a bloom filter; its bits are kept as a bitmap, which takes many at once."""

    def __init__(self, coding: Coding, parameters: Parameters) -> None:
        self._coding = coding
        self._functions = parameters.bloom_functions
        self._size = pa.scalar(parameters.bloom_bits, pa.int32())
        self._bits = pyroaring.BitMap()

    def add(self, keys: pa.Array, first: int) -> None:
        hashes = self._hashes(keys.drop_null())
        low, high = (_low_half(part) for part in (hashes, pc.shift_right(hashes, 32)))
        combined = low
        for _ in range(self._functions):
            combined = pc.add(combined, high)
            positive = pc.if_else(pc.less(combined, 0), pc.bit_wise_not(combined), combined)
            wraps = pc.multiply(pc.divide(positive, self._size), self._size)
            self._bits.update(_numbers(pc.subtract(positive, wraps)))

    def body(self, rows: int) -> bytes | None:
        return bloom_bytes(self._functions, bits_of(self._bits, self._size.as_py() // 8))

    def _hashes(self, keys: pa.Array) -> pa.Array:
        """64 bits for each key, as signed numbers."""
        if self._coding.code is None:
            # There is no way to hash many at once.
            return _arrow(array("Q", map(xxhash.xxh64_intdigest, _texts(keys.unique()))), pa.int64())
        return _mixed(in_order(keys, struct.calcsize(self._coding.code)) if self._coding.floats else keys)


def _mixed(numbers: pa.Array) -> pa.Array:
    """Thomas Wang's mix of 64-bit integers, as the reader of filters has it for one."""
    mixed = pc.add(pc.bit_wise_not(numbers), pc.shift_left(numbers, 21))
    mixed = pc.bit_wise_xor(mixed, pc.shift_right(mixed, 24))
    mixed = pc.multiply(mixed, 265)
    mixed = pc.bit_wise_xor(mixed, pc.shift_right(mixed, 14))
    mixed = pc.multiply(mixed, 21)
    mixed = pc.bit_wise_xor(mixed, pc.shift_right(mixed, 28))
    return pc.add(mixed, pc.shift_left(mixed, 31))


def _low_half(numbers: pa.Array) -> pa.Array:
    """The lower 32 bits, as signed numbers."""
    return pc.cast(numbers, pa.int32(), safe=False)


def _texts(values: pa.Array) -> Iterator[memoryview]:
    """Bytes without copies; none of the values is NULL."""
    _, starts, data = values.buffers()
    if data is None:
        yield from (memoryview(b"") for _ in range(len(values)))
        return
    ends = memoryview(starts).cast("i")[values.offset : values.offset + len(values) + 1]
    whole = memoryview(data)
    start = ends[0]
    for end in ends[1:]:
        yield whole[start:end]
        start = end


def _arrow(numbers: array[int], type_: pa.DataType) -> pa.Array:
    """The same numbers, without a copy, as a type of the same width."""
    return pa.Array.from_buffers(type_, len(numbers), [None, pa.py_buffer(numbers)])


def _numbers(values: pa.Array) -> array[int]:
    """Numbers from 0 to 2^32 - 1 in the form that bitmaps take many of; none is NULL."""
    plain = pc.cast(values, pa.uint32(), safe=False)
    found = array("I")
    found.frombytes(memoryview(plain.buffers()[1])[4 * plain.offset : 4 * (plain.offset + len(plain))])
    return found


class _BitmapBuilder:
    """Builds a bitmap or a range bitmap: the rows of each key, as a number where it is one."""

    def __init__(self, kind: IndexKind, coding: Coding, parameters: Parameters) -> None:
        self._kind, self._coding, self._parameters = kind, coding, parameters
        self._rows: dict[Key, int | BitMap] = {}
        self._nulls = pyroaring.BitMap()

    def add(self, keys: pa.Array, first: int) -> None:
        if keys.null_count:
            self._nulls.update(_numbers(pc.add(pc.indices_nonzero(keys.is_null()), first)))
        encoded = keys.dictionary_encode()
        order = pc.array_sort_indices(encoded.indices).slice(0, len(keys) - keys.null_count)
        rows = _numbers(pc.add(order, first))
        codes = pc.run_end_encode(encoded.indices.take(order))
        start = 0
        for key, end in zip(encoded.dictionary.take(codes.values).to_pylist(), codes.run_ends.to_pylist(), strict=True):
            self._add(key, rows, start, end)
            start = end

    def _add(self, key: Key, rows: array[int], start: int, end: int) -> None:
        known = self._rows.get(key)
        if known is None and end - start == 1:
            self._rows[key] = rows[start]
            return
        if known is None or isinstance(known, int):
            known = self._rows[key] = pyroaring.BitMap() if known is None else pyroaring.BitMap([known])
        known.update(rows[start:end])

    def body(self, rows: int) -> bytes | None:
        given = self._parameters
        if self._kind is IndexKind.RANGE_BITMAP:
            keys = sorted(self._rows)
            return range_bitmap_bytes(
                self._coding, rows, keys, self._numbered(keys).slices, chunk_size=given.chunk_size
            )
        return bitmap_index_bytes(
            self._coding, rows, self._rows, self._nulls, version=given.version, block_size=given.block_size
        )

    def _numbered(self, keys: Sequence[Key]) -> _GrowingSlices:
        """The slices of the numbers that keys have in this order."""
        rows, numbers = array("I"), array("q")
        for number, key in enumerate(keys):
            of = self._rows[key]
            found = array("I", (of,)) if isinstance(of, int) else of.to_array()
            rows.extend(found)
            numbers.extend(array("q", (number,)) * len(found))
        slices = _GrowingSlices()
        slices.add(_arrow(numbers, pa.int64()), _arrow(rows, pa.uint32()))
        return slices


class _BitSlicesBuilder:
    """Builds bit slices: one set for the numbers from 0 on, one for the magnitudes of the others."""

    def __init__(self) -> None:
        self._parts = (_GrowingSlices(), _GrowingSlices())

    def add(self, keys: pa.Array, first: int) -> None:
        rows = pa.array(range(first, first + len(keys)), pa.int64())
        positive, negative = self._parts
        positive.add(*_chosen(pc.greater_equal(keys, 0), keys, rows))
        numbers, where = _chosen(pc.less(keys, 0), keys, rows)
        negative.add(pc.negate(numbers), where)

    def body(self, rows: int) -> bytes | None:
        if any(part.overflows for part in self._parts):
            return None
        return bsi_bytes(rows, *(part.slices for part in self._parts))


def _chosen(mask: pa.Array, *columns: pa.Array) -> tuple[Any, ...]:
    return tuple(column.filter(mask) for column in columns)


class _GrowingSlices:
    """The slices of numbers from 0 on. The lowest 64-bit number has no magnitude of 63 bits, and `overflows`."""

    def __init__(self) -> None:
        self.present = pyroaring.BitMap()
        self.digits: list[BitMap] = []
        self.high = 0
        self.overflows = False

    @property
    def slices(self) -> Slices:
        """What they are by now."""
        return Slices(0, self.high, self.present, tuple(self.digits))

    def add(self, numbers: pa.Array, rows: pa.Array) -> None:
        """Take numbers into account, and the rows that they are in."""
        if not len(numbers):
            return
        self.present.update(_numbers(rows))
        bounds = pc.min_max(numbers)
        self.overflows |= bounds["min"].as_py() < 0
        self.high = max(self.high, bounds["max"].as_py())
        while len(self.digits) < self.high.bit_length():
            self.digits.append(pyroaring.BitMap())
        for place, digit in enumerate(self.digits):
            is_set = pc.bit_wise_and(pc.shift_right(numbers, place), 1).cast(pa.bool_())
            digit.update(_numbers(rows.filter(is_set)))
