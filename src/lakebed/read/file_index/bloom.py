"""Read and write the bloom filter of a column, which rules values out."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from lakebed.catalog.file_index_options import IndexKind, is_made_of
from lakebed.read.file_index.index_bytes import Cursor, DamagedError
from lakebed.read.file_index.keys import Coding, Key, float_bits

_MASK = (1 << 64) - 1
_MOST_FUNCTIONS = 1024


@dataclass(frozen=True, slots=True)
class BloomFilter:
    """`functions` bits of `bits` stand for each value."""

    coding: Coding
    functions: int
    bits: bytes

    def may_hold(self, key: Key) -> bool:
        """False where no row has this key."""
        hashed = _hash(key, self.coding)
        low, high = hashed & 0xFFFFFFFF, hashed >> 32
        size = 8 * len(self.bits)
        for i in range(1, self.functions + 1):
            combined = (low + i * high) & 0xFFFFFFFF
            position = (combined ^ 0xFFFFFFFF if combined >> 31 else combined) % size
            if not self.bits[position >> 3] >> (position & 7) & 1:
                return False
        return True


def read_bloom(body: bytes, coding: Coding) -> BloomFilter | None:
    """The filter; None for types that Paimon does not hash. Raises DamagedError."""
    if not is_made_of(IndexKind.BLOOM_FILTER, coding.type):
        return None
    cursor = Cursor(body)
    functions = cursor.count()
    bits = cursor.take(len(body) - cursor.position)
    if not 0 < functions <= _MOST_FUNCTIONS or not bits:
        raise DamagedError(f"a bloom filter of {functions} functions in {len(bits)} bytes")
    return BloomFilter(coding, functions, bits)


def bloom_bytes(functions: int, bits: bytes) -> bytes:
    """The body of an index."""
    return struct.pack(">i", functions) + bits


def _hash(key: Key, coding: Coding) -> int:
    """64 bits, unsigned."""
    import xxhash

    if isinstance(key, bytes):
        return int(xxhash.xxh64_intdigest(key))
    if coding.floats:
        assert coding.code is not None
        return _mix(float_bits(key, struct.calcsize(coding.code)))
    return _mix(key)


def _mix(number: int) -> int:
    """Thomas Wang's mix of a 64-bit integer, with right shifts that keep the sign, as Paimon has it."""
    mixed = _signed(~number + (number << 21))
    mixed ^= mixed >> 24
    mixed = _signed(mixed * 265)
    mixed ^= mixed >> 14
    mixed = _signed(mixed * 21)
    mixed ^= mixed >> 28
    return (mixed + (mixed << 31)) & _MASK


def _signed(number: int) -> int:
    number &= _MASK
    return number - (1 << 64) if number >> 63 else number
