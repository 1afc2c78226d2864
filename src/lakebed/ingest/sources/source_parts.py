"""Define the parts of an opened source: rows of one kind, with columns as Spark expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.arrow.plain_rows import PlainForm
from lakebed.ingest.columns.values import NUMBERS, TextFormats
from lakebed.ingest.raw_rows import as_json
from lakebed.ingest.sources import json_exact, json_values
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.ingest.sources.source_folders import NULL_NAME, is_url_text, unescaped
from lakebed.ingest.sources.source_types import Json, SourceType, Text
from lakebed.physical.paimon_types import Array, Binary, Blob, Char, DataType, Map, Multiset, Row, VarBinary, VarChar
from lakebed.spark.sql_names import quote_name

NESTED = (Row, Array, Map, Multiset)
_TEXTS = (Char, VarChar, Binary, Blob, VarBinary)


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A top-level column of a part: its name in the source, its type, and its values.

    Of JSON, `again` gives the value as it is written, from a row's value that was read again (see `json_exact`), which
    has to be done where `doubt` of the value holds.
    """

    name: str
    type: SourceType
    value: Column
    doubt: Callable[[Column], Column] | None = None
    again: Callable[[Column], Column] | None = None


@dataclass(frozen=True, slots=True)
class RowFault:
    """What makes a whole row bad: where it holds (never NULL), the code of it, and what was expected."""

    when: Column
    code: str
    expected: str


