"""Combine the table's declared `read` options with the caller's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lakebed import model
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.ddl import from_ddl
from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError, UsageError
from lakebed.ingest.checked_rows import NOT_DECLARED
from lakebed.ingest.sources.json_documents import Documents
from lakebed.ingest.sources.source_files import SourceFile, SourceFormat, changed_at, format_of, named_format
from lakebed.ingest.sources.source_folders import Folder, counted_folders
from lakebed.ingest.sources.source_listing import LOCAL, FileChoice, SourceStorage
from lakebed.ingest.sources.source_option_values import BAD_OPTION, text_encoding
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.sources.source_schema import SourceSchema
from lakebed.manifest.event_time import EventTime, EventTimeKind
from lakebed.manifest.read_step import stored_read
from lakebed.manifest.table_manifest import ReadKind, ReadOptions
from lakebed.model import JsonValue, LogicalType, canonical_json, schema_json
from lakebed.model.from_json import field_from_json
from lakebed.spark.sql_names import plain_url, spark_url

NO_EVENT_TIME = "LB6436"


@dataclass(frozen=True, slots=True)
class DeclaredSource:
    """The format and the reader's options of a run, and the columns that the declaration names, in order.

    `named` is the format that the files' names say, where the table's `read` says another one.
    """

    format: SourceFormat
    options: Mapping[str, object]
    ordered: tuple[str, ...] | None
    schema: SourceSchema = NOT_DECLARED
    documents: Documents | None = None
    event_time: EventTime | None = None
    named: SourceFormat | None = None

    @property
    def columns(self) -> frozenset[str] | None:
        """The columns of the source that count; None for all."""
        return None if self.ordered is None else frozenset(self.ordered)

    def digest(self, *, folders: bool) -> str:
        """What tells two ways of reading a file apart: format, options, columns and their types, and whether folders
        are looked at.
        """
        options = {
            _known_as(name): str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in self.options.items()
        }
        documents: list[JsonValue] = []
        if self.documents is not None:
            documents += [self.documents.sub_path, self.documents.encoding]
        types = model.Schema(tuple(model.Field(name, type_) for name, type_ in self.schema.types.items()))
        said: list[JsonValue] = [self.format.value, dict(options), documents, schema_json(types), folders]
        return hashlib.sha256(canonical_json(said).encode()).hexdigest()[:16]

    def names(self, schema: TableSchema) -> tuple[str, ...]:
        """The columns, by position, of a file that does not name them."""
        return tuple(schema.field_names) if self.ordered is None else self.ordered

    def folders(self, file: SourceFile, columns: Collection[str] | None) -> tuple[Folder, ...]:
        """The folders that say something about a file; `columns` are those of the table, None to look at no folder.

        Raises `IngestError` (LB6129) where they say two values for one column.
        """
        if columns is None:
            return ()
        return counted_folders(file.path, file.folders, columns, self.columns)

    def only(self, part: SourcePart) -> SourcePart:
        """A part less the columns that the declaration leaves out."""
        if self.ordered is None or part.columns is None:
            return part
        return replace(part, columns=tuple(c for c in part.columns if c.name in self.ordered))


def declared_read(schema: TableSchema) -> ReadOptions:
    """How the table says that its sources are read."""
    return stored_read(schema.logical.extra) or ReadOptions()


def chosen_files(read: ReadOptions, choice: FileChoice) -> FileChoice:
    """The patterns that hold for a run: of `include` and `exclude`, those of the caller, else those of the table."""
    return FileChoice(choice.include or read.include, choice.exclude or read.exclude)


def declared_source(
    read: ReadOptions, paths: Sequence[str], format_: str | None, options: Mapping[str, object] | None
) -> DeclaredSource:
    """What holds for a run over files: what the caller says, then what the table's `read` says, then the files' names.

    Where the caller gives another format than the table's, nothing of the table's declaration but `eventTime` holds.
    """
    event_time = read.event_time
    kind = format_of(paths, format_ or read.format)
    if format_ is not None and read.kind is ReadKind.JSON:
        read = ReadOptions()
    if read.format is not None and kind is not SourceFormat(read.format):
        read = ReadOptions()
    given = dict(options or {})
    # Options are the same in any case of their letters, and two names of one option are one.
    said = {_known_as(name) for name in given}
    merged = {name: value for name, value in read.reader_options.items() if _known_as(name) not in said} | given
    documents = None
    if read.kind is ReadKind.JSON:
        encoding = _taken(merged, "encoding", "charset")
        documents = Documents(read.options.get("subPath"), _python_encoding(encoding or "utf-8"))
    types = _types(read)
    named = named_format(paths)
    other = named if format_ is None and named is not kind else None
    ordered = None if types is None else tuple(types)
    return DeclaredSource(kind, merged, ordered, SourceSchema(types or {}), documents, event_time, other)


def _types(read: ReadOptions) -> dict[str, LogicalType] | None:
    """The columns of the source in order, with their types; None where all count."""
    if read.schema is not None:
        return {f.name: f.type for f in map(field_from_json, json.loads(read.schema).get("fields", ()))}
    return {f.name: f.type for f in from_ddl(read.ddl_schema)[0].fields} if read.ddl_schema else None


def _taken(options: dict[str, object], *names: str) -> str | None:
    """The value of an option, which is no longer among them."""
    found = [options.pop(name) for name in list(options) if name.lower() in names]
    return str(found[-1]) if found else None


def _python_encoding(name: str) -> str:
    found = text_encoding(name)
    if found is None:
        message = f"{name!r} is no encoding of text that Python has"
        raise UsageError.of(BAD_OPTION, message, path="encoding", expected="such as UTF-8", found=name)
    return found


def moments(rule: EventTime | None, files: Iterable[str], storage: SourceStorage = LOCAL) -> dict[str, datetime]:
    """The event times of files, by the paths that Spark gives them; nothing where they have that of the run.

    Raises `IngestError` (LB6436) for files that say none.
    """
    if rule is None or rule.kind is EventTimeKind.SYSTEM_TIME:
        return {}
    found: dict[str, datetime] = {}
    silent: list[str] = []
    for path in files:
        moment = rule.of_path(path) if rule.kind is EventTimeKind.PATH else _changed(path, storage)
        if moment is None:
            silent.append(path)
        else:
            found[path] = found[plain_url(spark_url(path))] = moment
    if silent:
        what = f"{rule.pattern} as {rule.timestamp_format or 'yyyy-MM-dd'}" if rule.pattern else "a time of change"
        raise IngestError(
            *(
                Diagnostic(
                    NO_EVENT_TIME,
                    f"{path!r} does not say when its records happened",
                    path=path,
                    expected=what,
                    remedy="rename the file, or change `eventTime` of the table's `read`",
                )
                for path in silent
            )
        )
    return found


def _changed(path: str, storage: SourceStorage) -> datetime | None:
    millis = changed_at(path, storage)
    try:
        return None if millis is None else datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None  # A file system can hold a time that no calendar has: then it does not say when.


def _known_as(name: str) -> str:
    return {"delimiter": "sep", "charset": "encoding"}.get(name.lower(), name.lower())
