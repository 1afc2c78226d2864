"""Convert the logical schema from and to the JSON Schema (draft 2020-12) of one row as a JSON object.

It describes what `lakebed ingest` takes as NdJson and what `lakebed read --json` prints: decimals, unsigned 64-bit
integers, times and durations as text or numbers, instants as RFC 3339 text, bytes in base64, and maps whose keys are
not text as lists of pairs. Attributes come along: a description as `description`, `lakebed.dev/enum` as `enum`,
`lakebed.dev/pattern` as `pattern`, `lakebed.dev/default` as `default`, bounds as `minimum` and `maximum`. What no
keyword says is under `x-odf` (`lakebed.convert.notes`), so that nothing is lost.

Schemas of others are read likewise: `integer` is Int64 where its bounds are not those of another type, `number` is
Float64, `maxLength` the length of a VARCHAR, and a property that is not required, or may be null, is an `Option`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from lakebed.convert.contract import Contract, losses_between, refuse_broken
from lakebed.convert.foreign_json import as_list, as_mapping, found_text, refuse, refuse_type, unread
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.notes import note_of, table_note, with_note, with_table_note
from lakebed.convert.paimon import repeated_names
from lakebed.convert.stated_type import StatedType, list_of, map_of, stated_exactly
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, ENUM, MAXIMUM, MINIMUM, PATTERN
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE, Path, fold_at
from lakebed.physical import MAX_LENGTH, DataType, path_text
from lakebed.physical import paimon_types as physical

Json: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
NOTE = "x-odf"
_NUMBER_TEXT = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_INTEGERS: dict[LogicalType, tuple[int, int]] = {
    logical.Int8(): (-(2**7), 2**7 - 1),
    logical.Int16(): (-(2**15), 2**15 - 1),
    logical.Int32(): (-(2**31), 2**31 - 1),
    logical.Int64(): (-(2**63), 2**63 - 1),
    logical.UInt8(): (0, 2**8 - 1),
    logical.UInt16(): (0, 2**16 - 1),
    logical.UInt32(): (0, 2**32 - 1),
}
_BY_BOUNDS: dict[tuple[Any, Any], LogicalType] = {bounds: type_ for type_, bounds in _INTEGERS.items()}
_NUMBER: Json = {"type": "number"}
_NULL: Json = {"type": "null"}
_BEYOND = {"maximum": "Infinity", "minimum": "-Infinity"}
_FLOAT: Json = {"anyOf": [_NUMBER, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
_UINT64: Json = {"type": ["integer", "string"], "minimum": 0, "maximum": 2**64 - 1, "pattern": r"^\d+$"}
_TIME: Json = {"type": ["string", "integer"]}
_DECIMAL: Json = {"type": ["number", "string"], "pattern": _NUMBER_TEXT}
_LEAVES: dict[type[LogicalType], Json] = {
    logical.Bool: {"type": "boolean"},
    logical.Null: _NULL,
    logical.String: {"type": "string"},
    logical.Date: {"type": "string", "format": "date"},
    logical.Timestamp: {"type": "string", "format": "date-time"},
    logical.Binary: {"type": "string", "contentEncoding": "base64"},
    logical.UInt64: _UINT64,
    logical.Time: _TIME,
    **dict.fromkeys((logical.Float16, logical.Float32, logical.Float64), _FLOAT),
    **dict.fromkeys((logical.Decimal, logical.Duration), _DECIMAL),
}
#: Schemas of values that are written in more than one way, and what they mean.
_WRITTEN: tuple[tuple[Json, LogicalType], ...] = (
    (_FLOAT, logical.Float64()),
    (_UINT64, logical.UInt64()),
    (_TIME, logical.Time()),
    (_DECIMAL, logical.Decimal(38, 18)),
)
_FORMATS: dict[str, LogicalType] = {
    "date": logical.Date(),
    "date-time": logical.Timestamp(),
    "time": logical.Time(),
    # What OpenAPI adds.
    "int32": logical.Int32(),
    "int64": logical.Int64(),
    "float": logical.Float32(),
    "double": logical.Float64(),
    "byte": logical.Binary(),
}
_ATTRIBUTES = {"description": DESCRIPTION, "default": DEFAULT}
_SAID_OF_TYPES = (
    *("$ref", "type", "format", "contentEncoding", "anyOf", "oneOf", "allOf", "items", "prefixItems", "properties"),
    *("required", "additionalProperties", "minItems", "maxItems", "enum", "pattern", "minimum", "maximum", "maxLength"),
)
_KNOWN = (*_SAID_OF_TYPES, *_ATTRIBUTES, NOTE)
_KNOWN_OF_ROOT = (*_KNOWN, "$schema", "$id", "$defs", "definitions", "title")
_WHOLE = re.compile(r"\^\(\?:(.*)\)\$", re.DOTALL)


def to_row_schema(declared: Schema | Contract) -> tuple[Json, LossReport]:
    """The JSON Schema of a row. Raises `ConversionError` for what no form can say."""
    contract = Contract.of(declared)
    refuse_broken(contract)
    columns = contract.schema.fields
    writer = _Writer(stated_exactly(contract.schema))
    parts = tuple(fold_at(f.type, (f.name,), writer.write_type) for f in columns)
    out: Json = {"$schema": DIALECT}
    if contract.name is not None:
        out["title"] = contract.name
    out |= {**writer.fields(columns, parts, ()), **_annotations(contract.schema.extra)}
    note = table_note(contract, from_row_schema(out)[0])
    made = {**out, NOTE: note} if note else out
    return made, losses_between(contract, from_row_schema(made)[0])


class _Writer:
    def __init__(self, exact: Mapping[Path, DataType]) -> None:
        self._exact = exact

    def write_type(self, type_: LogicalType, path: Path, parts: tuple[Json, ...]) -> Json:
        match type_:
            case logical.Option():
                return {"anyOf": [parts[0], _NULL]}
            case logical.Struct():
                return self.fields(type_.fields, parts, path)
            case logical.List(fixed_length=None):
                return {"type": "array", "items": parts[0]}
            case logical.List(fixed_length=length):
                return {"type": "array", "items": parts[0], "minItems": length, "maxItems": length}
            case logical.Map() if isinstance(required(type_.key_type), logical.String):
                return {"type": "object", "additionalProperties": parts[1]}
            case logical.Map():
                pair = {"type": "array", "prefixItems": list(parts), "items": False, "minItems": 2}
                return {"type": "array", "items": pair}
            case _ if type_ in _INTEGERS:
                low, high = _INTEGERS[type_]
                return {"type": "integer", "minimum": low, "maximum": high}
            case _:
                return dict(_LEAVES[type(type_)])

    def fields(self, members: tuple[Field, ...], parts: tuple[Json, ...], path: Path) -> Json:
        names = [m.name for m in members]
        needed = [m.name for m in members if not m.nullable and m.type != logical.Null()]
        said = [self._noted(m, part, (*path, m.name)) for m, part in zip(members, parts, strict=True)]
        properties = dict(zip(names, said, strict=True))
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    def _noted(self, member: Field, type_: Json, path: Path) -> Json:
        said = self.field(member, type_, path)
        plain = _Reader(said).plain_field(member.name, said, member.name in _needed(member), ())
        note = note_of(member, plain)
        return {**said, NOTE: note} if note else said

    def field(self, member: Field, type_: Json, path: Path) -> Json:
        """The schema of a property, without its note."""
        said = self._checked(dict(type_["anyOf"][0] if member.nullable else type_), member, self._exact.get(path))
        return ({"anyOf": [said, _NULL]} if member.nullable else said) | _annotations(member.extra)

    def _checked(self, said: Json, member: Field, exact: DataType | None) -> Json:
        """The schema of the values that are not null, with what is declared of them."""
        pattern, values = member.extra.get(PATTERN), member.extra.get(ENUM)
        if isinstance(pattern, str):
            said["pattern"] = f"^(?:{pattern})$"
        if isinstance(values, list):
            said["enum"] = values
        if isinstance(exact, physical.VarChar) and exact.length < MAX_LENGTH:
            said["maxLength"] = exact.length
        return said | _bounds(said, member.extra)


def _needed(member: Field) -> tuple[str, ...]:
    return () if member.nullable or member.type == logical.Null() else (member.name,)


def _bounds(said: Json, extra: Extra) -> Json:
    """The bounds that are declared for a number; others stay in `x-odf`. JSON Schema looks at them for numbers only."""
    declared = {key: extra[name] for key, name in (("minimum", MINIMUM), ("maximum", MAXIMUM)) if name in extra}
    if said.get("type") == "integer":
        return {key: value for key, value in declared.items() if isinstance(value, int)}
    if not declared or said.get("anyOf", [{}])[0] != _NUMBER:
        return {}
    named = [name for key, name in _BEYOND.items() if key not in declared]
    return {"anyOf": [_NUMBER | declared, *([{"enum": named}] if named else [])]}


def _annotations(extra: Extra) -> Json:
    out: Json = {} if extra.description is None else {"description": extra.description}
    return out | ({"default": extra[DEFAULT]} if DEFAULT in extra else {})


def _plainly(member: Field) -> Field:
    """What a reader that knows no notes of this field makes of it."""
    writer = _Writer(stated_exactly(Schema((member,))))
    path = (member.name,)
    said = writer.field(member, fold_at(member.type, path, writer.write_type), path)
    return _Reader(said).plain_field(member.name, said, member.name in _needed(member), ())


def from_row_schema(value: Any) -> tuple[Contract, LossReport]:
    """What the JSON Schema of an object declares of its properties, and what has no place in a schema.

    References are followed inside of the schema. Raises `ConversionError` where values may be of several types, for
    arrays and objects of anything, and for schemas that contain themselves.
    """
    root = as_mapping(value, (), "the schema")
    reader = _Reader(root)
    told = reader.resolved(root, ())
    if not isinstance(told.get("properties"), Mapping):
        refuse((), "the schema has no properties", "an object with `properties`", value)
    reader.lose((), {**root, **told}, _KNOWN_OF_ROOT)
    description = root.get("description")
    extra = Extra({DESCRIPTION: description} if isinstance(description, str) else {})
    title = root.get("title")
    fields = reader.properties(told, ())
    contract = Contract(Schema(fields, extra), title if isinstance(title, str) else None)
    contract = with_table_note(contract, root.get(NOTE))
    problems = repeated_names(contract.schema.fields)
    if problems:
        raise ConversionError(*problems)
    return contract, LossReport(tuple(reader.losses))


class _Reader:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.losses: list[Loss] = []
        self._root = root
        self._open: list[str] = []

    def lose(self, path: Path, schema: Mapping[str, Any], known: tuple[str, ...]) -> None:
        """Note keywords that nobody reads."""
        self.losses += [Loss(path_text(path), f"the keyword {name}") for name in unread(schema, known)]

    def resolved(self, schema: Any, path: Path) -> Mapping[str, Any]:
        """The schema that a reference leads to, and that is alone in an `allOf`, with the keywords beside them."""
        told = as_mapping(schema, path, "a schema")
        match told:
            case {"$ref": str() as ref, **beside}:
                return {**self.resolved(self._at(ref, path), path), **beside}
            case {"allOf": [only], **beside}:
                return {**self.resolved(only, path), **beside}
            case _:
                return told

    def _at(self, ref: str, path: Path) -> Any:
        found: Any = self._root
        if not ref.startswith("#"):
            refuse(path, f"the reference {ref} leads out of the schema", "a reference such as #/$defs/name", ref)
        for step in (part.replace("~1", "/").replace("~0", "~") for part in ref[1:].split("/")[1:]):
            if not isinstance(found, Mapping) or step not in found:
                refuse(path, f"the reference {ref} leads to nothing", "what is there", ref)
            found = found[step]
        return found

    def properties(self, schema: Mapping[str, Any], path: Path) -> tuple[Field, ...]:
        found = as_mapping(schema["properties"], path, "`properties`")
        needed = as_list(schema.get("required", []), path, "`required`")
        return tuple(self._field(name, of, name in needed, path) for name, of in found.items())

    def _field(self, name: str, schema: Any, is_needed: bool, path: Path) -> Field:
        plain = self.plain_field(name, schema, is_needed, path)
        told = self.resolved(schema, path)
        self.lose((*path, name), told, _KNOWN)
        return with_note(plain, told.get(NOTE), _plainly, path, self.losses)

    def plain_field(self, name: str, schema: Any, is_needed: bool, parent: Path) -> Field:
        """A property, its own note left aside."""
        path = (*parent, name)
        told = self.resolved(schema, path)
        stated = self.read_type(schema, path)
        is_null = isinstance(stated.type, logical.Null)
        extra = {key: told[keyword] for keyword, key in _ATTRIBUTES.items() if keyword in told}
        return stated.or_null(not is_needed and not is_null).field(name, extra)

    def read_type(self, schema: Any, path: Path) -> StatedType:
        """The type of a schema's values. What contains itself is refused by what it refers to."""
        ref = schema.get("$ref") if isinstance(schema, Mapping) else None
        if ref in self._open and ref is not None:
            refuse_type(path, f"{ref}, which contains itself,", "JSON Schema")
        self._open.append(str(ref))
        stated = self._type(dict(self.resolved(schema, path)), path)
        self._open.pop()
        return stated

    def _type(self, schema: Json, path: Path) -> StatedType:
        for form, meant in _WRITTEN:
            if _is_written(schema, form):
                return StatedType(meant, extra=_bounds_of_float(schema) if form is _FLOAT else {})
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return self._one_of(as_list(schema[keyword], path, f"`{keyword}`"), path)
        names = schema.get("type")
        if isinstance(names, list):
            others = [name for name in names if name != "null"]
            if len(others) != 1:
                refuse_type(path, f"a value of the types {', '.join(map(str, names))}", "JSON Schema")
            return self._type({**schema, "type": others[0]}, path).or_null("null" in names)
        if names is None:
            names = "object" if "properties" in schema else "array" if "items" in schema else _type_of_values(schema)
        reader = _BY_TYPE.get(names) if isinstance(names, str) else None
        return reader(self, schema, path) if reader else refuse_type(path, names or schema, "JSON Schema", _BY_TYPE)

    def _one_of(self, branches: list[Any], path: Path) -> StatedType:
        others = [branch for branch in branches if branch != _NULL]
        if not others:
            return StatedType(logical.Null())
        if len(others) != 1:
            refuse_type(path, f"a choice of {len(others)} types", "JSON Schema")
        return self.read_type(others[0], path).or_null(len(others) < len(branches))

    def inner(self, schema: Any, path: Path) -> StatedType:
        """What stands in a list or a map, where attributes have no place."""
        stated = self.read_type(schema, path)
        told = self.resolved(schema, path)
        self.losses += [Loss(path_text(path), f"the attribute {key}") for key in stated.extra]
        self.lose(path, told, _SAID_OF_TYPES)
        return stated

    def array(self, schema: Json, path: Path) -> StatedType:
        if "items" not in schema:
            refuse_type(path, "an array of anything", "JSON Schema")
        match schema["items"]:
            case {"type": "array", "prefixItems": [key, value], "items": False}:
                parts = [self.inner(part, (*path, step)) for part, step in ((key, KEY), (value, VALUE))]
                return map_of(*parts)
            case items:
                least, most = schema.get("minItems"), schema.get("maxItems")
                fixed = least if isinstance(least, int) and least == most else None
                if fixed is None:
                    self.lose(path, {k: v for k, v in schema.items() if k in ("minItems", "maxItems")}, ())
                return list_of(self.inner(items, (*path, ELEMENT)), fixed)

    def object(self, schema: Json, path: Path) -> StatedType:
        more = schema.get("additionalProperties")
        if "properties" in schema:
            return StatedType(logical.Struct(self.properties(schema, path)))
        if isinstance(more, Mapping) and more:
            return map_of(StatedType(logical.String()), self.inner(more, (*path, VALUE)))
        return refuse_type(path, "an object of anything", "JSON Schema")

    def string(self, schema: Json, path: Path) -> StatedType:
        extra = {ENUM: schema["enum"]} if "enum" in schema else {}
        pattern = schema.get("pattern")
        if isinstance(pattern, str):
            whole = _WHOLE.fullmatch(pattern)
            # A pattern of JSON Schema may match any part of a text, one of ours the whole.
            extra[PATTERN] = whole[1] if whole else f".*(?:{pattern}).*"
        if schema.get("contentEncoding") == "base64":
            return StatedType(logical.Binary(), extra=extra)
        length = schema.get("maxLength")
        exact = physical.VarChar(length) if isinstance(length, int) and 1 <= length < MAX_LENGTH else None
        found = self._format(schema, path)
        return StatedType(logical.String(), exact, extra) if found is None else StatedType(found, extra=extra)

    def integer(self, schema: Json, path: Path) -> StatedType:
        low, high = schema.get("minimum"), schema.get("maximum")
        is_plain = all(isinstance(bound, int | float | None) for bound in (low, high))
        if is_plain and (low, high) in _BY_BOUNDS and "format" not in schema:
            return StatedType(_BY_BOUNDS[low, high], extra=_enumerated(schema))
        found = self._format(schema, path)
        return StatedType(found or logical.Int64(), extra=_enumerated(schema) | _bounds_said(schema))

    def number(self, schema: Json, path: Path) -> StatedType:
        found = self._format(schema, path)
        return StatedType(found or logical.Float64(), extra=_enumerated(schema) | _bounds_said(schema))

    def boolean(self, schema: Json, path: Path) -> StatedType:
        return StatedType(logical.Bool(), extra=_enumerated(schema))

    def null(self, schema: Json, path: Path) -> StatedType:
        return StatedType(logical.Null())

    def _format(self, schema: Json, path: Path) -> LogicalType | None:
        name = schema.get("format")
        found = _FORMATS.get(name) if isinstance(name, str) else None
        if name is not None and found is None:
            self.losses.append(Loss(path_text(path), f"the format {found_text(name)}"))
        return found


