"""Convert the logical schema from and to Avro's schemas (`.avsc`, Avro 1.12).

| Avro | logical type |
|---|---|
| boolean, float, double, bytes, string | Bool, Float32, Float64, Binary, String |
| int, long | Int32, Int64 |
| fixed | Binary of that length |
| enum | String with `lakebed.dev/enum` |
| decimal on bytes or fixed | Decimal |
| date, time-millis, time-micros | Date, Time |
| timestamp-millis, -micros, -nanos | Timestamp in UTC |
| local-timestamp-millis, -micros, -nanos | Timestamp with the hint of a wall clock |
| array, record, union with null | List, Struct, Option |
| map; an array of `key` and `value` with the logical type `map` | Map with keys of text, of any type |

`doc` is the description, `default` the default, an alias the former name, `field-id` (as Iceberg writes it) the field
id. What is left stands in the attribute `lakebed` of a field or of the record (`lakebed.convert.notes`): nothing is
lost.
Names that Avro does not allow are written as Iceberg writes them: a blank is `_x20`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from lakebed.convert.contract import Contract, losses_between, refuse_broken
from lakebed.convert.foreign_decimal import fitted_decimal
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
from lakebed.convert.notes import NOTE, note_of, table_note, with_note, with_table_note
from lakebed.convert.paimon import repeated_names
from lakebed.convert.stated_type import StatedType, list_of, map_of, stated_exactly
from lakebed.errors import ConversionError
from lakebed.model import Extra, Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, ENUM, FIELD_ID, RENAMED_FROM
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE, Path, fold_at
from lakebed.physical import DataType, path_text
from lakebed.physical import paimon_types as physical

_S, _MS, _US, _NS = TimeUnit
_NAMELESS = "record"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LEAVES: dict[type[LogicalType], Any] = {
    logical.Bool: "boolean",
    logical.Null: "null",
    **dict.fromkeys((logical.Int8, logical.Int16, logical.Int32, logical.UInt8, logical.UInt16), "int"),
    **dict.fromkeys((logical.UInt32, logical.Int64, logical.Duration), "long"),
    logical.UInt64: {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 0},
    logical.Float16: "float",
    logical.Float32: "float",
    logical.Float64: "double",
    logical.String: "string",
    logical.Date: {"type": "int", "logicalType": "date"},
}
_TIMES = {
    _S: {"type": "int", "logicalType": "time-millis"},
    _MS: {"type": "int", "logicalType": "time-millis"},
    _US: {"type": "long", "logicalType": "time-micros"},
    _NS: "long",
}
_UNITS = {_S: "millis", _MS: "millis", _US: "micros", _NS: "nanos"}
_PRIMITIVES: dict[str, LogicalType] = {
    "null": logical.Null(),
    "boolean": logical.Bool(),
    "int": logical.Int32(),
    "long": logical.Int64(),
    "float": logical.Float32(),
    "double": logical.Float64(),
    "bytes": logical.Binary(),
    "string": logical.String(),
}
_MARKED: dict[tuple[str, str], StatedType] = {
    ("int", "date"): StatedType(logical.Date()),
    ("int", "time-millis"): StatedType(logical.Time()),
    ("long", "time-micros"): StatedType(logical.Time(_US)),
    **{
        ("long", f"timestamp-{_UNITS[unit]}"): StatedType(logical.Timestamp(None if unit is _MS else unit))
        for unit in (_MS, _US, _NS)
    },
    **{
        ("long", f"local-timestamp-{_UNITS[unit]}"): StatedType(
            logical.Timestamp(None if unit is _MS else unit), physical.Timestamp(unit.digits)
        )
        for unit in (_MS, _US, _NS)
    },
}
_COMPLEX = ("record", "enum", "array", "map", "fixed")
#: Types of Python that a default is written of as it is, by the logical type of the field.
_DEFAULTS: dict[type[LogicalType], tuple[type, ...]] = {
    logical.Bool: (bool,),
    **dict.fromkeys(
        (
            *(logical.Int8, logical.Int16, logical.Int32, logical.Int64),
            *(logical.UInt8, logical.UInt16, logical.UInt32),
        ),
        (int,),
    ),
    **dict.fromkeys((logical.Float16, logical.Float32, logical.Float64), (int, float)),
    logical.String: (str,),
}


def to_avro(declared: Schema | Contract) -> tuple[dict[str, Any], LossReport]:
    """The record schema of a table's rows, as JSON. Raises `ConversionError` for what no form can say."""
    contract = Contract.of(declared)
    refuse_broken(contract)
    space, _, name = (contract.name or _NAMELESS).rpartition(".")
    writer = _Writer(stated_exactly(contract.schema))
    record: dict[str, Any] = {"type": "record", "name": writer.name((name or _NAMELESS,))}
    if _NAME.fullmatch(space):
        record["namespace"] = space
    if contract.description is not None:
        record["doc"] = contract.description
    columns = contract.schema.fields
    parts = tuple(fold_at(f.type, (f.name,), writer.write_type) for f in columns)
    record["fields"] = writer.fields(columns, parts)
    note = table_note(contract, from_avro(record)[0])
    made = {**record, NOTE: note} if note else record
    return made, losses_between(contract, from_avro(made)[0])


