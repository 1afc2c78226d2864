"""Refuse tables, snapshots and files with features that Lakebed cannot read or write.

A feature that is not known here would be read wrongly, not partly: the table, the snapshot or the file that uses it is
refused with the code of the feature.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from lakebed.catalog.file_index_options import index_problems, unwritten_indexes
from lakebed.catalog.option_values import is_set, text_of, whole
from lakebed.catalog.options import (
    BUCKET,
    BUCKET_KEY,
    CHANGELOG_FILE_PREFIX,
    CHANGELOG_PRODUCER,
    DATA_EVOLUTION_ENABLED,
    DATA_FILE_EXTERNAL_PATHS,
    DATA_FILE_PREFIX,
    DELETION_VECTORS_ENABLED,
    MANIFEST_FORMAT,
    PARTITION_LEGACY_NAME,
    PRIMARY_KEY_NULLABLE,
    SCAN_PRIMARY_BRANCH,
    SEQUENCE_SNAPSHOT_ORDERING,
)
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import UnsupportedError
from lakebed.format.blob_columns import blob_file_fields, holds_blobs, unwritable_blobs
from lakebed.format.changelog import changelog_options, has_input_changelog
from lakebed.format.manifest import DataFileMeta
from lakebed.format.writable_types import unwritable_fields, written_format
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    Binary,
    Blob,
    DataType,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Timestamp,
    Unknown,
    VarBinary,
    Vector,
    type_line,
)

_FORMATS = ("parquet", "orc", "avro", "blob")
#: Spark takes files whose names start so for no data, and reads no rows from them.
_HIDDEN = ("_", ".")
_MAX_MICROS_PRECISION = 6
#: The number of buckets that says that there are as many as it takes.
_DYNAMIC = -1
#: How many files a refusal names one by one.
_NAMED = 5

#: Options that change what a reader must do, with the value that changes nothing.
_READ_OPTIONS = {
    "type": ("LB5051", "table"),
    SCAN_PRIMARY_BRANCH: ("LB5053", ""),
}
#: Options that change what every commit must do, beside those.
_COMMIT_OPTIONS = {MANIFEST_FORMAT: ("LB5011", "avro")}
#: Options that change what a writer of rows must do, beside those.
_WRITE_OPTIONS = {
    CHANGELOG_PRODUCER: ("LB5061", "none"),
    **_COMMIT_OPTIONS,
    DATA_FILE_EXTERNAL_PATHS: ("LB5062", ""),
}
#: What a writer of rows does not do together with a primary key or with buckets.
_EVOLVING = {DATA_EVOLUTION_ENABLED: ("LB5052", "false")}
#: Options that change what a writer of rows with a primary key must do.
_KEYED_OPTIONS = {
    **_EVOLVING,
    DELETION_VECTORS_ENABLED: ("LB5055", "false"),
    PRIMARY_KEY_NULLABLE: ("LB5085", "false"),
    SEQUENCE_SNAPSHOT_ORDERING: ("LB5085", "false"),
}


def refuse_unreadable(schema: TableSchema, *, columns: Collection[str] | None = None) -> None:
    """Raise UnsupportedError with every reason why a table of this schema cannot be read.

    `columns`: the top-level columns that are read; columns of types that are not supported stand in nobody's way when
    they are left out. None means all. Deletion vectors and files are looked at by `plan_files`.
    """
    problems = read_problems(schema, columns)
    if problems:
        raise UnsupportedError(*problems)


def refuse_unwritable(schema: TableSchema) -> None:
    """Raise UnsupportedError with every reason why rows cannot be appended to a table of this schema."""
    problems = write_problems(schema)
    if problems:
        raise UnsupportedError(*problems)


def refuse_uncommittable(schema: TableSchema) -> None:
    """Raise UnsupportedError with every reason why no snapshot of a table of this schema can be made."""
    problems = commit_problems(schema)
    if problems:
        raise UnsupportedError(*problems)


def commit_problems(schema: TableSchema) -> tuple[Diagnostic, ...]:
    """Why no snapshot of a table of this schema can be made; where it can, perhaps not with new rows of ours."""
    return (*_options(schema, _READ_OPTIONS | _COMMIT_OPTIONS, "written"), *_newer_version(schema))


def _newer_version(schema: TableSchema) -> Iterator[Diagnostic]:
    if schema.version > CURRENT_VERSION:
        yield Diagnostic(
            "LB5064",
            f"schema {schema.id} has version {schema.version}; tables of a newer version are not written",
            expected=f"at most {CURRENT_VERSION}",
            found=str(schema.version),
            remedy="write the table with a newer Lakebed",
        )


def limits(schema: TableSchema) -> tuple[Diagnostic, ...]:
    """As warnings, for those who are about to make such a table: every reason why Lakebed cannot write it, and what it
    writes otherwise than the table asks for.
    """
    what = "cannot read or write such a table" if read_problems(schema) else "reads such a table, it cannot write it"
    problems = write_problems(schema)
    told = (replace(d, message=f"Lakebed {what}: {d.message}", severity=Severity.WARNING) for d in problems)
    return (*told, *unwritten_indexes(schema.options))


def read_problems(schema: TableSchema, columns: Collection[str] | None = None) -> tuple[Diagnostic, ...]:
    """Why a table of this schema cannot be read, or these top-level columns of it; empty where it can."""
    return (*_options(schema, _READ_OPTIONS, "read"), *_types(schema, "read", columns))


def write_problems(schema: TableSchema) -> tuple[Diagnostic, ...]:
    """Why rows cannot be appended to a table of this schema; empty where they can. Ingest and plans go by it."""
    asked = _READ_OPTIONS | _WRITE_OPTIONS
    if has_input_changelog(schema):
        del asked[CHANGELOG_PRODUCER]
    problems = [*_primary_key(schema), *_options(schema, asked, "written")]
    unfit = [*unwritable_blobs(schema), *_types(schema, "written", None)]
    named = {d.path for d in unfit}
    problems += unfit
    problems += (d for d in _unwritable_fields(schema) if d.path not in named)
    problems += _partition_types(schema)
    for option in (DATA_FILE_PREFIX, *((CHANGELOG_FILE_PREFIX,) if has_input_changelog(schema) else ())):
        problems += _prefix(schema, option)
    bucket = text_of(schema.options, BUCKET)
    if not schema.primary_keys and whole(bucket) != -1:
        problems += _options(schema, _EVOLVING, "written")
    if not schema.primary_keys and whole(bucket) != -1 and BUCKET_KEY not in schema.options:
        problems.append(
            Diagnostic(
                "LB5063",
                f"a table with bucket={bucket} and no bucket key cannot be written: nothing says where a row belongs",
                path=BUCKET,
                expected=f"option {BUCKET_KEY}",
                found=bucket,
                remedy="write it with another engine, or copy it into a table without the option",
            )
        )
    problems += index_problems(schema.options, schema.fields)
    problems += _newer_version(schema)
    return tuple(problems)


def _unwritable_fields(schema: TableSchema) -> tuple[Diagnostic, ...]:
    """What the formats of new files cannot hold; columns of blobs have files of their own."""
    own = frozenset(blob_file_fields(schema.fields, schema.options))
    fields = tuple(f for f in schema.fields if f not in own)
    formats = [written_format(schema.options)]
    if has_input_changelog(schema):
        formats.append(written_format(changelog_options(schema.options)))
    return tuple(d for format_ in dict.fromkeys(formats) for d in unwritable_fields(format_, fields))


def _prefix(schema: TableSchema, option: str) -> Iterator[Diagnostic]:
    """What is wrong about how names of files begin."""
    prefix = schema.options.get(option, "")
    if prefix.startswith(_HIDDEN) or "/" in prefix or ":" in prefix:
        yield Diagnostic(
            "LB5065",
            f"a table with option {option}={prefix} cannot be written: Spark would not read its files",
            path=option,
            expected="text that does not start with _ or ., without / and :",
            found=prefix,
            remedy="set the option to another text",
        )


def refuse_unreadable_files(files: Iterable[DataFileMeta]) -> None:
    """Raise UnsupportedError naming data files of formats that are not read, and hidden ones."""
    problems: list[Diagnostic] = []
    for file in files:
        extension = file.file_name.rpartition(".")[2]
        if extension.lower() not in _FORMATS:
            problems.append(_file_problem("LB5056", file.file_name, f"is of format {extension!r}, which is not read"))
        elif file.file_name.startswith(_HIDDEN):
            problems.append(
                _file_problem("LB5058", file.file_name, "is a hidden file for Spark, which reads no rows of it")
            )
        if len(problems) >= _NAMED:
            break
    if problems:
        raise UnsupportedError(*problems)


def _file_problem(code: str, path: str, message: str) -> Diagnostic:
    return Diagnostic(code, f"data file {path} {message}", path=path)


def _primary_key(schema: TableSchema) -> Iterator[Diagnostic]:
    """What stands in the way of rows that have a key. New rows lie at level 0 until another engine compacts them."""
    if not schema.primary_keys:
        return
    keys = ", ".join(schema.primary_keys)
    bucket = text_of(schema.options, BUCKET)
    if (whole(bucket) or 0) < 1 and whole(bucket) != _DYNAMIC:
        yield Diagnostic(
            "LB5050",
            f"a table with primary key ({keys}) and bucket={bucket} cannot be written: "
            "its rows wait for another engine to put them into buckets",
            path=BUCKET,
            expected="a number of buckets from 1, or -1 for as many as it takes",
            found=bucket,
            remedy="write the table with the engine that compacts it, or make another one and copy the rows: "
            "lake.table(new).upsert(lake.read(spark, old))",
        )
    outside = [key for key in schema.partition_keys if key not in schema.primary_keys]
    if outside:
        yield Diagnostic(
            "LB5086",
            f"a table with primary key ({keys}) and a partition key outside of it ({', '.join(outside)}) cannot be "
            "written: a row may have to be taken out of another partition",
            path=outside[0],
            found=keys,
            remedy="take the partition keys into the primary key, or write the table with another engine",
        )
    yield from _options(schema, _KEYED_OPTIONS, "written")


def _options(schema: TableSchema, options: dict[str, tuple[str, str]], action: str) -> Iterator[Diagnostic]:
    for key, (code, harmless) in options.items():
        value = schema.options.get(key, harmless)
        if value.strip().lower() != harmless:
            yield Diagnostic(
                code,
                f"a table with option {key}={value} cannot be {action} yet",
                path=key,
                expected=harmless or "not set",
                found=value,
                remedy="use another engine for it",
            )


def _types(schema: TableSchema, action: str, columns: Collection[str] | None) -> Iterator[Diagnostic]:
    for field in schema.fields:
        if columns is not None and field.name not in columns:
            continue
        if holds_blobs(field.type):
            # `refuse_blobs` and `unwritable_blobs` look at them.
            continue
        found = _unsupported_type(field.type)
        if found is None and action == "written":
            found = _unwritable_type(field.type)
        if found is not None:
            yield Diagnostic(
                "LB5054",
                f"column {field.name!r} holds the type {found}, which cannot be {action} yet",
                path=field.name,
                found=type_line(field.type),
                remedy="leave the column out" if action == "read" else "use another engine for this table",
            )


def _unsupported_type(type_: DataType) -> str | None:
    """The first part of a type that Spark has no form for."""
    for inside in types_inside(type_):
        match inside:
            case Unknown():
                return inside.text
            case Blob() | Vector() | Geometry() | Geography():
                return inside.root
    return None


def _unwritable_type(type_: DataType) -> str | None:
    """The first part of a type that is read and that Spark has no rows of."""
    for inside in types_inside(type_):
        match inside:
            case Map(key=key) | Multiset(element=key) if any(isinstance(t, Map | Multiset) for t in types_inside(key)):
                return "MAP in the key of a map"
            case _:
                continue
    return None


def _partition_types(schema: TableSchema) -> Iterator[Diagnostic]:
    """Partition keys whose values name no directory."""
    for field in schema.fields:
        if field.name not in schema.partition_keys or not isinstance(field.type, Binary | VarBinary):
            continue
        if is_set(schema.options, PARTITION_LEGACY_NAME):
            yield Diagnostic(
                "LB5030",
                f"a table with the partition key {field.name!r} of bytes cannot be written: "
                "the directory of a value would be named by a memory address",
                path=field.name,
                found=type_line(field.type),
                remedy=f"set option {PARTITION_LEGACY_NAME} to false, or use another partition key",
            )


def holds_nanoseconds(type_: DataType) -> bool:
    """Whether a timestamp finer than microseconds is in a type."""
    stamps = (t for t in types_inside(type_) if isinstance(t, (Timestamp, LocalZonedTimestamp)))
    return any(t.precision > _MAX_MICROS_PRECISION for t in stamps)
