"""Convert the logical schema from and to Iceberg's schemas in JSON (format versions 1 to 3).

| Iceberg | logical type |
|---|---|
| boolean, int, long, float, double, string, binary | Bool, Int32, Int64, Float32, Float64, String, Binary |
| decimal(P, S), fixed[L], date | Decimal, Binary of L bytes, Date |
| time | Time in microseconds |
| timestamptz, timestamptz_ns | Timestamp in microseconds, in nanoseconds, UTC |
| timestamp, timestamp_ns, variant, geometry, geography | the nearest type, with the hint `paimon.apache.org/type` |
| unknown | Null |
| list, map, struct | List, Map, Struct |

Field ids are `lakebed.dev/fieldId`; fields without one get the ids that come next. `doc` is the description, and
`write-default` the default. A schema names its identifier fields, which are the primary key; it has no place for
partitions, options and attributes. Of a table's metadata the current schema is read, with its partition fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lakebed.convert.contract import Contract, losses_between, refuse_broken
from lakebed.convert.foreign_decimal import bounded_decimal
from lakebed.convert.foreign_json import as_list, as_mapping, as_number, as_text, needed, refuse, refuse_type, unread
from lakebed.convert.loss import Loss, LossReport
from lakebed.convert.paimon import repeated_names
from lakebed.convert.stated_type import StatedType, list_of, map_of, stated_exactly
from lakebed.diagnostics import Diagnostic
from lakebed.errors import ConversionError
from lakebed.model import Field, LogicalType, Schema, TimeUnit, required
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, FIELD_ID
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE, Path, fields_inside, fold_at, places_inside
from lakebed.physical import DataType, path_text
from lakebed.physical import paimon_types as physical

_US, _NS = TimeUnit.MICROSECOND, TimeUnit.NANOSECOND
_LEAVES: dict[type[LogicalType], str] = {
    logical.Bool: "boolean",
    **dict.fromkeys((logical.Int8, logical.Int16, logical.Int32, logical.UInt8, logical.UInt16), "int"),
    **dict.fromkeys((logical.UInt32, logical.Int64, logical.Duration), "long"),
    logical.UInt64: "decimal(20, 0)",
    **dict.fromkeys((logical.Float16, logical.Float32), "float"),
    logical.Float64: "double",
    logical.String: "string",
    logical.Date: "date",
    logical.Time: "time",
    logical.Null: "unknown",
}
_PRIMITIVES: dict[str, StatedType] = {
    "boolean": StatedType(logical.Bool()),
    "int": StatedType(logical.Int32()),
    "long": StatedType(logical.Int64()),
    "float": StatedType(logical.Float32()),
    "double": StatedType(logical.Float64()),
    "date": StatedType(logical.Date()),
    "time": StatedType(logical.Time(_US)),
    "timestamp": StatedType(logical.Timestamp(_US), physical.Timestamp(6)),
    "timestamptz": StatedType(logical.Timestamp(_US)),
    "timestamp_ns": StatedType(logical.Timestamp(_NS), physical.Timestamp(9)),
    "timestamptz_ns": StatedType(logical.Timestamp(_NS)),
    "string": StatedType(logical.String()),
    "binary": StatedType(logical.Binary()),
    "variant": StatedType(logical.String(), physical.Variant()),
    "unknown": StatedType(logical.Null()),
}
_SIZED = re.compile(r"(decimal|fixed)\s*[(\[]\s*(\d+)\s*(?:,\s*(\d+)\s*)?[)\]]")
_SHAPE = re.compile(r"(geometry|geography)(?:\(\s*([^,)]+?)\s*(?:,\s*(\w+)\s*)?\))?")
_CRS = physical.Geometry().crs
#: The ids of items, keys and values are counted from the middle, 1024 for each field (Paimon `SpecialFields`).
_BASE, _MOST_INSIDE = (2**31 - 1) // 4, 1024
_PLAIN_IDS = _BASE // _MOST_INSIDE
_NAMES = (*_PRIMITIVES, "decimal(P, S)", "fixed[L]", "struct", "list", "map")
#: Types of Python of the defaults that Iceberg's JSON holds as they are; others are text there.
_DEFAULTS: dict[type[LogicalType], tuple[type, ...]] = {
    logical.Bool: (bool,),
    **dict.fromkeys((logical.Int8, logical.Int16, logical.Int32, logical.Int64), (int,)),
    **dict.fromkeys((logical.UInt8, logical.UInt16, logical.UInt32), (int,)),
    **dict.fromkeys((logical.Float16, logical.Float32, logical.Float64), (int, float)),
    **dict.fromkeys((logical.String, logical.Date, logical.Decimal), (str,)),
}


def to_iceberg(declared: Schema | Contract) -> tuple[dict[str, Any], LossReport]:
    """The schema as JSON: `{"type": "struct", "schema-id": 0, "identifier-field-ids": [...], "fields": [...]}`.

    Raises `ConversionError` for decimals of more than 38 digits, and for what no form can say.
    """
    contract = Contract.of(declared)
    refuse_broken(contract)
    schema = contract.schema
    writer = _Writer(_ids(contract), stated_exactly(schema))
    parts = tuple(fold_at(f.type, (f.name,), writer.write_type) for f in schema.fields)
    out: dict[str, Any] = {"type": "struct", "schema-id": 0}
    types = {f.name: part for f, part in zip(schema.fields, parts, strict=True) if not f.nullable}
    if contract.primary_keys and all(_identifies(types.get(name)) for name in contract.primary_keys):
        out["identifier-field-ids"] = [writer.ids[(name,)] for name in contract.primary_keys]
    out["fields"] = writer.fields(schema.fields, parts, ())
    if writer.problems:
        raise ConversionError(*writer.problems)
    return out, losses_between(contract, from_iceberg(out)[0])


def _identifies(type_: Any) -> bool:
    """Whether required columns of a type can be identifier fields: those of one value, but no floating point."""
    return isinstance(type_, str) and type_ not in ("float", "double", "unknown")


def _ids(contract: Contract) -> dict[Path, int]:
    """The id of each field, item, key and value.

    Fields have those that they are pinned to. What a pinned field holds gets ids that are made of its own, as Paimon
    makes them, so that they stay while the table grows. Everything else gets what comes next.
    """
    columns = contract.schema.fields
    fields = dict(fields_inside(columns))
    pinned = {path: f.extra[FIELD_ID] for path, f in fields.items() if FIELD_ID in f.extra}
    following = max((*pinned.values(), contract.highest_field_id, 0)) + 1
    found = dict(pinned)
    taken = {*pinned.values()}
    for place in sorted((p for f in columns for p, _ in places_inside(f.type, (f.name,))), key=len):
        if place in found:
            continue
        owner = next(place[:n] for n in range(len(place), 0, -1) if place[:n] in fields)
        if owner == place or pinned.get(owner, _PLAIN_IDS) >= _PLAIN_IDS:
            found[place], following = following, following + 1
        else:
            sign = -1 if place[-1] == KEY else 1
            depths = range(len(place) - len(owner), _MOST_INSIDE)
            ids = (_BASE + sign * (pinned[owner] * _MOST_INSIDE + depth) for depth in depths)
            found[place] = next(id_ for id_ in ids if id_ not in taken)
        taken.add(found[place])
    return found


class _Writer:
    def __init__(self, ids: Mapping[Path, int], exact: Mapping[Path, DataType]) -> None:
        self.ids = ids
        self.problems: list[Diagnostic] = []
        self._exact = exact

    def write_type(self, type_: LogicalType, path: Path, parts: tuple[Any, ...]) -> Any:
        match type_:
            case logical.Option():
                return parts[0]
            case logical.Struct():
                return {"type": "struct", "fields": self.fields(type_.fields, parts, path)}
            case logical.List():
                item = {"element-id": self.ids[(*path, ELEMENT)], "element": parts[0]}
                return {"type": "list", **item, "element-required": _is_required(type_.item_type)}
            case logical.Map():
                key = {"key-id": self.ids[(*path, KEY)], "key": parts[0]}
                value = {"value-id": self.ids[(*path, VALUE)], "value": parts[1]}
                return {"type": "map", **key, **value, "value-required": _is_required(type_.value_type)}
            case logical.Decimal():
                fit = bounded_decimal(type_, "Iceberg", path, self.problems)
                return f"decimal({fit.precision}, {fit.scale})"
            case logical.Timestamp():
                zone = "" if isinstance(self._exact.get(path), physical.Timestamp) else "tz"
                return f"timestamp{zone}" + ("_ns" if type_.effective_unit is _NS else "")
            case logical.Binary(fixed_length=int() as length):
                return f"fixed[{length}]"
            case logical.Binary():
                return self._shape(path)
            case logical.String() if isinstance(self._exact.get(path), physical.Variant):
                return "variant"
            case _:
                return _LEAVES[type(type_)]

    def _shape(self, path: Path) -> str:
        match self._exact.get(path):
            case physical.Geometry(crs=crs):
                return f"geometry({crs})"
            case physical.Geography(crs=crs, algorithm=algorithm):
                return f"geography({crs}, {algorithm})"
            case _:
                return "binary"

    def fields(self, members: tuple[Field, ...], parts: tuple[Any, ...], parent: Path) -> list[dict[str, Any]]:
        return [self._field(m, part, (*parent, m.name)) for m, part in zip(members, parts, strict=True)]

    def _field(self, member: Field, type_: Any, path: Path) -> dict[str, Any]:
        required_ = _is_required(member.type)
        out = {"id": self.ids[path], "name": member.name, "required": required_, "type": type_}
        if member.extra.description is not None:
            out["doc"] = member.extra.description
        default = member.extra.get(DEFAULT)
        if type(default) in _DEFAULTS.get(type(required(member.type)), ()) and type_ != "variant":
            out["write-default"] = default
        return out


def _is_required(type_: LogicalType) -> bool:
    return not isinstance(type_, logical.Option | logical.Null)


def from_iceberg(value: Any) -> tuple[Contract, LossReport]:
    """What a schema, or the metadata of a table (its `metadata.json`), declares, and what has no place in a schema."""
    described = as_mapping(value, (), "the schema")
    if "metadata" in described:
        # What a REST catalog answers.
        described = as_mapping(described["metadata"], (), "`metadata`")
    reader = _Reader()
    if "fields" in described:
        contract = reader.contract(described)
    elif "schemas" in described or "schema" in described:
        contract = reader.table(described)
    else:
        refuse((), "this is neither a schema nor the metadata of a table", "`fields`, or `schemas`", value)
    problems = repeated_names(contract.schema.fields)
    if problems:
        raise ConversionError(*problems)
    return contract, LossReport(tuple(reader.losses))


class _Reader:
    def __init__(self) -> None:
        self.losses: list[Loss] = []
        self._names: dict[int, Path] = {}

    def table(self, metadata: Mapping[str, Any]) -> Contract:
        """The current schema of a table, its partition fields where they are columns, and its name."""
        found = self.contract(_current(metadata))
        properties = as_mapping(metadata.get("properties", {}), (), "`properties`")
        comment = properties.get("comment")
        extra = found.schema.extra.merged({DESCRIPTION: comment} if isinstance(comment, str) else {})
        others = unread(properties, ("comment",))
        if others:
            self.losses.append(Loss("", f"the properties {', '.join(others)}"))
        if any(as_list(order.get("fields", []), (), "`fields`") for order in metadata.get("sort-orders", [])):
            self.losses.append(Loss("", "the sort order"))
        location = metadata.get("location")
        name = location.rstrip("/").rpartition("/")[2] if isinstance(location, str) else metadata.get("name")
        keys = tuple(self._partition_keys(_current_spec(metadata)))
        return Contract(Schema(found.schema.fields, extra), name, found.primary_keys, keys)

    def contract(self, schema: Mapping[str, Any]) -> Contract:
        fields = self.fields(schema, ())
        keys = as_list(schema.get("identifier-field-ids", []), (), "`identifier-field-ids`")
        paths = [self._names.get(as_number(id_, (), "an identifier field"), ()) for id_ in keys]
        nested = [path_text(path) or "of an unknown id" for path in paths if len(path) != 1]
        self.losses += [Loss("", f"the identifier field {name}, which is no column") for name in nested]
        return Contract(Schema(fields), None, () if nested else tuple(path[0] for path in paths))

    def _partition_keys(self, spec: list[Any]) -> Iterator[str]:
        for part in spec:
            told = as_mapping(part, (), "a partition field")
            path = self._names.get(as_number(told.get("source-id"), (), "`source-id`"), ())
            if told.get("transform") == "identity" and len(path) == 1:
                yield path[0]
            else:
                of = path_text(path) or told.get("source-id")
                self.losses.append(Loss("", f"the partition field {told.get('name')}: {told.get('transform')}({of})"))

    def fields(self, struct: Mapping[str, Any], path: Path) -> tuple[Field, ...]:
        found = as_list(needed(struct, "fields", path, "the struct"), path, "`fields`")
        return tuple(self._field(as_mapping(f, path, "a field"), path) for f in found)

    def _field(self, value: Mapping[str, Any], parent: Path) -> Field:
        name = as_text(needed(value, "name", parent, "a field"), parent, "`name`")
        path = (*parent, name)
        id_ = as_number(needed(value, "id", path, "the field"), path, "`id`")
        self._names[id_] = path
        stated = self.read_type(needed(value, "type", path, "the field"), path)
        extra: dict[str, Any] = {FIELD_ID: id_}
        if isinstance(value.get("doc"), str):
            extra[DESCRIPTION] = value["doc"]
        default = value.get("write-default")
        if type(default) in _DEFAULTS.get(type(stated.type), ()):
            extra[DEFAULT] = default
        elif default is not None:
            self.losses.append(Loss(path_text(path), "the default"))
        if value.get("initial-default") is not None and value.get("initial-default") != default:
            self.losses.append(Loss(path_text(path), "the default of rows that are stored already"))
        is_null = isinstance(stated.type, logical.Null)
        return stated.or_null(not value.get("required", False) and not is_null).field(name, extra)

    def read_type(self, type_: Any, path: Path) -> StatedType:
        if isinstance(type_, str):
            return self._primitive(type_, path)
        told = as_mapping(type_, path, "the type")
        match told.get("type"):
            case "struct":
                return StatedType(logical.Struct(self.fields(told, path)))
            case "list":
                item = self.read_type(needed(told, "element", path, "the list"), (*path, ELEMENT))
                return list_of(_or_null(item, told.get("element-required")))
            case "map":
                key = self.read_type(needed(told, "key", path, "the map"), (*path, KEY))
                value = self.read_type(needed(told, "value", path, "the map"), (*path, VALUE))
                return map_of(key, _or_null(value, told.get("value-required")))
            case other:
                return refuse_type(path, other, "Iceberg", _NAMES)

    def _primitive(self, name: str, path: Path) -> StatedType:
        if name in _PRIMITIVES:
            return _PRIMITIVES[name]
        if name == "uuid":
            self.losses.append(Loss(path_text(path), "that the text is a UUID"))
            return StatedType(logical.String())
        match _SIZED.fullmatch(name), _SHAPE.fullmatch(name):
            case (sized, None) if sized is not None and sized[1] == "decimal" and sized[3] is not None:
                return StatedType(logical.Decimal(int(sized[2]), int(sized[3])))
            case (sized, None) if sized is not None and sized[1] == "fixed" and sized[3] is None:
                return StatedType(logical.Binary(int(sized[2])))
            case (None, shape) if shape is not None and shape[1] == "geometry":
                return StatedType(logical.Binary(), physical.Geometry(shape[2] or _CRS))
            case (None, shape) if shape is not None:
                return StatedType(logical.Binary(), physical.Geography(shape[2] or _CRS, shape[3] or "spherical"))
            case _:
                return refuse_type(path, name, "Iceberg", (*_NAMES, "uuid"))


def _or_null(stated: StatedType, is_required: Any) -> StatedType:
    return stated.or_null(not is_required and not isinstance(stated.type, logical.Null))


def _current(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The current schema of a table's metadata; of format version 1 perhaps the only one."""
    listed = [as_mapping(s, (), "a schema") for s in as_list(metadata.get("schemas", []), (), "`schemas`")]
    id_ = metadata.get("current-schema-id")
    found = next((s for s in listed if s.get("schema-id") == id_), metadata.get("schema"))
    if found is None:
        refuse((), f"there is no schema {id_} in the metadata", "the schema of `current-schema-id`", metadata)
    return as_mapping(found, (), "the schema")


def _current_spec(metadata: Mapping[str, Any]) -> list[Any]:
    """The partition fields that new files are written by."""
    specs = [as_mapping(s, (), "a spec") for s in as_list(metadata.get("partition-specs", []), (), "`partition-specs`")]
    id_ = metadata.get("default-spec-id", 0)
    found = next((s.get("fields") for s in specs if s.get("spec-id") == id_), None)
    if found is None:
        found = metadata.get("partition-spec", [])
    # A request to a REST catalog has an object there, the metadata of version 1 a list.
    return as_list(found.get("fields", []) if isinstance(found, Mapping) else found, (), "the partition fields")