def plain_name(name: str) -> str:
    """A name of letters, digits and underscores, made as Iceberg makes it: `a b` is `a_x20b`, `1a` is `_1a`."""
    made = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"_x{ord(c):X}" for c in name)
    return f"_{made}" if made[:1].isdigit() else made


def plain_names(names: Iterable[str]) -> list[str]:
    """The same of siblings; one that would be called as another one is, has underscores behind it."""
    given = list(names)
    taken = {name for name in given if plain_name(name) == name}
    made = []
    for name in given:
        plain = plain_name(name)
        while plain != name and plain in taken:
            plain += "_"
        taken.add(plain)
        made.append(plain)
    return made


class _Writer:
    """Writes types from the inside out. Names of records are paths, and each is defined once."""

    def __init__(self, exact: Mapping[Path, DataType]) -> None:
        self._exact = exact
        self._taken: set[str] = set()

    def name(self, path: Path) -> str:
        """A name for a type that is not taken."""
        name = "_".join(plain_name(part) for part in path)
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def write_type(self, type_: LogicalType, path: Path, parts: tuple[Any, ...]) -> Any:
        match type_:
            case logical.Option():
                return "null" if parts[0] == "null" else ["null", parts[0]]
            case logical.Struct():
                return {"type": "record", "name": self.name(path), "fields": self.fields(type_.fields, parts)}
            case logical.List():
                return {"type": "array", "items": parts[0]}
            case logical.Map() if isinstance(type_.key_type, logical.String):
                return {"type": "map", "values": parts[1]}
            case logical.Map():
                entry = [{"name": KEY, "type": parts[0]}, {"name": VALUE, "type": parts[1]}]
                record = {"type": "record", "name": self.name((*path, "entry")), "fields": entry}
                return {"type": "array", "items": record, "logicalType": "map"}
            case logical.Decimal():
                fit = fitted_decimal(type_)
                return {"type": "bytes", "logicalType": "decimal", "precision": fit.precision, "scale": fit.scale}
            case logical.Binary(fixed_length=int() as length):
                return {"type": "fixed", "name": self.name(path), "size": length}
            case logical.Binary():
                return "bytes"
            case logical.Time():
                return _TIMES[type_.effective_unit]
            case logical.Timestamp():
                local = "local-" if isinstance(self._exact.get(path), physical.Timestamp) else ""
                return {"type": "long", "logicalType": f"{local}timestamp-{_UNITS[type_.effective_unit]}"}
            case _:
                return _LEAVES[type(type_)]

    def fields(self, members: tuple[Field, ...], parts: tuple[Any, ...]) -> list[dict[str, Any]]:
        names = plain_names(member.name for member in members)
        return [_noted(_field(*known), known[1]) for known in zip(names, members, parts, strict=True)]


def _field(name: str, member: Field, type_: Any) -> dict[str, Any]:
    """A field, without its note."""
    out: dict[str, Any] = {"name": name, "type": type_}
    extra = member.extra
    if extra.description is not None:
        out["doc"] = extra.description
    default = extra.get(DEFAULT)
    if type(default) in _DEFAULTS.get(type(required(member.type)), ()):
        # The default of a union is one of its first branch.
        out |= {"type": type_[::-1] if isinstance(type_, list) else type_, "default": default}
    elif member.nullable:
        out["default"] = None
    former = extra.get(RENAMED_FROM)
    if isinstance(former, str) and _NAME.fullmatch(former):
        out["aliases"] = [former]
    if FIELD_ID in extra:
        out["field-id"] = extra[FIELD_ID]
    return out


