"""Each check of the cursor on its own: nothing outside of a table, a vector or the buffer is ever given out."""

from __future__ import annotations

import struct

import pytest

from lakebed.errors import CorruptMetadataError
from lakebed.events.buffer_cursor import Cursor

# root -> 12; vtable at 4: 6 bytes, table of 8 bytes, slot 0 at +4; table at 12 holds the offset of its vtable and 7.
GOOD = struct.pack("<I HHH 2x i I", 12, 6, 8, 4, 8, 7)


def test_a_good_table() -> None:
    cursor = Cursor(GOOD)
    table = cursor.root()
    at = cursor.slot(table, 0, 4)
    assert at == 16
    assert cursor.scalar("<I", at) == 7
    assert cursor.slot(table, 1, 4) is None


@pytest.mark.parametrize(("offset", "width"), [(6, 4), (8, 1), (4, 8), (3, 1), (1, 2), (65_535, 1)])
def test_a_slot_outside_of_its_table(offset: int, width: int) -> None:
    data = GOOD[:8] + struct.pack("<H", offset) + GOOD[10:] + bytes(64)
    cursor = Cursor(data)
    with pytest.raises(CorruptMetadataError, match="a slot at"):
        cursor.slot(cursor.root(), 0, width)


@pytest.mark.parametrize(("vtable_size", "size"), [(2, 8), (5, 8), (200, 8), (6, 3), (6, 200)])
def test_sizes_that_do_not_hold(vtable_size: int, size: int) -> None:
    with pytest.raises(CorruptMetadataError, match=r"a vtable of|a table of"):
        Cursor(GOOD[:4] + struct.pack("<HH", vtable_size, size) + GOOD[8:]).root()


@pytest.mark.parametrize("count", [3, 2**31, 2**32 - 1])
def test_a_vector_beyond_the_end(count: int) -> None:
    data = struct.pack("<I", count) + bytes(8)
    assert Cursor(struct.pack("<I", 2) + bytes(8)).vector(0, 4) == (4, 2)
    with pytest.raises(CorruptMetadataError, match="a vector of"):
        Cursor(data).vector(0, 4)
    with pytest.raises(CorruptMetadataError):
        Cursor(data).vector(10, 1)


@pytest.mark.parametrize("offset", [0, 9, 2**32 - 1])
def test_an_offset_beyond_the_end(offset: int) -> None:
    with pytest.raises(CorruptMetadataError, match="an offset of"):
        Cursor(struct.pack("<I", offset) + bytes(8)).follow(0)


@pytest.mark.parametrize("text", [b"\x01\0\0\0ab", b"\x01\0\0\0a", b"\x01\0\0\0\xff\0"])
def test_texts_that_do_not_hold(text: bytes) -> None:
    with pytest.raises(CorruptMetadataError, match="a text"):
        Cursor(text).string(0)
