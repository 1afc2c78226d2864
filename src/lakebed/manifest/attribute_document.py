"""Read documents `kind: Attributes`, which declare a project's own attributes.

kind: Attributes
version: 1
content:
  domains: [example.org]            # an attribute of these domains that is not declared is an error
  attributes:
    - name: example.org/pii
      description: Which class of personal data the column holds
      on: [column, member]
      required: true
      value: {enum: [none, personal, sensitive]}
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from lakebed.diagnostics import Position, Severity, near_names
from lakebed.manifest.attribute_registry import TARGETS, AttributeRegistry, AttributeRule, Target, validator_of
from lakebed.manifest.attributes import DOMAIN
from lakebed.manifest.load import read_file
from lakebed.manifest.node_values import json_value
from lakebed.manifest.nodes import Node, ScalarNode, clipped, describe
from lakebed.manifest.parse_yaml import compose, decode_utf8
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import Properties, open_envelope, spellings
from lakebed.model import BY_KIND, canonical_json
from lakebed.model.extra import KEY_PATTERN

KIND = "Attributes"
_KINDS = spellings([KIND])
_SEVERITIES = (Severity.ERROR.value, Severity.WARNING.value)
_EXAMPLE = "attributes: [{name: example.org/owner, on: [schema], value: {type: string}}]"


def load_attributes(path: str | os.PathLike[str]) -> AttributeRegistry:
    """The attributes that a YAML or JSON file declares, in one or several documents.

    Raises:
        ManifestError: the file cannot be read, or what it declares is faulty; with all problems.
    """
    source = os.fspath(path)
    return parse_attributes(read_file(source), source=source)


def parse_attributes(text: str | bytes, *, source: str | None = None) -> AttributeRegistry:
    """The attributes that a text declares. Raises `ManifestError` with all problems."""
    problems = Problems()
    decoded = decode_utf8(text, source, problems) if isinstance(text, bytes) else text
    documents = compose(decoded, source, problems) if decoded is not None else []
    if not documents and not problems.errors:
        remedy = f"Write `kind: {KIND}`, `version: 1` and `content: ...`."
        problems.error("LB1020", "the file declares nothing", Position(source, 1, 1), remedy=remedy)
    decoder = _Decoder(problems)
    for document in documents:
        decoder.document(document)
    problems.raise_if_any()
    return AttributeRegistry(tuple(decoder.rules.values()), tuple(decoder.domains))


class _Decoder:
    def __init__(self, problems: Problems) -> None:
        self.rules: dict[str, AttributeRule] = {}
        self.domains: dict[str, None] = {}
        self._problems = problems

    def document(self, node: Node) -> None:
        top = Properties.of(node, "the declaration of attributes", self._problems)
        if top is None:
            return
        kind = top.name("kind", f"kind: {KIND}")
        if kind is None:
            return
        if kind.text not in _KINDS:
            message = f"{clipped(kind.text)} declares no attributes"
            suggestions = near_names(kind.text, [KIND])
            self._problems.error("LB1022", message, kind, expected=KIND, found=kind.text, suggestions=suggestions)
            return
        content = open_envelope(top.node, "the declaration of attributes", self._problems)
        if content is None:
            return
        properties = Properties(content, "`content`", self._problems)
        for item in self._items(properties, "domains"):
            self._domain(item)
        listed = properties.need("attributes", _EXAMPLE)
        properties.close()
        sequence = properties.sequence(listed, "`attributes`") if listed is not None else None
        for item in sequence.items if sequence is not None else ():
            self._rule(item)

    def _domain(self, node: Node) -> None:
        if not isinstance(node, ScalarNode) or KEY_PATTERN.fullmatch(f"{node.text}/x") is None:
            self._wrong(node, "a domain", "a domain such as example.org")
        elif node.text.lower() == DOMAIN:
            self._wrong(node, "a domain", f"a domain of the project's own; {DOMAIN} is Lakebed's")
        else:
            self.domains.setdefault(node.text)

    def _rule(self, node: Node) -> None:
        about = Properties.of(node, "an attribute", self._problems)
        if about is None:
            return
        name = about.name("name", "name: example.org/owner")
        if name is not None:
            about.rename(f"the attribute {clipped(name.text)}", ())
        targets = self._targets(about)
        types = tuple(self._kinds(about))
        value = about.take("value")
        needed = about.boolean("required")
        description = about.text("description")
        severity = about.choice("severity", _SEVERITIES, "LB1056")
        about.close()
        schema = self._value_schema(value) if value is not None else True
        if name is None or not targets or not self._name_is_good(name, is_required=bool(needed)):
            return
        self.rules[name.text] = AttributeRule(
            name.text,
            targets,
            canonical_json(schema),
            bool(needed),
            types,
            description,
            Severity(severity or Severity.ERROR),
            name.position,
        )

    def _name_is_good(self, name: ScalarNode, *, is_required: bool) -> bool:
        domain, _, rest = name.text.partition("/")
        if KEY_PATTERN.fullmatch(f"{domain}/{rest.replace('*', 'x')}") is None:
            expected = "domain/name, with `*` for any characters after the slash"
            self._wrong(name, "the name", expected)
        elif domain.lower() == DOMAIN:
            self._wrong(name, "the name", f"a name in a domain of the project's own; {DOMAIN} is Lakebed's")
        elif name.text in self.rules:
            first = self.rules[name.text].position
            message = f"the attribute {name.text} is declared twice; the first is at {first}"
            self._problems.error("LB1611", message, name, found=name.text, remedy="Keep one of the two.")
        elif is_required and "*" in name.text:
            self._wrong(name, "a required name", "one attribute's name, without `*`")
        else:
            return True
        return False

    def _targets(self, about: Properties) -> tuple[Target, ...]:
        found = [t for node in self._items(about, "on", needed="on: [column]") if (t := self._target(node))]
        return tuple(t for t in TARGETS if t in found)

    def _target(self, node: Node) -> Target | None:
        text = node.text if isinstance(node, ScalarNode) else None
        found = next((target for target in TARGETS if target == text), None)
        if found is None:
            self._wrong(node, "a place", ", ".join(TARGETS))
        return found

    def _kinds(self, about: Properties) -> Iterator[str]:
        known = spellings(BY_KIND)
        for node in self._items(about, "types"):
            if isinstance(node, ScalarNode) and node.text in known and known[node.text] != "Option":
                yield known[node.text]
            else:
                self._wrong(node, "a type", "a kind of type, without Option: " + ", ".join(BY_KIND))

    def _items(self, properties: Properties, name: str, *, needed: str | None = None) -> tuple[Node, ...]:
        node = properties.need(name, needed) if needed is not None else properties.optional(name)
        listed = properties.sequence(node, f"`{name}`") if node is not None else None
        return listed.items if listed is not None else ()

    def _value_schema(self, node: Node) -> Any:
        """The JSON Schema, checked against its own dialect and for references that would have to be fetched."""
        from jsonschema import FormatChecker, SchemaError

        value = json_value(node, self._problems)
        if not isinstance(value, dict | bool):
            self._schema_problem(node, f"it is {describe(node)}")
            return True
        outside = [ref for ref in _references(value) if not ref.startswith("#")]
        if outside:
            self._schema_problem(node, f"it refers to {outside[0]}, outside of itself")
            return True
        validator: Any = type(validator_of(value))
        try:
            validator.check_schema(value, format_checker=FormatChecker(["regex"]))
        except SchemaError as error:
            self._schema_problem(node, f"{error.message} at {error.json_path}")
            return True
        return value

    def _schema_problem(self, node: Node, what: str) -> None:
        message = f"`value` is no JSON Schema: {what}"
        remedy = (
            "Write for example `value: {type: string}`; a `$ref` may name only a part of the same schema (`#/...`)."
        )
        self._problems.error("LB1612", message, node, remedy=remedy)

    def _wrong(self, node: Node, what: str, expected: str) -> None:
        found = node.text if isinstance(node, ScalarNode) else describe(node)
        self._problems.error("LB1610", f"{what} is {describe(node)}", node, expected=expected, found=found)


def _references(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for key, member in value.items():
                if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(member, str):
                    yield member
                else:
                    yield from _references(member)
        case list():
            for item in value:
                yield from _references(item)
        case _:
            return
