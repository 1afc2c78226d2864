"""Check attributes against a project's own declarations: place, presence and values.

Declared in a document `kind: Attributes` (`attribute_document`), enforced where a table is planned, applied and written
to. Values are checked against JSON Schema by the `jsonschema` library, which is loaded when the first value is checked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from lakebed.diagnostics import Diagnostic, Position, Severity, near_names, path_text
from lakebed.errors import ManifestError, ValidationError
from lakebed.manifest.problems import FieldPath
from lakebed.manifest.table_manifest import TableManifest
from lakebed.model import Extra, LogicalType, Schema, required
from lakebed.model.extra import JsonValue
from lakebed.model.logical_tree import fields_inside

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

#: What carries attributes: the schema as a whole, a column of the table, a member of a struct at any depth.
Target: TypeAlias = Literal["schema", "column", "member"]
TARGETS: tuple[Target, ...] = ("schema", "column", "member")
#: Where an attribute stands: the path of the field, and the attribute's name, None for one that is missing.
Locate: TypeAlias = Callable[[FieldPath, str | None], Position | None]

_NAME_CHARACTERS = "[a-zA-Z0-9_-]*"


@dataclass(frozen=True, slots=True)
class AttributeRule:
    """One declared attribute.

    `name` is `domain/name`, whose part after the slash may hold `*` for any characters. `types` are the kinds of type
    (without `Option`) that it is for, empty for all. `value` is the JSON Schema of its values as canonical JSON text.
    `severity` says whether a breach is an error or a warning.
    """

    name: str
    targets: tuple[Target, ...]
    value: str = "true"
    is_required: bool = False
    types: tuple[str, ...] = ()
    description: str | None = None
    severity: Severity = Severity.ERROR
    position: Position | None = None

    @property
    def is_pattern(self) -> bool:
        """Whether the name stands for several."""
        return "*" in self.name

    @property
    def pattern(self) -> str:
        """The regular expression of the names, anchored at both ends; read alike by Python and by JSON Schema."""
        return "^" + _NAME_CHARACTERS.join(re.escape(part) for part in self.name.split("*")) + "$"

    def names(self, key: str) -> bool:
        """Whether an attribute of this name is meant."""
        return re.fullmatch(self.pattern[1:-1], key) is not None

    def fits(self, target: Target, type_: LogicalType | None) -> bool:
        """Whether it belongs on this place, and on a field of this type."""
        return target in self.targets and (not self.types or type_ is None or required(type_).kind in self.types)

    def value_schema(self) -> Any:
        """The JSON Schema of the values: an object, or true for any value."""
        return json.loads(self.value)


@dataclass(frozen=True)
class AttributeRegistry:
    """All declared attributes. In `domains`, those that are not declared are errors."""

    rules: tuple[AttributeRule, ...] = ()
    domains: tuple[str, ...] = ()

    def check(self, schema: Schema, locate: Locate = lambda path, name: None) -> tuple[Diagnostic, ...]:
        """What a schema's attributes break, in the order of its fields. `locate` gives the place of an attribute."""
        return tuple(self._check(schema, locate)) if self.rules or self.domains else ()

    def json_schemas(self, target: Target, *, patterns: bool = False) -> dict[str, Any]:
        """The JSON Schemas of values by name, or by the names' pattern: what an editor schema takes in."""
        return {
            rule.pattern if patterns else rule.name: _embedded(rule, number)
            for number, rule in enumerate(self.rules)
            if rule.is_pattern == patterns and (target in rule.targets or rule.severity is Severity.WARNING)
        }

    def json_definitions(self) -> dict[str, Any]:
        """Those of the schemas that refer to parts of themselves, by the names that `json_schemas` calls them."""
        numbered = enumerate(self.rules)
        return {_definition(n): _referring(rule.value_schema(), n) for n, rule in numbered if _refers(rule)}

    def names_elsewhere(self, target: Target) -> list[str]:
        """The patterns of names that are errors on such a place, because they belong on others."""
        return [r.pattern for r in self.rules if target not in r.targets and r.severity is Severity.ERROR]

    def required_names(self, target: Target) -> list[str]:
        """The attributes that every schema or field must have, whatever its type."""
        return [
            r.name
            for r in self.rules
            if r.is_required and target in r.targets and not r.types and r.severity is Severity.ERROR
        ]

    @cached_property
    def _validators(self) -> dict[AttributeRule, Validator]:
        return {rule: validator_of(rule.value_schema()) for rule in self.rules}

    def _check(self, schema: Schema, locate: Locate) -> Iterator[Diagnostic]:
        yield from self._carrier(_Carrier("schema", (), schema.extra, None), locate)
        for path, field in fields_inside(schema.fields):
            target: Target = "column" if len(path) == 1 else "member"
            yield from self._carrier(_Carrier(target, path, field.extra, field.type), locate)

    def _carrier(self, carrier: _Carrier, locate: Locate) -> Iterator[Diagnostic]:
        for key in carrier.extra:
            at = locate(carrier.path, key)
            rules = [rule for rule in self.rules if rule.names(key)]
            fitting = [rule for rule in rules if rule.fits(carrier.target, carrier.type)]
            if not rules and key.split("/")[0] in self.domains:
                yield self._undeclared(carrier, key, at)
            elif rules and not fitting:
                yield _misplaced(carrier, key, rules, at)
            for rule in fitting:
                yield from self._values(rule, carrier, key, at)
        for rule in self.rules:
            if rule.is_required and rule.fits(carrier.target, carrier.type) and rule.name not in carrier.extra:
                yield _missing(carrier, rule, locate(carrier.path, None))

    def _undeclared(self, carrier: _Carrier, key: str, at: Position | None) -> Diagnostic:
        return Diagnostic(
            "LB1600",
            f"the project declares no attribute {key}",
            position=at,
            path=path_text(carrier.path) or None,
            expected=", ".join(rule.name for rule in self.rules if rule.name.startswith(key.split("/")[0] + "/")),
            found=key,
            suggestions=near_names(key, (rule.name for rule in self.rules), limit=1),
            remedy="correct the name, or declare the attribute in the project's attributes",
        )

    def _values(self, rule: AttributeRule, carrier: _Carrier, key: str, at: Position | None) -> Iterator[Diagnostic]:
        value: JsonValue = carrier.extra[key]
        for error in sorted(self._validators[rule].iter_errors(value), key=lambda e: e.json_path):
            where = "" if error.json_path == "$" else f" at {error.json_path}"
            yield Diagnostic(
                "LB1603",
                f"the value of {key} is not as the project declares it{where}: {_clipped(error.message)}",
                rule.severity,
                position=at,
                path=path_text(carrier.path) or None,
                expected=_clipped(json.dumps(error.schema, ensure_ascii=False)),
                found=_clipped(json.dumps(error.instance, ensure_ascii=False)),
                remedy=_meaning(rule),
            )


