"""Decode and check the attributes of a field or schema: keys, JSON values, known attributes.

Attributes that nobody here knows are kept as they are. Those under `lakebed.dev/` are ours: each is checked, and one
that does not exist is an error, because a misspelt one would otherwise do nothing without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from lakebed.diagnostics import Severity, near_names, path_text
from lakebed.errors import ConversionError
from lakebed.manifest.column_values import literal_for
from lakebed.manifest.node_values import json_value
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, describe, is_empty, is_null
from lakebed.manifest.problems import FieldPath, Problems
from lakebed.manifest.properties import wrong_shape
from lakebed.model import Extra, JsonValue, List, LogicalType, Map, Option, String, Struct, canonical_json, required
from lakebed.model.extra import (
    COMPATIBILITY,
    CONSUMERS,
    DEFAULT,
    DESCRIPTION,
    ENUM,
    EXTENDED_TYPE,
    FIELD_ID,
    KEY_PATTERN,
    MAXIMUM,
    MINIMUM,
    ODF_SYSTEM_COLUMN,
    ON_BAD_ROW,
    PAIMON_TYPE,
    PATTERN,
    PERSONAL_DATA,
    RENAMED_FROM,
    SYSTEM_COLUMN,
    UNIQUE,
)
from lakebed.model.known_attributes import MALFORMED, Core, extended_type
from lakebed.model.value_order import Order, order_of

DOMAIN = "lakebed.dev"
PRIMARY_KEYS = f"{DOMAIN}/primaryKeys"
PARTITION_KEYS = f"{DOMAIN}/partitionKeys"
OPTIONS = f"{DOMAIN}/options"
IGNORE_OPTIONS = f"{DOMAIN}/ignoreOptions"
APPROVALS = f"{DOMAIN}/approvals"
BAD_ROW_ACTIONS = ("quarantine", "null", "fail")
MAX_FIELD_ID = 1073741822
#: Paimon reads instructions from a description that starts so.
_INSTRUCTIONS = ("__BLOB", "__VECTOR")
_KNOWN_FOREIGN = (
    DESCRIPTION,
    EXTENDED_TYPE,
    ODF_SYSTEM_COLUMN,
    "opendatafabric.org/linkedObjects",
    PAIMON_TYPE,
    "arrow.apache.org/bufferEncoding",
    "arrow.apache.org/dateEncoding",
    "arrow.apache.org/decimalEncoding",
)


class AttributePlace(StrEnum):
    """Where attributes stand, in words for messages."""

    FIELD = "a field"
    TABLE = "the schema of a Table"
    ODF = "the schema of an ODF manifest"


PLACES: dict[str, tuple[AttributePlace, ...]] = {
    RENAMED_FROM: (AttributePlace.FIELD,),
    FIELD_ID: (AttributePlace.FIELD,),
    DEFAULT: (AttributePlace.FIELD,),
    ENUM: (AttributePlace.FIELD,),
    PATTERN: (AttributePlace.FIELD,),
    MINIMUM: (AttributePlace.FIELD,),
    MAXIMUM: (AttributePlace.FIELD,),
    UNIQUE: (AttributePlace.FIELD,),
    ON_BAD_ROW: (AttributePlace.FIELD, AttributePlace.TABLE, AttributePlace.ODF),
    PERSONAL_DATA: (AttributePlace.FIELD,),
    SYSTEM_COLUMN: (AttributePlace.FIELD,),
    PRIMARY_KEYS: (AttributePlace.ODF,),
    PARTITION_KEYS: (AttributePlace.ODF,),
    OPTIONS: (AttributePlace.ODF,),
    IGNORE_OPTIONS: (AttributePlace.ODF,),
    APPROVALS: (AttributePlace.ODF,),
    COMPATIBILITY: (AttributePlace.ODF,),
    CONSUMERS: (AttributePlace.ODF,),
}
#: These say something about the table, not about the schema: they are taken out of its attributes.
TABLE_ATTRIBUTES = frozenset(
    {PRIMARY_KEYS, PARTITION_KEYS, OPTIONS, IGNORE_OPTIONS, APPROVALS, COMPATIBILITY, CONSUMERS}
)


@dataclass(frozen=True, slots=True)
class Attributes:
    """Decoded attributes, and the node of each key, for checks that need more than one field."""

    extra: Extra
    nodes: dict[str, Node]


@dataclass(frozen=True, slots=True)
class _Subject:
    """What an attribute belongs to. `type` is None for a schema, or where the type is faulty. A member of a struct is
    no column.
    """

    place: AttributePlace
    path: str | None
    type: LogicalType | None
    is_column: bool


class AttributeDecoder:
    """Decodes the `extra` of one field or schema after the other."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._known: dict[str, Callable[[Node, _Subject], JsonValue]] = {
            DESCRIPTION: self._description,
            EXTENDED_TYPE: self._extended_type,
            PAIMON_TYPE: self._text,
            RENAMED_FROM: self._name,
            FIELD_ID: self._field_id,
            DEFAULT: self._default,
            ENUM: self._enum,
            PATTERN: self._pattern,
            MINIMUM: partial(self._bound, MINIMUM),
            MAXIMUM: partial(self._bound, MAXIMUM),
            UNIQUE: self._unique,
            ON_BAD_ROW: self._on_bad_row,
            PERSONAL_DATA: partial(self._truth, PERSONAL_DATA),
            SYSTEM_COLUMN: partial(self._role, SYSTEM_COLUMN),
            ODF_SYSTEM_COLUMN: partial(self._role, ODF_SYSTEM_COLUMN),
        }

    def decode(
        self, node: Node | None, place: AttributePlace, path: FieldPath, type_: LogicalType | None
    ) -> Attributes:
        """The attributes at `node`; faulty ones are noted and left out. An empty or absent `extra` gives none."""
        if node is None or is_null(node):
            return Attributes(Extra(), {})
        subject = _Subject(place, path_text(path) or None, type_, len(path) == 1)
        if not isinstance(node, MappingNode):
            wrong_shape(self._problems, node, f"`extra` of {place}", "a mapping of attributes", path=subject.path)
            return Attributes(Extra(), {})
        values: dict[str, JsonValue] = {}
        nodes: dict[str, Node] = {}
        for key, value in node.entries:
            if not self._key_is_good(key, subject):
                continue
            nodes[key.text] = value
            if key.text not in TABLE_ATTRIBUTES:
                decode = self._known.get(key.text)
                values[key.text] = decode(value, subject) if decode else json_value(value, self._problems)
        self._check_bounds(values, nodes, subject)
        return Attributes(Extra(values), nodes)

    def _key_is_good(self, key: ScalarNode, subject: _Subject) -> bool:
        if KEY_PATTERN.fullmatch(key.text) is None:
            self._problems.error(
                "LB1070",
                f"{clipped(key.text)} is no attribute name",
                key,
                path=subject.path,
                expected="domain/name: [a-zA-Z0-9.-]+, one slash, [a-zA-Z0-9_-]+",
                found=key.text,
                suggestions=_named_alike(key.text, (*PLACES, *_KNOWN_FOREIGN)),
            )
            return False
        if key.text.split("/")[0].lower() != DOMAIN:
            self._lint(key, subject)
            return True
        if key.text not in PLACES:
            self._problems.error(
                "LB1071",
                f"Lakebed has no attribute {clipped(key.text)}",
                key,
                path=subject.path,
                expected=", ".join(PLACES),
                found=key.text,
                suggestions=_named_alike(key.text, PLACES),
                remedy="Put attributes of your own under a domain of your own.",
            )
            return False
        places = PLACES[key.text]
        if subject.place not in places:
            remedy = None
            if key.text in TABLE_ATTRIBUTES and subject.place is AttributePlace.TABLE:
                remedy = f"Write `{key.text.split('/')[1]}` directly under `content`."
            message = f"{key.text} does not belong on {subject.place}, but on {' or '.join(places)}"
            self._problems.error("LB1072", message, key, path=subject.path, remedy=remedy)
        return subject.place in places

    def _lint(self, key: ScalarNode, subject: _Subject) -> None:
        """A name that is nearly a known one in the known one's domain is probably meant to be it."""
        domain = key.text.split("/")[0]
        same_domain = [known for known in _KNOWN_FOREIGN if known.split("/")[0] == domain]
        near = () if key.text in same_domain else _named_alike(key.text, same_domain)
        if near:
            message = f"the attribute {key.text} is unknown and looks like a known one"
            self._problems.warn("LB1079", message, key, path=subject.path, suggestions=near)

    def _bad(self, node: Node, key: str, subject: _Subject, expected: str, remedy: str | None = None) -> None:
        self._problems.error(
            "LB1073",
            f"{key} is {describe(node)}, not {expected}",
            node,
            path=subject.path,
            expected=expected,
            found=describe(node),
            remedy=remedy,
        )

    def _description(self, node: Node, subject: _Subject) -> JsonValue:
        text = self._scalar_text(node, DESCRIPTION, subject)
        if text is not None:
            check_description(text, node, self._problems, subject.path)
        return text

    def _text(self, node: Node, subject: _Subject) -> JsonValue:
        return self._scalar_text(node, PAIMON_TYPE, subject)

    def _scalar_text(self, node: Node, key: str, subject: _Subject) -> str | None:
        if isinstance(node, ScalarNode) and not is_null(node):
            return node.text
        self._bad(node, key, subject, "text")
        return None

    def _name(self, node: Node, subject: _Subject) -> JsonValue:
        if isinstance(node, ScalarNode) and not is_empty(node) and node.text.strip():
            return node.text
        self._bad(node, RENAMED_FROM, subject, "the former name of the column")
        return None

    def _extended_type(self, node: Node, subject: _Subject) -> JsonValue:
        value = self._extended_type_value(node)
        try:
            type_ = extended_type(Extra({EXTENDED_TYPE: value}))
        except ConversionError as error:
            for d in error.diagnostics:
                self._problems.add(replace(d, severity=Severity.WARNING, position=node.position, path=subject.path))
            return value
        if subject.type is not None and not isinstance(type_, Core) and not isinstance(required(subject.type), String):
            kind = required(subject.type).kind
            message = f"{EXTENDED_TYPE} says what a String means; this column is {kind}"
            self._problems.warn(MALFORMED, message, node, path=subject.path, expected="a String column", found=kind)
        return value

    def _extended_type_value(self, node: Node) -> JsonValue:
        """Long form only is written; the short form `Did` is read as `{kind: Did}`."""
        value = json_value(node, self._problems)
        if isinstance(value, str):
            return {"kind": value}
        if isinstance(value, dict) and isinstance(link := value.get("linkType"), str):
            return {**value, "linkType": {"kind": link}}
        return value

    def _field_id(self, node: Node, subject: _Subject) -> JsonValue:
        value = json_value(node, self._problems)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_FIELD_ID:
            return value
        self._bad(node, FIELD_ID, subject, f"an integer from 0 to {MAX_FIELD_ID}")
        return None

    def _default(self, node: Node, subject: _Subject) -> JsonValue:
        """A value of the column's type; quoted text is taken as the text that the table format casts."""
        if isinstance(node, ScalarNode) and not node.plain:
            return node.text
        remedy = "Leave it out to have null as default." if is_null(node) else None
        return self._literal(node, DEFAULT, subject, remedy)

    def _literal(self, node: Node, key: str, subject: _Subject, remedy: str | None = None) -> JsonValue:
        if subject.type is None:
            return json_value(node, self._problems)
        if _nested_kind(subject.type) is not None and not isinstance(node, ScalarNode):
            return json_value(node, self._problems)
        literal = literal_for(subject.type, node)
        if literal.value is None:
            kind = required(subject.type).kind
            self._bad(node, key, subject, f"{literal.expected}, as the column is {kind}", remedy)
        return literal.value

    def _enum(self, node: Node, subject: _Subject) -> JsonValue:
        if not isinstance(node, SequenceNode) or not node.items:
            self._bad(node, ENUM, subject, "a list of the allowed values, with at least one")
            return None
        nested = _nested_kind(subject.type)
        if nested is not None:
            self._misplaced(node, ENUM, subject, "columns of single values", nested)
            return None
        order = None if subject.type is None else order_of(subject.type)
        values: list[JsonValue] = []
        seen: set[str] = set()
        for item in node.items:
            value = self._ordered(item, ENUM, subject, order)
            if value is not None and canonical_json(value) in seen:
                self._bad(item, ENUM, subject, "a value that is not in the list yet")
            seen.add(canonical_json(value))
            values.append(value)
        return values

    def _pattern(self, node: Node, subject: _Subject) -> JsonValue:
        text = self._scalar_text(node, PATTERN, subject)
        if text == "":
            self._bad(node, PATTERN, subject, "a regular expression")
        if subject.type is not None and not isinstance(required(subject.type), String):
            self._misplaced(node, PATTERN, subject, "String columns", required(subject.type).kind)
        return text

    def _role(self, key: str, node: Node, subject: _Subject) -> JsonValue:
        if isinstance(node, ScalarNode) and node.text in SYSTEM_ROLES:
            return node.text
        self._bad(node, key, subject, "one of " + ", ".join(SYSTEM_ROLES))
        return None

    def _on_bad_row(self, node: Node, subject: _Subject) -> JsonValue:
        if not isinstance(node, ScalarNode) or node.text not in BAD_ROW_ACTIONS:
            self._bad(node, ON_BAD_ROW, subject, " or ".join(BAD_ROW_ACTIONS))
            return None
        if subject.place is AttributePlace.FIELD and not subject.is_column:
            self._misplaced(node, ON_BAD_ROW, subject, "whole columns", "a member of a struct")
        elif node.text == "null" and subject.type is not None and not isinstance(subject.type, Option):
            self._misplaced(node, f"{ON_BAD_ROW}: null", subject, "columns that are an Option", subject.type.kind)
        return node.text

    def _truth(self, key: str, node: Node, subject: _Subject) -> JsonValue:
        value = json_value(node, self._problems)
        if isinstance(value, bool):
            return value
        self._bad(node, key, subject, "true or false")
        return None

    def _unique(self, node: Node, subject: _Subject) -> JsonValue:
        found = _nested_kind(subject.type) if subject.is_column else "a member of a struct"
        if found is not None:
            self._misplaced(node, UNIQUE, subject, "columns of single values", found)
            return None
        return self._truth(UNIQUE, node, subject)

    def _bound(self, key: str, node: Node, subject: _Subject) -> JsonValue:
        """The least or the greatest value of a column."""
        order = None if subject.type is None else order_of(subject.type)
        if subject.type is not None and order is None:
            kind = required(subject.type).kind
            self._misplaced(node, key, subject, "columns of numbers, dates and times", kind)
            return None
        return self._ordered(node, key, subject, order)

    def _ordered(self, node: Node, key: str, subject: _Subject, order: Order | None) -> JsonValue:
        """A value of the column's type, as an ingest would read it."""
        value = self._literal(node, key, subject)
        if value is None or order is None or order.rank(value) is not None:
            return value
        self._bad(node, key, subject, order.expected)
        return None

    def _check_bounds(self, values: dict[str, JsonValue], nodes: dict[str, Node], subject: _Subject) -> None:
        """Note a minimum above the maximum, between which no value is."""
        order = None if subject.type is None else order_of(subject.type)
        low, high = values.get(MINIMUM), values.get(MAXIMUM)
        if order is None or low is None or high is None:
            return
        least, greatest = order.rank(low), order.rank(high)
        if least is None or greatest is None or least.scale != greatest.scale or least.place <= greatest.place:
            return
        self._problems.error(
            "LB1073",
            f"{MAXIMUM} is {high}, which is less than {MINIMUM}, {low}",
            nodes[MAXIMUM],
            path=subject.path,
            expected=f"{low} or more",
            found=str(high),
        )

    def _misplaced(self, node: Node, key: str, subject: _Subject, expected: str, found: str) -> None:
        message = f"{key} is for {expected}; this one is {found}"
        self._problems.error("LB1073", message, node, path=subject.path, expected=expected, found=found)


def _nested_kind(type_: LogicalType | None) -> str | None:
    """The kind of a type of several values."""
    inner = None if type_ is None else required(type_)
    return inner.kind if isinstance(inner, List | Map | Struct) else None


SYSTEM_ROLES = ("offset", "op", "system_time", "event_time")


def check_description(text: str, node: Node, problems: Problems, path: str | None = None) -> None:
    """Note a description that Paimon would take as an instruction."""
    start = next((word for word in _INSTRUCTIONS if text.startswith(word)), None)
    if start is not None:
        message = f"a description may not start with {start}, which Paimon takes as an instruction"
        problems.error("LB1078", message, node, path=path, remedy="Start it with another word.")


def _named_alike(key: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known attribute that was probably meant; domains are left out of the comparison."""
    names = {attribute.split("/")[1]: attribute for attribute in known}
    return tuple(names[near] for near in near_names(key.split("/")[-1], names, limit=1))
