"""Guess from its first bytes what a source is that is read as something else."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import IngestError, SourceMismatchError
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat
from lakebed.ingest.sources.source_head import open_head
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage
from lakebed.ingest.sources.source_options import SourceOptions

MISREAD = "LB6136"

#: Bytes of a file, and files of a source, that are looked at.
_HEAD, _FILES = 1 << 16, 3
_SEPARATORS = {";": "';'", ",": "','", "\t": "a tab (\\t)", "|": "'|'"}
_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
#: What files of other kinds begin with.
_MAGIC = ((b"PAR1", "a Parquet file"), (b"PK\x03\x04", "a ZIP archive"), (b"\x1f\x8b", "compressed with gzip"))
_SURE = 16


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read: their format, the reader's options, whether each is one JSON document, the columns of the
    table, and those of a file that does not name them, in order.
    """

    format: SourceFormat
    options: SourceOptions
    is_document: bool
    columns: Sequence[str]
    ordered: Sequence[str]


@contextmanager
def hinted(proven: Callable[[], tuple[Diagnostic, ...]]) -> Iterator[None]:
    """Add what is proven of a source to an error that may come of reading it as something else."""
    try:
        yield
    except SourceMismatchError as error:
        notes = tuple(note for note in proven() if note not in error.diagnostics)
        if not notes:
            raise
        raise type(error)(*error.diagnostics, *notes) from error


def refuse_misread(proven: tuple[Diagnostic, ...]) -> None:
    """Raise `IngestError` (LB6136) where the columns of a source are to be merged, and they are not its columns."""
    if proven:
        message = "the source is not what it is read as; no column was merged"
        raise IngestError(Diagnostic(MISREAD, message, path=proven[0].path, remedy=proven[0].remedy), *proven)


def hints(files: Sequence[SourceFile], reading: Reading, storage: SourceStorage = LOCAL) -> tuple[Diagnostic, ...]:
    """A note for each of the first files whose first bytes prove that it is not what it is read as."""
    if reading.format is SourceFormat.PARQUET:
        return ()
    found = (_hint(f.path, _head(f.path, storage), reading) for f in files[:_FILES])
    return tuple(hint for hint in found if hint is not None)


def _head(path: str, storage: SourceStorage) -> bytes:
    with open_head(path, storage) as head:
        return head.read(_HEAD)


def _hint(path: str, head: bytes, reading: Reading) -> Diagnostic | None:
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return _note(path, what, f"format {reading.format}", _other_kind(magic))
    encoding = _wide_encoding(head)
    if encoding is not None and not reading.options.encoding.lower().startswith(("utf-16", "utf-32")):
        plain = reading.format is SourceFormat.JSON and not reading.is_document
        remedy = "convert it to UTF-8" if plain else f"give the reader's option encoding={encoding}"
        return _note(path, f"text in {encoding}", reading.options.encoding, remedy)
    text = head.decode(encoding or reading.options.encoding, "replace").removeprefix("\ufeff")
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    return _csv_hint(path, lines, reading) if reading.format is SourceFormat.CSV else _json_hint(path, lines, reading)


def _note(path: str, what: str, read_as: str, remedy: str) -> Diagnostic:
    return Diagnostic(
        MISREAD,
        f"{path!r} is {what}, and is read as {read_as}",
        Severity.NOTE,
        path=path,
        expected=read_as,
        found=what,
        remedy=remedy,
    )


def _other_kind(magic: bytes) -> str:
    match magic:
        case b"PAR1":
            return "give the format: parquet"
        case b"\x1f\x8b":
            return "give the file a name that ends in .gz"
        case _:
            return "unpack it"


def _wide_encoding(head: bytes) -> str | None:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    start = head[: len(head) // 2 * 2]
    if len(start) < _SURE:
        return None
    even, odd = start[::2], start[1::2]
    if not any(odd) and all(even):
        return "UTF-16LE"
    return "UTF-16BE" if not any(even) and all(odd) else None


def _csv_hint(path: str, lines: Sequence[str], reading: Reading) -> Diagnostic | None:
    options = reading.options
    comment = options.get("comment", "")
    lines = [line for line in lines if not (comment and line.startswith(comment))]
    if not lines:
        return None
    if isinstance(_value(lines[0]), dict):
        return _note(path, "JSON lines", "CSV", "give the format: json")
    has_header = options.is_on("header", True)
    own = _split(lines[0], options.separator)
    if not has_header and len(own) > 1 and set(own) <= set(reading.ordered):
        return _note(path, "a CSV file with a header", "one without", "say that it has a header (header=true)")
    for separator, name in _SEPARATORS.items():
        names = _split(lines[0], separator)
        if separator == options.separator or len(names) < 2:
            continue
        if has_header:
            known = set(names) & set(reading.columns)
            proven = not set(own) & set(reading.columns) and len(known) > 1 and 2 * len(known) >= len(names)
        else:
            proven = len(own) != len(reading.ordered) and len(names) == len(reading.ordered)
        if proven:
            shown = "\\t" if separator == "\t" else separator
            what = f"separated by {name}"
            return _note(path, what, f"separated by {options.separator!r}", f"give the reader's option sep={shown}")
    return None


def _split(line: str, separator: str) -> list[str]:
    with suppress(csv.Error, TypeError):
        return [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]
    return [name.strip() for name in line.split(separator)]


def _json_hint(path: str, lines: Sequence[str], reading: Reading) -> Diagnostic | None:
    first = lines[0].strip()
    if reading.is_document:
        if len(lines) > 1 and all(isinstance(_value(line), dict) for line in lines[:2]):
            return _note(
                path, "JSON lines", "one JSON document", "declare `read: {kind: NdJson}`, or give the format: json"
            )
        return None
    if first.startswith("[") and "".join(lines).strip()[1:].lstrip().startswith("{"):
        return _note(path, "a JSON array", "JSON lines", "declare `read: {kind: Json}` in the manifest")
    if first == "{" and len(lines) > 1 and lines[1].lstrip().startswith('"'):
        return _note(
            path, "a JSON document of several lines", "JSON lines", "declare `read: {kind: Json}` in the manifest"
        )
    return None


def _value(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
