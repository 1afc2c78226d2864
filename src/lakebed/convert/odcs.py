"""Convert the logical schema from and to data contracts of the Open Data Contract Standard (v3).

| contract | schema |
|---|---|
| `physicalType`, `logicalType`, `format` of integers and numbers | type; `physicalType` is a type of SQL |
| `properties`, `items`, `map`; an array of `key` and `value` with the physical type `map` | Struct, List, Map |
| `required`, `unique` | whether it is an `Option`, `lakebed.dev/unique` |
| `primaryKeyPosition`, `partitionKeyPosition` | keys |
| `description`, `tags`, `classification`; `pii` as classification | attributes, `lakebed.dev/personalData` |
| `logicalTypeOptions`: `pattern`, `minimum`, `maximum`, `maxLength`, `minItems` | pattern, bounds, lengths |
| `enum`; a library check of `invalidValues` | `lakebed.dev/enum` |
| the name of the `team`, or its owner | `bitol.io/owner`, or the attribute that is called `owner` |
| `customProperties` | attributes, `bitol.io/NAME` where the name has no domain |

What is left is the custom property `lakebed` (`lakebed.convert.notes`), so that nothing is lost. Of a contract of
others the parts that are no schema (servers, prices, service levels) are told as lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lakebed.convert.contract import Contract, losses_between, only_table, refuse_broken
from lakebed.convert.foreign_json import (
    as_list,
    as_mapping,
    as_number,
    as_text,
    by_name,
    needed,
    refuse,
    refuse_type,
    unread,
)
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.notes import custom_properties, note_in, note_of, table_note, with_note, with_table_note
from lakebed.convert.paimon import repeated_names
from lakebed.convert.people import classification, owner, tags
from lakebed.convert.sql_type import SqlTypes, sql_text
from lakebed.convert.stated_type import StatedType, list_of, map_of, stated_exactly
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.model.extra import (
    DESCRIPTION,
    ENUM,
    MAXIMUM,
    MINIMUM,
    PATTERN,
    PERSONAL_DATA,
    UNIQUE,
)
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE, Path, fold_at
from lakebed.physical import MAX_LENGTH, DataType, path_text
from lakebed.physical import paimon_types as physical

Json = dict[str, Any]

VERSION = "v3.1.0"
KIND = "DataContract"
DOMAIN = "bitol.io"
OWNER, TAGS, CLASSIFICATION = f"{DOMAIN}/owner", f"{DOMAIN}/tags", f"{DOMAIN}/classification"
_PII = "pii"
_NAMELESS = "table"
_FORMATS: dict[str, LogicalType] = {
    "i8": logical.Int8(),
    "i16": logical.Int16(),
    "i32": logical.Int32(),
    "i64": logical.Int64(),
    "u8": logical.UInt8(),
    "u16": logical.UInt16(),
    "u32": logical.UInt32(),
    "u64": logical.UInt64(),
    "f32": logical.Float32(),
    "f64": logical.Float64(),
}
_FORMAT_OF = {type_: name for name, type_ in _FORMATS.items()}
_KINDS: dict[type[LogicalType], str] = {
    logical.Bool: "boolean",
    **dict.fromkeys((type(t) for t in _FORMAT_OF), "integer"),
    **dict.fromkeys((logical.Float16, logical.Float32, logical.Float64, logical.Decimal), "number"),
    **dict.fromkeys((logical.String, logical.Binary, logical.Null), "string"),
    logical.Date: "date",
    logical.Time: "time",
    logical.Timestamp: "timestamp",
    logical.Duration: "integer",
    logical.Struct: "object",
    **dict.fromkeys((logical.List, logical.Map), "array"),
}
#: The types of properties that have no type of a database.
_PLAIN: dict[str, LogicalType] = {
    "string": logical.String(),
    "integer": logical.Int64(),
    "number": logical.Float64(),
    "boolean": logical.Bool(),
    "date": logical.Date(),
    "time": logical.Time(TimeUnit.MICROSECOND),
    "timestamp": logical.Timestamp(TimeUnit.MICROSECOND),
}
_BOUNDS = {"minimum": MINIMUM, "maximum": MAXIMUM}
_NUMBERS = ("integer", "number")
_KNOWN = (
    *("name", "logicalType", "logicalTypeOptions", "physicalType", "physicalName", "description", "required", "unique"),
    *("primaryKey", "primaryKeyPosition", "partitioned", "partitionKeyPosition", "classification", "tags", "enum"),
    *("quality", "properties", "items", "map", "customProperties", "id"),
)
_KNOWN_OF_TABLE = (
    "name",
    "physicalName",
    "physicalType",
    "logicalType",
    "description",
    "tags",
    "properties",
    "customProperties",
)
_KNOWN_OF_CONTRACT = ("apiVersion", "kind", "id", "name", "version", "status", "schema", "team", "description")


def to_odcs(declared: Schema | Contract) -> tuple[Json, LossReport]:
    """The contract, which has one table. Raises `ConversionError` for what no form can say."""
    contract = Contract.of(declared)
    refuse_broken(contract)
    name = contract.name or _NAMELESS
    out: Json = {"apiVersion": VERSION, "kind": KIND, "id": name, "version": "1.0.0", "status": "active"}
    whose = owner(contract.schema.extra)
    if whose is not None:
        out["team"] = {"name": whose}
    table: Json = {"name": name, "physicalType": "table", "logicalType": "object"}
    table |= _described(contract.schema.extra)
    columns = contract.schema.fields
    writer = _Writer(stated_exactly(contract.schema))
    parts = tuple(fold_at(f.type, (f.name,), writer.write_type) for f in columns)
    table["properties"] = writer.fields(columns, parts, ())
    for names, flag, position in (
        (contract.primary_keys, "primaryKey", "primaryKeyPosition"),
        (contract.partition_keys, "partitioned", "partitionKeyPosition"),
    ):
        for number, key in enumerate(names, 1):
            for column in table["properties"]:
                column |= {flag: True, position: number} if column["name"] == key else {}
    out["schema"] = [table]
    note = table_note(contract, from_odcs(out)[0])
    if note:
        table["customProperties"] = _listed(custom_properties(note, DOMAIN))
    return out, losses_between(contract, from_odcs(out)[0])


def _listed(properties: Mapping[str, Any]) -> list[Json]:
    return [{"property": name, "value": value} for name, value in properties.items()]


def _described(extra: Extra) -> Json:
    out: Json = {} if extra.description is None else {"description": extra.description}
    found = tags(extra)
    return out if found is None else {**out, "tags": found}


class _Writer:
    def __init__(self, exact: Mapping[Path, DataType]) -> None:
        self._exact = exact

    def write_type(self, type_: LogicalType, path: Path, parts: tuple[Json, ...]) -> Json:
        """What a property says of its type."""
        own = required(type_)
        match type_:
            case logical.Option():
                return parts[0]
            case logical.Struct():
                return {"logicalType": "object", "properties": self.fields(type_.fields, parts, path)}
            case logical.List(fixed_length=length):
                options = {} if length is None else {"logicalTypeOptions": {"minItems": length, "maxItems": length}}
                return {"logicalType": "array", **options, "items": _item(type_.item_type, parts[0])}
            case logical.Map():
                pair = ((KEY, type_.key_type, parts[0]), (VALUE, type_.value_type, parts[1]))
                entry = [{"name": name, **_item(of, said)} for name, of, said in pair]
                items = {"logicalType": "object", "properties": entry}
                return {"logicalType": "array", "physicalType": "map", "items": items}
            case _:
                out: Json = {"logicalType": _KINDS[type(own)]}
                out["physicalType"] = sql_text(type_, self._exact.get(path), ())
                options = self._options(type_, self._exact.get(path))
                return out | ({"logicalTypeOptions": options} if options else {})

    def _options(self, type_: LogicalType, exact: DataType | None) -> Json:
        if type_ in _FORMAT_OF:
            return {"format": _FORMAT_OF[type_]}
        if isinstance(type_, logical.Timestamp) and not isinstance(exact, physical.Timestamp):
            zone = type_.effective_timezone
            return {"timezone": True, **({} if zone == logical.DEFAULT_ZONE else {"defaultTimezone": zone})}
        if isinstance(exact, physical.VarChar) and exact.length < MAX_LENGTH:
            return {"maxLength": exact.length}
        return {}

    def fields(self, members: tuple[Field, ...], parts: tuple[Json, ...], path: Path) -> list[Json]:
        return [_noted(_property(m, part), m) for m, part in zip(members, parts, strict=True)]


def _item(type_: LogicalType, said: Json) -> Json:
    return said if isinstance(type_, logical.Option) else {**said, "required": True}


def _property(member: Field, said: Json) -> Json:
    """A property, without its note."""
    extra = member.extra
    out: Json = {"name": member.name, **said, **_described(extra)}
    options = {**said.get("logicalTypeOptions", {}), **_checks(said["logicalType"], extra)}
    if options:
        out["logicalTypeOptions"] = options
    if not member.nullable:
        out["required"] = True
    if extra.get(UNIQUE) is True:
        out["unique"] = True
    level = classification(extra)
    if level is not None or extra.get(PERSONAL_DATA) is True:
        out["classification"] = _PII if level is None else level
    values = extra.get(ENUM)
    if isinstance(values, list) and values:
        check = {"type": "library", "metric": "invalidValues", "arguments": {"validValues": values}, "mustBe": 0}
        out["quality"] = [check]
    return out


def _checks(kind: str, extra: Extra) -> Json:
    """The options of a type that say which values are allowed."""
    out: Json = {"pattern": extra[PATTERN]} if kind == "string" and isinstance(extra.get(PATTERN), str) else {}
    for name, key in _BOUNDS.items():
        bound = extra.get(key)
        is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if (kind in _NUMBERS and is_number) or (kind in ("date", "time", "timestamp") and isinstance(bound, str)):
            out[name] = bound
    return out


def _noted(said: Json, member: Field) -> Json:
    note = note_of(member, _Reader().plain_field(said, ()))
    return {**said, "customProperties": _listed(custom_properties(note, DOMAIN))} if note else said


def _plainly(member: Field) -> Field:
    """What a reader that knows no notes of this field makes of it."""
    writer = _Writer(stated_exactly(Schema((member,))))
    return _Reader().plain_field(_property(member, fold_at(member.type, (member.name,), writer.write_type)), ())


def from_odcs(value: Any) -> tuple[Contract, LossReport]:
    """What a contract declares of its only table, and what has no place in a schema.

    Raises `ConversionError` for several tables (LB2604): `tables_of_odcs` reads each.
    """
    return only_table(tables_of_odcs(value))


def tables_of_odcs(value: Any) -> tuple[tuple[Contract, LossReport], ...]:
    """What a contract declares of each of its tables."""
    told = as_mapping(value, (), "the contract")
    if told.get("kind") != KIND or not str(told.get("apiVersion", "")).startswith("v3"):
        found = f"{told.get('kind')} {told.get('apiVersion')}"
        refuse((), "this is no contract of the standard's version 3", f"kind: {KIND}, apiVersion: {VERSION}", found)
    tables = as_list(told.get("schema", []), (), "`schema`")
    return tuple(_read_table(as_mapping(table, (), "a table"), told) for table in tables)


def _read_table(table: Mapping[str, Any], contract: Mapping[str, Any]) -> tuple[Contract, LossReport]:
    reader = _Reader()
    fields = reader.properties(table, ())
    whose = _owner_of(contract.get("team"))
    extra = {**_read_described(table), **({} if whose is None else {OWNER: whose})}
    purpose = contract.get("description")
    if DESCRIPTION not in extra and isinstance(purpose, Mapping) and isinstance(purpose.get("purpose"), str):
        extra[DESCRIPTION] = purpose["purpose"]
    name = as_text(needed(table, "name", (), "a table"), (), "`name`")
    keys = (_keys(table, "primaryKey", "primaryKeyPosition"), _keys(table, "partitioned", "partitionKeyPosition"))
    names = [as_text(p.get("name"), (), "`name`") for p in table.get("properties", [])]
    # A note may give columns their names back.
    called = dict(zip(names, (f.name for f in fields), strict=True))
    primary, partition = (tuple(called[key] for key in found) for found in keys)
    plain = Contract(Schema(fields, Extra(extra)), None if name == _NAMELESS else name, primary, partition)
    found = with_table_note(plain, note_in(_custom(table, ()), DOMAIN, reader.lose_property(())) or None)
    problems = repeated_names(found.schema.fields)
    if problems:
        raise ConversionError(*problems)
    reader.lose((), table, _KNOWN_OF_TABLE)
    reader.lose((), contract, _KNOWN_OF_CONTRACT)
    return found, LossReport(tuple(reader.losses))


def _keys(table: Mapping[str, Any], flag: str, position: str) -> list[str]:
    """The names of the columns of a key, by their positions and then as they stand."""
    columns = [p for p in table.get("properties", []) if isinstance(p, Mapping) and p.get(flag) is True]
    placed = sorted(columns, key=lambda p: _place(p.get(position), len(columns) + 1))
    return [str(p.get("name")) for p in placed]


def _place(position: Any, last: int) -> int:
    """The place of a column in a key; -1 is none that is said."""
    return last if position is None or position == -1 else as_number(position, (), "the position in a key")


def _owner_of(team: Any) -> str | None:
    """The name of a team, or who is its owner; a team was a list of members before v3.1."""
    if isinstance(team, Mapping) and isinstance(team.get("name"), str):
        return str(team["name"])
    members = team.get("members", []) if isinstance(team, Mapping) else team if isinstance(team, list) else []
    named = [m for m in members if isinstance(m, Mapping) and isinstance(m.get("username"), str)]
    return next((str(m["username"]) for m in named if str(m.get("role", "")).lower() in ("owner", "data owner")), None)


def _read_described(of: Mapping[str, Any]) -> Json:
    out: Json = {DESCRIPTION: of["description"]} if isinstance(of.get("description"), str) else {}
    return {**out, TAGS: of["tags"]} if of.get("tags") else out


def _custom(of: Mapping[str, Any], path: Path) -> Json:
    found = [
        as_mapping(p, path, "a property") for p in as_list(of.get("customProperties", []), path, "`customProperties`")
    ]
    return {as_text(p.get("property"), path, "`property`"): p.get("value") for p in found}


class _Reader:
    def __init__(self) -> None:
        self.losses: list[Loss] = []

    def lose(self, path: Path, of: Mapping[str, Any], known: tuple[str, ...]) -> None:
        """Note parts of a contract that nobody reads."""
        self.losses += [Loss(path_text(path), f"the contract's `{name}`") for name in unread(of, known)]

    def lose_property(self, path: Path) -> Any:
        """Note a custom property that can be no attribute."""
        return lambda name: self.losses.append(Loss(path_text(path), f"the custom property {name}"))

    def properties(self, of: Mapping[str, Any], path: Path) -> tuple[Field, ...]:
        found = as_list(of.get("properties", []), path, "`properties`")
        return tuple(self._field(as_mapping(p, path, "a property"), path) for p in found)

    def _field(self, value: Mapping[str, Any], path: Path) -> Field:
        plain = self.plain_field(value, path)
        here = (*path, plain.name)
        self.lose(here, value, _KNOWN)
        note = note_in(_custom(value, here), DOMAIN, self.lose_property(here))
        return with_note(plain, note or None, _plainly, path, self.losses)

    def plain_field(self, value: Mapping[str, Any], parent: Path) -> Field:
        """A property, its own note left aside."""
        name = as_text(needed(value, "name", parent, "a property"), parent, "`name`")
        path = (*parent, name)
        extra = _read_described(value)
        if value.get("unique") is True:
            extra[UNIQUE] = True
        level = value.get("classification")
        if isinstance(level, str):
            extra |= {PERSONAL_DATA: True} if level.lower() == _PII else {CLASSIFICATION: level}
        stated = self.read_type(value, path)
        return (
            replace(stated, extra={}).or_null(value.get("required") is not True).field(name, {**stated.extra, **extra})
        )

    def read_type(self, value: Mapping[str, Any], path: Path) -> StatedType:
        """The type of a property, with the checks of its values as attributes."""
        options = as_mapping(value.get("logicalTypeOptions", {}), path, "`logicalTypeOptions`")
        kind, text = value.get("logicalType"), value.get("physicalType")
        if kind is not None:
            as_text(kind, path, "`logicalType`")
        is_map = isinstance(text, str) and text.lower() == "map"
        if kind == "object" or (kind is None and "properties" in value):
            return StatedType(logical.Struct(self.properties(value, path)))
        if kind == "map" or (kind == "array" and is_map):
            return self._map(value, path)
        if kind == "array" and "items" in value:
            items = as_mapping(value["items"], path, "`items`")
            least = options.get("minItems")
            fixed = least if isinstance(least, int) and least == options.get("maxItems") else None
            self.lose(path, {} if fixed is not None else options, ())
            return list_of(self._inner(items, (*path, ELEMENT)), fixed)
        stated = self._atomic(kind, text, options, path)
        return replace(stated, extra=self._checked(value, options, stated.type, path))

    def _map(self, value: Mapping[str, Any], path: Path) -> StatedType:
        if "map" in value:
            pair = as_mapping(value["map"], path, "`map`")
            key, of = (needed(pair, name, path, "the map") for name in (KEY, VALUE))
        else:
            entry = as_mapping(needed(value, "items", path, "the map"), path, "`items`")
            named = by_name(entry.get("properties"), path, "`properties`")
            key, of = (needed(named, name, path, "an entry of the map") for name in (KEY, VALUE))
        parts = [self._inner(as_mapping(p, path, "a part of a map"), (*path, n)) for n, p in ((KEY, key), (VALUE, of))]
        return map_of(*parts)

    def _inner(self, value: Mapping[str, Any], path: Path) -> StatedType:
        """What stands in a list or a map, where attributes have no place."""
        stated = self.read_type(value, path)
        known = ("name", "logicalType", "logicalTypeOptions", "physicalType", "required", "properties", "items", "map")
        self.lose(path, value, known)
        self.losses += [Loss(path_text(path), f"the attribute {key}") for key in stated.extra]
        return replace(stated, extra={}).or_null(value.get("required") is not True)

    def _atomic(self, kind: Any, text: Any, options: Mapping[str, Any], path: Path) -> StatedType:
        if isinstance(text, str):
            try:
                stated = SqlTypes(self.losses).read(text, path)
            except ConversionError:
                if kind not in _PLAIN:
                    raise
                self.losses.append(Loss(path_text(path), f"the physical type {text}, which is not known here"))
                stated = StatedType(_PLAIN[kind])
        elif kind in _PLAIN:
            stated = StatedType(_PLAIN[kind])
        else:
            return refuse_type(path, kind, "a contract", _PLAIN)
        said = options.get("format")
        if kind in _NUMBERS and isinstance(said, str) and said in _FORMATS:
            return StatedType(_FORMATS[said])
        zone = options.get("defaultTimezone")
        if isinstance(stated.type, logical.Timestamp) and isinstance(zone, str) and options.get("timezone") is True:
            return StatedType(replace(stated.type, timezone=zone))
        length = options.get("maxLength")
        if stated.exact is None and stated.type == logical.String() and isinstance(length, int) and length > 0:
            return StatedType(stated.type, physical.VarChar(min(length, MAX_LENGTH)))
        return stated

    def _checked(self, value: Mapping[str, Any], options: Mapping[str, Any], type_: LogicalType, path: Path) -> Json:
        out = {key: options[name] for name, key in _BOUNDS.items() if name in options}
        if "pattern" in options:
            out[PATTERN] = options["pattern"]
        known = ("format", "timezone", "defaultTimezone", "maxLength", "pattern", *_BOUNDS)
        self.losses += [Loss(path_text(path), f"the option {name} of its type") for name in unread(options, known)]
        listed = value.get("enum")
        if isinstance(listed, list):
            out[ENUM] = [v.get("value") if isinstance(v, Mapping) else v for v in listed]
        for check in as_list(value.get("quality", []), path, "`quality`"):
            match check:
                case {"metric": "invalidValues", "arguments": {"validValues": [*values]}, "mustBe": 0}:
                    out[ENUM] = values
                case _:
                    self.losses.append(Loss(path_text(path), "a quality check"))
        return out