@dataclass(frozen=True, slots=True)
class _Carrier:
    """What has attributes: where it is, and the type of a field."""

    target: Target
    path: FieldPath
    extra: Extra
    type: LogicalType | None

    def __str__(self) -> str:
        return "the schema" if self.target == "schema" else f"the {self.target} {path_text(self.path)}"


def validator_of(schema: Any) -> Validator:
    """A validator that fetches nothing: a `$ref` finds only what is in the schema itself."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from referencing import Registry

    return validator_for(schema, default=Draft202012Validator)(schema, registry=Registry())


def _misplaced(carrier: _Carrier, key: str, rules: list[AttributeRule], at: Position | None) -> Diagnostic:
    elsewhere = [rule for rule in rules if carrier.target in rule.targets]
    wanted = " or ".join(dict.fromkeys(_place(rule) for rule in rules))
    return Diagnostic(
        "LB1602" if elsewhere else "LB1601",
        f"{key} does not belong on {carrier}",
        max((rule.severity for rule in rules), key=lambda s: s is Severity.ERROR),
        position=at,
        path=path_text(carrier.path) or None,
        expected=wanted,
        remedy=f"put it on {wanted}",
    )


def _missing(carrier: _Carrier, rule: AttributeRule, at: Position | None) -> Diagnostic:
    return Diagnostic(
        "LB1604",
        f"{carrier} lacks the attribute {rule.name}",
        rule.severity,
        position=at,
        path=path_text(carrier.path) or None,
        expected=_clipped(rule.value),
        remedy=f"add it to `extra`{_meaning(rule, ': ') or ''}",
    )


def _place(rule: AttributeRule) -> str:
    kinds = f" of type {', '.join(rule.types)}" if rule.types else ""
    return " or ".join(f"a {target}" if target != "schema" else "the schema" for target in rule.targets) + kinds


def _meaning(rule: AttributeRule, before: str = "") -> str | None:
    return f"{before}{rule.name} is: {rule.description}" if rule.description else None


def _embedded(rule: AttributeRule, number: int) -> Any:
    """The value's schema with its description; only a reference to it where it refers to parts of itself."""
    schema = rule.value_schema() if rule.severity is Severity.ERROR else True
    if _refers(rule) and rule.severity is Severity.ERROR:
        # Draft 7 sees nothing beside a `$ref`.
        schema = {"allOf": [{"$ref": f"#/$defs/{_definition(number)}"}]}
    elif not isinstance(schema, dict):
        schema = {} if schema else {"not": {}}
    about = {"description": rule.description} if rule.description else {}
    return {**about, **{key: part for key, part in schema.items() if key != "$schema"}}


