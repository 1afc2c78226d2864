"""Change single values in a YAML text, leaving every other character as it is.

A `YamlText` notes changes of nodes by their places in the text and makes them all at once. Nodes are those of
ruamel.yaml, whose marks say where they stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from lakebed.errors import ManifestError
from lakebed.manifest.text_layout import comments_of, read_layout
from lakebed.manifest.yaml_text import is_json, json_text, text_scalar

_FLOW_MARKS = frozenset(",[]{}?")
#: A value, and whether it stands in a block, one line a key.
Value: TypeAlias = Any


def flow_text(value: Value) -> str:
    """A JSON value on one line, inside of brackets and braces."""
    match value:
        case dict():
            return "{" + ", ".join(f"{flow_text(k)}: {flow_text(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(flow_text, value)) + "]"
        case str():
            plain = text_scalar(value)
            return json.dumps(value, ensure_ascii=False) if _FLOW_MARKS & {*plain} and plain[0] != '"' else plain
        case _:
            return json.dumps(value)


def value_text(value: Value) -> str:
    """A JSON value after a key of a block."""
    return text_scalar(value) if isinstance(value, str) else flow_text(value)


class YamlText:
    """A text whose documents are to be changed. `documents` are their root nodes. JSON stays JSON."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.documents: list[Node] = list(YAML(typ="safe", pure=True).compose_all(text))
        self._patches: list[tuple[int, int, str]] = []
        self._is_json = is_json(text)
        self._break = "\r\n" if "\r\n" in text else "\n"

    def changed(self) -> str:
        """The text with all noted changes; of two at one place the one that was noted first comes first."""
        text = self.text
        for (start, end, new), _ in sorted(
            zip(self._patches, range(len(self._patches)), strict=True), key=lambda p: (*p[0][:2], p[1]), reverse=True
        ):
            text = text[:start] + new + text[end:]
        return text

    def flow_text(self, value: Value) -> str:
        """A value on one line, inside of brackets and braces."""
        return json_text(value) if self._is_json else flow_text(value)

    def replace(self, node: Node, value: Value, *, before: Node) -> None:
        """Put a value in the place of a node; `before` is its key. Comments inside go above the line of the key."""
        start, end = node.start_mark.index, self.end(node)
        in_flow = self._in_flow(before)
        new = self.flow_text(value) if in_flow else value_text(value)
        if start >= end:
            start = end = self._after_colon(before)
            new = f" {new}"
        elif isinstance(node, MappingNode | SequenceNode) and not node.flow_style:
            start = self._after_colon(before)
            new = f" {new}"
        self._keep_comments(start, end, before)
        self._patches.append((start, end, new))

    def _keep_comments(self, start: int, end: int, key: Node) -> None:
        """Put the comments of a part that is replaced above the line of its key."""
        if "#" not in self.text[start:end]:
            return
        try:
            found = [comment for at, comment in comments_of(self.text, read_layout(self.text)) if start <= at < end]
        except ManifestError as error:
            raise ValueError("a comment may stand in what would be replaced") from error
        line = self._line_start(key.start_mark.index)
        before = self.text[line : key.start_mark.index]
        pad = before[: len(before) - len(before.lstrip(" "))]
        self._patches.append((line, line, "".join(f"{pad}{comment}{self._break}" for comment in found)))

    def set(self, mapping: MappingNode, key: str, value: Value) -> None:
        """Set a key of a mapping: in its place if it is there, else at the end."""
        found = entry(mapping, key)
        if found is not None:
            self.replace(found[1], value, before=found[0])
        elif mapping.flow_style:
            self._into_flow(mapping, f"{self.flow_text(key)}: {self.flow_text(value)}", len(mapping.value))
        else:
            line = f"{text_scalar(key)}: {value_text(value)}"
            self._after_line(self.end(mapping), mapping.value[0][0].start_mark.column, [line])

    def remove(self, mapping: MappingNode, key: str) -> None:
        """Take a key out. Comments on lines of their own stay."""
        keys = [k.value for k, _ in mapping.value]
        at = keys.index(key)
        node = mapping.value[at][0]
        if mapping.flow_style:
            self._out_of_flow([(k.start_mark.index, self._entry_end(k, v)) for k, v in mapping.value], at)
        elif len(keys) == 1:
            self._patches.append((node.start_mark.index, self.end(mapping), "{}"))
        elif self.text[self._line_start(node.start_mark.index) : node.start_mark.index].strip():
            # It shares its line with the dash of a list: the next key takes its place.
            self._patches.append((node.start_mark.index, mapping.value[at + 1][0].start_mark.index, ""))
        else:
            end = self._line_end(self._entry_end(*mapping.value[at]))
            self._patches.append((self._line_start(node.start_mark.index), min(end + 1, len(self.text)), ""))

    def insert_item(self, sequence: SequenceNode, at: int, lines: list[str], flow: str) -> None:
        """Put an item behind the first `at` items: `lines` where the list is a block, `flow` in brackets."""
        if sequence.flow_style:
            self._into_flow(sequence, flow, at)
        elif at:
            column = self._dash(sequence.value[0]) - self._line_start(self._dash(sequence.value[0]))
            self._after_line(
                self.end(sequence.value[at - 1]), column, [f"- {lines[0]}", *(f"  {x}" for x in lines[1:])]
            )
        else:
            start = self._line_start(self._dash(sequence.value[0]))
            pad = " " * (self._dash(sequence.value[0]) - start)
            text = "".join(
                f"{pad}{mark}{line}{self._break}"
                for mark, line in zip(["- "] + ["  "] * len(lines), lines, strict=False)
            )
            self._patches.append((start, start, text))

    def remove_item(self, sequence: SequenceNode, at: int) -> None:
        """Take an item out. Comments on lines of their own stay."""
        if sequence.flow_style:
            self._out_of_flow([(n.start_mark.index, self.end(n)) for n in sequence.value], at)
        elif len(sequence.value) == 1:
            self._patches.append((self._dash(sequence.value[0]), self.end(sequence), "[]"))
        else:
            start = self._line_start(self._dash(sequence.value[at]))
            end = self._line_end(self.end(sequence.value[at]))
            self._patches.append((start, min(end + 1, len(self.text)), ""))

    def reorder(self, sequence: SequenceNode, order: list[int]) -> None:
        """Put the items in another order; a comment above an item goes with it."""
        if sequence.flow_style:
            spans = [(n.start_mark.index, self.end(n)) for n in sequence.value]
        else:
            ends = [self._line_end(self.end(n)) for n in sequence.value]
            first = self._line_start(self._dash(sequence.value[0]))
            spans = list(zip([first, *(end + 1 for end in ends[:-1])], ends, strict=True))
        pieces = [self.text[start:end] for start, end in spans]
        for (start, end), item in zip(spans, order, strict=True):
            self._patches.append((start, end, pieces[item]))

    def end(self, node: Node) -> int:
        """Where the last character of a node's content stands, plus one."""
        if isinstance(node, ScalarNode):
            if node.style in ("|", ">"):
                return len(self.text[: node.end_mark.index].rstrip())
            return int(node.end_mark.index)
        assert isinstance(node, MappingNode | SequenceNode)
        if node.flow_style or not node.value:
            return int(node.end_mark.index)
        last = node.value[-1]
        return self._entry_end(*last) if isinstance(node, MappingNode) else max(self.end(last), self._dash(last) + 1)

    def _entry_end(self, key: Node, value: Node) -> int:
        return (
            max(self.end(value), self._after_colon(key))
            if value.start_mark.index >= key.end_mark.index
            else (self._after_colon(key))
        )

    def _after_colon(self, key: Node) -> int:
        return self.text.index(":", key.end_mark.index) + 1

    def _dash(self, item: Node) -> int:
        return self.text.rindex("-", 0, max(item.start_mark.index, 1))

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def _in_flow(self, key: Node) -> bool:
        """Whether a key stands inside of braces; then its line has the brace before it, or the node's parent has."""
        return any(_holds(parent, key) for document in self.documents for parent in _flow_nodes(document))

    def _after_line(self, at: int, column: int, lines: Iterable[str]) -> None:
        end = self._line_end(at)
        end -= self.text[end - 1 : end] == "\r"
        self._patches.append((end, end, "".join(f"{self._break}{' ' * column}{line}" for line in lines)))

    def _into_flow(self, node: Node, text: str, at: int) -> None:
        members = node.value
        if not members:
            place, new = node.start_mark.index + 1, text
        elif at == 0:
            first = members[0][0] if isinstance(node, MappingNode) else members[0]
            place, new = first.start_mark.index, f"{text}, "
        else:
            last = members[at - 1]
            place = self._entry_end(*last) if isinstance(node, MappingNode) else self.end(last)
            new = f", {text}"
        self._patches.append((place, place, new))

    def _out_of_flow(self, spans: list[tuple[int, int]], at: int) -> None:
        if at + 1 < len(spans):
            start, end = spans[at][0], spans[at + 1][0]
        else:
            start, end = spans[at - 1][1] if at else spans[at][0], spans[at][1]
        self._patches.append((start, end, ""))


def entry(mapping: MappingNode, key: str) -> tuple[Node, Node] | None:
    """The nodes of a key and of its value."""
    return next(((k, v) for k, v in mapping.value if k.value == key), None)


def _flow_nodes(node: Node) -> Iterable[Node]:
    """The outermost collections in braces or brackets."""
    if not isinstance(node, MappingNode | SequenceNode):
        return
    if node.flow_style:
        yield node
        return
    for member in node.value:
        for inner in member if isinstance(node, MappingNode) else (member,):
            yield from _flow_nodes(inner)


def _holds(parent: Node, key: Node) -> bool:
    return bool(parent.start_mark.index <= key.start_mark.index < parent.end_mark.index)
