"""Compute the bucket of a key row by Murmur3 (32 bits, seed 42)."""

from __future__ import annotations

import struct

_SEED = 42
_MASK = 0xFFFFFFFF


def hash_row(row: bytes) -> int:
    """The signed hash of a binary row without its arity prefix; the length is a multiple of 4."""
    h = _SEED
    for k in struct.unpack(f"<{len(row) // 4}I", row):
        k = k * 0xCC9E2D51 & _MASK
        k = (k << 15 | k >> 17) * 0x1B873593 & _MASK
        h ^= k
        h = ((h << 13 | h >> 19) & _MASK) * 5 + 0xE6546B64 & _MASK
    h ^= len(row)
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    return h - (h >> 31 << 32)


def bucket(row: bytes, buckets: int) -> int:
    """The bucket of a key row (without prefix) among `buckets`, by Java's truncated remainder."""
    return abs(hash_row(row)) % buckets
