"""Read lines of text files in Spark's workers, through the store of each, where Spark has no connector for it."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from lakebed.arrow.file_part import OPENING, open_ranges
from lakebed.store.base import Store

#: A task reads about so many bytes, and holds so many of them at a time.
_TASK_BYTES, _CHUNK = 128 << 20, 4 << 20
_CODECS = {".gz": "gzip", ".bz2": "bz2"}
#: What Java's `trim` takes for blank.
_BLANK = bytes(range(0x21))
_ENDS = b"\r\n"


@dataclass(frozen=True, slots=True)
class LineRules:
    r"""What lines are, as Spark's readers have it: they end at `end`, or else at any of \n, \r\n and \r.

    Of CSV, blank lines are left out (`skips_blank`), those that begin with `comment`, and the first one that is left of
    a file with a `header`.
    """

    end: bytes = b""
    skips_blank: bool = False
    comment: bytes = b""
    header: bool = False


class LinePiece(NamedTuple):
    """The lines of a file of `size` bytes that begin at `start` or behind it, and before `stop`."""

    path: str
    size: int
    start: int
    stop: int

    @staticmethod
    def table(found: Sequence[LinePiece]) -> pa.Table:
        """A row for each piece."""
        types = (pa.string(), pa.int64(), pa.int64(), pa.int64())
        columns = zip(*found, strict=True) if found else [()] * len(types)
        arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
        return pa.table(arrays, names=LinePiece._fields)


def line_pieces(files: Iterable[tuple[str, int]], rules: LineRules, most: int = _TASK_BYTES) -> list[LinePiece]:
    """Pieces of about `most` bytes of the files, given by path and size; what is compressed is read whole."""
    found: list[LinePiece] = []
    for path, size in files:
        # Where an end of line is made of several characters, a piece may begin inside of one.
        whole = _codec(path) is not None or len(rules.end) > 1
        step = max(size, 1) if whole else most
        found += (LinePiece(path, size, at, min(at + step, size)) for at in range(0, size, step))
    return found


def line_tasks(found: Sequence[LinePiece]) -> int:
    """How many tasks are to read the pieces."""
    weight = sum(piece.stop - piece.start + OPENING for piece in found)
    return max(1, min(-(-weight // _TASK_BYTES), len(found)))


def line_batches(store: Store, root: str, piece: LinePiece, rules: LineRules) -> Iterator[list[bytes]]:
    """The lines of a piece of the file at `root`, without their ends, some at a time."""
    left_out = rules.header and not piece.start
    for lines in _lines_within(file_chunks(store, root, piece), piece, rules):
        kept = [line for line in lines if is_row(line, rules)]
        if left_out and kept:
            left_out = False
            del kept[0]
        if kept:
            yield kept


def is_row(line: bytes, rules: LineRules) -> bool:
    """Whether a line of a file, less a header, is a row."""
    if rules.skips_blank and not line.strip(_BLANK):
        return False
    return not (rules.comment and line.startswith(rules.comment))


def is_compressed(path: str) -> bool:
    """Whether a file has to be read from its beginning."""
    return _codec(path) is not None


def _codec(path: str) -> str | None:
    return next((codec for ending, codec in _CODECS.items() if path.lower().endswith(ending)), None)


def file_chunks(store: Store, root: str, piece: LinePiece) -> Iterator[bytes]:
    """What a file holds, from the byte before the piece on, which may end a line."""
    codec = _codec(piece.path)
    with open_ranges(store, root, piece.size) as file:
        if piece.start:
            file.seek(piece.start - 1)
        with pa.CompressedInputStream(file, codec) if codec else file as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk


def _lines_within(chunks: Iterator[bytes], piece: LinePiece, rules: LineRules) -> Iterator[list[bytes]]:
    at = piece.start - 1 if piece.start else 0
    stop = piece.stop if _codec(piece.path) is None else None
    is_first = True
    for lines in _split(chunks, rules.end):
        count, after = _before(lines, at, stop)
        found = lines[:count]
        if is_first and found:
            is_first = False
            found[:1] = [] if piece.start else _without_mark(found[0])
        yield [_without_end(line, rules.end) for line in found]
        at = after
        if stop is not None and at >= stop:
            return


def _without_mark(line: bytes) -> list[bytes]:
    """The first line of a file less its byte order mark; nothing where it is no more than that."""
    left = line.removeprefix(codecs.BOM_UTF8)
    return [left] if left else []


def _before(lines: list[bytes], at: int, stop: int | None) -> tuple[int, int]:
    """How many of the lines, the first of which is at `at`, begin before `stop`; and where the next one begins."""
    total = sum(map(len, lines))
    if stop is None or at + total <= stop:
        return len(lines), at + total
    for count, line in enumerate(lines):
        if at >= stop:
            return count, at
        at += len(line)
    return len(lines), at


def _without_end(line: bytes, end: bytes) -> bytes:
    return line.removesuffix(end) if end else line.rstrip(_ENDS)


def _split(chunks: Iterator[bytes], end: bytes) -> Iterator[list[bytes]]:
    """The lines of a text with their ends; the last one may have none."""
    left = b""
    for chunk in chunks:
        lines = _with_ends(left + chunk, end)
        # It may go on, and a \r at its end may be half of an end.
        left = lines.pop()
        yield lines
    if left:
        yield [left]


def _with_ends(text: bytes, end: bytes) -> list[bytes]:
    if not end:
        return text.splitlines(keepends=True)
    *whole, last = text.split(end)
    lines = [line + end for line in whole]
    return [*lines, last] if last else lines
