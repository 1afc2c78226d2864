"""Read the header of a CSV file: the names of its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from lakebed.errors import SourceMismatchError
from lakebed.ingest.sources.remedies import Remedy, reader_options, say
from lakebed.ingest.sources.source_head import open_head
from lakebed.ingest.sources.source_listing import LOCAL, SourceStorage
from lakebed.ingest.sources.source_options import SourceOptions

BAD_HEADER = "LB6113"

_DEFAULT_QUOTE = '"'
_BOM = "\ufeff"
_PIECE = 1 << 12
#: Spark's own limit.
_MOST_COLUMNS = 20480
_MEND = say("mend the header, or ingest without one ({}: columns by position)", reader_options(header="false"))


def read_header(path: str, options: SourceOptions, storage: SourceStorage = LOCAL) -> tuple[str, ...] | None:
    """The names in the first line that is neither blank nor a comment; None for a file without any.

    Raises `SourceMismatchError` for a header that cannot be split.
    """
    comment = options.get("comment", "")
    own_end = options.get("linesep", "")
    with (
        open_head(path, storage) as raw,
        io.TextIOWrapper(raw, encoding=options.encoding, errors="replace", newline=None) as text,
    ):
        for line in _lines(text, own_end):
            bare = line.removeprefix(_BOM).rstrip("\n")
            if bare.strip() and not (comment and bare.startswith(comment)):
                return _split(path, bare, options)
    return None


def _lines(text: io.TextIOWrapper, end: str) -> Iterator[str]:
    """The lines of a text, which end at `end` where that is given."""
    if not end:
        yield from text
        return
    rest = ""
    while piece := text.read(_PIECE):
        *whole, rest = (rest + piece).split(end)
        yield from whole
    yield rest


def _split(path: str, line: str, options: SourceOptions) -> tuple[str, ...]:
    separator = options.separator
    quote = options.get("quote", _DEFAULT_QUOTE)
    escape = options.get("escape", _DEFAULT_QUOTE)
    doubled = escape == quote
    unescaped = line if doubled or not escape else line.replace(escape + quote, "")
    if quote and unescaped.count(quote) % 2:
        raise _bad(path, "ends inside of quotes; a name may not hold a line break", line)
    if len(separator) > 1:
        if quote and quote in line:
            raise _bad(path, "has quotes; with a separator of several characters names cannot be quoted", line)
        names = line.split(separator)
    else:
        reader = csv.reader(
            [line],
            delimiter=separator,
            quotechar=quote or None,
            quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
            doublequote=doubled,
            escapechar=None if doubled else escape or None,
        )
        names = next(reader)
    if options.is_on("ignoreleadingwhitespace", False):
        names = [n.lstrip() for n in names]
    if options.is_on("ignoretrailingwhitespace", False):
        names = [n.rstrip() for n in names]
    most = int(options.get("maxcolumns", str(_MOST_COLUMNS)))
    if len(names) > most:
        remedy = say("give {}", reader_options(maxColumns=str(len(names))))
        raise _bad(path, f"has {len(names)} columns, more than maxColumns, which is {most}", line, remedy)
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise _bad(path, "names a column twice: " + ", ".join(map(repr, twice)), line)
    return tuple(names)


def _bad(path: str, message: str, line: str, remedy: Remedy = _MEND) -> SourceMismatchError:
    return SourceMismatchError.of(
        BAD_HEADER,
        f"the header of {path!r} {message}",
        path=path,
        found=line[:200],
        **remedy.parts,
    )
