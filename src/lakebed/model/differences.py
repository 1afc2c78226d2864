"""List the differences of two logical schemas, one `Difference` for each, at its path.

Fields are the same where their names are (RFC-016 knows no ids). Every field that both have is compared, whatever was
added, removed or moved beside it, so that a changed type cannot hide behind an added column. Defaults are known: an
absent unit and an explicit `Millisecond` do not differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from dataclasses import field as part
from enum import StrEnum
from typing import Any, TypeAlias

from lakebed.model.allowed_values import refuses_more
from lakebed.model.extra import Extra, canonical_json
from lakebed.model.logical_tree import ELEMENT, KEY, VALUE
from lakebed.model.type_effect import Effect, declared_effect
from lakebed.model.types import Field, List, LogicalType, Map, Option, Schema, Struct, field_json, required, type_json

#: Steps into a list, a map's key and a map's value.


class DifferenceKind(StrEnum):
    """What differs."""

    SCHEMA_ATTRIBUTE = "schemaAttribute"
    ATTRIBUTE = "attribute"
    ADDED = "added"
    REMOVED = "removed"
    REORDERED = "reordered"
    TYPE = "type"
    BECAME_OPTIONAL = "becameOptional"
    BECAME_REQUIRED = "becameRequired"


class Party(StrEnum):
    """Who depends on a schema: those who write rows under the old one, those who read rows as the old one."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


