"""Writes file indexes as Java Paimon does, made from what is known of the formats, apart from the reader under test."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from ctypes import c_int32, c_int64
from decimal import Decimal
from typing import Any

import pyroaring
import xxhash

from lakebed.physical import paimon_types as t

MAGIC, TAIL_MAGIC = 1493475289347502, 0x5041464944583032


# --- the container ----------------------------------------------------------------------------------------------------


def container(indexes: Mapping[str, Mapping[str, bytes | None]], version: int = 1) -> bytes:
    """The container of indexes by column and kind; None stands for an index without a body."""
    return _head_first(indexes) if version == 1 else _foot_last(indexes)


def _head_first(indexes: Mapping[str, Mapping[str, bytes | None]]) -> bytes:
    names = sum(len(_utf(c)) + 4 + sum(len(_utf(k)) + 8 for k in kinds) for c, kinds in indexes.items())
    size, body = 8 + 4 + 4 + 4 + names + 4, b""
    head = struct.pack(">qiii", MAGIC, 1, size, len(indexes))
    for column, kinds in indexes.items():
        head += _utf(column) + struct.pack(">i", len(kinds))
        for kind, data in kinds.items():
            start = -1 if data is None else size + len(body)
            head += _utf(kind) + struct.pack(">ii", start, len(data or b""))
            body += data or b""
    head += struct.pack(">i", 0)
    assert len(head) == size
    return head + body


def _foot_last(indexes: Mapping[str, Mapping[str, bytes | None]]) -> bytes:
    whole = struct.pack(">qi", MAGIC, 2)
    foot = struct.pack(">i", len(indexes))
    for column, kinds in indexes.items():
        foot += _utf(column) + struct.pack(">i", len(kinds))
        for kind, data in kinds.items():
            foot += _utf(kind) + struct.pack(">qq", -1 if data is None else len(whole), len(data or b""))
            whole += data or b""
    return whole + foot + struct.pack(">iq", len(foot), TAIL_MAGIC)


def _utf(name: str) -> bytes:
    """Java's modified UTF-8: two surrogates for what is beyond 16 bits, and two bytes for NUL."""
    units = name.encode("utf-16-be")
    codes = [int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2)]
    raw = b"".join(b"\xc0\x80" if c == 0 else chr(c).encode("utf-8", "surrogatepass") for c in codes)
    return struct.pack(">H", len(raw)) + raw


# --- values -----------------------------------------------------------------------------------------------------------


def stored(kind: t.DataType, value: Any) -> Any:
    """What Java's writers index in place of an internal value."""
    match kind:
        case t.Timestamp(precision=p) | t.LocalZonedTimestamp(precision=p):
            return value // 1_000_000 if p <= 3 else value // 1_000
        case t.Decimal(scale=scale):
            return int(value * Decimal(10) ** scale)
        case t.Char() | t.VarChar():
            return value.encode()
        case _:
            return value


def _order(value: Any) -> Any:
    """Sorts as `Double.compare` does, everything else as it is."""
    if isinstance(value, float):
        return (1, 0.0, 0) if math.isnan(value) else (0, value, math.copysign(1, value))
    return value


_CODES: dict[type, str] = {
    t.Boolean: "?",
    t.TinyInt: "b",
    t.SmallInt: "h",
    t.Int: "i",
    t.Date: "i",
    t.Time: "i",
    t.Float: "f",
    t.Double: "d",
}


def _bytes(kind: t.DataType, value: Any) -> bytes:
    if isinstance(value, bytes):
        return struct.pack(">i", len(value)) + value
    return struct.pack(">" + _CODES.get(type(kind), "q"), value)


def _by_value(kind: t.DataType, values: Sequence[Any]) -> tuple[dict[Any, list[int]], list[int]]:
    """The rows of each distinct stored value, by its place in Java's order; and the rows of NULL."""
    rows: dict[Any, tuple[Any, list[int]]] = {}
    nulls = []
    for i, value in enumerate(values):
        if value is None:
            nulls.append(i)
        else:
            key = stored(kind, value)
            rows.setdefault(_order(key), (key, []))[1].append(i)
    return {place: rows[place] for place in rows}, nulls


def _bitmap(rows: Iterable[int]) -> bytes:
    made = pyroaring.BitMap(rows)
    made.run_optimize()
    return bytes(made.serialize())


# --- kinds ------------------------------------------------------------------------------------------------------------