@dataclass(frozen=True, slots=True)
class PlainSource:
    """How workers read the rows of a part by themselves: by `form`, from the columns `kept` of its frame.

    `texts` says of a column's name which column of these, or which of their keys, has its texts, and `shown` gives
    them, more or less: enough to bring rows together by. `restored` makes the
    part's frame again from rows of these columns; other columns of the rows stay.
    """

    form: PlainForm
    kept: tuple[str, ...]
    texts: Callable[[str], str]
    shown: Callable[[str], Column]
    restored: Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Rows of one kind, as a frame that the other parts are expressions over.

    `columns` is None for JSON, where any name may be asked for. `shape` is the VARIANT of a JSON row, for its keys. The
    first of `faults` that holds is what is wrong with the whole row. `cut` says that the row is only a piece of one,
    which ends the run. `raw` is the row as it was read, for the quarantine, and `line` what a problem of the whole row
    shows of it (None: `raw`), `url` the file that it is from, `offset` its position there;
    each may be NULL. `start` is a number that grows along the pieces that a file is read in, or along the pieces of a
    frame; within a piece the rows come in order. `header` are the names of all values of a line of CSV. `allowed`
    are the reader's options that let JSON be less than that. `folders` are the columns that the paths of the
    files say, texts. `plain` is there where workers can read rows by themselves.
    """

    frame: DataFrame
    columns: tuple[SourceColumn, ...] | None
    faults: tuple[RowFault, ...]
    raw: Column
    url: Column
    offset: Column
    start: Column
    shape: Column | None = None
    cut: Column | None = None
    line: Column | None = None
    label: str = ""
    header: tuple[str, ...] = ()
    allowed: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[SourceColumn, ...] = ()
    plain: PlainSource | None = None

    def folder(self, name: str) -> SourceColumn | None:
        """The column of exactly this name that the folders of the files say."""
        return next((c for c in self.folders if c.name == name), None)

    def has(self, name: str) -> Column:
        """Whether a row itself says something for a column, be it NULL."""
        if self.columns is not None:
            return F.lit(any(c.name == name for c in self.columns))
        return json_values.child(F.col("record"), name).isNotNull()

    def said(self, name: str, type_: DataType, formats: TextFormats) -> SourceColumn | None:
        """The column of exactly this name: what the rows say, and where they say nothing, what the folders say."""
        own, folder = self.column(name, type_, formats), self.folder(name)
        if own is None or folder is None:
            return own or folder
        if self.columns is not None:
            return own
        has, make = self.has(name), own.again
        other = folder.value.cast("variant") if own.type == Json() else folder.value
        again = None if make is None else lambda x: F.when(has, make(x)).otherwise(other)
        return replace(own, value=F.when(has, own.value).otherwise(other), again=again)

    def column(self, name: str, type_: DataType, formats: TextFormats) -> SourceColumn | None:
        """The column of exactly this name that the rows have, which becomes this type first. JSON gives flat types as
        text, but for numbers where `formats` write them otherwise than JSON does.
        """
        if self.columns is not None:
            found = next((c for c in self.columns if c.name == name), None)
            if found is None or found.type != Text() or isinstance(type_, _TEXTS):
                return found
            # An empty text, which only quotes can say, is no number, date or list: it says that there is none.
            return replace(found, value=F.when(found.value != "", found.value))
        want = json_exact.wanted(type_)
        as_numbers = isinstance(type_, NUMBERS) and not formats.has_usual_numbers
        kind = "variant" if as_numbers or isinstance(type_, NESTED) else "string"
        source = Text(base64=True) if kind == "string" else Json()
        value = json_values.child(F.col("record"), name, kind)
        if isinstance(want, json_exact.AsParsed):
            return SourceColumn(name, source, value)
        again = partial(json_values.child, name=name, type_=kind)
        return SourceColumn(name, source, value, partial(self._doubt, name, want, kind == "variant"), again)

    def _doubt(self, name: str, want: json_exact.Wanted, is_variant: bool, value: Column) -> Column:
        line = F.col("line")
        match want:
            case json_exact.AsWritten(is_text=True):
                found = json_values.child(F.col("record"), name)
                return json_exact.text_in_doubt(value, found, line, self.allowed)
            case json_exact.AsWritten() if is_variant:
                return json_exact.number_in_doubt(json_values.text_of(value), value, line)
            case json_exact.AsWritten():
                return json_exact.number_in_doubt(value, json_values.child(F.col("record"), name), line)
            case _:
                return json_exact.in_doubt(line, json_exact.Members(((name, want),)), self.allowed)


def with_folders(part: SourcePart, names: Sequence[str], files: Sequence[SourceFile]) -> SourcePart:
    """A part of files, each of which lies in folders of these names, with what the folders say as columns."""
    columns = []
    for place, name in enumerate(names):
        texts = {file.folders[place].text for file in files}
        columns.append(SourceColumn(unescaped(name), Text(), _folder_value(part.url, name, sorted(texts))))
    return replace(part, folders=tuple(columns))


def _folder_value(url: Column, name: str, texts: Sequence[str]) -> Column:
    """What the folder `name=...` of a file says. `texts` are all that there are, as they are spelled."""
    if len(texts) == 1:
        text: Column = F.lit(texts[0])
    else:
        text = F.regexp_extract(plain_path(url), f"(?s)^.*/{re.escape(name)}=([^/]*)/", 1)
    value = F.try_url_decode(F.replace(text, F.lit("+"), F.lit("%2B")))
    for odd in (t for t in texts if not is_url_text(t)):
        value = F.when(text == F.lit(odd), F.lit(unescaped(odd))).otherwise(value)
    return F.when(text != F.lit(NULL_NAME), value)


def columns_as_json(columns: Sequence[SourceColumn]) -> Column:
    """A row as JSON text, NULLs included."""
    return as_json([(c.name, c.type, c.value) for c in columns])


def renamed(names: Sequence[str]) -> list[Column]:
    """The columns of these names, called `c0`, `c1`, ..."""
    return [F.col(quote_name(name)).alias(f"c{i}") for i, name in enumerate(names)]


def label(files: Sequence[str]) -> str:
    """Files in a message, with a space before."""
    return f" {files[0]!r}" if len(files) == 1 else f" {files[0]!r} and {len(files) - 1} more"


def plain_path(url: Column) -> Column:
    """The path of a file as people write it, from the quoted URL that Spark gives."""
    path = F.regexp_replace(url, "^file:(//)?(?=/)", "")
    return F.url_decode(F.replace(path, F.lit("+"), F.lit("%2B")))
