"""Read bytes of an index with bounds checked, and write texts: big-endian, as Java's `DataOutput` writes."""

from __future__ import annotations

import struct

_SIZES = {code: struct.calcsize(f">{code}") for code in "bBhHiIqQ"}


class DamagedError(Exception):
    """The bytes are no index of the kind that they should be; the message says why. It never leaves this package."""


class UnknownVersionError(Exception):
    """An index of a version of the future; it never leaves this package."""


class Cursor:
    """Reads forward from `position`. Everything beyond the end, and a negative length, is `DamagedError`."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        if not 0 <= position <= len(data):
            raise DamagedError(f"offset {position} is not within {len(data)} bytes")
        self.data = data
        self.position = position

    def take(self, length: int) -> bytes:
        """The next `length` bytes."""
        start = self.position
        if not 0 <= length <= len(self.data) - start:
            raise DamagedError(f"{length} bytes are promised where {len(self.data) - start} are left")
        self.position = start + length
        return self.data[start : self.position]

    def number(self, code: str) -> int:
        """The next integer, by `struct`'s code of its width and sign."""
        return int(struct.unpack(f">{code}", self.take(_SIZES[code]))[0])

    def count(self) -> int:
        """The next 4-byte integer, which must not be negative."""
        found = self.number("i")
        if found < 0:
            raise DamagedError(f"a count or length of {found}")
        return found

    def flag(self) -> bool:
        """The next byte as a boolean."""
        return self.number("b") != 0

    def text(self) -> str:
        """The next text in Java's modified UTF-8, after its length in 2 bytes."""
        raw = self.take(self.number("H"))
        try:
            halves = raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
            return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as e:
            raise DamagedError(f"a name is no text: {e}") from e


def text_bytes(text: str) -> bytes:
    """A text as `Cursor.text` reads it. Raises OverflowError for one of more than 65,535 bytes."""
    units = text.encode("utf-16-le", "surrogatepass")
    halves = "".join(chr(unit) for (unit,) in struct.iter_unpack("<H", units))
    raw = halves.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    return len(raw).to_bytes(2, "big") + raw
