"""Open bad rows as a source again, from the text that the quarantine has of each (`raw`).

Lines of JSON are read as lines of JSON, objects of the texts of a CSV line as such a line that was split, and lines
that could not be split are split anew where it is known what their values are called. Rows of Parquet files and of
DataFrames stand there as JSON, in the forms in which ingest reads JSON.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.diagnostics import Diagnostic
from lakebed.errors import UnsupportedError
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.columns.unknown_values import EXPECTED, NO_COLUMN
from lakebed.ingest.raw_rows import LINE
from lakebed.ingest.read_settings import ReadSettings
from lakebed.ingest.sources import json_values
from lakebed.ingest.sources.csv_source import MALFORMED, NOT_TEXT, split_lines, text_columns
from lakebed.ingest.sources.declared_source import DeclaredSource
from lakebed.ingest.sources.open_source import json_rows, looked_into, parsing_options
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat
from lakebed.ingest.sources.source_folders import folders_of
from lakebed.ingest.sources.source_options import SourceOptions
from lakebed.ingest.sources.source_parts import RowFault, SourceColumn, SourcePart, columns_as_json, with_folders
from lakebed.ingest.sources.source_types import Text
from lakebed.physical import path_text, type_line
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    Binary,
    Blob,
    Char,
    DataField,
    LocalZonedTimestamp,
    Timestamp,
    VarBinary,
    VarChar,
)
from lakebed.spark.spark_errors import spark_errors

OTHER_VALUES = "LB6561"

_REPLACEMENT = "\ufffd"
#: What the frame of a part has beside its own columns: the quoted URL of the file, the offset there, what could not be
#: decoded when it was read, whether a folder says something for a column that is not declared.
_URL, _NUMBER, _UNDECODED, _IN_FOLDERS = "source", "number", "undecoded", "in_folders"
_BINARY = (Binary, Blob, VarBinary)
_TEXTS = (Char, VarChar)
_MOMENTS = (Timestamp, LocalZonedTimestamp)


@dataclass(frozen=True, slots=True)
class RawSource:
    """How bad rows are read: as their run was told to, under the table's declaration.

    `fields` are the columns of the table, with that of row kinds. `is_typed`: the rows come from Parquet or a frame.
    """

    declared: DeclaredSource
    options: SourceOptions
    settings: ReadSettings
    fields: tuple[DataField, ...]
    names: tuple[str, ...]
    is_typed: bool

    def parts(self, rows: DataFrame, paths: Collection[str], beside: Sequence[str]) -> tuple[SourcePart, ...]:
        """The parts of rows (`raw`, `problems` as structs, `source_file`, `source_offset`) of files of these paths,
        with the columns `beside`. Rows that cannot be read again are in none of them.
        """
        if self.is_typed:
            self.refuse_other_values()
        told: list[Column | str] = [
            _url(F.col("source_file")).alias(_URL),
            F.col("source_offset").alias(_NUMBER),
            _undecoded(F.col("raw"), F.col("problems")).alias(_UNDECODED),
            self._unknown_folder(F.col("source_file"), F.col("problems")).alias(_IN_FOLDERS),
            *beside,
        ]
        found: list[SourcePart] = []
        groups = self._by_folders(paths)
        for names, files in groups.items():
            some = rows
            if len(groups) > 1:
                some = rows.where(F.col("source_file").isin([f.path for f in files]))
            is_csv = self.declared.format is SourceFormat.CSV and not self.is_typed
            parts = self._of_csv(some, told) if is_csv else iter([self._of_json(some, told)])
            found += (self.declared.only(with_folders(part, names, files)) for part in parts)
        return tuple(found)

    def _unknown_folder(self, path: Column, problems: Column) -> Column:
        """Whether a row was bad since a folder says something for a column that is still not declared, and stays so."""
        if self.settings.unknown is not UnknownColumns.QUARANTINE or not self.settings.folders:
            return F.lit(False)
        declared = [path_text((f.name,)) for f in self.fields]

        def says(problem: Column) -> Column:
            name = problem.getField("path")
            is_unknown = (problem.getField("code") == F.lit(NO_COLUMN)) & ~name.isin(*declared)
            return is_unknown & F.contains(path, F.concat(F.lit("/"), name, F.lit("=")))

        return F.coalesce(F.exists(problems, says), F.lit(False))

    def _by_folders(self, paths: Collection[str]) -> dict[tuple[str, ...], list[SourceFile]]:
        """The files by the names of the folders that say something: those that are columns of the table."""
        columns = {f.name for f in self.fields} if self.settings.folders else None
        groups: dict[tuple[str, ...], list[SourceFile]] = {}
        for path in sorted(paths):
            file = SourceFile(path, 0, "", folders=folders_of(path, path.rpartition("/")[2]))
            placed = replace(file, folders=self.declared.folders(file, columns))
            groups.setdefault(tuple(f.name for f in placed.folders), []).append(placed)
        return groups or {(): []}

    def _of_json(self, rows: DataFrame, told: Sequence[Column | str]) -> SourcePart:
        parsing = {} if self.is_typed else parsing_options(self.options)
        lines = rows.select(F.col("raw").alias("line"), *told)
        frame = looked_into(lines, parsing, *(c for c in lines.columns if c != "line"))
        part = json_rows(frame, (), parsing, F.col(_URL), F.col(_NUMBER), F.spark_partition_id())
        return _with_fault(part)

    def _of_csv(self, rows: DataFrame, told: Sequence[Column | str]) -> Iterator[SourcePart]:
        keys = F.json_object_keys("raw")
        with spark_errors():
            found = {tuple(row[0]) for row in rows.select(keys).distinct().collect() if row[0]}
        by_position = self.names if not self.options.is_on("header", True) else ()
        record = F.try_parse_json("raw")
        for names in sorted(found - {(LINE,)}):
            frame = rows.where(keys == F.array(*map(F.lit, names))).select("raw", record.alias("record"), *told)
            shown = by_position if len(by_position) == len(names) else names
            values = (self._text(json_values.child(F.col("record"), name, "string")) for name in names)
            columns = tuple(SourceColumn(name, Text(), value) for name, value in zip(shown, values, strict=True))
            yield _of_texts(frame, columns, (), F.col("raw"))
        header = by_position or self.settings.header
        if (LINE,) in found and header:
            line = json_values.child(record, LINE, "string")
            lines = rows.where(keys == F.array(F.lit(LINE))).select(line.alias("line"), *told)
            split = split_lines(lines, header, self.options, marked=True)
            columns, malformed = text_columns(header, self.options), F.col("malformed")
            faults = (*split.faults, RowFault(malformed.isNotNull(), MALFORMED, f"{len(columns)} values"))
            yield _of_texts(split.frame, columns, faults, F.coalesce(malformed, columns_as_json(columns)))

    def _text(self, value: Column) -> Column:
        null = self.options.get("nullvalue", "")
        return F.when(value != F.lit(null), value) if null else value

    def refuse_other_values(self) -> None:
        """Raise `UnsupportedError` (LB6561) for columns that JSON would give other values than the source did."""
        problems = []
        for field in self.fields:
            was = self.settings.types.get(field.name)
            if was is None and (self.settings.types or not _holds(field, _BINARY)):
                continue
            if _differs("string" if was is None else was, field):
                problems.append(
                    Diagnostic(
                        OTHER_VALUES,
                        f"bad rows with column {field.name} cannot be read again as they were: the source had "
                        f"{was or 'perhaps text'}, and the quarantine keeps rows as JSON",
                        path=field.name,
                        expected=type_line(field.type),
                        found=was,
                        remedy="mend the rows in a file of the source's format, and give that file to the replay",
                    )
                )
        if problems:
            raise UnsupportedError(*problems)


def _differs(was: str, field: DataField) -> bool:
    is_binary, is_moment = _holds(field, _BINARY), _holds(field, _MOMENTS)
    if is_binary and "string" in was and "binary" not in was:
        return True
    has_other = ("binary" in was and not is_binary) or ("timestamp" in was and not is_moment)
    return _holds(field, _TEXTS) and has_other


def _holds(field: DataField, types: tuple[type, ...]) -> bool:
    return any(isinstance(type_, types) for type_ in types_inside(field.type))


def _of_texts(
    frame: DataFrame, columns: tuple[SourceColumn, ...], faults: Iterable[RowFault], raw: Column
) -> SourcePart:
    sure = tuple(RowFault(F.coalesce(f.when, F.lit(False)), f.code, f.expected) for f in faults)
    start = F.spark_partition_id()
    return _with_fault(SourcePart(frame, columns, sure, raw, F.col(_URL), F.col(_NUMBER), start))


def _with_fault(part: SourcePart) -> SourcePart:
    """What could not be decoded is nowhere any more: such a row stays bad, whatever its text is by now. What folders
    say for columns that are not declared is not in its text at all.
    """
    undecoded = RowFault(F.col(_UNDECODED), NOT_TEXT, "text in the file's encoding")
    return replace(part, faults=(undecoded, RowFault(F.col(_IN_FOLDERS), NO_COLUMN, EXPECTED), *part.faults))


def _undecoded(raw: Column, problems: Column) -> Column:
    """Whether a row was bad as a whole, and has what stands for bytes that are no text."""
    as_whole = F.exists(problems, lambda p: p.getField("path").isNull())
    return F.coalesce(as_whole & F.contains(raw, F.lit(_REPLACEMENT)), F.lit(False))


def _url(path: Column) -> Column:
    """A path as Spark names the files of a source."""
    return F.replace(F.url_encode(path), F.lit("+"), F.lit("%20"))
