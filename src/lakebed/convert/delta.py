"""Convert the logical schema from and to the schemas of Delta tables (`schemaString`, Delta protocol).

| Delta | logical type |
|---|---|
| boolean, byte, short, integer, long, float, double, string, binary, date | Bool, Int8 to Int64, Float32, ... |
| decimal(p,s) | Decimal |
| timestamp | Timestamp in microseconds, UTC |
| timestamp_ntz, variant | the nearest type, with the hint `paimon.apache.org/type` |
| void | Null |
| array, map, struct | List, Map, Struct |

The metadata of a column holds its description as `comment`, its field id as `delta.columnMapping.id`, the length of a
CHAR or VARCHAR as `__CHAR_VARCHAR_TYPE_STRING`, and the rest as `lakebed` (`lakebed.convert.notes`); the note of the
table stands in its first column. Of a `metaData` action the schema, the partition columns and the name are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lakebed.convert.contract import Contract, losses_between, refuse_broken
from lakebed.convert.fit import STORED_TIME_DIGITS
from lakebed.convert.foreign_decimal import bounded_decimal
from lakebed.convert.foreign_json import (
    as_flag,
    as_list,
    as_mapping,
    as_number,
    as_text,
    needed,
    parsed,
    refuse_type,
    unread,
)
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.notes import NOTE, for_spark, note_of, table_note, with_note, with_table_note
from lakebed.convert.paimon import repeated_names
from lakebed.convert.stated_type import StatedType, list_of, map_of, stated_exactly
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError
from lakebed.model import Field, LogicalType, Schema, TimeUnit
from lakebed.model import types as logical
from lakebed.model.extra import DESCRIPTION, FIELD_ID
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE, Path, fold_at
from lakebed.physical import DataType, path_text
from lakebed.physical import paimon_types as physical

COMMENT, MAPPING_ID, PHYSICAL_NAME = "comment", "delta.columnMapping.id", "delta.columnMapping.physicalName"
LENGTHS, TABLE = "__CHAR_VARCHAR_TYPE_STRING", "table"
_US, _NS = TimeUnit.MICROSECOND, TimeUnit.NANOSECOND
_LEAVES: dict[type[LogicalType], str] = {
    logical.Bool: "boolean",
    logical.Int8: "byte",
    **dict.fromkeys((logical.Int16, logical.UInt8), "short"),
    **dict.fromkeys((logical.Int32, logical.UInt16), "integer"),
    **dict.fromkeys((logical.Int64, logical.UInt32, logical.Duration), "long"),
    logical.UInt64: "decimal(20,0)",
    **dict.fromkeys((logical.Float16, logical.Float32), "float"),
    logical.Float64: "double",
    logical.String: "string",
    logical.Binary: "binary",
    logical.Date: "date",
    logical.Null: "void",
}
_PRIMITIVES: dict[str, StatedType] = {
    "boolean": StatedType(logical.Bool()),
    "byte": StatedType(logical.Int8()),
    "short": StatedType(logical.Int16()),
    "integer": StatedType(logical.Int32()),
    "long": StatedType(logical.Int64()),
    "float": StatedType(logical.Float32()),
    "double": StatedType(logical.Float64()),
    "string": StatedType(logical.String()),
    "binary": StatedType(logical.Binary()),
    "date": StatedType(logical.Date()),
    "timestamp": StatedType(logical.Timestamp(_US)),
    "timestamp_ntz": StatedType(logical.Timestamp(_US), physical.Timestamp(6)),
    "variant": StatedType(logical.String(), physical.Variant()),
    "void": StatedType(logical.Null()),
    # Without digits it is the one that Spark takes.
    "decimal": StatedType(logical.Decimal(10, 0)),
}
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_LENGTH = re.compile(r"(char|varchar)\((\d+)\)")
_NAMES = (*(name for name in _PRIMITIVES if name != "decimal"), "decimal(p,s)", "struct", "array", "map")


def to_delta(declared: Schema | Contract) -> tuple[dict[str, Any], LossReport]:
    """The schema as JSON, `{"type": "struct", "fields": [...]}`: as text it is the `schemaString` of a table.

    Raises `ConversionError` for decimals of more than 38 digits, and for what no form can say.
    """
    contract = Contract.of(declared)
    refuse_broken(contract)
    writer = _Writer(stated_exactly(contract.schema))
    columns = contract.schema.fields
    parts = tuple(fold_at(f.type, (f.name,), writer.write_type) for f in columns)
    out: dict[str, Any] = {"type": "struct", "fields": writer.fields(columns, parts, ())}
    if writer.problems:
        raise ConversionError(*writer.problems)
    note = table_note(contract, from_delta(out)[0])
    if note and out["fields"]:
        metadata = out["fields"][0]["metadata"]
        metadata[NOTE] = {**metadata.get(NOTE, {}), TABLE: for_spark(note)}
    report = losses_between(contract, from_delta(out)[0])
    return out, LossReport((*report.losses, *writer.losses))


class _Writer:
    def __init__(self, exact: Mapping[Path, DataType]) -> None:
        self.problems: list[Diagnostic] = []
        self.losses: list[Loss] = []
        self._exact = exact

    def write_type(self, type_: LogicalType, path: Path, parts: tuple[Any, ...]) -> Any:
        match type_:
            case logical.Option():
                return parts[0]
            case logical.Struct():
                return {"type": "struct", "fields": self.fields(type_.fields, parts, path)}
            case logical.List():
                return {"type": "array", "elementType": parts[0], "containsNull": _is_nullable(type_.item_type)}
            case logical.Map():
                value = {"valueType": parts[1], "valueContainsNull": _is_nullable(type_.value_type)}
                return {"type": "map", "keyType": parts[0], **value}
            case logical.Decimal():
                fit = bounded_decimal(type_, "Delta", path, self.problems)
                return f"decimal({fit.precision},{fit.scale})"
            case logical.Timestamp():
                if type_.effective_unit is _NS:
                    self.losses.append(Loss(path_text(path), "the digits of nanoseconds, which Delta's values lack"))
                return "timestamp_ntz" if isinstance(self._exact.get(path), physical.Timestamp) else "timestamp"
            case logical.Time():
                # As Spark has the stored values.
                return "integer" if type_.effective_unit.digits <= STORED_TIME_DIGITS else "long"
            case logical.String() if isinstance(self._exact.get(path), physical.Variant):
                return "variant"
            case _:
                return _LEAVES[type(type_)]

    def fields(self, members: tuple[Field, ...], parts: tuple[Any, ...], parent: Path) -> list[dict[str, Any]]:
        known = zip(members, parts, strict=True)
        return [_noted(_field(m, part, self._exact.get((*parent, m.name))), m) for m, part in known]


def _is_nullable(type_: LogicalType) -> bool:
    return isinstance(type_, logical.Option | logical.Null)


def _field(member: Field, type_: Any, exact: DataType | None) -> dict[str, Any]:
    """A field, without its note."""
    metadata: dict[str, Any] = {}
    if member.extra.description is not None:
        metadata[COMMENT] = member.extra.description
    if FIELD_ID in member.extra:
        metadata |= {MAPPING_ID: member.extra[FIELD_ID], PHYSICAL_NAME: member.name}
    if isinstance(exact, physical.Char | physical.VarChar) and type_ == "string":
        metadata[LENGTHS] = f"{exact.root.lower()}({exact.length})"
    return {"name": member.name, "type": type_, "nullable": _is_nullable(member.type), "metadata": metadata}


def _noted(field: dict[str, Any], member: Field) -> dict[str, Any]:
    note = note_of(member, _Reader().plain_field(field, ()))
    if note:
        field["metadata"][NOTE] = for_spark(note)
    return field


def _plainly(member: Field) -> Field:
    """What a reader that knows no notes of this field makes of it."""
    exact = stated_exactly(Schema((member,)))
    made = fold_at(member.type, (member.name,), _Writer(exact).write_type)
    return _Reader().plain_field(_field(member, made, exact.get((member.name,))), ())


def from_delta(value: Any) -> tuple[Contract, LossReport]:
    """What a schema, or a `metaData` action, declares, and what has no place in a schema."""
    described = as_mapping(value, (), "the schema")
    described = as_mapping(described.get("metaData", described), (), "`metaData`")
    reader = _Reader()
    contract = reader.table(described) if "schemaString" in described else reader.contract(described)
    problems = repeated_names(contract.schema.fields)
    if problems:
        raise ConversionError(*problems)
    return contract, LossReport(tuple(reader.losses))


class _Reader:
    def __init__(self) -> None:
        self.losses: list[Loss] = []

    def table(self, action: Mapping[str, Any]) -> Contract:
        """The contract of a `metaData` action."""
        found = self.contract(parsed(action["schemaString"], (), "`schemaString`"))
        columns = as_list(action.get("partitionColumns") or [], (), "`partitionColumns`")
        described = action.get("description")
        extra = found.schema.extra.merged({DESCRIPTION: described} if isinstance(described, str) else {})
        configured = unread(as_mapping(action.get("configuration") or {}, (), "`configuration`"), ())
        if configured:
            self.losses.append(Loss("", f"the configuration {', '.join(configured)}"))
        keys = tuple(as_text(name, (), "a name of a partition column") for name in columns)
        name = action.get("name") if isinstance(action.get("name"), str) else found.name
        return Contract(Schema(found.schema.fields, extra), name, found.primary_keys, keys, found.options)

    def contract(self, struct: Any) -> Contract:
        described = as_mapping(struct, (), "the schema")
        plain = Contract(Schema(self.fields(described, ())))
        note: Mapping[str, Any] = {}
        for first in described["fields"][:1]:
            note = (first.get("metadata") or {}).get(NOTE) or {}
        # Spark's own notes have the attributes of the schema as text: `lakebed.convert.spark`.
        of_spark = {"extra": parsed(note["schema"], (), "`schema`")} if "schema" in note else None
        return with_table_note(plain, note.get(TABLE, of_spark))

    def fields(self, struct: Mapping[str, Any], path: Path) -> tuple[Field, ...]:
        found = as_list(needed(struct, "fields", path, "the struct"), path, "`fields`")
        return tuple(self.field(as_mapping(f, path, "a field"), path) for f in found)

    def field(self, value: Mapping[str, Any], path: Path) -> Field:
        """A field with what its note says."""
        plain = self.plain_field(value, path)
        metadata = as_mapping(value.get("metadata") or {}, path, "`metadata`")
        known = (COMMENT, MAPPING_ID, PHYSICAL_NAME, LENGTHS, NOTE)
        said = [Loss(path_text((*path, plain.name)), f"the metadata {name}") for name in unread(metadata, known)]
        self.losses += said
        return with_note(plain, metadata.get(NOTE), _plainly, path, self.losses)

    def plain_field(self, value: Mapping[str, Any], parent: Path) -> Field:
        """A field, its own note left aside."""
        name = as_text(needed(value, "name", parent, "a field"), parent, "`name`")
        path = (*parent, name)
        metadata = as_mapping(value.get("metadata") or {}, path, "`metadata`")
        stated = self.read_type(needed(value, "type", path, "the field"), path)
        extra: dict[str, Any] = {}
        if isinstance(metadata.get(COMMENT), str):
            extra[DESCRIPTION] = metadata[COMMENT]
        if MAPPING_ID in metadata:
            extra[FIELD_ID] = as_number(metadata[MAPPING_ID], path, f"`{MAPPING_ID}`")
        if LENGTHS in metadata:
            stated = self._with_length(stated, metadata[LENGTHS], path)
        return _or_null(stated, value.get("nullable", True), path).field(name, extra)

    def _with_length(self, stated: StatedType, text: Any, path: Path) -> StatedType:
        found = _LENGTH.fullmatch(text) if isinstance(text, str) else None
        if found is None or stated.type != logical.String():
            self.losses.append(Loss(path_text(path), f"the lengths {text}"))
            return stated
        kind = physical.Char if found[1] == "char" else physical.VarChar
        return StatedType(stated.type, kind(int(found[2])))

    def read_type(self, type_: Any, path: Path) -> StatedType:
        if isinstance(type_, str):
            return self._primitive(type_, path)
        told = as_mapping(type_, path, "the type")
        match told.get("type"):
            case "struct":
                return StatedType(logical.Struct(self.fields(told, path)))
            case "array":
                item = self.read_type(needed(told, "elementType", path, "the array"), (*path, ELEMENT))
                return list_of(_or_null(item, told.get("containsNull", True), path))
            case "map":
                key = self.read_type(needed(told, "keyType", path, "the map"), (*path, KEY))
                value = self.read_type(needed(told, "valueType", path, "the map"), (*path, VALUE))
                return map_of(key, _or_null(value, told.get("valueContainsNull", True), path))
            case other:
                return refuse_type(path, other, "Delta", _NAMES)

    def _primitive(self, name: str, path: Path) -> StatedType:
        found = _DECIMAL.fullmatch(name)
        if found is not None:
            return StatedType(logical.Decimal(int(found[1]), int(found[2])))
        return _PRIMITIVES[name] if name in _PRIMITIVES else refuse_type(path, name, "Delta", _NAMES)


def _or_null(stated: StatedType, nullable: Any, path: Path) -> StatedType:
    is_null = isinstance(stated.type, logical.Null)
    return stated.or_null(as_flag(nullable, path, "whether it may be null") and not is_null)
