"""Define what exact indexes share: those that know the key of every row."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Protocol

from lakebed.read.file_index.index_bytes import Cursor
from lakebed.read.file_index.keys import Coding, Key, float_bits, float_key
from lakebed.read.file_index.roaring import BitMap
from lakebed.read.file_index.spans import Span


class ExactIndex(Protocol):
    """An index that knows the key of every row. All methods raise DamagedError, when the bytes that they need are."""

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        ...

    def holds(self, span: Span) -> bool:
        """Whether some row has a key in the span."""
        ...

    def holds_null(self) -> bool:
        """Whether some row is NULL."""
        ...

    def rows_in(self, span: Span) -> BitMap | None:
        """The rows that have a key in the span; None where it would take too long to tell."""
        ...

    def null_rows(self) -> BitMap:
        """The rows that are NULL."""
        ...


def ascending(keys: Iterable[Any]) -> bool:
    """Whether each key is greater than the one before it."""
    return all(a < b for a, b in pairwise(keys))


def read_key(cursor: Cursor, coding: Coding) -> Key:
    """The next key as an index stores it."""
    if coding.code is None:
        return cursor.take(cursor.count())
    if coding.code == "?":
        return int(cursor.flag())
    if coding.floats:
        return float_key(cursor.take(struct.calcsize(coding.code)))
    return cursor.number(coding.code)


def keys_bytes(keys: Iterable[Key], coding: Coding) -> list[bytes]:
    """Keys as an index stores them."""
    if coding.code is None:
        length = struct.Struct(">i").pack
        return [length(len(key)) + key for key in keys if isinstance(key, bytes)]
    if coding.floats:
        width = struct.calcsize(coding.code)
        return [float_bits(int(key), width).to_bytes(width, "big", signed=True) for key in keys]
    return list(map(struct.Struct(f">{coding.code}").pack, keys))
