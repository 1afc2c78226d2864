"""Read and write Mini Paimon's schema files, without field ids (Mini Paimon, "Schema files").

Identity: a column keeps its id from version to version by its name; a name that went away and came back is a new
column. Options and the comment of a table are in its record (`TableMetadata`), not here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.jackson import pretty
from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, Position
from lakebed.errors import CorruptMetadataError, TypeTextError, UnsupportedError
from lakebed.physical.paimon_tree import walk_fields
from lakebed.physical.paimon_types import (
    STRING,
    Array,
    BigInt,
    Boolean,
    DataField,
    DataType,
    Decimal,
    Double,
    Int,
    Map,
    Timestamp,
    Unknown,
    json_of,
    type_line,
    with_nullability,
)

CORRUPT = "LB3401"
NO_SUCH_TYPE = "LB3402"
CANNOT_HOLD = "LB3403"
NO_IDENTITY = "LB3404"

_NAMES: dict[DataType, str] = {
    Int(): "INT",
    BigInt(): "LONG",
    STRING: "STRING",
    Boolean(): "BOOLEAN",
    Double(): "DOUBLE",
    Timestamp(): "TIMESTAMP",
}
_TYPES: dict[str, DataType] = {**{name: type_ for type_, name in _NAMES.items()}, "BIGINT": BigInt()}


class MiniDialect:
    """Files that hold `schemaId`, `fields` with `name`, `type` and `nullable`, `primaryKeys` and `partitionKeys`."""

    is_cumulative = True

    def problems(self, schema: TableSchema, previous: TableSchema | None) -> list[Diagnostic]:
        """What the files have no place for: some types, most attributes, and the identity of a renamed column."""
        types = [_no_such_type(f) for f in schema.fields if _type_json(with_nullability(f.type, True)) is None]
        return [*_left_out(schema), *types, *_identity_problems(schema, previous)]

    def dumps(self, schema: TableSchema) -> bytes:
        """The bytes of the file of a version.

        Raises:
            UnsupportedError: the version holds what these files have no place for, or a type that has no name there.
        """
        problems = self.problems(schema, None)
        if problems:
            raise UnsupportedError(*problems)
        return pretty(
            {
                "schemaId": schema.id,
                "fields": [
                    {"name": f.name, "type": _type_json(with_nullability(f.type, True)), "nullable": f.type.nullable}
                    for f in schema.fields
                ],
                "primaryKeys": list(schema.primary_keys),
                "partitionKeys": list(schema.partition_keys),
            }
        )

    def loads(self, data: bytes, *, source: str, expected_id: int, previous: TableSchema | None) -> TableSchema:
        """The version in a file; unknown keys are ignored, unknown types kept as `Unknown`.

        Raises:
            CorruptMetadataError: the content is no such file, with all its problems.
        """
        reader = _Reader(source, _json_object(data, source))
        found_id = reader.number("schemaId")
        if found_id is not None and found_id != expected_id:
            reader.problem(f"it says that it is version {found_id}, but its name says {expected_id}")
        fields = reader.fields()
        keys = reader.names("primaryKeys"), reader.names("partitionKeys")
        if reader.problems:
            raise CorruptMetadataError(*reader.problems)
        identified, highest = _identified(fields, previous)
        return TableSchema(
            id=expected_id, fields=identified, highest_field_id=highest, primary_keys=keys[0], partition_keys=keys[1]
        )


MINI = MiniDialect()


def looks_mini(data: bytes) -> bool:
    """Whether these are the bytes of a Mini Paimon schema file: an object with `schemaId`."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and "schemaId" in content


def _identified(
    fields: Iterable[tuple[str, DataType]], previous: TableSchema | None
) -> tuple[tuple[DataField, ...], int]:
    known = {f.name: f.id for f in previous.fields} if previous is not None else {}
    highest = previous.highest_field_id if previous is not None else -1
    found = []
    for name, type_ in fields:
        if name not in known:
            highest += 1
        found.append(DataField(known.get(name, highest), name, type_))
    return tuple(found), highest


def _type_json(type_: DataType) -> str | dict[str, Any] | None:
    """Mini Paimon's form of a nullable type; None where it has none."""
    if not type_.nullable:
        return None
    match type_:
        case Decimal():
            return {"type": "DECIMAL", "precision": type_.precision, "scale": type_.scale}
        case Array():
            element = _type_json(type_.element)
            return None if element is None else {"type": "ARRAY", "elementType": _as_object(element)}
        case Map():
            key, value = _type_json(type_.key), _type_json(type_.value)
            if key is None or value is None:
                return None
            return {"type": "MAP", "keyType": _as_object(key), "valueType": _as_object(value)}
        case Unknown():
            found = json_of(type_)
            return type_.text if found is None else found
        case _:
            return _NAMES.get(type_)


def _as_object(form: str | dict[str, Any]) -> dict[str, Any]:
    """The form inside of another type, where an atomic type is an object too and LONG is called BIGINT."""
    return {"type": "BIGINT" if form == "LONG" else form} if isinstance(form, str) else form


