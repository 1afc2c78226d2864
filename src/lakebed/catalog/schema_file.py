"""Write the bytes of schema files exactly as the reference does; read them tolerantly (Paimon, "Schema").

Written: version 3, keys in the reference's order, options sorted by key, no null, UTF-8, no newline at the end. Read:
versions 1 (or none), 2, 3 and later ones; the defaults of versions 1 and 2 are put into the options.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from lakebed.catalog.annotations import refuse_newer
from lakebed.catalog.jackson import LaidOut, laid_out, pretty
from lakebed.catalog.options import FILE_FORMAT
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema
from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.physical.json_form import TypeReader, text_of, whole_number
from lakebed.physical.paimon_tree import highest_id, walk_fields
from lakebed.physical.paimon_types import DataField, Unknown, type_line

_BUCKET_DEFAULT_VERSION = 1
_ORC_DEFAULT_VERSION = 2
_REQUIRED = ("id", "fields", "highestFieldId", "partitionKeys", "primaryKeys", "options")


def dumps(schema: TableSchema) -> bytes:
    """The content of the schema file, byte for byte as the reference writes it (with the options sorted by key).

    Raises `UnsupportedError` for a schema of a later version than `CURRENT_VERSION`, or with annotations of a later
    format: what is not understood must not be written over.
    """
    if schema.version > CURRENT_VERSION:
        raise UnsupportedError.of(
            "LB3507",
            f"schema files of version {schema.version} cannot be written",
            expected=f"version {CURRENT_VERSION} or earlier",
            found=str(schema.version),
            remedy="use a newer Lakebed",
        )
    refuse_newer(schema)
    return pretty(replace(schema, fields=()).to_json() | {"fields": [_laid_out_field(f) for f in schema.fields]})


@lru_cache(maxsize=20_000)
def _laid_out_field(field: DataField) -> LaidOut:
    """A column as a file has it: from one version to the next, nearly all columns of a wide table stay the same."""
    return laid_out(field.to_json(), "  ")


def loads(data: bytes, *, source: str, expected_id: int | None = None) -> TableSchema:
    """The schema of a file's content; `source` is the path that messages name.

    `expected_id` is the number in the file's name; a file that says another id is refused. Raises
    `CorruptMetadataError`, and nothing else, for content that is not a schema, with all its problems. Types of the
    future are kept as `Unknown`, so that the other columns stay readable; `warnings` tells of them.
    """
    reader = _FileReader(source, _json_object(data, source))
    schema = reader.schema()
    if not reader.problems and expected_id is not None and schema.id != expected_id:
        reader.problem(
            "LB3504",
            f"the schema says that it is number {schema.id}, but its file is that of number {expected_id}",
            expected=str(expected_id),
            found=str(schema.id),
            remedy="restore the file from a copy; a schema file is never renamed",
        )
    if reader.problems:
        raise CorruptMetadataError(*reader.problems)
    return schema


def warnings(schema: TableSchema, *, source: str | None = None) -> tuple[Diagnostic, ...]:
    """What is odd about a schema that can be read: ids used twice, types of the future, a later version."""
    return tuple(_warnings(schema, f"{source}: " if source else ""))


def _warnings(schema: TableSchema, where: str) -> Iterator[Diagnostic]:
    if schema.version > CURRENT_VERSION:
        message = f"{where}the schema is of version {schema.version}; it is read as version {CURRENT_VERSION}"
        yield Diagnostic("LB3507", message, Severity.WARNING, remedy="use a newer Lakebed to change the table")
    by_id: dict[int, str] = {}
    for field in walk_fields(schema.fields):
        if field.id in by_id:
            message = f"{where}the fields {by_id[field.id]!r} and {field.name!r} have the same id {field.id}"
            remedy = "columns cannot be told apart by id; copy the rows into a new table"
            yield Diagnostic("LB3506", message, Severity.WARNING, path=field.name, remedy=remedy)
        by_id.setdefault(field.id, field.name)
        if isinstance(field.type, Unknown):
            message = (
                f"{where}the type {type_line(field.type)} of the column {field.name!r} is not known to this version"
            )
            remedy = "read the other columns, or use a newer Lakebed"
            yield Diagnostic(
                "LB3508", message, Severity.WARNING, path=field.name, found=type_line(field.type), remedy=remedy
            )


def _json_object(data: bytes, source: str) -> Mapping[str, Any]:
    """The JSON object in the bytes; anything else is corrupt."""
    try:
        text = data.decode()
        found = json.loads(text, parse_constant=_refuse_constant)
        # Text with lone surrogates could be read, but never be written again.
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeError as error:
        raise _not_json(source, f"it is not UTF-8 text ({error})") from error
    except json.JSONDecodeError as error:
        if not data.strip():
            raise _not_json(source, "it is empty, as a crash of its writer leaves it") from error
        raise _not_json(source, error.msg, Position(source, error.lineno, error.colno)) from error
    except (ValueError, RecursionError) as error:
        raise _not_json(source, str(error)) from error
    if not isinstance(found, dict):
        raise _not_json(source, "it holds no JSON object")
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _not_json(source: str, reason: str, position: Position | None = None) -> CorruptMetadataError:
    message = f"the schema file {source} cannot be read: {reason}"
    remedy = "restore the file from a copy or a backup"
    return CorruptMetadataError.of("LB3501", message, position=position, remedy=remedy)


class _FileReader:
    """Turns the JSON object of a schema file into a schema and collects all problems on the way."""

    def __init__(self, source: str, content: Mapping[str, Any]) -> None:
        self.problems: list[Diagnostic] = []
        self._source = source
        self._content = content

    def problem(self, code: str, message: str, **parts: Any) -> None:
        self.problems.append(Diagnostic(code, f"schema file {self._source}: {message}", **parts))

    def schema(self) -> TableSchema:
        """The schema; of use only while there are no problems."""
        remedy = "this is a file of the Mini Paimon layout" if "schemaId" in self._content else None
        for key in _REQUIRED:
            if key not in self._content:
                self.problem("LB3502", f"the key {key!r} is missing", expected=key, remedy=remedy)
        version = self._number("version", absent=1)
        fields = self._fields()
        return TableSchema(
            id=self._number("id", least=0),
            fields=fields,
            highest_field_id=max(self._number("highestFieldId"), highest_id(fields)),
            partition_keys=self._names("partitionKeys"),
            primary_keys=self._names("primaryKeys"),
            options=self._options(version),
            comment=self._comment(),
            time_millis=self._number("timeMillis"),
            version=version,
        )

    def _number(self, key: str, *, absent: int = 0, least: int | None = None) -> int:
        """A whole number; null counts as 0, as in the reference."""
        if key not in self._content:
            return absent
        value = self._content[key]
        number = 0 if value is None else whole_number(value)
        if number is None or (least is not None and number < least):
            self.problem("LB3502", f"{key!r} must be a whole number", found=text_of(value)[:60])
            return absent
        return number

    def _names(self, key: str) -> tuple[str, ...]:
        value = self._content.get(key)
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return tuple(value)
        self.problem("LB3502", f"{key!r} must be a list of column names", found=text_of(value)[:60])
        return ()

    def _fields(self) -> tuple[DataField, ...]:
        value = self._content.get("fields")
        if value is None:
            return ()
        reader = TypeReader(unknown="keep", allow_missing_ids=False)
        found = reader.fields(value, ())
        for d in reader.problems:
            column = f"column {d.path!r}: " if d.path else ""
            message = f"schema file {self._source}: {column}{d.message}"
            self.problems.append(replace(d, code="LB3503", message=message, position=None))
        return found

    def _options(self, version: int) -> dict[str, str]:
        value = self._content.get("options")
        if not isinstance(value, dict | None):
            self.problem("LB3502", "'options' must be an object", found=text_of(value)[:60])
            value = None
        options = {key: text_of(part) for key, part in (value or {}).items()}
        if version <= _BUCKET_DEFAULT_VERSION:
            options.setdefault("bucket", "1")
        if version <= _ORC_DEFAULT_VERSION:
            options.setdefault(FILE_FORMAT, "orc")
        return options

    def _comment(self) -> str | None:
        value = self._content.get("comment")
        return None if value is None else text_of(value)