def _noted(field: dict[str, Any], member: Field) -> dict[str, Any]:
    note = note_of(member, _Reader().plain_field(field, ()))
    return {**field, NOTE: note} if note else field


def _plainly(member: Field) -> Field:
    """What a reader that knows no notes of this field makes of it."""
    exact = stated_exactly(Schema((member,)))
    made = fold_at(member.type, (member.name,), _Writer(exact).write_type)
    return _Reader().plain_field(_field(plain_name(member.name), member, made), ())


def from_avro(value: Any) -> tuple[Contract, LossReport]:
    """What the schema of a record declares, and what it says beside that which has no place in a schema.

    Raises `ConversionError` for a schema that is none, and for types that have no logical type: unions of several
    types, types that contain themselves.
    """
    reader = _Reader()
    record = reader.resolved(value, "", ())
    if not isinstance(record, Mapping) or record.get("type") not in ("record", "error"):
        refuse((), "the schema is no record", 'an object of the type "record"', value)
    full, fields = reader.members(record, "", ())
    extra = {DESCRIPTION: record["doc"]} if isinstance(record.get("doc"), str) else {}
    # A table has one database: of the namespace `com.example.shop` that is `shop`.
    name = ".".join(full.split(".")[-2:])
    plain = Contract(Schema(fields, Extra(extra)), None if full == _NAMELESS else name)
    contract = with_table_note(plain, record.get(NOTE))
    if contract.name == name != full:
        reader.losses.append(Loss("", f"the namespace {full.removesuffix(name).rstrip('.')} of Avro"))
    problems = repeated_names(contract.schema.fields)
    if problems:
        raise ConversionError(*problems)
    reader.lose((), unread(record, ("type", "name", "namespace", "doc", "fields", NOTE)))
    return contract, LossReport(tuple(reader.losses))