def _definition(number: int) -> str:
    return f"value{number}"


def _refers(rule: AttributeRule) -> bool:
    return '"$ref"' in rule.value and "$id" not in rule.value_schema()


def _referring(schema: Any, number: int) -> Any:
    """The schema with its references to parts of itself as they are once it is a definition of another schema."""
    match schema:
        case {"$ref": str(ref), **kept} if ref == "#" or ref.startswith("#/"):
            # Draft 7 sees nothing beside a `$ref`.
            target = {"$ref": f"#/$defs/{_definition(number)}{ref[1:]}"}
            others = {key: _referring(part, number) for key, part in kept.items()}
            return {**others, "allOf": [target, *others.get("allOf", [])]}
        case dict():
            return {key: _referring(part, number) for key, part in schema.items() if key != "$schema"}
        case list():
            return [_referring(part, number) for part in schema]
        case _:
            return schema


def _clipped(text: str) -> str:
    return text if len(text) <= 200 else text[:197] + "..."


def check_declared(registry: AttributeRegistry, tables: Iterable[TableManifest]) -> tuple[Diagnostic, ...]:
    """The warnings about the attributes of declared tables. Raises `ManifestError` with all problems if one errs."""
    found = [d for table in tables for d in _declared(registry, table)]
    _raise_errors(found, ManifestError)
    return tuple(found)


def check_stored(registry: AttributeRegistry, table: str, schema: Schema) -> tuple[Diagnostic, ...]:
    """The warnings about the attributes of a table. Raises `ValidationError` with all problems where one errs."""
    found = [replace(d, message=f"{table}: {d.message}") for d in registry.check(schema)]
    _raise_errors(found, ValidationError)
    return tuple(found)


def _declared(registry: AttributeRegistry, table: TableManifest) -> tuple[Diagnostic, ...]:
    def locate(path: FieldPath, name: str | None) -> Position | None:
        at = table.property_positions.get(("extra", *path, name)) if name is not None else None
        return at or table.position_of(path)

    return registry.check(table.schema, locate)


def _raise_errors(found: list[Diagnostic], kind: type[ManifestError | ValidationError]) -> None:
    found.sort(key=lambda d: d.severity is not Severity.ERROR)
    if found and found[0].severity is Severity.ERROR:
        raise kind(*found)
