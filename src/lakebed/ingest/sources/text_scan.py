"""Scan the bytes of a text file for undecodable text and for quotes, before Spark reads it.

Spark puts U+FFFD for what it cannot decode, and nobody can tell it from one that was in the file. The bytes are looked
at while they are read for the file's digest anyway; of a gzip file only the first ones, where Spark can do the rest.
"""

from __future__ import annotations

import bz2
import codecs
import zlib
from dataclasses import dataclass, field
from typing import Protocol

#: Bits of zlib's window, and that a gzip header is expected.
_GZIP = 15 + 16
_GZIP_MAGIC = b"\x1f\x8b"
#: What Spark's CSV parser takes for nothing, and for the end of a text.
MARKS = ("\0", "\uffff")
_MARKS_IN_UTF_8 = tuple(mark.encode() for mark in MARKS)


@dataclass(frozen=True, slots=True)
class TextFindings:
    """`invalid_at` is the byte, of the decompressed file, at which it stops being text (None: it is all text).

    `broken` is what is wrong with the file as a compressed one. Where it is not `is_decoded`, nothing is known of its
    text. `has_marks`: it has characters that Spark's CSV parser takes for marks of its own, NUL and U+FFFF.
    """

    invalid_at: int | None
    has_quotes: bool
    broken: str | None = None
    is_decoded: bool = True
    has_marks: bool = False


class Scan(Protocol):
    """What takes a file's bytes in pieces, and says what there is to say when it has had all."""

    def feed(self, data: bytes) -> None: ...
    def findings(self) -> TextFindings: ...


@dataclass(slots=True)
class GzipStart:
    """Looks at the first bytes of a gzip file. What else is wrong with it, Spark fails at, by its checksums."""

    _start: bytes = b""

    def feed(self, data: bytes) -> None:
        """The next bytes of the file."""
        if len(self._start) < len(_GZIP_MAGIC):
            self._start += data[: len(_GZIP_MAGIC)]

    def findings(self) -> TextFindings:
        """Whether it begins as it should."""
        is_gzip = self._start.startswith(_GZIP_MAGIC)
        broken = None if is_gzip else "it does not begin as a gzip file does" if self._start else "it is empty"
        return TextFindings(None, has_quotes=True, broken=broken, is_decoded=False)


class _Decompressor(Protocol):
    """A stream of one member; `unused_data` is what follows it."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, /) -> bytes: ...


@dataclass(slots=True)
class TextScan:
    """Takes a file's bytes in pieces. `encoding` is one that Python knows, `quote` the quote character or nothing.

    Without an encoding only decompression is looked at.
    """

    encoding: str | None
    quote: str
    compression: str = ""
    _at: int = 0
    _invalid_at: int | None = None
    _has_quotes: bool = False
    _has_marks: bool = False
    _end: bytes = b""
    _decoder: codecs.IncrementalDecoder | None = None
    _member: _Decompressor | None = None
    _head: bytes = field(default=b"")
    _broken: str | None = None

    def feed(self, data: bytes) -> None:
        """The next bytes of the file, compressed as it is."""
        if not self.compression:
            self._text(data)
            return
        while data and self._broken is None:
            if self._member is None or self._member.eof:
                # Files that were padded with zeros are whole.
                data = data if self._member is None else data.lstrip(b"\0")
                if not data:
                    return
                self._member = zlib.decompressobj(_GZIP) if self.compression == ".gz" else bz2.BZ2Decompressor()
            try:
                self._text(self._member.decompress(data))
            except (zlib.error, OSError, EOFError) as error:
                self._broken = str(error)
                return
            data = self._member.unused_data if self._member.eof else b""

    def findings(self) -> TextFindings:
        """What there is to say when all bytes were fed."""
        if self.compression and self._broken is None and (self._member is None or not self._member.eof):
            self._broken = "it ends before its compressed content does"
        if self._invalid_at is None and self._broken is None:
            self._decode(b"", final=True)
        return TextFindings(self._invalid_at, self._has_quotes, self._broken, has_marks=self._has_marks)

    def _text(self, data: bytes) -> None:
        if self.encoding is None:
            return
        if not self._has_quotes and self.quote:
            self._has_quotes = self.quote.encode(_plain(self.encoding), "replace") in data
        self._look_for_marks(data)
        if self._invalid_at is None and data:
            self._decode(data, final=False)
        self._at += len(data)

    def _look_for_marks(self, data: bytes) -> None:
        """In bytes, which is quicker, where a character of ASCII is one byte; else they are looked for in the text."""
        if self._has_marks or self.encoding is None:
            return
        name = codecs.lookup(self.encoding).name
        if name == "utf-8":
            # A mark may begin at the end of the bytes before.
            self._has_marks = any(mark in self._end + data for mark in _MARKS_IN_UTF_8)
            self._end = (self._end + data)[-2:]
        elif not name.startswith(("utf-16", "utf-32")):
            self._has_marks = b"\0" in data

    def _decode(self, data: bytes, *, final: bool) -> None:
        if self.encoding is None:
            return
        before = 0
        if self._decoder is None:
            if len(self._head) + len(data) < 2 and not final:
                self._head += data
                return
            data, before = self._head + data, len(self._head)
            self._decoder = codecs.getincrementaldecoder(_as_java_reads(self.encoding, data))("strict")
        pending = before + len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(data, final)
            self._has_marks = self._has_marks or any(mark in text for mark in MARKS)
        except UnicodeDecodeError as error:
            self._invalid_at = max(self._at - pending + error.start, 0)


def _as_java_reads(encoding: str, head: bytes) -> str:
    """Without a mark, Java takes UTF-16 and UTF-32 for big-endian, where Python goes by the machine."""
    name = codecs.lookup(encoding).name
    if name in ("utf-16", "utf-32") and head[:2] not in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\0\0"):
        return f"{name}-be"
    return name


def _plain(encoding: str) -> str:
    """An encoding that writes a character without a mark before it."""
    name = codecs.lookup(encoding).name
    return f"{name}-le" if name in ("utf-16", "utf-32") else name