def bloom(kind: t.DataType, values: Sequence[Any], *, functions: int = 3, size: int = 64) -> bytes:
    """A bloom filter of `size` bytes."""
    bits = bytearray(size)
    for value in values:
        if value is not None:
            hashed = _hash(kind, stored(kind, value))
            low, high = c_int32(hashed).value, c_int32(hashed >> 32).value
            for i in range(1, functions + 1):
                combined = c_int32(low + i * high).value
                place = (combined if combined >= 0 else ~combined) % (8 * size)
                bits[place // 8] |= 1 << place % 8
    return struct.pack(">i", functions) + bytes(bits)


def _hash(kind: t.DataType, value: Any) -> int:
    if isinstance(value, bytes):
        return int(xxhash.xxh64_intdigest(value, seed=0))
    if isinstance(kind, t.Float):
        value = 0x7FC00000 if math.isnan(value) else struct.unpack(">i", struct.pack(">f", value))[0]
    elif isinstance(kind, t.Double):
        value = 0x7FF8000000000000 if math.isnan(value) else struct.unpack(">q", struct.pack(">d", value))[0]
    key = c_int64(~value + (value << 21)).value
    key ^= key >> 24
    key = c_int64(key + (key << 3) + (key << 8)).value
    key ^= key >> 14
    key = c_int64(key + (key << 2) + (key << 4)).value
    key ^= key >> 28
    return c_int64(key + (key << 31)).value


def bitmap(kind: t.DataType, values: Sequence[Any], *, version: int = 2, block: int = 16_384) -> bytes:
    """A bitmap index; `block` is the most bytes of a block of version 2."""
    by_value, nulls = _by_value(kind, values)
    head = struct.pack(">bii?", version, len(values), len(by_value), bool(nulls))
    body = b"" if len(nulls) < 2 else _bitmap(nulls)
    if nulls:
        head += struct.pack(">i", -1 - nulls[0] if len(nulls) == 1 else 0)
        head += struct.pack(">i", len(_bitmap(nulls))) if version == 2 else b""
    entries = []
    # Java's version 1 is in the order of a hash map.
    for place in sorted(by_value, reverse=version == 1):
        key, rows = by_value[place]
        data = _bitmap(rows) if len(rows) > 1 else b""
        entries.append((_bytes(kind, key), len(body) if data else -1 - rows[0], len(data) if data else -1))
        body += data
    if version == 1:
        return head + b"".join(key + struct.pack(">i", at) for key, at, _ in entries) + body
    blocks: list[list[tuple[bytes, int, int]]] = []
    room = 0
    for entry in entries:
        size = len(entry[0]) + 8
        if not blocks or room < size:
            blocks.append([])
            room = block - 4
        blocks[-1].append(entry)
        room -= size
    made = [struct.pack(">i", len(b)) + b"".join(k + struct.pack(">ii", at, n) for k, at, n in b) for b in blocks]
    head += struct.pack(">i", len(blocks))
    for i, entries_of in enumerate(blocks):
        head += entries_of[0][0] + struct.pack(">i", sum(map(len, made[:i])))
    return head + struct.pack(">i", sum(map(len, made))) + b"".join(made) + body


def bsi(kind: t.DataType, values: Sequence[Any]) -> bytes:
    """A bit-sliced index."""
    numbers = [(i, stored(kind, v)) for i, v in enumerate(values) if v is not None]
    out = struct.pack(">bi", 1, len(values))
    for part in ([(i, n) for i, n in numbers if n >= 0], [(i, -n) for i, n in numbers if n < 0]):
        out += struct.pack(">?", bool(part))
        if part:
            high = max(n for _, n in part)
            out += struct.pack(">bqq", 1, 0, high) + _bitmap(i for i, _ in part)
            out += struct.pack(">i", high.bit_length())
            out += b"".join(_bitmap(i for i, n in part if n >> d & 1) for d in range(high.bit_length()))
    return out


def range_bitmap(kind: t.DataType, values: Sequence[Any], *, chunk: int = 16_384) -> bytes:
    """A range bitmap; `chunk` is the most bytes of the keys of a chunk after its first one."""
    by_value, _ = _by_value(kind, values)
    order = [by_value[place] for place in sorted(by_value)]
    dictionary = _dictionary(kind, [key for key, _ in order], chunk)
    bounds = b"".join(_bytes(kind, key) for key, _ in (order[0], order[-1])) if order else b""
    head = struct.pack(">bii", 1, len(values), len(order)) + bounds + struct.pack(">i", len(dictionary))
    codes = [(i, code) for code, (_, rows) in enumerate(order) for i in rows]
    return struct.pack(">i", len(head)) + head + dictionary + _code_slices(codes, len(order) - 1)


def _dictionary(kind: t.DataType, keys: Sequence[Any], chunk: int) -> bytes:
    chunks: list[tuple[int, bytes, list[bytes]]] = []
    text = bool(keys) and isinstance(keys[0], bytes)
    for code, key in enumerate(_bytes(kind, k) for k in keys):
        if chunks:
            inside = chunks[-1][2]
            fits = sum(map(len, inside)) + len(key) <= chunk and (not text or 4 * len(inside) + 4 <= chunk)
            if fits:
                inside.append(key)
                continue
        chunks.append((code, key, []))
    heads, offsets, bodies = b"", b"", b""
    for code, first, inside in chunks:
        joined = b"".join(inside)
        starts = b"".join(struct.pack(">i", sum(map(len, inside[:i]))) for i in range(len(inside))) if text else b""
        lengths = (len(starts), len(joined)) if text else (len(joined), len(first))
        offsets += struct.pack(">i", len(heads))
        heads += struct.pack(">b", 1) + first + struct.pack(">iiiii", code, len(bodies), len(inside), *lengths)
        bodies += starts + joined
    head = struct.pack(">biii", 1, len(chunks), len(offsets), len(heads))
    return struct.pack(">i", len(head)) + head + offsets + heads + bodies


def _code_slices(codes: Sequence[tuple[int, int]], high: int) -> bytes:
    digits = 64 if high < 0 else max(high.bit_length(), 1)
    present = _bitmap(i for i, _ in codes)
    slices = [_bitmap(i for i, code in codes if code >> d & 1) for d in range(digits)]
    head = struct.pack(">bbii", 1, digits, len(present), 8 * digits)
    at = 0
    for data in slices:
        head += struct.pack(">ii", at, len(data))
        at += len(data)
    return struct.pack(">i", len(head)) + head + present + b"".join(slices)
