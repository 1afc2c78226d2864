"""Decode nodes into logical types (RFC-016): long and short form, three spellings a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from lakebed.diagnostics import near_names, path_text
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped
from lakebed.manifest.problems import FieldPath, Problems
from lakebed.manifest.properties import Properties, spellings, wrong_shape
from lakebed.manifest.time_zones import is_time_zone, known_time_zones
from lakebed.model import (
    BY_KIND,
    Binary,
    Bool,
    Date,
    Decimal,
    Duration,
    Field,
    Float16,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    Int64,
    List,
    LogicalType,
    Map,
    Null,
    Option,
    String,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
)

MAX_TYPE_DEPTH = 100
_UINT64 = 2**64 - 1
_KINDS = spellings(BY_KIND)
_PLAIN: dict[str, LogicalType] = {
    type_.kind: type_
    for type_ in (
        *(Bool(), Date(), Float16(), Float32(), Float64(), Int8(), Int16(), Int32(), Int64()),
        *(Null(), String(), UInt8(), UInt16(), UInt32(), UInt64()),
    )
}
#: What other type systems call a kind.
_FOREIGN_KINDS = {
    "array": "List",
    "bigint": "Int64",
    "blob": "Binary",
    "boolean": "Bool",
    "byte": "Int8",
    "bytes": "Binary",
    "char": "String",
    "datetime": "Timestamp",
    "double": "Float64",
    "float": "Float32",
    "int": "Int32",
    "integer": "Int32",
    "interval": "Duration",
    "long": "Int64",
    "nullable": "Option",
    "number": "Decimal",
    "numeric": "Decimal",
    "object": "Struct",
    "real": "Float32",
    "record": "Struct",
    "row": "Struct",
    "short": "Int16",
    "smallint": "Int16",
    "str": "String",
    "text": "String",
    "tinyint": "Int8",
    "utf8": "String",
    "varbinary": "Binary",
    "varchar": "String",
}

FieldsDecoder = Callable[[SequenceNode, FieldPath, int], tuple[Field, ...] | None]


class TypeDecoder:
    """Decodes types at any depth. `fields` decodes the members of a `Struct`; it comes from the field decoder."""

    def __init__(self, problems: Problems, fields: FieldsDecoder) -> None:
        self._problems = problems
        self._fields = fields

    def decode(self, node: Node, path: FieldPath, depth: int = 0) -> LogicalType | None:
        """The type at `node`; None where there is none, which has then been noted."""
        where = path_text(path) or None
        if depth > MAX_TYPE_DEPTH:
            self._problems.error("LB1005", f"types are nested more than {MAX_TYPE_DEPTH} deep", node, path=where)
            return None
        match node:
            case ScalarNode():
                properties = Properties(MappingNode((), node.position), "the type", self._problems, path)
                kind_node: Node | None = node
            case MappingNode():
                properties = Properties(node, "the type", self._problems, path)
                kind_node = properties.name("kind", "kind: String")
            case SequenceNode():
                expected = "a kind such as String, or a mapping such as {kind: String}"
                wrong_shape(self._problems, node, "the type", expected, path=where)
                return None
            case _:
                assert_never(node)
        kind = self._kind(properties, kind_node, where) if kind_node is not None else None
        if kind is None:
            return None
        properties.rename(f"the type {kind}", path)
        decoded = self._build(kind, properties, path, depth)
        properties.close()
        return decoded

    def _kind(self, properties: Properties, node: Node, where: str | None) -> str | None:
        scalar = properties.scalar(node, "`kind`")
        if scalar is None:
            return None
        kind = _KINDS.get(scalar.text)
        if kind is not None:
            return kind
        foreign = _FOREIGN_KINDS.get(scalar.text.lower())
        remedy = f"Take one of {', '.join(BY_KIND)}."
        if any(mark in scalar.text for mark in "(<["):
            remedy = (
                "Parameters are properties: {kind: Decimal, precision: 10, scale: 2}, {kind: List, itemType: String}."
            )
        self._problems.error(
            "LB1050",
            f"unknown type kind {clipped(scalar.text)}",
            scalar,
            path=where,
            expected="one of " + ", ".join(BY_KIND),
            found=scalar.text,
            suggestions=(foreign,) if foreign else near_names(scalar.text, BY_KIND),
            remedy=remedy,
        )
        return None

    def _build(self, kind: str, properties: Properties, path: FieldPath, depth: int) -> LogicalType | None:
        match kind:
            case "Binary":
                return Binary(properties.integer("fixedLength", 0, _UINT64))
            case "Decimal":
                return self._decimal(properties)
            case "Duration":
                return Duration(self._unit(properties))
            case "Time":
                return Time(self._unit(properties))
            case "Timestamp":
                return Timestamp(self._unit(properties), self._zone(properties, path))
            case "List":
                item = self._inner(properties, "itemType", "itemType: String", (*path, "element"), depth)
                length = properties.integer("fixedLength", 0, _UINT64)
                return List(item, length) if item is not None else None
            case "Map":
                return self._map(properties, path, depth)
            case "Option":
                return self._option(properties, path, depth)
            case "Struct":
                return self._struct(properties, path, depth)
            case _:
                return _PLAIN[kind]

    def _inner(
        self, properties: Properties, name: str, example: str, path: FieldPath, depth: int
    ) -> LogicalType | None:
        node = properties.written(name, example)
        return self.decode(node, path, depth + 1) if node is not None else None

    def _decimal(self, properties: Properties) -> Decimal:
        absent = tuple(name for name in ("precision", "scale") if properties.optional(name) is None)
        if absent:
            properties.missing(absent, "{kind: Decimal, precision: 10, scale: 2}")
        precision = properties.integer("precision", 1, 2**32 - 1)
        scale = properties.integer("scale", -(2**31), 2**31 - 1)
        return Decimal(precision or 1, scale or 0)

    def _unit(self, properties: Properties) -> TimeUnit | None:
        chosen = properties.choice("unit", [unit.value for unit in TimeUnit], "LB1053")
        return TimeUnit(chosen) if chosen is not None else None

    def _zone(self, properties: Properties, path: FieldPath) -> str | None:
        node = properties.optional("timezone")
        zone = properties.text("timezone")
        if node is not None and zone is not None and not is_time_zone(zone):
            self._problems.error(
                "LB1054",
                f"{clipped(zone)} is no time zone",
                node,
                path=path_text(path) or None,
                expected="a name of the tz database such as Europe/Paris, or an offset such as +07:30",
                found=zone,
                suggestions=near_names(zone, sorted(known_time_zones())),
            )
        return zone

    def _map(self, properties: Properties, path: FieldPath, depth: int) -> Map | None:
        key = self._inner(properties, "keyType", "keyType: String", (*path, "key"), depth)
        value = self._inner(properties, "valueType", "valueType: String", (*path, "value"), depth)
        keys_sorted = properties.boolean("keysSorted")
        return Map(key, value, keys_sorted) if key is not None and value is not None else None

    def _option(self, properties: Properties, path: FieldPath, depth: int) -> Option | None:
        inner = self._inner(properties, "inner", "inner: String", path, depth)
        if not isinstance(inner, Option):
            return Option(inner) if inner is not None else None
        self._problems.error(
            "LB1051",
            "an Option of an Option has no meaning: a value is null or it is not",
            properties.node,
            path=path_text(path) or None,
            remedy="Write one Option.",
        )
        return None

    def _struct(self, properties: Properties, path: FieldPath, depth: int) -> Struct | None:
        node = properties.need("fields", "fields: [{name: id, type: Int64}]")
        listed = properties.sequence(node, "`fields`") if node is not None else None
        fields = self._fields(listed, path, depth + 1) if listed is not None else None
        return Struct(fields) if fields is not None else None
