"""Guess from its first bytes what a source is that is read as something else."""

from __future__ import annotations

import codecs
import csv
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import IngestError, SourceMismatchError
from lakebed.ingest.sources.remedies import Remedy, both, reader_options, say, source_format
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
#: A format that is given puts the table's `read` aside, so that it has to be left out.
_DECLARE_DOCUMENT = Remedy(
    "declare `read: {kind: Json}` in the manifest, and give no --format",
    "declare `read: {kind: Json}` in the manifest, and give no format",
)


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read: their format, the reader's options, whether each is one JSON document, the columns of the
    table, those of a file that does not name them, in order, and the encoding where the options do not say it.
    """

    format: SourceFormat
    options: SourceOptions
    is_document: bool
    columns: Sequence[str]
    ordered: Sequence[str]
    document_encoding: str | None = None

    @property
    def encoding(self) -> str:
        """The encoding in which texts are read."""
        return self.document_encoding or self.options.encoding


@contextmanager
def hinted(proven: Callable[[], tuple[Diagnostic, ...]]) -> Iterator[None]:
    """Put what is proven of a source before an error that may come of reading it as something else.

    What the error advises is for a source that is what it is read as, and is not said then.
    """
    try:
        yield
    except SourceMismatchError as error:
        told = [_finding(d) for d in error.diagnostics]
        notes = tuple(note for note in proven() if _finding(note) not in told)
        if not notes:
            raise
        raise type(error)(*notes, *map(_without_advice, error.diagnostics)) from error


def _finding(of: Diagnostic) -> tuple[str | None, ...]:
    return of.path, of.expected, of.found


def _without_advice(found: Diagnostic) -> Diagnostic:
    return replace(found, remedy=None, python_remedy=None, suggestions=())


def misread(before: str, proven: tuple[Diagnostic, ...], after: str = "") -> tuple[Diagnostic, ...]:
    """The problem that the first of the notes is, and notes for other files."""
    first, *others = proven
    return replace(first, message=f"{before}{first.message}{after}", severity=Severity.ERROR), *others


def refuse_misread(proven: tuple[Diagnostic, ...]) -> None:
    """Raise `IngestError` (LB6136) where the columns of a source are to be merged, and they are not its columns."""
    if proven:
        raise IngestError(*misread("", proven, "; no column was merged"))


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
    if encoding is not None and not reading.encoding.lower().startswith(("utf-16", "utf-32")):
        plain = reading.format is SourceFormat.JSON and not reading.is_document
        remedy = both("convert it to UTF-8") if plain else say("give {}", reader_options(encoding=encoding))
        return _note(path, f"text in {encoding}", reading.encoding, remedy)
    text = head.decode(encoding or reading.encoding, "replace").removeprefix("\ufeff")
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return None
    return _csv_hint(path, lines, reading) if reading.format is SourceFormat.CSV else _json_hint(path, lines, reading)


def _note(path: str, what: str, read_as: str, remedy: Remedy) -> Diagnostic:
    return Diagnostic(
        MISREAD,
        f"{path!r} is {what}, and is read as {read_as}",
        Severity.NOTE,
        path=path,
        expected=read_as,
        found=what,
        **remedy.parts,
    )


def _other_kind(magic: bytes) -> Remedy:
    match magic:
        case b"PAR1":
            return say("give {}", source_format("parquet"))
        case b"\x1f\x8b":
            return both("give the file a name that ends in .gz")
        case _:
            return both("unpack it")


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
    said = reading.options
    comment = said.get("comment", "")
    lines = [line for line in lines if not (comment and line.startswith(comment))]
    if not lines:
        return None
    if isinstance(_value(lines[0]), dict):
        return _note(path, "JSON lines", "CSV", say("give {}", source_format("json")))
    has_header = said.is_on("header", True)
    own = _split(lines[0], said.separator)
    if not has_header and len(own) > 1 and set(own) <= set(reading.ordered):
        remedy = say("give {}, or leave the option out", reader_options(header="true"))
        return _note(path, "a CSV file with a header", "one without", remedy)
    for separator, name in _SEPARATORS.items():
        names = _split(lines[0], separator)
        if separator == said.separator or len(names) < 2:
            continue
        if has_header:
            known = set(names) & set(reading.columns)
            proven = not set(own) & set(reading.columns) and len(known) > 1 and 2 * len(known) >= len(names)
        else:
            proven = len(own) != len(reading.ordered) and len(names) == len(reading.ordered)
        if proven:
            shown = "\\t" if separator == "\t" else separator
            what = f"separated by {name}"
            return _note(path, what, f"separated by {said.separator!r}", say("give {}", reader_options(sep=shown)))
    return None


def _split(line: str, separator: str) -> list[str]:
    with suppress(csv.Error, TypeError):
        return [name.strip() for name in next(csv.reader([line], delimiter=separator), [])]
    return [name.strip() for name in line.split(separator)]


def _json_hint(path: str, lines: Sequence[str], reading: Reading) -> Diagnostic | None:
    first = lines[0].strip()
    if reading.is_document:
        if len(lines) > 1 and all(isinstance(_value(line), dict) for line in lines[:2]):
            remedy = say("declare `read: {{kind: NdJson}}`, or give {}", source_format("json"))
            return _note(path, "JSON lines", "one JSON document", remedy)
        return None
    if first.startswith("[") and "".join(lines).strip()[1:].lstrip().startswith("{"):
        return _note(path, "a JSON array", "JSON lines", _DECLARE_DOCUMENT)
    if first == "{" and len(lines) > 1 and lines[1].lstrip().startswith('"'):
        return _note(path, "a JSON document of several lines", "JSON lines", _DECLARE_DOCUMENT)
    return None


def _value(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
