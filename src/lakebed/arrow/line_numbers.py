"""Find the lines of text files that bad rows are from, by their text, in Spark's workers."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.file_part import open_ranges
from lakebed.arrow.scan_sources import OpenStore
from lakebed.arrow.text_lines import LinePiece, LineRules, file_chunks, is_compressed, is_row
from lakebed.store.base import Store

#: The columns of bad rows: the text, the file, where the piece begins that it was read in; and what is made here.
RAW, FILE, START, LINE = "raw", "file", "start", "line_number"
#: The column of a quarantine with that line.
SOURCE_LINE = "source_line"
#: The one key of the object that stands for a line which could not be split into values.
WHOLE_LINE = "lakebed.dev/line"
#: Rows, and bytes of them, that are looked up at a time.
_MOST_ROWS, _MOST_BYTES = 200_000, 64 << 20
_CHUNK = 4 << 20
_REPLACEMENT = "\ufffd".encode()
#: A member of an object of texts, without escapes, and its value.
_MEMBER = r'[{,]"[^"\\]*":(?:"([^"\\]*)"|null)'
_OF_UTF_8 = ("UTF-8", "US-ASCII")


@dataclass(frozen=True, slots=True)
class CsvValues:
    """How a line of CSV has its values: `usual` where they are written as they are but for quotes."""

    separator: str
    quote: str
    escape: str
    null: str = ""
    strips: tuple[bool, bool] = (False, False)

    @property
    def usual(self) -> bool:
        """Whether a line without quotes is its values with separators."""
        return not self.null and not any(self.strips)

    def joined(self, values: Iterable[str | None]) -> str:
        """Values as one text; what means NULL is empty."""
        return self.separator.join("" if value is None or value == self.null else value for value in values)

    def split(self, line: str) -> str | None:
        """The values of a line as one text; None where that cannot be told."""
        if self.quote not in line or not self.quote:
            return self.joined(map(self._stripped, line.split(self.separator)))
        doubles = self.escape in ("", self.quote)
        how: dict[str, Any] = {"doublequote": True} if doubles else {"doublequote": False, "escapechar": self.escape}
        try:
            (values,) = csv.reader([line], delimiter=self.separator, quotechar=self.quote, **how)
        except (csv.Error, TypeError, ValueError):
            return None
        return self.joined(map(self._stripped, values))

    def _stripped(self, value: str) -> str:
        before, behind = self.strips
        value = value.lstrip(" \t") if before else value
        return value.rstrip(" \t") if behind else value


@dataclass(frozen=True, slots=True)
class LineLookup:
    """How rows are found again in the text files that they are from: by lines as they are, or by the `values` of lines
    of CSV. `files` are places and sizes, by what rows call them; `rules` say what lines are, and which are rows.

    A row is on a line that begins at the `START` of its piece or behind it; where it `is_behind`, not at it.
    """

    open_store: OpenStore = field(repr=False)
    files: Mapping[str, tuple[str, int]] = field(repr=False)
    rules: LineRules
    encoding: str = "utf-8"
    values: CsvValues | None = None
    is_behind: bool = False

    def with_lines(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of bad rows with the number of the line of each, from 1; NULL where it is not found.

        Equal lines of a piece get their numbers in turn, since the rows of a piece come in order. Many rows are looked
        up at a time, so that files are read seldom.
        """
        last: dict[tuple[str, int], int] = {}
        for some in _some_at_a_time(batches):
            numbers = self._numbers(_places_of(some), last)
            at = 0
            for batch in some:
                found = pa.array(numbers[at : at + batch.num_rows], pa.int64())
                at += batch.num_rows
                yield pa.RecordBatch.from_arrays([*batch.columns, found], names=[*batch.schema.names, LINE])

    def _numbers(self, rows: pa.Table, last: dict[tuple[str, int], int]) -> list[int | None]:
        """The lines of rows; `last` is that of the last one that was found in each piece, and is kept up."""
        keys, starts = self._keys(rows[RAW]), pc.fill_null(rows[START], 0)
        numbers: list[int | None] = [None] * len(rows)
        for name in sorted(self.files.keys() & set(pc.unique(rows[FILE]).to_pylist())):
            (path, size), of_file = self.files[name], pc.equal(rows[FILE], name)
            file = _OpenedFile(*self.open_store(path), path, size, self.rules.end)
            for start in sorted(pc.unique(starts.filter(of_file)).to_pylist()):
                places = pc.indices_nonzero(pc.and_(pc.and_(of_file, pc.equal(starts, start)), keys.is_valid()))
                wanted = _Wanted.of(keys.take(places), places)
                piece = name, self._begin(path, start)
                for number, place in self._found(file, piece[1], wanted, last.get(piece, 0)):
                    numbers[place] = last[piece] = number
        return numbers

    def _begin(self, path: str, start: int) -> int:
        """Where a file is read from, for the rows of a piece that begins at `start`."""
        if not start or is_compressed(path) or len(self.rules.end) > 1:
            return 0
        return start + self.is_behind

    def _found(self, file: _OpenedFile, start: int, wanted: _Wanted, after: int) -> Iterator[tuple[int, int]]:
        """The numbers of lines behind line `after`, each with the place of the row that it is wanted for."""
        number, header, replaced = file.lines_before(start), self.rules.header and not start, wanted.replaced
        for text, lines in file.lines(start):
            if header and (first := self._first_row(lines)) is not None:
                # It is no row, also where a row is written like it.
                header, after = False, max(after, number + first + 1)
            for i, key in self._candidates(lines, wanted, others=replaced or self._may_be_other(text)):
                waiting = wanted.places[key]
                if waiting and number + i + 1 > after:
                    wanted.left -= 1
                    yield number + i + 1, waiting.pop()
            number += len(lines)
            if not wanted.left:
                return

    def _first_row(self, lines: pa.Array) -> int | None:
        """The place of the first line that is a row, or a header."""
        return next((i for i, line in enumerate(lines) if is_row(line.as_py(), self.rules)), None)

    def _may_be_other(self, text: bytes) -> bool:
        """Whether lines of a text may be wanted by what their values are, and not as they are."""
        values = self.values
        if values is None or not values.usual:
            return values is not None
        return bool(values.quote) and values.quote.encode(self.encoding) in text

    def _candidates(self, lines: pa.Array, wanted: _Wanted, *, others: bool) -> Iterator[tuple[int, int]]:
        """The places of lines that are wanted, each with the number of its text; with `others` not only as they are."""
        keys = pc.index_in(lines, wanted.texts)
        if others:
            unlike = keys.is_null()
            again = pa.array(map(self._other, lines.filter(unlike).to_pylist()), pa.binary())
            keys = pc.replace_with_mask(keys, unlike, pc.index_in(again, wanted.texts))
        places = pc.indices_nonzero(keys.is_valid())
        return zip(places.to_pylist(), keys.take(places).to_pylist(), strict=True)

    def _keys(self, raw: pa.ChunkedArray) -> pa.Array:
        """What tells the line of each row."""
        raw = raw.combine_chunks()
        if self.values is None or not self.values.usual or self.encoding not in _OF_UTF_8:
            return pa.array([None if text is None else self._key(text) for text in raw.to_pylist()], pa.binary())
        separator = self.values.separator
        joined = pc.replace_substring_regex(raw, _MEMBER, separator.replace("\\", r"\\") + r"\1")
        plain = pc.utf8_slice_codeunits(joined, len(separator), -1).cast(pa.binary())
        odd = pc.fill_null(pc.or_(pc.match_substring(raw, "\\"), pc.match_substring(raw, WHOLE_LINE)), False)
        others = pa.array(map(self._key, raw.filter(odd).to_pylist()), pa.binary())
        return pc.replace_with_mask(plain, odd, others)

    def _key(self, raw: str) -> bytes:
        text = raw
        if self.values is not None:
            read = json.loads(raw)
            text = read[WHOLE_LINE] if WHOLE_LINE in read else self.values.joined(read.values())
        return text.encode(self.encoding, "replace")

    def _other(self, line: bytes) -> bytes:
        """What else may tell a line: what its values are, where it is CSV, with U+FFFD for what is no text."""
        text = line.decode(self.encoding, "replace")
        split = text if self.values is None else self.values.split(text)
        return line if split is None else split.encode(self.encoding, "replace")


