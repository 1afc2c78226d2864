"""Represent a YAML text as a tree of nodes with positions, before anything is interpreted.

Scalars keep the author's text. What a plain scalar means where a JSON value is wanted follows the core schema of YAML
1.2, with one exception: an integer with a leading zero (`0777`, a postal code) stays text. So `no`, `on` and
`2024-01-01` are text, `1e3` is a number where a JSON value is wanted and the text `1e3` where text is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from lakebed.diagnostics import Position

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_MAX_NUMBER = 1000
_SPECIAL = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


@dataclass(frozen=True, slots=True, eq=False)
class ScalarNode:
    """A single value as the author wrote it; `plain` where neither quotes nor a tag make it text.

    `column` is that of its first character where the text stands so on one line, and may hold a variable.
    """

    text: str
    position: Position
    plain: bool
    column: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SequenceNode:
    """A list. Nodes are shared where the author used an alias."""

    items: tuple[Node, ...]
    position: Position


@dataclass(frozen=True, slots=True, eq=False)
class MappingNode:
    """Keys and values in the author's order; keys are unique by their text."""

    entries: tuple[tuple[ScalarNode, Node], ...]
    position: Position


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


def is_null(node: Node) -> bool:
    """Whether the author wrote null, `~` or nothing."""
    return isinstance(node, ScalarNode) and node.plain and node.text in _NULLS


def is_empty(node: Node) -> bool:
    """Whether the author wrote nothing at all after a key or a dash."""
    return isinstance(node, ScalarNode) and node.plain and node.text == ""


def scalar_value(node: ScalarNode) -> bool | int | float | str | None:
    """The value of a scalar by the core schema of YAML 1.2.

    Raises:
        ValueError: the number is not finite, or too long to be one. The text is in the error.
    """
    text = node.text
    if not node.plain:
        return text
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if len(text) > _MAX_NUMBER and (_INTEGER.fullmatch(text) or _OCTAL.fullmatch(text) or _HEX.fullmatch(text)):
        raise ValueError(f"a number of {len(text)} characters is too long")
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    if _FLOAT.fullmatch(text) and not _LEADING_ZERO.fullmatch(text):
        return _finite(text)
    if _SPECIAL.fullmatch(text):
        raise ValueError(f"{text} is not a finite number")
    return text


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{text} is too large for a number")
    return value


def describe(node: Node) -> str:
    """What a node is, in words for a message."""
    match node:
        case MappingNode():
            return "a mapping"
        case SequenceNode():
            return "a list"
        case ScalarNode() if is_null(node):
            return "nothing"
        case ScalarNode():
            return f"the text {clipped(node.text)}" if _is_text(node) else clipped(node.text, quoted=False)


def _is_text(node: ScalarNode) -> bool:
    try:
        return isinstance(scalar_value(node), str)
    except ValueError:
        return False


def clipped(text: str, *, quoted: bool = True) -> str:
    """A text short enough for a message, on one line."""
    short = text if len(text) <= 60 else text[:57] + "..."
    return repr(short) if quoted else short
