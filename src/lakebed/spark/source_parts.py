"""What a source is opened as: parts, each with rows of one kind and columns that are expressions over a frame."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.spark import json_values
from lakebed.spark.addresses import quote_name
from lakebed.spark.source_files import SourceFile
from lakebed.spark.source_folders import NULL_NAME, is_url_text, unescaped
from lakebed.spark.source_types import Json, SourceType, Text


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A top-level column of a part: its name in the source, its type, and its values.

    `exact`, where there is one, gives a number as it is written from the value, which may be the nearest one only.
    """

    name: str
    type: SourceType
    value: Column
    exact: Callable[[Column], Column] | None = None


@dataclass(frozen=True, slots=True)
class RowFault:
    """What makes a whole row bad: where it holds (never NULL), the code of it, and what was expected."""

    when: Column
    code: str
    expected: str


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Rows of one kind, as a frame that the other parts are expressions over.

    `columns` is None for JSON, where any name may be asked for. `shape` is the VARIANT of a JSON row, for its keys. The
    first of `faults` that holds is what is wrong with the whole row. `cut` says that the row is only a piece of one,
    which ends the run. `raw` is the row as it was read, `url` the file that it is from, `offset` its position there;
    each may be NULL. `start` is a number that grows along the pieces that a file is read in, or along the pieces of a
    frame; within a piece the rows come in order. `allowed` are the reader's options that let JSON be less than that.
    `folders` are the columns that the paths of the files say, texts.
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
    label: str = ""
    allowed: Mapping[str, str] = field(default_factory=dict)
    folders: tuple[SourceColumn, ...] = ()

    def folder(self, name: str) -> SourceColumn | None:
        """The column of exactly this name that the folders of the files say."""
        return next((c for c in self.folders if c.name == name), None)

    def has(self, name: str) -> Column:
        """Whether a row itself says something for a column, be it NULL."""
        if self.columns is not None:
            return F.lit(any(c.name == name for c in self.columns))
        return json_values.child(F.col("record"), name).isNotNull()

    def said(self, name: str, *, flat: bool) -> SourceColumn | None:
        """The column of exactly this name: what the rows say, and where they say nothing, what the folders say."""
        own, folder = self.column(name, flat=flat), self.folder(name)
        if own is None or folder is None:
            return own or folder
        if self.columns is not None:
            return own
        has, make = self.has(name), own.exact
        exact = None if make is None else lambda x: F.when(has, make(x)).otherwise(folder.value)
        return replace(own, value=F.when(has, own.value).otherwise(folder.value), exact=exact)

    def column(self, name: str, *, flat: bool) -> SourceColumn | None:
        """The column of exactly this name that the rows have. `flat`: a flat type is declared, which JSON gives as
        text.
        """
        if self.columns is not None:
            return next((c for c in self.columns if c.name == name), None)
        record = F.col("record")
        if flat:
            line, allowed = F.col("line"), self.allowed
            value = json_values.child(record, name, "string")
            exact = partial(json_values.exact_number, line=line, name=name, options=allowed)
            return SourceColumn(name, Text(base64=True), value, exact)
        return SourceColumn(name, Json(), json_values.child(F.col("exact"), name))


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


def as_json(columns: Sequence[SourceColumn]) -> Column:
    """A row as JSON text, NULLs included."""
    row = F.struct(*(c.value.alias(c.name) for c in columns))
    return F.to_json(row, {"ignoreNullFields": "false", "timeZone": "UTC"})


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
