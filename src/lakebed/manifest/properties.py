"""Read mappings with known properties, noting what is missing, unknown or of the wrong shape.

Where a name is expected, any scalar is one, as the author wrote it: a column may be called `no`, `null` or `1e3`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakebed.diagnostics import near_names, path_text
from lakebed.manifest.nodes import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    clipped,
    describe,
    is_empty,
    is_null,
    scalar_value,
)
from lakebed.manifest.problems import FieldPath, Problems

#: What other schema languages call something, and what to write here.
_FOREIGN_PROPERTIES = {
    "nullable": "Whether a column may be null is part of its type: {kind: Option, inner: ...}.",
    "required": "A column is required unless its type is {kind: Option, inner: ...}.",
    "comment": "Write `extra: {opendatafabric.org/description: ...}`.",
    "doc": "Write `extra: {opendatafabric.org/description: ...}`.",
    "default": "Write `extra: {lakebed.dev/default: ...}`.",
    "columns": "The columns are under `schema: {fields: [...]}`.",
    "<<": "Merge keys are not part of YAML 1.2; an alias can stand for a whole value only.",
}


def spellings(names: Iterable[str]) -> dict[str, str]:
    """The three accepted spellings of each name (`UInt8`, `uInt8`, `uint8`), to the canonical one."""
    out: dict[str, str] = {}
    for name in names:
        for spelling in (name, name[0].lower() + name[1:], name.lower()):
            out[spelling] = name
    return out


class Properties:
    """One mapping that is being read. Every property is asked for; what was never asked for is unknown."""

    def __init__(self, node: MappingNode, what: str, problems: Problems, path: FieldPath = ()) -> None:
        self.node = node
        self.what = what
        self._problems = problems
        self._path = path_text(path) or None
        self._nodes: Mapping[str, Node] = {key.text: value for key, value in node.entries}
        self._asked: dict[str, None] = {}

    @classmethod
    def of(cls, node: Node, what: str, problems: Problems) -> Properties | None:
        """The properties of a node that has to be a mapping; None, with the problem noted, where it is not."""
        if isinstance(node, MappingNode):
            return cls(node, what, problems)
        wrong_shape(problems, node, what, "a mapping")
        return None

    def rename(self, what: str, path: FieldPath) -> None:
        """What is being read is now known better."""
        self.what = what
        self._path = path_text(path) or None

    def take(self, name: str) -> Node | None:
        """The property as it stands there, null included; None where it is absent."""
        self._asked.setdefault(name)
        return self._nodes.get(name)

    def optional(self, name: str) -> Node | None:
        """The property; None where it is absent or null."""
        node = self.take(name)
        return None if node is None or is_null(node) else node

    def need(self, name: str, example: str) -> Node | None:
        """The property; its absence is noted, with the example as remedy. A null counts as absent."""
        node = self.optional(name)
        if node is None:
            self.missing((name,), example)
        return node

    def written(self, name: str, example: str) -> Node | None:
        """The property, whatever is written there, the word null included; its absence is noted."""
        node = self.take(name)
        if node is None or is_empty(node):
            self.missing((name,), example)
            return None
        return node

    def missing(self, names: tuple[str, ...], example: str) -> None:
        """Note that these properties are absent; a misspelt one is suggested."""
        listed = " and ".join(f"`{name}`" for name in names)
        self._problems.error(
            "LB1042",
            f"{self.what} lacks {listed}",
            self.node,
            path=self._path,
            expected=example,
            remedy=f"Write for example `{example}`.",
        )

    def name(self, name: str, example: str) -> ScalarNode | None:
        """A required name: any scalar, as it is written, but not nothing."""
        node = self.written(name, example)
        return self.scalar(node, f"`{name}`") if node is not None else None

    def text(self, name: str) -> str | None:
        """An optional text, as it is written; None where it is absent, null or no text."""
        node = self.optional(name)
        scalar = self.scalar(node, f"`{name}`") if node is not None else None
        return scalar.text if scalar is not None else None

    def integer(self, name: str, low: int, high: int) -> int | None:
        """An optional integer from `low` to `high`; None also where it is something else, which is noted."""
        node = self.optional(name)
        if node is None:
            return None
        value = _number(node)
        if value is None:
            self._shape(node, f"`{name}`", "an integer")
        elif not low <= value <= high:
            self._problems.error(
                "LB1055",
                f"`{name}` of {self.what} is {value}, outside of {low} to {high}",
                node,
                path=self._path,
                expected=f"{low} to {high}",
                found=str(value),
            )
        else:
            return value
        return None

    def boolean(self, name: str) -> bool | None:
        """An optional `true` or `false`."""
        node = self.optional(name)
        if node is None:
            return None
        if isinstance(node, ScalarNode) and node.plain:
            value = {"true": True, "false": False}.get(node.text.lower())
            if value is not None:
                return value
        self._shape(node, f"`{name}`", "true or false", remedy="Write true or false, without quotes.")
        return None

    def choice(self, name: str, known: Iterable[str], code: str) -> str | None:
        """An optional name out of `known`, in any of the three spellings; gives the canonical one."""
        node = self.optional(name)
        scalar = self.scalar(node, f"`{name}`") if node is not None else None
        return self.chosen(scalar, name, known, code) if scalar is not None else None

    def chosen(self, node: ScalarNode, name: str, known: Iterable[str], code: str) -> str | None:
        """The canonical spelling of what a scalar chooses; a choice that does not exist is noted under `code`."""
        names = list(known)
        canonical = spellings(names).get(node.text)
        if canonical is None:
            self._problems.error(
                code,
                f"{clipped(node.text)} is no {name} of {self.what}",
                node,
                path=self._path,
                expected=", ".join(names),
                found=node.text,
                suggestions=near_names(node.text, names),
            )
        return canonical

    def mapping(self, node: Node, what: str) -> MappingNode | None:
        """The node, if it is a mapping; else that is noted."""
        if isinstance(node, MappingNode):
            return node
        self._shape(node, what, "a mapping")
        return None

    def sequence(self, node: Node, what: str, *, remedy: str | None = None) -> SequenceNode | None:
        """The node, if it is a list; else that is noted."""
        if isinstance(node, SequenceNode):
            return node
        self._shape(node, what, "a list", remedy=remedy)
        return None

    def scalar(self, node: Node, what: str) -> ScalarNode | None:
        """The node, if it is a single value; else that is noted."""
        if isinstance(node, ScalarNode):
            return node
        self._shape(node, what, "text")
        return None

    def close(self) -> None:
        """Note every property that nobody asked for."""
        known = list(self._asked)
        for key, _ in self.node.entries:
            if key.text not in self._asked:
                absent = [name for name in known if name not in self._nodes]
                self._problems.error(
                    "LB1041",
                    f"{self.what} has no property {clipped(key.text)}",
                    key,
                    path=self._path,
                    expected=", ".join(known),
                    found=key.text,
                    suggestions=near_names(key.text, absent) or near_names(key.text, known),
                    remedy=_FOREIGN_PROPERTIES.get(key.text),
                )

    def _shape(self, node: Node, what: str, expected: str, *, remedy: str | None = None) -> None:
        wrong_shape(self._problems, node, f"{what} of {self.what}", expected, path=self._path, remedy=remedy)


def wrong_shape(
    problems: Problems, node: Node, what: str, expected: str, *, path: str | None = None, remedy: str | None = None
) -> None:
    """Note that something is, for example, a list where text was expected."""
    found = describe(node)
    message = f"{what} is {found}, not {expected}"
    problems.error("LB1040", message, node, path=path, expected=expected, found=found, remedy=remedy)


def _number(node: Node) -> int | None:
    if not isinstance(node, ScalarNode) or not node.plain:
        return None
    try:
        value = scalar_value(node)
    except ValueError:
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def open_envelope(node: MappingNode, what: str, problems: Problems) -> MappingNode | None:
    """The `content` of a `kind`/`version`/`content` envelope of version 1."""
    envelope = Properties(node, what, problems)
    envelope.take("kind")
    version = envelope.need("version", "version: 1")
    content = envelope.need("content", "content: {name: ...}")
    envelope.close()
    if version is not None and _number(version) != 1:
        found = describe(version)
        message = f"the version of {what} is {found}; only version 1 is known"
        problems.error("LB1023", message, version, expected="1", found=found, remedy="Write `version: 1`.")
    return envelope.mapping(content, "`content`") if content is not None else None