_BY_TYPE: dict[str, Callable[[_Reader, Json, Path], StatedType]] = {
    "array": _Reader.array,
    "object": _Reader.object,
    "string": _Reader.string,
    "integer": _Reader.integer,
    "number": _Reader.number,
    "boolean": _Reader.boolean,
    "null": _Reader.null,
}


def _enumerated(schema: Json) -> Json:
    return {ENUM: schema["enum"]} if "enum" in schema else {}


def _bounds_said(schema: Mapping[str, Any]) -> Json:
    return {key: schema[said] for said, key in (("minimum", MINIMUM), ("maximum", MAXIMUM)) if said in schema}


def _is_written(schema: Json, form: Json) -> bool:
    """Whether a schema is one of those that are written here, whatever bounds it has."""
    if form is not _FLOAT:
        return all(schema.get(key) == said for key, said in form.items())
    match schema.get("anyOf"):
        case [{"type": "number"}]:
            return True
        case [{"type": "number"}, {"enum": [*names]}]:
            return all(name in ("NaN", *_BEYOND.values()) for name in names)
        case _:
            return False


def _bounds_of_float(schema: Json) -> Json:
    return _bounds_said(schema["anyOf"][0]) | _enumerated(schema)


def _type_of_values(schema: Json) -> str | None:
    """The type of what is listed under `enum`, where `type` does not say it."""
    match schema.get("enum"):
        case [str(), *_]:
            return "string"
        case [bool(), *_]:
            return "boolean"
        case [int(), *_]:
            return "integer"
        case _:
            return None
