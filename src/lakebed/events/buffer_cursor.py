"""Read FlatBuffers from untrusted bytes: check every offset, size and text before it is used.

The checks are those of a FlatBuffers verifier, less alignment, which older writers of Open Data Fabric blocks did not
keep. Offsets only lead forward, so there are no cycles; parts that are shared over and over are bounded by how much is
looked at in all, which honest bytes never reach.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from lakebed.errors import CorruptMetadataError

#: Bytes of a whole buffer.
MAX_BYTES = 16 * 1024 * 1024
#: Tables of a whole buffer; a column takes two or three.
MAX_TABLES = 250_000
#: Tables within tables. Other FlatBuffers verifiers stop at 64 by default.
MAX_DEPTH = 128

#: How often the bytes of a buffer may be looked at on average. Writers that share equal texts need a little of it.
_SHARING = 4
_SLACK = 4096
_U16, _I32, _U32 = struct.Struct("<H"), struct.Struct("<i"), struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where a table and its vtable are, with their sizes in bytes."""

    at: int
    size: int
    vtable: int
    vtable_size: int


class Cursor:
    """Checked access to the bytes of one buffer. Everything that does not hold raises `CorruptMetadataError`."""

    def __init__(self, data: bytes) -> None:
        if len(data) > MAX_BYTES:
            message = f"{len(data)} bytes are more than the {MAX_BYTES} that an event may have"
            raise CorruptMetadataError.of("LB2505", message, found=str(len(data)))
        self._data = data
        self._left = _SHARING * len(data) + _SLACK
        self._tables = 0

    def root(self) -> TablePlace:
        """The table that the buffer starts with."""
        return self.table(self.follow(0))

    def table(self, at: int) -> TablePlace:
        """The table at a place."""
        vtable = at - self._number(_I32, at, "a table")
        vtable_size = self._number(_U16, vtable, "the vtable of a table")
        size = self._number(_U16, vtable + 2, "the vtable of a table")
        if vtable_size < 4 or vtable_size % 2 or vtable + vtable_size > len(self._data):
            raise self.damaged(f"a vtable of {vtable_size} bytes", vtable)
        if size < 4 or at + size > len(self._data):
            raise self.damaged(f"a table of {size} bytes", at)
        self._spend(size, at)
        self._tables += 1
        if self._tables > MAX_TABLES:
            raise self.damaged(f"more than {MAX_TABLES} tables", at)
        return TablePlace(at, size, vtable, vtable_size)

    def slot(self, table: TablePlace, number: int, width: int) -> int | None:
        """Where the `width` bytes of a slot are; None for an absent one."""
        entry = 4 + 2 * number
        if entry + 2 > table.vtable_size:
            return None
        offset = self._number(_U16, table.vtable + entry, "a vtable")
        if offset == 0:
            return None
        if offset < 4 or offset + width > table.size:
            raise self.damaged(f"a slot at {offset} of a table of {table.size} bytes", table.at)
        return table.at + offset

    def scalar(self, code: str, at: int) -> int:
        """A number of the `struct` code at a place that `slot` gave."""
        value: int = struct.unpack_from(code, self._data, at)[0]
        return value

    def take(self, at: int, width: int) -> bytes:
        """Bytes at a place that `slot` gave."""
        return self._data[at : at + width]

    def follow(self, at: int) -> int:
        """Where the offset at a place leads."""
        offset = self._number(_U32, at, "an offset")
        if offset == 0 or at + offset > len(self._data) - 4:
            raise self.damaged(f"an offset of {offset}", at)
        return at + offset

    def vector(self, at: int, width: int) -> tuple[int, int]:
        """Where the elements of a vector start, and how many of `width` bytes there are."""
        count = self._number(_U32, at, "a vector")
        if count * width > len(self._data) - at - 4:
            raise self.damaged(f"a vector of {count} elements", at)
        self._spend(4 + count * width, at)
        return at + 4, count

    def bytes(self, at: int) -> bytes:
        """The bytes of a vector of bytes."""
        start, count = self.vector(at, 1)
        return self._data[start : start + count]

    def string(self, at: int) -> str:
        """The text of a string, which is UTF-8 and ends with a zero."""
        start, count = self.vector(at, 1)
        if self._data[start + count : start + count + 1] != b"\0":
            raise self.damaged("a text without its end", at)
        try:
            return self._data[start : start + count].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.damaged(f"a text that is not UTF-8 ({error.reason})", at) from error

    def damaged(self, what: str, at: int) -> CorruptMetadataError:
        """An error about something at a place."""
        message = f"the bytes are damaged: at byte {at} of {len(self._data)} is {what}"
        remedy = "fetch the file again; if its hash is right, whoever wrote it wrote no valid event"
        return CorruptMetadataError.of("LB2500", message, found=what, remedy=remedy)

    def _number(self, form: struct.Struct, at: int, what: str) -> int:
        if at < 0 or at + form.size > len(self._data):
            raise self.damaged(f"{what} beyond the end", at)
        value: int = form.unpack_from(self._data, at)[0]
        return value

    def _spend(self, count: int, at: int) -> None:
        self._left -= count
        if self._left < 0:
            raise self.damaged("a part that is shared too often", at)
