"""Read a YAML text as its author laid it out: nodes as they are written, with comments and blank lines.

Nothing is interpreted. Every comment belongs to the entry that it stands above or beside, to the end of the collection
that it is indented like, or to the beginning or the end of its document. What a comment is about is the same before
and after `lakebed fmt`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from lakebed.diagnostics import Position
from lakebed.errors import ManifestError
from lakebed.manifest.parse_yaml import without_old_breaks

CANNOT = "LB1632"
#: Anchors and tags before a value.
_PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]*)+")
_COMMENT = re.compile(r"(?:(?<=\s)|^)#", re.MULTILINE)


@dataclass(slots=True, eq=False)
class Comment:
    """A comment from its `#` on; `blank` says that an empty line stands before it."""

    text: str
    at: int
    blank: bool = False


@dataclass(slots=True, eq=False)
class Written:
    """A value as it is written: its anchor and tag, and where it begins and ends in the text."""

    start: int
    end: int
    properties: str


@dataclass(slots=True, eq=False)
class WrittenScalar(Written):
    """A single value. `raw` is what is written, `style` one of `'`, `"`, `|`, `>`, or None where it is plain."""

    raw: str
    value: str
    style: str | None


@dataclass(slots=True, eq=False)
class WrittenAlias(Written):
    """An alias such as `*money`, with the star."""

    name: str


@dataclass(slots=True, eq=False)
class WrittenCollection(Written):
    """A mapping or a list; `flow` says that it stands in braces or brackets, `tail` are comments behind its entries."""

    is_mapping: bool
    flow: bool
    entries: list[Entry] = field(default_factory=list)
    tail: list[Comment] = field(default_factory=list)
    column: int = 0


@dataclass(slots=True, eq=False)
class Entry:
    """A key with its value, or an item of a list. `leading` stand above it, `beside` on its line.

    Of several beside it, the first is kept there, and the others stand above.
    """

    key: WrittenScalar | None
    value: Written
    start: int
    leading: list[Comment] = field(default_factory=list)
    beside: Comment | None = None
    blank: bool = False

    @property
    def comments(self) -> list[Comment]:
        """All that are about it."""
        return [*self.leading, *([self.beside] if self.beside is not None else [])]


@dataclass(slots=True, eq=False)
class WrittenDocument:
    """A document. `explicit` says that it begins with `---`, `beside` is the comment on that line.

    `header` are the comments about all of it: those before `---` and those that an empty line parts from the first key.
    """

    start: int
    explicit: bool
    root: Written | None = None
    header: list[Comment] = field(default_factory=list)
    tail: list[Comment] = field(default_factory=list)
    beside: Comment | None = None


def read_layout(text: str, source: str | None = None) -> list[WrittenDocument]:
    """The documents of a text whose lines end with LF, comments put to what they are about.

    Raises:
        ManifestError: it is no YAML (its own codes), or holds what has no canonical form: a directive, or a key that is
            no text (LB1632).
    """
    documents = _Reader(text, source).documents() or [WrittenDocument(0, False)]
    comments = _Comments(text, documents)
    for number, document in enumerate(documents):
        end = documents[number + 1].start if number + 1 < len(documents) else len(text)
        comments.attach(document, end, first=number == 0)
        _take_header(document)
    return documents


def _take_header(document: WrittenDocument) -> None:
    """Comments before the first key that an empty line parts from it are about the document."""
    root = document.root
    if not isinstance(root, WrittenCollection) or not root.is_mapping or not root.entries:
        return
    first = root.entries[0]
    parted = [c.blank for c in first.leading[1:]] + [first.blank]
    ends = [number + 1 for number, blank in enumerate(parted) if blank] if first.leading else []
    if ends:
        document.header += first.leading[: ends[-1]]
        first.leading = first.leading[ends[-1] :]


def subjects_of(documents: Iterable[WrittenDocument]) -> Iterator[tuple[Comment, int, int]]:
    """Each comment that is about something, and where that begins and ends.

    It is about what it stands above or beside: a key with its value, or an item of a list; one on a key of an item is
    about the whole item, one in the header about the document, one at the end of a collection about nothing.
    """
    for document in documents:
        root = document.root
        for comment in [*document.header, *([document.beside] if document.beside is not None else [])]:
            yield comment, document.start, root.end if root is not None else document.start
        items = {id(e.value): e for c in collections_of(root) if not c.is_mapping for e in c.entries}
        for collection in collections_of(root):
            item = items.get(id(collection)) if collection.is_mapping else None
            for entry in collection.entries:
                about = item or entry
                yield from ((comment, about.start, about.value.end) for comment in entry.comments)


def refusal(what: str, source: str | None, line: int, column: int) -> ManifestError:
    """The error of a text that has no canonical form."""
    return ManifestError.of(
        CANNOT,
        f"the manifest cannot be formatted: {what}",
        position=Position(source, line, column),
        remedy="write it without that; until then `lakebed fmt` leaves the file as it is",
    )


class _Reader:
    """Builds documents of the events of the parser."""

    def __init__(self, text: str, source: str | None) -> None:
        self._text = text
        self._there, self._back = without_old_breaks(text)
        self._source = source
        self._open: list[WrittenCollection] = []
        self._keys: list[WrittenScalar | None] = []
        self._documents: list[WrittenDocument] = []

    def documents(self) -> list[WrittenDocument]:
        try:
            for event in YAML(typ="safe", pure=True).parse(self._text.translate(self._there)):
                self._take(event)
        except (YAMLError, ValueError, OverflowError) as error:
            raise refusal(f"it is not YAML: {str(error).splitlines()[0]}", self._source, 1, 1) from error
        return self._documents

    def _take(self, event: Event) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        match event:
            case DocumentStartEvent():
                if event.version or event.tags:
                    raise self._refused("a directive stands before it", event)
                self._documents.append(WrittenDocument(start, bool(event.explicit)))
            case ScalarEvent():
                self._add(self._scalar(event, start, end), event)
            case AliasEvent():
                self._add(WrittenAlias(start, end, "", f"*{event.anchor}"), event)
            case MappingStartEvent() | SequenceStartEvent():
                is_mapping = isinstance(event, MappingStartEvent)
                said = self._properties(event, start)
                column = event.start_mark.column
                self._open.append(
                    WrittenCollection(start, end, said, is_mapping, bool(event.flow_style), column=column)
                )
                self._keys.append(None)
            case MappingEndEvent() | SequenceEndEvent():
                self._keys.pop()
                done = self._open.pop()
                done.end = end
                if done.entries and not done.flow:
                    done.column = self._column(done.entries[0].start)
                self._add(done, event)
            case _:
                pass

    def _scalar(self, event: Any, start: int, end: int) -> WrittenScalar:
        said = self._properties(event, start)
        raw = self._text[start:end]
        raw = raw[_matched(_PROPERTIES, raw) :] if said else raw
        return WrittenScalar(start, end, said, raw, str(event.value).translate(self._back), event.style or None)

    def _properties(self, event: Any, start: int) -> str:
        if event.anchor is None and event.tag is None:
            return ""
        match = _PROPERTIES.match(self._text, start)
        return " ".join(match[0].split()) if match is not None else ""

    def _add(self, node: Written, event: Any) -> None:
        if not self._open:
            if not (isinstance(node, WrittenScalar) and not node.raw and not node.properties):
                self._documents[-1].root = node
            return
        parent = self._open[-1]
        if not parent.is_mapping:
            start = node.start if parent.flow else self._dash(node.start)
            parent.entries.append(Entry(None, node, start, blank=self._after_blank(start)))
        elif self._keys[-1] is None:
            if not isinstance(node, WrittenScalar) or node.style in ("|", ">") or "\n" in node.raw:
                raise self._refused("a key is not a text on one line", event)
            self._keys[-1] = node
        else:
            key = self._keys[-1]
            parent.entries.append(Entry(key, node, key.start, blank=self._after_blank(key.start)))
            self._keys[-1] = None

    def _dash(self, start: int) -> int:
        """Where the dash of an item is. An item that is empty stands behind its dash."""
        return self._text.rindex("-", 0, max(start, 1))

    def _column(self, at: int) -> int:
        return at - (self._text.rfind("\n", 0, at) + 1)

    def _after_blank(self, at: int) -> bool:
        return after_blank(self._text, at)

    def _refused(self, what: str, event: Any) -> ManifestError:
        return refusal(what, self._source, event.start_mark.line + 1, event.start_mark.column + 1)


def after_blank(text: str, at: int) -> bool:
    """Whether the line above the one of a place is empty."""
    end = text.rfind("\n", 0, at)
    return end >= 0 and not text[text.rfind("\n", 0, end) + 1 : end].strip()


def collections_of(node: Written | None) -> Iterator[WrittenCollection]:
    """All collections in a node, and the node itself, outer ones first."""
    pending = [node]
    while pending:
        found = pending.pop()
        if isinstance(found, WrittenCollection):
            yield found
            pending += [entry.value for entry in reversed(found.entries)]


def scalars_of(node: Written | None) -> Iterator[Written]:
    """All nodes that hold no others, keys included."""
    pending = [node]
    while pending:
        found = pending.pop()
        if isinstance(found, WrittenCollection):
            pending += [part for entry in reversed(found.entries) for part in (entry.value, entry.key)]
        elif found is not None:
            yield found


def _matched(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return found.end() if found is not None else 0


def comments_of(text: str, documents: list[WrittenDocument]) -> Iterator[tuple[int, str]]:
    """Where each comment begins, and what it says; a number sign inside of a value is none."""
    scalars = sorted((_text_start(text, s), s.end) for document in documents for s in scalars_of(document.root))
    starts = [start for start, _ in scalars]
    at = 0
    while (match := _COMMENT.search(text, at)) is not None:
        number = bisect_right(starts, match.start()) - 1
        if number >= 0 and match.start() < scalars[number][1]:
            at = scalars[number][1]
            continue
        end = text.find("\n", match.start())
        at = len(text) if end < 0 else end
        yield match.start(), text[match.start() : at].rstrip()


def _text_start(text: str, scalar: Written) -> int:
    """Where a value begins in which a number sign is none of a comment: of a text in a block, behind its mark."""
    if isinstance(scalar, WrittenScalar) and scalar.style in ("|", ">"):
        return text.find("\n", scalar.start) % (len(text) + 1)
    return scalar.start


class _Comments:
    """Finds the comments of a text and puts each to what it is about."""

    def __init__(self, text: str, documents: list[WrittenDocument]) -> None:
        self._text = text
        self._all = [Comment(line, at, after_blank(text, at)) for at, line in comments_of(text, documents)]

    def attach(self, document: WrittenDocument, end: int, *, first: bool) -> None:
        """Put the comments of a document into it; those before the first one are its own."""
        begin = 0 if first else document.start
        own = [c for c in self._all if begin <= c.at < end]
        places_of_own = [c.at for c in own]
        for collection in collections_of(document.root):
            first_inside = bisect_left(places_of_own, collection.start)
            is_inside = first_inside < len(own) and own[first_inside].at < collection.end
            if collection.flow and is_inside and collection.entries:
                collection.flow = False
                collection.column = -1
        places = _Places(document)
        for comment in own:
            if self._before(comment).strip():
                self._beside(document, places, comment)
            elif document.explicit and comment.at < document.start:
                document.header.append(comment)
            else:
                places.put(comment, len(self._before(comment)))

    def _before(self, comment: Comment) -> str:
        return self._text[self._text.rfind("\n", 0, comment.at) + 1 : comment.at]

    def _beside(self, document: WrittenDocument, places: _Places, comment: Comment) -> None:
        entry = places.last_before(comment.at)
        comment.blank = False
        if entry is not None and entry.beside is None:
            entry.beside = comment
        elif entry is not None:
            entry.leading.append(comment)
        elif document.explicit and document.beside is None:
            document.beside = comment
        else:
            document.header.append(comment)


class _Places:
    """The entries of a document that stand on lines of their own, in the order of the text."""

    def __init__(self, document: WrittenDocument) -> None:
        self._document = document
        self._entries: list[tuple[Entry, list[WrittenCollection]]] = []
        self._collect(document.root)
        self._entries.sort(key=lambda e: (e[0].start, len(e[1])))
        self._starts = [entry.start for entry, _ in self._entries]

    def _collect(self, root: Written | None) -> None:
        pending: list[tuple[Written | None, list[WrittenCollection]]] = [(root, [])]
        while pending:
            node, outer = pending.pop()
            if isinstance(node, WrittenCollection) and not node.flow:
                chain = [*outer, node]
                self._entries += [(entry, chain) for entry in node.entries]
                pending += [(entry.value, chain) for entry in node.entries]

    def last_before(self, at: int) -> Entry | None:
        number = bisect_right(self._starts, at) - 1
        return self._entries[number][0] if number >= 0 else None

    def put(self, comment: Comment, column: int) -> None:
        """A comment on a line of its own: above the next entry, or at the end of a collection that ends before it."""
        root = self._document.root
        if not self._entries and root is not None and comment.at < root.start:
            self._document.header.append(comment)
            return
        number = bisect_right(self._starts, comment.at)
        entry, chain = self._entries[number] if number < len(self._entries) else (None, [])
        before = self._entries[number - 1][1] if number else []
        ended = [c for c in before if c not in chain]
        if entry is not None and (chain[-1].column < 0 or column <= chain[-1].column or not ended):
            entry.leading.append(comment)
            return
        fitting = [c for c in ended if c.column <= column and (c.column >= 0 or comment.at < c.end)]
        if fitting:
            fitting[-1].tail.append(comment)
        elif entry is not None:
            entry.leading.append(comment)
        else:
            self._document.tail.append(comment)
