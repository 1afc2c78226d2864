"""Read 32-bit roaring bitmaps in their portable form, checked before they are used; write them; and tell their bits.

The library that works on bitmaps trusts the bytes that it is given, and an index has no checksum. A bitmap whose
containers are out of order could make it read where it must not, so that every container is looked at first.
"""

from __future__ import annotations

import operator
import struct
from typing import Any, TypeAlias

from lakebed.diagnostics import reason_of
from lakebed.read.file_index.index_bytes import DamagedError

_COOKIE_PLAIN, _COOKIE_RUNS = 12346, 12347
_ARRAY_MAXIMUM, _BITSET_BYTES = 4096, 8192
_OFFSETS_FROM = 4
_CONTAINERS_MAXIMUM = 1 << 16

#: A `pyroaring.BitMap`, which has no type stubs.
BitMap: TypeAlias = Any


def read_bitmap(data: bytes, start: int, rows: int) -> tuple[BitMap, int]:
    """The bitmap at an offset, and where it ends. Raises DamagedError also where it names a row that is not there."""
    import pyroaring

    try:
        end = _end(data, start)
    except (struct.error, IndexError) as e:
        raise DamagedError(f"a bitmap at {start} is cut: {reason_of(e)}") from e
    try:
        found = pyroaring.BitMap.deserialize(data[start:end])
    except (ValueError, IndexError) as e:
        raise DamagedError(f"a bitmap at {start} cannot be decoded: {reason_of(e)}") from e
    if found and found.max() >= rows:
        raise DamagedError(f"a bitmap at {start} holds row {found.max()} of {rows}")
    return found, end


def bitmap_bytes(bitmap: BitMap) -> bytes:
    """A bitmap as `read_bitmap` reads it, in its smallest form, which it has from then on."""
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


def bits_of(bitmap: BitMap, size: int) -> bytes:
    """A bit for each number from 0 on, the lowest of a byte first, in `size` bytes; the bitmap has no runs."""
    bits = bytearray(-(-size // _BITSET_BYTES) * _BITSET_BYTES)
    data = bitmap.serialize()
    _, count = struct.unpack_from("<II", data)
    heads = struct.unpack_from(f"<{2 * count}H", data, 8)
    at = 8 + 8 * count
    for high, cardinality in zip(heads[::2], heads[1::2], strict=True):
        start, length = high * _BITSET_BYTES, _BITSET_BYTES
        if cardinality < _ARRAY_MAXIMUM:
            length = 2 * (cardinality + 1)
            for low in struct.unpack_from(f"<{cardinality + 1}H", data, at):
                bits[start + (low >> 3)] |= 1 << (low & 7)
        else:
            bits[start : start + length] = data[at : at + length]
        at += length
    return bytes(bits[:size])


def _end(data: bytes, start: int) -> int:
    """Where a bitmap ends, all of it looked at."""
    if start < 0:
        raise DamagedError(f"a bitmap at {start}")
    cookie: int = struct.unpack_from("<I", data, start)[0]
    at, runs = start + 4, b""
    if cookie & 0xFFFF == _COOKIE_RUNS:
        count = (cookie >> 16) + 1
        length = (count + 7) // 8
        runs, at = data[at : at + length], at + length
    elif cookie == _COOKIE_PLAIN:
        count = int(struct.unpack_from("<I", data, at)[0])
        at += 4
    else:
        raise DamagedError(f"no bitmap is at {start}")
    if count > _CONTAINERS_MAXIMUM:
        raise DamagedError(f"a bitmap at {start} has {count} containers")
    head = struct.unpack_from(f"<{2 * count}H", data, at)
    if not _ascending(head[::2]):
        raise DamagedError(f"a bitmap at {start} has containers out of order")
    at += 4 * count
    if not runs or count >= _OFFSETS_FROM:
        at += 4 * count
    for i in range(count):
        is_run = bool(runs) and bool(runs[i // 8] >> i % 8 & 1)
        at = _container_end(data, at, head[2 * i + 1] + 1, is_run)
    return at


def _container_end(data: bytes, at: int, cardinality: int, is_run: bool) -> int:
    if is_run:
        count = int(struct.unpack_from("<H", data, at)[0])
        parts = struct.unpack_from(f"<{2 * count}H", data, at + 2)
        ends = [s + n for s, n in zip(parts[::2], parts[1::2], strict=True)]
        if not count or ends[-1] > 0xFFFF or any(e >= s for e, s in zip(ends, parts[2::2], strict=False)):
            raise DamagedError(f"runs of a bitmap at {at} are out of order")
        if sum(parts[1::2]) + count != cardinality:
            raise DamagedError(f"runs of a bitmap at {at} hold another number of rows than promised")
        return at + 2 + 4 * count
    if cardinality <= _ARRAY_MAXIMUM:
        if not _ascending(struct.unpack_from(f"<{cardinality}H", data, at)):
            raise DamagedError(f"rows of a bitmap at {at} are out of order")
        return at + 2 * cardinality
    words: bytes = data[at : at + _BITSET_BYTES]
    if len(words) != _BITSET_BYTES or int.from_bytes(words, "little").bit_count() != cardinality:
        raise DamagedError(f"bits of a bitmap at {at} are another number than promised")
    return at + _BITSET_BYTES


def _ascending(numbers: tuple[int, ...]) -> bool:
    return all(map(operator.lt, numbers, numbers[1:]))
