"""Split JSON documents, one a file, into their records.

A document is read whole, by the driver: nobody can say where its records are without having read all before them. Its
records are handed on as they are written, so that they are checked as JSON lines are.
"""

from __future__ import annotations

import bz2
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession

from lakebed.diagnostics import Diagnostic
from lakebed.errors import SourceMismatchError
from lakebed.ingest.sources.source_files import compression_of, read_bytes
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage

BAD_DOCUMENT = "LB6444"

_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)


@dataclass(frozen=True, slots=True)
class Documents:
    """How documents are read: the way to the records in them, `a.b.c`, and Python's name of the encoding."""

    sub_path: str | None = None
    encoding: str = "utf-8"


class _NoRecordsError(ValueError):
    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def document_rows(
    session: SparkSession, files: Sequence[str], documents: Documents, storage: SourceStorage = LOCAL
) -> DataFrame:
    """The records of documents in order: `line` as it is written, line breaks included, `source` the URL of the file,
    `number` from 0 within it.

    Raises `SourceMismatchError` (LB6444) for a file that is no JSON document, or has no records where they should be.
    """
    import pyarrow as pa

    lines: list[str] = []
    urls: list[str] = []
    numbers: list[int] = []
    problems: list[Diagnostic] = []
    for path in files:
        try:
            records = _records_of(path, documents, storage)
        except _NoRecordsError as error:
            problems.append(_bad(path, str(error)))
            continue
        lines += records
        urls += [quote(path, safe="/:")] * len(records)
        numbers += range(len(records))
    if problems:
        raise SourceMismatchError(*problems)
    names, types = ("line", "source", "number"), (pa.string(), pa.string(), pa.int64())
    columns = [pa.array(values, type_) for values, type_ in zip((lines, urls, numbers), types, strict=True)]
    return session.createDataFrame(pa.table(columns, names=list(names)))


def _bad(path: str, message: str) -> Diagnostic:
    return Diagnostic(
        BAD_DOCUMENT,
        f"{path!r} is no JSON document with records: {message}",
        path=path,
        expected="a list of objects, or one object",
        remedy="mend the file; `subPath` says where in it the records are, and NdJson is one object a line",
    )


def _records_of(path: str, documents: Documents, storage: SourceStorage) -> tuple[str, ...]:
    data = read_bytes(path, storage)
    try:
        match compression_of(path):
            case ".gz":
                data = gzip.decompress(data)
            case ".bz2":
                data = bz2.decompress(data)
        text = data.decode(documents.encoding)
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise _NoRecordsError(str(error), 0) from None
    try:
        return tuple(split_document(text, documents.sub_path))
    except json.JSONDecodeError as error:
        raise _NoRecordsError(str(error), error.pos) from None
    except _NoRecordsError as error:
        line = text.count("\n", 0, error.at) + 1
        column = error.at - text.rfind("\n", 0, error.at)
        raise _NoRecordsError(f"{error}: line {line} column {column}", error.at) from None
    except RecursionError:
        raise _NoRecordsError("values are nested too deeply", 0) from None


def split_document(text: str, sub_path: str | None) -> Iterator[str]:
    """The records of a document, as they are written.

    They are the items of the list, or the one object, at `sub_path`, the names of members with points between them;
    the whole document where it is None. Raises `ValueError` where the document is none, or has something else there.
    """
    text = text.removeprefix("\ufeff")
    at = _skip(text, 0)
    end = _end(text, at)
    if _skip(text, end) != len(text):
        raise _NoRecordsError("text follows the document", end)
    for name in sub_path.split(".") if sub_path else ():
        at = _member(text, at, name)
    if text[at] == "{":
        yield text[at : _end(text, at)]
        return
    if text[at] != "[":
        raise _NoRecordsError("neither a list nor an object", at)
    yield from (text[start:stop] for start, stop in _items(text, at))


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _items(text: str, at: int) -> Iterator[tuple[int, int]]:
    """Where the items of the list at `at`, which is known to be one, begin and end."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _end(text, at)
        yield at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _member(text: str, at: int, name: str) -> int:
    """Where the value of a member of the object at `at` begins."""
    if text[at] != "{":
        raise _NoRecordsError(f"no object in which a member {name!r} could be", at)
    start, found = at, None
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        if key == name and found is not None:
            raise _NoRecordsError(f"two members {name!r}", at)
        found = value if key == name else found
        at = _skip(text, _end(text, value))
        if text[at] == ",":
            at = _skip(text, at + 1)
    if found is None:
        raise _NoRecordsError(f"no member {name!r}", start)
    return found
