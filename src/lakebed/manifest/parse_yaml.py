"""Parse YAML text into node trees, safely (YAML 1.2; JSON is a subset).

Nothing is ever constructed from a tag. Size, nesting and the number of nodes, aliases counted as often as they are
used, are bounded. A syntax error ends the reading of a text; the documents before it are still returned.

A text is read by libyaml, which is written in C, as long as nothing is wrong with it and nothing is in it of which
libyaml, a parser of YAML 1.1, makes something else. All others are read by ruamel.yaml, whose word counts. Both give
the same events, by the same names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from lakebed.diagnostics import Position
from lakebed.manifest.nodes import MappingNode, Node, ScalarNode, SequenceNode, clipped, describe, is_empty
from lakebed.manifest.problems import Problems

if TYPE_CHECKING:
    from ruamel.yaml.error import MarkedYAMLError, StreamMark

#: An event of one of the two libraries.
Event: TypeAlias = Any

MAX_BYTES = 4 * 1024 * 1024
MAX_NODES = 500_000
MAX_DEPTH = 350

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: NEL, LS and PS.
_OLD_BREAKS = "\x85\u2028\u2029"
_SURROGATE = re.compile("[\ud800-\udfff]")
_CORE = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", _CORE + "str"})
_PLAIN_TAGS = frozenset(_CORE + name for name in ("int", "float", "bool", "null"))
_COLLECTION_TAGS = frozenset({"!", _CORE + "map", _CORE + "seq"})


class _StopError(Exception):
    """The rest of the text cannot be read; the problem has been noted."""


def decode_utf8(data: bytes, source: str | None, problems: Problems) -> str | None:
    """The text of a file; None, with the problem noted, where it is too large or not UTF-8."""
    if len(data) > MAX_BYTES:
        message = f"the manifest has {len(data)} bytes, more than {MAX_BYTES}"
        problems.error("LB1004", message, Position(source, 1, 1), remedy="Split it into several files.")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", errors="replace")
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        problems.error(
            "LB1002",
            "the manifest is UTF-16, not UTF-8" if wide else f"byte 0x{data[error.start]:02x} is not UTF-8",
            _place_after(before, source),
            remedy="Save the file as UTF-8.",
        )
        return None


def compose(text: str, source: str | None, problems: Problems) -> list[Node]:
    """The root nodes of all documents in `text`; documents that hold nothing are left out."""
    text = text.removeprefix("\ufeff")
    if len(text) > MAX_BYTES:
        message = f"the manifest has {len(text)} characters, more than {MAX_BYTES}"
        problems.error("LB1004", message, Position(source, 1, 1), remedy="Split it into several files.")
        return []
    bad = _UNPRINTABLE.search(text)
    if bad is not None:
        problems.error(
            "LB1003",
            f"the character U+{ord(bad[0]):04X} may not stand in YAML",
            _place_after(text[: bad.start()], source),
            remedy="Remove it, or write it as an escape inside double quotes.",
        )
        return []
    found = _composed_by_libyaml(text, source)
    return _composed_by_ruamel(text, source, problems) if found is None else found


#: Rare in manifests, and not the same to both parsers, or not in all places: tabs, tags, directives, breaks of old,
#: keys that are told by a question mark, anchors and aliases, lines of spaces, ends of documents. So are documents
#: that are a single value.
_RARE = re.compile("[\t!%*&\x85\u2028\u2029\ufeff]|\\?(?![^ \n\r])|^ +$|^\\.\\.\\.", re.MULTILINE)


def _composed_by_libyaml(text: str, source: str | None) -> list[Node] | None:
    """The root nodes of a text in which nothing is wrong; None where something is, or it cannot be told."""
    if _RARE.search(text):
        return None
    import yaml

    if not yaml.__with_libyaml__:
        return None
    problems = Problems()
    composer = _Composer(source, problems, {})
    events = yaml.cyaml.CParser(text)
    try:
        while events.check_event():
            composer.take(events.get_event())
    except (yaml.YAMLError, _StopError):
        return None
    finally:
        events.dispose()
    if problems.errors or any(isinstance(node, ScalarNode) for node in composer.documents):
        return None
    return composer.documents


def _composed_by_ruamel(text: str, source: str | None, problems: Problems) -> list[Node]:
    """The root nodes of a text up to the first error of syntax, which is noted, as all other problems are."""
    there, back = without_old_breaks(text)
    composer = _Composer(source, problems, back)
    with suppress(_StopError):
        for event in _events(text.translate(there), source, problems, composer.innermost):
            composer.take(event)
    return composer.documents


def without_old_breaks(text: str) -> tuple[dict[int, int], dict[int, int]]:
    """Characters for those that end a line in YAML 1.1 and to the parser, and not in YAML 1.2; and the way back.

    Nothing where there is none of them, or no character that the text has not.
    """
    old = [char for char in _OLD_BREAKS if char in text]
    used = set(text) if old else set()
    free = [number for number in range(0xE000, 0xF900) if chr(number) not in used][: len(old)] if old else []
    there = dict(zip(map(ord, old), free, strict=False))
    return there, {number: char for char, number in there.items()}


def _events(text: str, source: str | None, problems: Problems, innermost: Callable[[], Position]) -> Iterator[Event]:
    """The events of a text; `innermost` says where the collection begins that is open when there are no more."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except MarkedYAMLError as error:
        _syntax_error(error, text, source, problems, innermost)
        raise _StopError from error
    except (YAMLError, ValueError, OverflowError) as error:
        # An escape beyond Unicode (`\UFFFFFFFF`) leaves the scanner as a ValueError.
        problems.error("LB1003", f"this is not YAML: {error}", Position(source, 1, 1))
        raise _StopError from error


