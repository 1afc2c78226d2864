"""Decode nodes into fields and schemas (RFC-016 `DataField`, `DataSchema`), with the position of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakebed.diagnostics import Position, path_text
from lakebed.manifest.attributes import AttributeDecoder, AttributePlace, Attributes
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped
from lakebed.manifest.problems import FieldPath, Problems
from lakebed.manifest.properties import Properties, wrong_shape
from lakebed.manifest.type_decoder import TypeDecoder
from lakebed.model import Extra, Field, LogicalType, Schema
from lakebed.model.extra import FIELD_ID, RENAMED_FROM

RESERVED_NAMES = frozenset({"_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "_ROW_ID", "rowkind"})
RESERVED_PREFIX = "_KEY_"


@dataclass(frozen=True, slots=True)
class Declared:
    """A decoded schema.

    `names` has every top-level column with its type, None where that is faulty. `attributes` has the nodes of the
    schema's own attributes.
    """

    schema: Schema
    names: dict[str, LogicalType | None]
    attributes: dict[str, Node]


@dataclass(frozen=True, slots=True)
class _Member:
    """One field of a level, as far as it could be decoded; `renamed_from` is the node that says so."""

    name: str
    at: ScalarNode
    type: LogicalType | None
    extra: Extra
    renamed_from: Node | None


class SchemaDecoder:
    """Decodes one schema.

    `positions` then has the place of every field's name, by path; `attribute_positions` that of every attribute, by
    `("extra", *path, name)`.
    """

    def __init__(self, problems: Problems) -> None:
        self.positions: dict[FieldPath, Position] = {}
        self.attribute_positions: dict[FieldPath, Position] = {}
        self._problems = problems
        self._types = TypeDecoder(problems, self._nested_fields)
        self._attributes = AttributeDecoder(problems)
        self._field_ids: dict[int, tuple[FieldPath, Position]] = {}

    def decode(self, node: MappingNode, place: AttributePlace) -> Declared | None:
        """The schema at `node`; None where it has no list of fields, which has then been noted."""
        properties = Properties(node, "the schema", self._problems)
        listed = properties.need("fields", "fields: [{name: id, type: Int64}]")
        attributes = self._attributes.decode(properties.take("extra"), place, (), None)
        properties.close()
        self._note_attributes((), attributes)
        fields = properties.sequence(listed, "`fields`") if listed is not None else None
        if fields is None:
            return None
        members = self._members(fields, (), 0)
        schema = Schema(_whole(members), attributes.extra)
        return Declared(schema, {m.name: m.type for m in members}, attributes.nodes)

    def _nested_fields(self, node: SequenceNode, path: FieldPath, depth: int) -> tuple[Field, ...] | None:
        members = self._members(node, path, depth)
        fields = _whole(members)
        return fields if len(fields) == len(node.items) else None

    def _members(self, node: SequenceNode, path: FieldPath, depth: int) -> list[_Member]:
        decoded = (self._member(item, path, depth) for item in node.items)
        members = [member for member in decoded if member is not None]
        self._check_names(members, path)
        self._check_renames(members, path)
        return members

    def _member(self, node: Node, path: FieldPath, depth: int) -> _Member | None:
        if not isinstance(node, MappingNode):
            wrong_shape(
                self._problems,
                node,
                "a field",
                "a mapping such as {name: id, type: Int64}",
                path=path_text(path) or None,
            )
            return None
        properties = Properties(node, "the field", self._problems, path)
        name = properties.name("name", "name: id")
        inner = (*path, name.text) if name is not None else path
        if name is not None:
            properties.rename(f"the field {clipped(name.text)}", inner)
            self.positions.setdefault(inner, name.position)
        type_node = properties.written("type", "type: String")
        type_ = self._types.decode(type_node, inner, depth) if type_node is not None else None
        attributes = self._attributes.decode(properties.take("extra"), AttributePlace.FIELD, inner, type_)
        properties.close()
        self._note_attributes(inner, attributes)
        self._check_field_id(attributes.extra, attributes.nodes.get(FIELD_ID), inner)
        if name is None:
            return None
        return _Member(name.text, name, type_, attributes.extra, attributes.nodes.get(RENAMED_FROM))

    def _note_attributes(self, path: FieldPath, attributes: Attributes) -> None:
        for name, node in attributes.nodes.items():
            self.attribute_positions.setdefault(("extra", *path, name), node.position)

    def _check_names(self, members: Sequence[_Member], path: FieldPath) -> None:
        by_name: dict[str, _Member] = {}
        by_folded: dict[str, _Member] = {}
        for member in members:
            where = path_text((*path, member.name)) or None
            if not member.name.strip():
                self._problems.error(
                    "LB1062",
                    "the name of a column is empty or blank",
                    member.at,
                    path=path_text(path) or None,
                    remedy="Give the column a name.",
                )
            elif member.name in by_name:
                first = by_name[member.name].at.position
                self._problems.error(
                    "LB1060",
                    f"there are two columns {clipped(member.name)}; the first is in line {first.line}, "
                    f"column {first.column}",
                    member.at,
                    path=where,
                    remedy="Rename or remove one.",
                )
            elif member.name.lower() in by_folded:
                other = by_folded[member.name.lower()]
                self._problems.error(
                    "LB1061",
                    f"the column {clipped(member.name)} differs only in case from {clipped(other.name)} in line "
                    f"{other.at.position.line}, column {other.at.position.column}",
                    member.at,
                    path=where,
                    remedy="Give one of them another name: many engines do not tell such names apart.",
                )
            elif not path and (member.name in RESERVED_NAMES or member.name.startswith(RESERVED_PREFIX)):
                self._problems.error(
                    "LB1063",
                    f"the column name {clipped(member.name)} is reserved by the table format",
                    member.at,
                    path=where,
                    remedy="Choose another name.",
                )
            by_name.setdefault(member.name, member)
            by_folded.setdefault(member.name.lower(), member)

    def _check_renames(self, members: Sequence[_Member], path: FieldPath) -> None:
        taken: dict[str, _Member] = {}
        for member in members:
            former = member.extra.get(RENAMED_FROM)
            if not isinstance(former, str) or member.renamed_from is None:
                continue
            where = path_text((*path, member.name)) or None
            if former == member.name:
                message = f"the column {clipped(member.name)} says that it was renamed from itself"
                remedy = f"Leave {RENAMED_FROM} out, or name the former name."
                self._problems.error("LB1074", message, member.renamed_from, path=where, remedy=remedy)
            elif former in taken:
                message = (
                    f"{clipped(taken[former].name)} and {clipped(member.name)} are both renamed from {clipped(former)}"
                )
                remedy = "One column can become one column; the other one is new."
                self._problems.error("LB1076", message, member.renamed_from, path=where, remedy=remedy)
            else:
                taken[former] = member

    def _check_field_id(self, extra: Extra, node: Node | None, path: FieldPath) -> None:
        field_id = extra.get(FIELD_ID)
        if node is None or field_id is None:
            return
        owner, first = self._field_ids.setdefault(field_id, (path, node.position))
        if owner != path:
            message = (
                f"the field id {field_id} is given twice; the first is in line {first.line}, column {first.column}"
            )
            self._problems.error("LB1077", message, node, path=path_text(path) or None)


def _whole(members: Sequence[_Member]) -> tuple[Field, ...]:
    return tuple(Field(m.name, m.type, m.extra) for m in members if m.type is not None)