_NOBODY: frozenset[Party] = frozenset()
_BREAKS: dict[DifferenceKind, frozenset[Party]] = {
    DifferenceKind.REMOVED: frozenset(Party),
    DifferenceKind.BECAME_OPTIONAL: frozenset({Party.CONSUMER}),
    DifferenceKind.BECAME_REQUIRED: frozenset({Party.PRODUCER}),
}
_Value: TypeAlias = Field | LogicalType | int | str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs between two schemas.

    `path` has field names, and `element`, `key` and `value` for steps into lists and maps. `before` and `after` are, by
    kind: the canonical JSON text of the attribute `attribute`, None where it is absent; the field that was added or
    removed; the index of a field that stands elsewhere; the types. `in_map` says that the place is inside a map.
    `types` are those of the field that an attribute is of.
    """

    kind: DifferenceKind
    path: tuple[str, ...]
    before: _Value = None
    after: _Value = None
    attribute: str | None = None
    in_map: bool = False
    types: tuple[LogicalType, LogicalType] | None = part(default=None, compare=False, repr=False)

    @property
    def breaks(self) -> frozenset[Party]:
        """Who fails if the first schema is replaced by the second.

        A producer, where rows that were right before are refused now; a consumer, where rows come that the old schema
        does not allow, or a column is gone.
        """
        match self.kind:
            case DifferenceKind.ADDED:
                optional = isinstance(self.after, Field) and self.after.nullable
                return _NOBODY if optional else frozenset({Party.PRODUCER})
            case DifferenceKind.TYPE:
                return _broken_by(self.before, self.after)
            case DifferenceKind.ATTRIBUTE:
                return self._broken_by_attribute()
            case _:
                return _BREAKS.get(self.kind, _NOBODY)

    def _broken_by_attribute(self) -> frozenset[Party]:
        """Producers where the attribute refuses values that it allowed, consumers where it allows more than before."""
        old, new = self.types or (None, None)
        before = (json.loads(self.before) if isinstance(self.before, str) else None, old)
        after = (json.loads(self.after) if isinstance(self.after, str) else None, new)
        key = self.attribute or ""
        broken = {
            Party.PRODUCER: refuses_more(key, before, after),
            Party.CONSUMER: refuses_more(key, after, before),
        }
        return frozenset(party for party, breaks in broken.items() if breaks)

    def to_json(self) -> dict[str, Any]:
        """`kind`, `path`, and what was before and after."""
        out: dict[str, Any] = {"kind": self.kind.value, "path": list(self.path)}
        if self.attribute is not None:
            out["attribute"] = self.attribute
        out |= {"before": _json(self.before), "after": _json(self.after)}
        return out | {"breaks": sorted(party.value for party in self.breaks)}


def differences(before: Schema, after: Schema) -> tuple[Difference, ...]:
    """All differences, top down: attributes, then each field of `before` in its order, then what was added."""
    found = _attributes(DifferenceKind.SCHEMA_ATTRIBUTE, (), before.extra, after.extra, in_map=False)
    return (*found, *_siblings((), before.fields, after.fields, in_map=False))


def _siblings(
    parent: tuple[str, ...], before: tuple[Field, ...], after: tuple[Field, ...], *, in_map: bool
) -> Iterator[Difference]:
    old, new = _by_name(before), _by_name(after)
    for key, (index, field) in old.items():
        path = (*parent, field.name)
        if key not in new:
            yield Difference(DifferenceKind.REMOVED, path, before=field, in_map=in_map)
            continue
        place, other = new[key]
        if index != place:
            yield Difference(DifferenceKind.REORDERED, path, index, place, in_map=in_map)
        for found in _attributes(DifferenceKind.ATTRIBUTE, path, field.extra, other.extra, in_map=in_map):
            yield replace(found, types=(field.type, other.type))
        yield from _types(path, field.type, other.type, in_map=in_map)
    for key, (_, field) in new.items():
        if key not in old:
            yield Difference(DifferenceKind.ADDED, (*parent, field.name), after=field, in_map=in_map)


def _by_name(fields: tuple[Field, ...]) -> dict[tuple[str, int], tuple[int, Field]]:
    """Index and field by name; foreign schemas may repeat a name, so the how-manieth of its name it is counts too."""
    out: dict[tuple[str, int], tuple[int, Field]] = {}
    count: dict[str, int] = {}
    for index, field in enumerate(fields):
        count[field.name] = count.get(field.name, -1) + 1
        out[(field.name, count[field.name])] = (index, field)
    return out


def _types(path: tuple[str, ...], before: LogicalType, after: LogicalType, *, in_map: bool) -> Iterator[Difference]:
    """Whether null is allowed, then what is inside of `Option`; into structs, lists and maps that both are."""
    if isinstance(before, Option) != isinstance(after, Option):
        became = DifferenceKind.BECAME_OPTIONAL if isinstance(after, Option) else DifferenceKind.BECAME_REQUIRED
        yield Difference(became, path, before, after, in_map=in_map)
    old, new = required(before), required(after)
    match old, new:
        case Option(), Option():  # an Option of an Option, which only a foreign schema can hold
            yield from _types(path, old, new, in_map=in_map)
        case Struct(), Struct():
            yield from _siblings(path, old.fields, new.fields, in_map=in_map)
        case List(), List():
            if old.fixed_length != new.fixed_length:
                yield Difference(DifferenceKind.TYPE, path, old, new, in_map=in_map)
            yield from _types((*path, ELEMENT), old.item_type, new.item_type, in_map=in_map)
        case Map(), Map():
            if bool(old.keys_sorted) != bool(new.keys_sorted):
                yield Difference(DifferenceKind.TYPE, path, old, new, in_map=in_map)
            yield from _types((*path, KEY), old.key_type, new.key_type, in_map=True)
            yield from _types((*path, VALUE), old.value_type, new.value_type, in_map=True)
        case _ if old != new:
            yield Difference(DifferenceKind.TYPE, path, old, new, in_map=in_map)


def _attributes(
    kind: DifferenceKind, path: tuple[str, ...], before: Extra, after: Extra, *, in_map: bool
) -> Iterator[Difference]:
    for key in sorted({*before, *after}):
        old = canonical_json(before[key]) if key in before else None
        new = canonical_json(after[key]) if key in after else None
        if old != new:
            yield Difference(kind, path, old, new, attribute=key, in_map=in_map)


def _broken_by(before: _Value, after: _Value) -> frozenset[Party]:
    """Of a changed type: producers where old values do not all fit, consumers where new values do not."""
    if before is None or after is None or isinstance(before, int | str | Field) or isinstance(after, int | str | Field):
        return frozenset(Party)
    broken = {
        Party.PRODUCER: declared_effect(before, after) is not Effect.KEEPS,
        Party.CONSUMER: declared_effect(after, before) is not Effect.KEEPS,
    }
    return frozenset(party for party, breaks in broken.items() if breaks)


def _json(value: _Value) -> Any:
    match value:
        case None | int() | str():
            return value
        case Field():
            return field_json(value)
        case _:
            return type_json(value)