def _syntax_error(
    error: MarkedYAMLError, text: str, source: str | None, problems: Problems, innermost: Callable[[], Position]
) -> None:
    found, context = (_position(mark, source) for mark in (error.problem_mark, error.context_mark))
    what = str(error.problem or error.context or "it cannot be read")
    start = _left_open(str(error.context), what, found, context, innermost)
    inside = f" ({error.context})" if error.problem and error.context else ""
    if found is not None and start is not None:
        what = f"{what} in line {found.line}, column {found.column}"
        inside = f"{inside.removesuffix(')')} that begins here)"
    elif inside and context is not None and found is not None and context.line != found.line:
        inside = f"{inside.removesuffix(')')} that begins in line {context.line})"
    position = start or found or context or Position(source, 1, 1)
    mark = error.problem_mark
    if mark is not None and _is_bare_variable(text, mark):
        remedy: str | None = 'Put a variable in quotes inside of braces and brackets: "${name}".'
    else:
        remedy = _remedy_of_syntax(what, is_open=start is not None)
    problems.error("LB1003", f"this is not YAML: {what}{inside}", position, remedy=remedy)


def _position(mark: StreamMark | None, source: str | None) -> Position | None:
    return None if mark is None else Position(source, mark.line + 1, mark.column + 1)


def _left_open(
    context: str, what: str, found: Position | None, start: Position | None, innermost: Callable[[], Position]
) -> Position | None:
    """Where a quote, a brace or a key begins that has no end, which tells more than where that shows; else None."""
    if "flow node" in context and "<stream end>" in what:
        return innermost()
    if "quoted scalar" in context:
        return start if "end of stream" in what or "document separator" in what else None
    if "flow" in context and start is not None and found is not None:
        return start if "<stream end>" in what or start.line != found.line else None
    return start if "simple key" in context else None


def _is_bare_variable(text: str, mark: StreamMark) -> bool:
    """Whether it is the brace of `${name}`, which ends a text without quotes inside of braces and brackets."""
    before = text.split("\n")[mark.line][: mark.column + 1]
    return before.endswith("${")


def _remedy_of_syntax(what: str, *, is_open: bool) -> str | None:
    if is_open:
        return "Close it; a key has a colon and a space behind it."
    if r"\t" in what:
        return "Indent with spaces; YAML allows no tabs there."
    if "cannot start any token" in what:
        return "Put the text in quotes."
    if "mapping values are not allowed" in what:
        return "Check the indentation, or put a text that holds ': ' in quotes."
    return None


def _place_after(text: str, source: str | None) -> Position:
    line_start = max(text.rfind("\n"), text.rfind("\r")) + 1
    return Position(source, len(re.findall("\r\n|\r|\n", text)) + 1, len(text) - line_start + 1)