class _Reader:
    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._known: dict[str, tuple[Mapping[str, Any], str]] = {}
        self._open: list[str] = []

    def lose(self, path: Path, names: list[str]) -> None:
        """Note members of a schema that nobody reads."""
        self.losses += [Loss(path_text(path), f"the attribute {name} of Avro") for name in names]

    def define(self, type_: Mapping[str, Any], space: str, path: Path) -> tuple[str, str]:
        """Remember a named type by its full name; the name, and the namespace that holds inside."""
        name = as_text(needed(type_, "name", path, "the type"), path, "`name`")
        own = type_.get("namespace", space)
        full = name if "." in name or not own else f"{own}.{name}"
        self._known[full] = (type_, full.rpartition(".")[0])
        return full, full.rpartition(".")[0]

    def resolved(self, type_: Any, space: str, path: Path) -> Any:
        """The type without objects that only wrap another one: `{"type": {"type": "record", ...}}`."""
        while isinstance(type_, Mapping) and isinstance(type_.get("type"), Mapping | list):
            type_ = type_["type"]
        return type_

    def members(self, record: Mapping[str, Any], space: str, path: Path) -> tuple[str, tuple[Field, ...]]:
        """The full name of a record, and its fields."""
        full, inside = self.define(record, space, path)
        if full in self._open:
            refuse_type(path, f"{full}, which contains itself,", "Avro")
        self._open.append(full)
        fields = self._fields(record, inside, path)
        self._open.pop()
        return full, fields

    def _fields(self, record: Mapping[str, Any], space: str, path: Path) -> tuple[Field, ...]:
        found = as_list(needed(record, "fields", path, "the record"), path, "`fields`")
        return tuple(self.field(as_mapping(f, path, "a field"), path, space) for f in found)

    def field(self, value: Mapping[str, Any], path: Path, space: str) -> Field:
        """A field with what its note says."""
        plain = self.plain_field(value, path, space)
        self.lose((*path, plain.name), unread(value, ("name", "type", "doc", "default", "aliases", "field-id", NOTE)))
        return with_note(plain, value.get(NOTE), _plainly, path, self.losses)

    def plain_field(self, value: Mapping[str, Any], path: Path, space: str = "") -> Field:
        """A field, its own note left aside."""
        name = as_text(needed(value, "name", path, "a field"), path, "`name`")
        here = (*path, name)
        stated = self.read_type(needed(value, "type", here, "the field"), space, here)
        extra: dict[str, Any] = {}
        if isinstance(value.get("doc"), str):
            extra[DESCRIPTION] = value["doc"]
        if value.get("default") is not None:
            extra[DEFAULT] = value["default"]
        match value.get("aliases"):
            case [str() as former]:
                extra[RENAMED_FROM] = former
            case [_, *_] as several:
                self.losses.append(Loss(path_text(here), f"the aliases {', '.join(map(str, several))}"))
        if "field-id" in value:
            extra[FIELD_ID] = as_number(value["field-id"], here, "`field-id`")
        return stated.field(name, extra)

    def read_type(self, type_: Any, space: str, path: Path) -> StatedType:
        type_ = self.resolved(type_, space, path)
        if isinstance(type_, list):
            return self._union(type_, space, path)
        if isinstance(type_, str):
            return self._named(type_, space, path)
        name = as_text(needed(as_mapping(type_, path, "the type"), "type", path, "the type"), path, "`type`")
        match name:
            case "record" | "error":
                return self._record(type_, space, path)
            case "array":
                return self._array(type_, space, path)
            case "map":
                value = self.read_type(needed(type_, "values", path, "the map"), space, (*path, VALUE))
                return map_of(StatedType(logical.String()), self._inner(value, (*path, VALUE)))
            case "enum":
                self.define(type_, space, path)
                return StatedType(logical.String(), extra={ENUM: as_list(type_.get("symbols"), path, "`symbols`")})
            case "fixed":
                self.define(type_, space, path)
                size = as_number(needed(type_, "size", path, "the type"), path, "`size`")
                return self._marked(StatedType(logical.Binary(size)), type_, name, path)
            case _:
                return self._marked(self._named(name, space, path), type_, name, path)

    def _union(self, branches: list[Any], space: str, path: Path) -> StatedType:
        others = [branch for branch in branches if branch != "null"]
        if not others:
            return StatedType(logical.Null())
        if len(others) > 1:
            refuse_type(path, f"a union of {len(others)} types", "Avro")
        return self.read_type(others[0], space, path).or_null(len(others) < len(branches))

    def _named(self, name: str, space: str, path: Path) -> StatedType:
        if name in _PRIMITIVES:
            return StatedType(_PRIMITIVES[name])
        for full in (name if "." in name or not space else f"{space}.{name}", name):
            if full in self._known:
                return self.read_type(self._known[full][0], space, path)
        return refuse_type(path, name, "Avro", (*_PRIMITIVES, *_COMPLEX))

    def _record(self, type_: Mapping[str, Any], space: str, path: Path) -> StatedType:
        if "doc" in type_:
            self.lose(path, ["doc"])
        return StatedType(logical.Struct(self.members(type_, space, path)[1]))

    def _array(self, type_: Mapping[str, Any], space: str, path: Path) -> StatedType:
        items = self.resolved(needed(type_, "items", path, "the array"), space, path)
        if type_.get("logicalType") == "map" and isinstance(items, Mapping) and items.get("type") == "record":
            self.define(items, space, path)
            entry = by_name(items.get("fields"), path, "`fields`")
            if entry.keys() == {KEY, VALUE}:
                types = [(k, needed(entry[k], "type", (*path, k), "the entry")) for k in (KEY, VALUE)]
                return map_of(*(self._inner(self.read_type(t, space, (*path, k)), (*path, k)) for k, t in types))
        return list_of(self._inner(self.read_type(items, space, (*path, ELEMENT)), (*path, ELEMENT)))

    def _inner(self, stated: StatedType, path: Path) -> StatedType:
        """What stands in a list or a map, where attributes have no place."""
        self.losses += [Loss(path_text(path), f"the attribute {key}") for key in stated.extra]
        return stated

    def _marked(self, stated: StatedType, type_: Mapping[str, Any], name: str, path: Path) -> StatedType:
        """The type that a logical type of Avro makes of a primitive one; one that is unknown is passed over."""
        mark = type_.get("logicalType")
        if mark is not None:
            as_text(mark, path, "`logicalType`")
        if mark == "decimal" and name in ("bytes", "fixed"):
            precision = as_number(needed(type_, "precision", path, "the decimal"), path, "`precision`")
            return StatedType(logical.Decimal(precision, as_number(type_.get("scale", 0), path, "`scale`")))
        if mark is not None and (name, mark) not in _MARKED:
            self.losses.append(Loss(path_text(path), f"the logical type {mark} of Avro"))
        return _MARKED.get((name, mark), stated) if isinstance(mark, str) else stated
