"""Read a Mini Paimon table for its migration: versions, record, and the files of its rows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lakebed.catalog.drop_and_rename import is_drop_interrupted
from lakebed.catalog.metadata import TableMetadata, completed_version, read_record
from lakebed.catalog.mini_rows import foreign_rows
from lakebed.catalog.mini_schema_file import MINI
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import SCHEMA, PathFactory
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedError
from lakebed.migration.migration_plan import RowFile
from lakebed.store import Store

NOT_MIGRATED = "LB3756"
LEFT_BEHIND = "LB3762"

#: What belongs to the rows of a table, beside the directories of buckets and partitions.
_ROWS = frozenset({"snapshot", "tag", "manifest", "index", "statistics", "changelog"})
_PLACES_OF_ROWS = re.compile(r"bucket-.+|[^=]+=.*", re.DOTALL)
_KNOWN = frozenset({SCHEMA, "metadata", "data", "wal", "branch"})


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table as it was found. `versions` have the record's options, comment and times, and ids that mean nothing."""

    name: TableName
    versions: tuple[TableSchema, ...]
    record: TableMetadata | None
    rows: tuple[RowFile, ...]
    digest: str
    problems: tuple[Diagnostic, ...]
    notes: tuple[Diagnostic, ...]


def read_source(paths: PathFactory, name: TableName, *, schema_only: bool) -> SourceTable:
    """Read a table; what cannot be read or migrated is among its problems. Nothing is written."""
    store, path = paths.store, paths.table(name)
    problems: list[Diagnostic] = []
    try:
        record = read_record(paths, name)
        versions = tuple(
            version if record is None else completed_version(version, record)
            for version in SchemaManager(store, path, name=name, dialect=MINI).versions()
        )
    except LakebedError as error:
        problems += error.diagnostics
        record, versions = None, ()
    if is_drop_interrupted(store, path):
        problems.append(_not_migrated(name, f"{path}/.dropping", "a drop of the table was interrupted"))
    rows: tuple[RowFile, ...] = ()
    if not schema_only:
        problems += _foreign(store, path, name)
        rows = tuple(_row_files(store, path))
    digest = _digest(store, paths, name, rows)
    return SourceTable(name, versions, record, rows, digest, tuple(problems), tuple(_left_behind(store, path, name)))


def _foreign(store: Store, path: str, name: TableName) -> Iterator[Diagnostic]:
    found = foreign_rows(store, path)
    if found is not None:
        yield _not_migrated(name, found, "it holds rows that Mini Paimon wrote, whose files no specification describes")
    if store.list(f"{path}/branch"):
        yield _not_migrated(name, f"{path}/branch", "it has branches")


def _not_migrated(name: TableName, path: str, problem: str) -> Diagnostic:
    return Diagnostic(
        NOT_MIGRATED,
        f"{name} cannot be migrated with all that it holds: {problem}",
        path=path,
        remedy=f"Give --schema-only to take over the schema and nothing else, or leave {name} out (--table).",
        python_remedy=f"give schema_only=True to take over the schema and nothing else, or leave {name} out of tables=",
    )


def _row_files(store: Store, path: str) -> Iterator[RowFile]:
    """The files of Paimon's own that lie in a table's directory; hidden ones are nobody's."""
    for entry in store.list(path):
        if entry.is_directory and (entry.name in _ROWS or _PLACES_OF_ROWS.fullmatch(entry.name)):
            yield from _files(store, path, entry.name)


def _files(store: Store, root: str, inside: str) -> Iterator[RowFile]:
    for entry in store.list(f"{root}/{inside}"):
        if entry.name.startswith("."):
            continue
        here = f"{inside}/{entry.name}"
        if entry.is_directory:
            yield from _files(store, root, here)
        else:
            yield RowFile(here, entry.size)


def _left_behind(store: Store, path: str, name: TableName) -> Iterator[Diagnostic]:
    for entry in store.list(path):
        if entry.name in _KNOWN or entry.name in _ROWS or entry.name.startswith("."):
            continue
        if not (entry.is_directory and _PLACES_OF_ROWS.fullmatch(entry.name)):
            message = f"{name}: {entry.name} is no part of a table and is left behind"
            yield Diagnostic(LEFT_BEHIND, message, Severity.WARNING, path=f"{path}/{entry.name}")


def _digest(store: Store, paths: PathFactory, name: TableName, rows: tuple[RowFile, ...]) -> str:
    """What changes with everything that is migrated: schema files and record by content, row files by name and size."""
    path = paths.table(name)
    digest = hashlib.sha256()
    contents = [f"{SCHEMA}/{e.name}" for e in store.list(f"{path}/{SCHEMA}") if not e.is_directory]
    if store.exists(paths.metadata(name)):
        contents.append("metadata")
    for inside in contents:
        digest.update(f"{inside}\0".encode() + hashlib.sha256(store.read(f"{path}/{inside}")).digest())
    for file in rows:
        digest.update(f"{file.path}\0{file.size}\0".encode())
    return digest.hexdigest()