def _column_of(text: str, event: Event) -> int | None:
    """The column that a text begins in, plain or behind a quote; None where it takes several lines, or has escapes."""
    start, end = event.start_mark, event.end_mark
    quotes = end.column - start.column - len(text)
    return start.column + 1 + quotes // 2 if start.line == end.line and quotes in (0, 2) else None


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet. `weight` counts nodes with aliases expanded."""

    is_mapping: bool
    position: Position
    anchor: str | None
    children: list[Node] = field(default_factory=list)
    weight: int = 1
    height: int = 0


class _Composer:
    def __init__(self, source: str | None, problems: Problems, characters: Mapping[int, int]) -> None:
        """`characters` are those of scalars that stand for others."""
        self._characters = characters
        self.documents: list[Node] = []
        self._source = source
        self._problems = problems
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Node, int, int]] = {}
        self._spent = 0

    def innermost(self) -> Position:
        """Where the collection begins that was opened last and is not complete; else the beginning of the text."""
        return self._open[-1].position if self._open else Position(self._source, 1, 1)

    def take(self, event: Event) -> None:
        """Take the next event; the two libraries call their classes alike."""
        match type(event).__name__:
            case "ScalarEvent":
                self._close(self._scalar(event), event.anchor, 1, 1)
            case "SequenceStartEvent":
                self._start(event, is_mapping=False)
            case "MappingStartEvent":
                self._start(event, is_mapping=True)
            case "SequenceEndEvent" | "MappingEndEvent":
                self._end()
            case "AliasEvent":
                self._alias(event)
            case "DocumentStartEvent":
                self._anchors = {}
            case _:
                pass

    def _scalar(self, event: Event) -> ScalarNode:
        """A single value. Where the author wrote nothing after a key, it stands where the key does."""
        text, position = self._text(event), self._position(event)
        column = _column_of(text, event) if "${" in text else None
        node = ScalarNode(text, position, self._is_plain(event), column)
        parent = self._open[-1] if self._open else None
        if is_empty(node) and parent is not None and parent.is_mapping and len(parent.children) % 2 == 1:
            return replace(node, position=parent.children[-1].position)
        return node

    def _start(self, event: Event, *, is_mapping: bool) -> None:
        position = self._position(event)
        self._check_depth(1, position)
        if event.tag is not None and str(event.tag) not in _COLLECTION_TAGS:
            self._refuse_tag(str(event.tag), position)
        self._open.append(_Open(is_mapping, position, event.anchor))

    def _end(self) -> None:
        done = self._open.pop()
        children = tuple(done.children)
        node: Node
        if done.is_mapping:
            node = MappingNode(self._entries(children), done.position)
        else:
            node = SequenceNode(children, done.position)
        self._close(node, done.anchor, done.weight, done.height + 1)

    def _alias(self, event: Event) -> None:
        position, name = self._position(event), str(event.anchor)
        if any(open_.anchor == name for open_ in self._open):
            self._problems.error("LB1009", f"the alias *{name} stands inside what it names", position)
            raise _StopError
        if name not in self._anchors:
            self._problems.error("LB1009", f"the alias *{name} names no anchor", position)
            raise _StopError
        node, weight, height = self._anchors[name]
        self._check_depth(height, position)
        self._close(node, None, weight, height, at=position)

    def _close(self, node: Node, anchor: Any, weight: int, height: int, *, at: Position | None = None) -> None:
        """A node is complete: it goes into the collection that is open, or is a document."""
        if anchor is not None:
            self._anchors[str(anchor)] = (node, weight, height)
        if not self._open:
            self._spent += weight
            if not is_empty(node):
                self.documents.append(node)
            return
        parent = self._open[-1]
        parent.children.append(node)
        parent.weight += weight
        parent.height = max(parent.height, height)
        if self._spent + parent.weight > MAX_NODES:
            message = f"the manifest has more than {MAX_NODES} values, those of aliases counted at each use"
            self._problems.error("LB1004", message, at or node.position, remedy="Use fewer aliases, or split the file.")
            raise _StopError

    def _entries(self, children: tuple[Node, ...]) -> tuple[tuple[ScalarNode, Node], ...]:
        """Keys with their values; a key that is no text or stands there twice is noted and left out."""
        seen: dict[str, tuple[ScalarNode, Node]] = {}
        for key, value in zip(children[::2], children[1::2], strict=True):
            if not isinstance(key, ScalarNode):
                self._problems.error("LB1007", f"{describe(key)} cannot be a key; keys are text", key)
            elif is_empty(key):
                self._problems.error(
                    "LB1007", "a key is missing before the colon", key, remedy='Write "" for an empty key.'
                )
            elif key.text in seen:
                first = seen[key.text][0].position
                self._problems.repeated_key(
                    f"the key {clipped(key.text)} stands here twice; the first is in line {first.line}, "
                    f"column {first.column}",
                    key,
                    remedy="Keep one of the two.",
                )
            else:
                seen[key.text] = (key, value)
        return tuple(seen.values())

    def _check_depth(self, more: int, position: Position) -> None:
        if len(self._open) + more > MAX_DEPTH:
            self._problems.error("LB1005", f"values are nested more than {MAX_DEPTH} deep", position)
            raise _StopError

    def _text(self, event: Event) -> str:
        """The scalar's text; the two halves that JSON escapes a character in become that character."""
        text = str(event.value)
        if text.isascii():
            return text
        text = text.translate(self._characters)
        if not _SURROGATE.search(text):
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            message = "the text holds half of a surrogate pair, which is no character"
            self._problems.error("LB1010", message, self._position(event))
            return text.encode("utf-8", "replace").decode()

    def _is_plain(self, event: Event) -> bool:
        if event.tag is None:
            return bool(event.implicit[0])
        tag = str(event.tag)
        if tag not in _TEXT_TAGS | _PLAIN_TAGS:
            self._refuse_tag(tag, self._position(event))
        return tag in _PLAIN_TAGS

    def _refuse_tag(self, tag: str, position: Position) -> None:
        shown = tag.replace(_CORE, "!!")
        self._problems.error(
            "LB1008", f"the tag {clipped(shown, quoted=False)} means nothing here", position, remedy="Leave it out."
        )

    def _position(self, event: Event) -> Position:
        mark = event.start_mark
        return Position(self._source, mark.line + 1, mark.column + 1)