def _type(form: object) -> DataType:
    """The nullable type of Mini Paimon's form; raises `TypeTextError` for what cannot be understood at all."""
    match form:
        case str():
            return _TYPES.get(form.upper(), Unknown(form))
        case {"type": "DECIMAL", "precision": int(precision), "scale": int(scale)} if 0 <= scale <= precision <= 38:
            return Decimal(precision, scale)
        case {"type": "ARRAY", "elementType": element}:
            return Array(_type(element))
        case {"type": "MAP", "keyType": key, "valueType": value}:
            return Map(_type(key), _type(value))
        case {"type": str(name)}:
            return _TYPES.get(name.upper(), Unknown(json.dumps(form, ensure_ascii=False)))
    raise TypeTextError.of(NO_SUCH_TYPE, f"{json.dumps(form, ensure_ascii=False)[:60]} is not a type")


def _left_out(schema: TableSchema) -> list[Diagnostic]:
    """What the files have no place for."""
    found: list[tuple[str, str]] = []
    if OPTION in schema.options:
        found.append(
            (f"options.{OPTION}", "attributes of columns, nor for a type that ODF has and Mini Paimon has not")
        )
    for field in walk_fields(schema.fields):
        if field.description is not None:
            found.append((field.name, f"the description of {field.name}"))
        if field.default_value is not None:
            found.append((field.name, f"the default value of {field.name}"))
    return [
        Diagnostic(
            CANNOT_HOLD,
            f"a schema file of the mini layout has no place for {what}",
            path=path,
            remedy="Leave it out, or use a warehouse of the paimon layout (`lakebed migrate` makes one).",
        )
        for path, what in found
    ]


def _identity_problems(schema: TableSchema, previous: TableSchema | None) -> list[Diagnostic]:
    """Columns that a reader of the files would take for others, since the files hold no field ids."""
    if previous is None:
        return []
    names = {f.id: f.name for f in previous.fields}
    known = frozenset(names.values())
    found = []
    for field in schema.fields:
        before = names.get(field.id)
        if before is not None and before != field.name:
            problem = f"{before} cannot become {field.name}: the files hold no field ids, so its values would be lost"
        elif before is None and field.name in known:
            problem = f"{field.name} cannot be a new column: the files hold no field ids, so it would be the old one"
        else:
            continue
        remedy = "Choose a new name and drop the old column, or migrate the warehouse first (`lakebed migrate`)."
        found.append(Diagnostic(NO_IDENTITY, f"in the mini layout {problem}", path=field.name, remedy=remedy))
    return found


def _no_such_type(field: DataField) -> Diagnostic:
    return Diagnostic(
        NO_SUCH_TYPE,
        f"the mini layout has no type {type_line(field.type)} (column {field.name})",
        path=field.name,
        expected=", ".join((*_NAMES.values(), "DECIMAL", "ARRAY", "MAP")),
        found=type_line(field.type),
        remedy="Use one of Mini Paimon's types, or a warehouse of the paimon layout.",
    )


def _json_object(data: bytes, source: str) -> Mapping[str, Any]:
    position = None
    try:
        content = json.loads(data.decode())
    except json.JSONDecodeError as error:
        position = Position(source, error.lineno, error.colno)
        reason = error.msg
    except (ValueError, RecursionError) as error:
        reason = str(error)
    else:
        if isinstance(content, dict):
            return content
        reason = "it holds no JSON object"
    raise CorruptMetadataError.of(
        CORRUPT,
        f"the schema file {source} cannot be read: {reason}",
        position=position,
        remedy="Restore the file from a copy.",
    )


class _Reader:
    """Takes a schema file's object apart and collects all problems on the way."""

    def __init__(self, source: str, content: Mapping[str, Any]) -> None:
        self.problems: list[Diagnostic] = []
        self._source = source
        self._content = content

    def problem(self, message: str, path: str | None = None) -> None:
        self.problems.append(
            Diagnostic(
                CORRUPT,
                f"schema file {self._source}: {message}",
                path=path,
                remedy="Restore the file from a copy.",
            )
        )

    def number(self, key: str) -> int | None:
        value = self._content.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self.problem(f"{key!r} must be a whole number", key)
        return None

    def names(self, key: str) -> tuple[str, ...]:
        value = self._content.get(key)
        if value is None:
            return ()
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            return tuple(value)
        self.problem(f"{key!r} must be a list of column names", key)
        return ()

    def fields(self) -> list[tuple[str, DataType]]:
        value = self._content.get("fields")
        if not isinstance(value, list):
            self.problem("'fields' must be a list", "fields")
            return []
        found: dict[str, DataType] = {}
        for index, item in enumerate(value):
            self._field(item, f"fields[{index}]", found)
        return list(found.items())

    def _field(self, item: object, path: str, found: dict[str, DataType]) -> None:
        match item:
            case {"name": str(name), "type": form, **rest} if name.strip():
                nullable = rest.get("nullable", True)
                if not isinstance(nullable, bool):
                    self.problem(f"'nullable' of {name} must be true or false", path)
                    return
                if name in found:
                    self.problem(f"the column {name} is there twice", path)
                try:
                    found[name] = with_nullability(_type(form), nullable)
                except TypeTextError as error:
                    self.problem(f"the type of {name}: {error.diagnostics[0].message}", path)
            case _:
                self.problem("a field needs a name and a type", path)
