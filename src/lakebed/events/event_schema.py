"""Convert an event's decoded `DataSchema` into a logical schema, with the defaults of older writers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakebed.convert.fit import bare_logical
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import CorruptMetadataError
from lakebed.model import (
    BY_KIND,
    Binary,
    Decimal,
    Duration,
    Extra,
    Field,
    List,
    LogicalType,
    Map,
    Option,
    Schema,
    Struct,
    Time,
    Timestamp,
    TimeUnit,
)
from lakebed.model.extra import KEY_PATTERN, PAIMON_TYPE
from lakebed.model.logical_tree import types_inside

NAIVE = "naive"


@dataclass(frozen=True, slots=True)
class ReaderRules:
    """What an absent unit or zone means. Nothing in a block tells which release wrote it, so the reader has to say.

    By default both are today's: an absent unit is a millisecond, an absent zone is UTC, and they stay absent. Writers
    before May 2026 left `Second` out and nothing else, and meant a time without a zone where they named none:
    `ReaderRules(absent_unit=TimeUnit.SECOND, absent_zone="naive")`. `absent_zone` may name a zone instead.

    A naive timestamp has the hint of a Paimon column without a time zone, `paimon.apache.org/type: TIMESTAMP(p)`.
    """

    absent_unit: TimeUnit | None = None
    absent_zone: str | None = None


CURRENT_RULES = ReaderRules()


@dataclass(slots=True)
class SchemaReader:
    """Turns one decoded `DataSchema` into a `Schema`; `diagnostics` are warnings about what it holds."""

    rules: ReaderRules = CURRENT_RULES
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def schema(self, value: Mapping[str, Any]) -> Schema:
        """Raises `CorruptMetadataError` where a required part is missing."""
        fields = self._fields(_needed(value, "fields", "a schema", ()), ())
        return Schema(fields, self._extra(value, ()))

    def _fields(self, values: Sequence[Any], path: tuple[str, ...]) -> tuple[Field, ...]:
        fields = tuple(self._field(value, path) for value in values)
        seen: set[str] = set()
        for found in fields:
            if not found.name:
                self._warn("a field has an empty name", path)
            elif found.name in seen:
                self._warn(f"two fields are named {found.name!r}", (*path, found.name))
            seen.add(found.name)
        return fields

    def _field(self, value: Mapping[str, Any], path: tuple[str, ...]) -> Field:
        name: str = _needed(value, "name", "a field", path)
        here = (*path, name)
        stated = _needed(value, "type", f"the field {name!r}", here)
        type_, extra = self._type(stated, here), self._extra(value, here)
        inner = type_.inner if isinstance(type_, Option) else type_
        if self.rules.absent_zone == NAIVE and isinstance(inner, Timestamp) and inner.timezone is None:
            extra = Extra({PAIMON_TYPE: f"TIMESTAMP({inner.effective_unit.digits})", **extra})
        elif self.rules.absent_zone == NAIVE and _has_unzoned(type_):
            self._warn("a timestamp without a zone inside of a list, a map or an option is read as UTC", here)
        return Field(name, type_, extra)

    def _extra(self, value: Mapping[str, Any], path: tuple[str, ...]) -> Extra:
        extra = Extra(value.get("extra"))
        for key in extra:
            if not KEY_PATTERN.fullmatch(key):
                self._warn(f"the attribute {key!r:.80} is not named <domain>/<name>", path)
        return extra

    def _type(self, value: Mapping[str, Any], path: tuple[str, ...]) -> LogicalType:
        kind = value["kind"]
        what = f"the type {kind} of {'.'.join(path)}"
        match kind:
            case "Binary":
                return Binary(value.get("fixedLength"))
            case "Decimal":
                return Decimal(value["precision"], value["scale"])
            case "Duration":
                return Duration(self._unit(value))
            case "Time":
                return Time(self._unit(value))
            case "Timestamp":
                return Timestamp(self._unit(value), self._zone(value))
            case "List":
                item = self._type(_needed(value, "itemType", what, path), path)
                return List(item, value.get("fixedLength"))
            case "Map":
                key = self._type(_needed(value, "keyType", what, path), path)
                return Map(key, self._type(_needed(value, "valueType", what, path), path), value.get("keysSorted"))
            case "Option":
                inner = self._type(_needed(value, "inner", what, path), path)
                if isinstance(inner, Option):
                    self._warn("an Option of an Option has no meaning", path)
                return Option(inner)
            case "Struct":
                return Struct(self._fields(_needed(value, "fields", what, path), path))
            case _:
                plain: dict[str, Any] = {}
                return BY_KIND[kind](**plain)

    def _unit(self, value: Mapping[str, Any]) -> TimeUnit | None:
        stated = value.get("unit")
        return TimeUnit(stated) if stated is not None else self.rules.absent_unit

    def _zone(self, value: Mapping[str, Any]) -> str | None:
        stated: str | None = value.get("timezone")
        assumed = None if self.rules.absent_zone == NAIVE else self.rules.absent_zone
        return stated if stated is not None else assumed

    def _warn(self, message: str, path: tuple[str, ...]) -> None:
        self.diagnostics.append(Diagnostic("LB2508", message, Severity.WARNING, path=".".join(path) or None))


def _needed(value: Mapping[str, Any], name: str, of: str, path: tuple[str, ...]) -> Any:
    found = value.get(name)
    if found is None:
        raise CorruptMetadataError.of("LB2503", f"{of} has no `{name}`", path=".".join(path) or None)
    return found


def _has_unzoned(type_: LogicalType) -> bool:
    """Members of Structs have been asked for themselves."""
    return any(isinstance(part, Timestamp) and part.timezone is None for part in types_inside(bare_logical(type_)))