@dataclass(slots=True)
class _Wanted:
    """The texts of lines that are looked for, the places of the rows that have each, the last one first, and how many
    rows are left.
    """

    texts: pa.Array
    places: list[list[int]]
    left: int

    @classmethod
    def of(cls, keys: pa.Array, places: pa.Array) -> _Wanted:
        found = keys.dictionary_encode()
        of_texts: list[list[int]] = [[] for _ in range(len(found.dictionary))]
        for text, place in zip(reversed(found.indices.to_pylist()), reversed(places.to_pylist()), strict=True):
            of_texts[text].append(place)
        return cls(found.dictionary, of_texts, len(keys))

    @property
    def replaced(self) -> bool:
        """Whether some were no text in the file."""
        return bool(pc.any(pc.match_substring(self.texts, _REPLACEMENT)).as_py())


@dataclass(slots=True)
class _OpenedFile:
    """A text file whose lines are counted, at places that grow."""

    store: Store
    root: str
    path: str
    size: int
    end: bytes
    _at: int = 0
    _ends: int = 0
    _last: bytes = b""

    def lines(self, start: int) -> Iterator[tuple[bytes, pa.Array]]:
        """Its lines that begin at `start` or behind it, without their ends, some at a time, with the text of these."""
        left, is_first = b"", True
        for chunk in file_chunks(self.store, self.root, LinePiece(self.path, self.size, start, self.size)):
            text = left + chunk
            # A \r at the end may be half of an end.
            ends = [(self.end, len(text))] if self.end else [(b"\n", len(text)), (b"\r", len(text) - 1)]
            cut = max(text.rfind(end, 0, until) + len(end) for end, until in ends)
            if cut >= len(self.end or b"\n"):
                yield text, self._split(text[:cut], is_first and bool(start), is_first)
                is_first, text = False, text[cut:]
            left = text
        if left:
            yield left, self._split(left, is_first and bool(start), is_first)

    def _split(self, text: bytes, behind_part: bool, is_first: bool) -> pa.Array:
        """The lines of a text; less the first, of which it may be only a part, and a byte order mark."""
        text = text.removeprefix(codecs.BOM_UTF8) if is_first and not behind_part else text
        if self.end or b"\r" in text:
            lines = pa.array(text.split(self.end) if self.end else text.splitlines(), pa.binary())
        else:
            lines = pc.list_flatten(pc.split_pattern(pa.array([text], pa.binary()), b"\n"))
        if text.endswith(self.end or b"\n") and (self.end or b"\r" not in text):
            lines = lines[:-1]
        return lines[1:] if behind_part else lines

    def lines_before(self, start: int) -> int:
        """How many lines begin before `start`."""
        if not start:
            return 0
        with open_ranges(self.store, self.root, self.size) as file:
            file.seek(self._at)
            while self._at < start and (chunk := file.read(min(_CHUNK, start - self._at))):
                self._ends += _ends_in(self._last + chunk, self.end) - _ends_in(self._last, self.end)
                self._last = chunk[-1:]
                self._at += len(chunk)
        # A line that ends there begins at it.
        return 1 + self._ends - _ends_in(self._last, self.end)


def _ends_in(text: bytes, end: bytes) -> int:
    if end:
        return text.count(end)
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _places_of(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """The columns by which rows are looked up, of batches whose others may have different forms of a type."""
    schema = pa.schema([(RAW, pa.string()), (FILE, pa.string()), (START, pa.int64())])
    return pa.Table.from_batches(
        [pa.RecordBatch.from_arrays([b.column(f.name).cast(f.type) for f in schema], schema=schema) for b in batches]
    )


def _some_at_a_time(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    some: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        some.append(batch)
        rows, size = rows + batch.num_rows, size + batch.nbytes
        if rows >= _MOST_ROWS or size >= _MOST_BYTES:
            yield some
            some, rows, size = [], 0, 0
    if some:
        yield some
