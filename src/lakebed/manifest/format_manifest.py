"""Write manifests in canonical form, with their comments.

Indentation, spaces, quotes, empty lines, the order of known keys and the spelling of types are one; what is in a block
or in braces, and the order of columns, options and attributes, stay as the author has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lakebed.errors import ManifestError
from lakebed.manifest.load import LoadedFile
from lakebed.manifest.parse_yaml import compose, decode_utf8
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import spellings
from lakebed.manifest.table_manifest import SourceKind
from lakebed.manifest.text_layout import (
    Comment,
    Entry,
    Written,
    WrittenAlias,
    WrittenCollection,
    WrittenDocument,
    WrittenScalar,
    collections_of,
    read_layout,
    refusal,
    scalars_of,
)
from lakebed.manifest.text_patches import flow_text
from lakebed.manifest.yaml_text import text_scalar
from lakebed.model import BY_KIND
from lakebed.model.types import TimeUnit

#: What is in braces or brackets takes one line of at most so many characters, or a block.
WIDTH = 120
_KINDS = spellings(BY_KIND)
_UNITS = spellings(unit.value for unit in TimeUnit)
_TABLES = spellings([SourceKind.TABLE])
_ENVELOPE = ("kind", "version", "content")
_CONTENT = (
    *("name", "database", "description", "primaryKeys", "partitionKeys", "options", "ignoreOptions"),
    *("systemColumns", "compatibility", "read", "schema"),
)
_SCHEMA = ("fields", "extra")
_FIELD = ("name", "type", "extra")
_TYPE = (
    *("kind", "inner", "itemType", "keyType", "valueType", "fields", "precision", "scale", "unit", "timezone"),
    *("fixedLength", "keysSorted"),
)
_TYPES_INSIDE = ("inner", "itemType", "keyType", "valueType")
_LONGEST_KEY = 500


def format_manifest(data: str | bytes, *, source: str | None = None) -> str:
    """The text of a manifest in canonical form, which declares the same; bytes are UTF-8. JSON stays as it is.

    Raises:
        ManifestError: it is no YAML, or has no canonical form (LB1632).
    """
    problems = Problems()
    decoded = decode_utf8(data, source, problems) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    problems.raise_if_any()
    assert decoded is not None
    old = LoadedFile.parse(decoded, source or "")
    if not old.tables:
        _refuse_faults_of_syntax(decoded, source)
    if _is_json(decoded):
        return decoded
    documents = read_layout(re.sub("\r\n?", "\n", decoded), source)
    for document in documents:
        _shape_document(document)
    text = "".join(_documents_text(documents))
    if text != decoded:
        _check_same(old, LoadedFile.parse(text, source or ""), source)
    return text


def _refuse_faults_of_syntax(text: str, source: str | None) -> None:
    problems = Problems()
    compose(text, source, problems)
    if problems.errors:
        raise ManifestError(*problems.errors)


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _check_same(old: LoadedFile, new: LoadedFile, source: str | None) -> None:
    """What was written declares the same, or has the same faults; else nothing is given out."""
    codes = [sorted(d.code for d in file.diagnostics) for file in (old, new)]
    if old.tables != new.tables or codes[0] != codes[1]:
        raise refusal("what would be written would not declare the same", source, 1, 1)


# What is written, in its canonical shape


def _shape_document(document: WrittenDocument) -> None:
    """Order the keys of a `kind: Table` and shorten its types; not where an anchor would come behind its alias."""
    root = document.root
    if not isinstance(root, WrittenCollection) or not root.is_mapping or _has_anchors(root):
        return
    _take_header(document, root)
    _sort(root, _ENVELOPE)
    content = _value(root, "content")
    kind = _value(root, "kind")
    if not isinstance(kind, WrittenScalar) or kind.value not in _TABLES or content is None:
        return
    _spell(kind, _TABLES)
    _sort(content, _CONTENT)
    _shape_schema(_value(content, "schema"))


def _has_anchors(root: WrittenCollection) -> bool:
    """Whether there is an alias, an anchor or a tag."""
    return any(isinstance(s, WrittenAlias) or s.properties for s in (*scalars_of(root), *collections_of(root)))


def _take_header(document: WrittenDocument, root: WrittenCollection) -> None:
    """Comments before the first key that an empty line parts from it are about the document."""
    if not root.entries:
        return
    first = root.entries[0]
    parted = [c.blank for c in first.leading[1:]] + [first.blank]
    ends = [number + 1 for number, blank in enumerate(parted) if blank] if first.leading else []
    if ends:
        document.header += first.leading[: ends[-1]]
        first.leading = first.leading[ends[-1] :]


def _shape_schema(schema: Written | None) -> None:
    _sort(schema, _SCHEMA)
    _shape_fields(_value(schema, "fields"))


def _shape_fields(fields: Written | None) -> None:
    if not isinstance(fields, WrittenCollection) or fields.is_mapping:
        return
    for item in fields.entries:
        _sort(item.value, _FIELD)
        if isinstance(item.value, WrittenCollection):
            for entry in item.value.entries:
                if entry.key is not None and entry.key.value == "type":
                    entry.value = _shaped_type(entry.value)


def _shaped_type(node: Written) -> Written:
    """The type, spelt and ordered; just its kind where that says all."""
    if isinstance(node, WrittenScalar):
        _spell(node, _KINDS)
    if not isinstance(node, WrittenCollection) or not node.is_mapping:
        return node
    _sort(node, _TYPE)
    for entry in node.entries:
        name = entry.key.value if entry.key is not None else ""
        if name in _TYPES_INSIDE:
            entry.value = _shaped_type(entry.value)
        elif name == "fields":
            _shape_fields(entry.value)
        elif isinstance(entry.value, WrittenScalar) and name in ("kind", "unit"):
            _spell(entry.value, _KINDS if name == "kind" else _UNITS)
    only = node.entries[0] if len(node.entries) == 1 and not node.tail else None
    if only is None or only.leading or only.key is None or only.key.value != "kind" or only.beside is not None:
        return node
    return only.value if isinstance(only.value, WrittenScalar) and only.value.value in BY_KIND else node


def _spell(node: WrittenScalar, known: dict[str, str]) -> None:
    if node.value in known and node.style not in ("|", ">"):
        node.raw = node.value = known[node.value]
        node.style = None


def _sort(node: Written | None, order: Sequence[str]) -> None:
    """Known keys in their order, then the others as they stand."""
    if isinstance(node, WrittenCollection) and node.is_mapping:
        place = {name: number for number, name in enumerate(order)}
        node.entries.sort(key=lambda e: place.get(e.key.value if e.key is not None else "", len(place)))


def _value(node: Written | None, name: str) -> Written | None:
    if not isinstance(node, WrittenCollection) or not node.is_mapping:
        return None
    return next((e.value for e in node.entries if e.key is not None and e.key.value == name), None)


# Text of what is written


def _documents_text(documents: Iterable[WrittenDocument]) -> Iterator[str]:
    """The lines of all documents that hold something, each with its line break."""
    written = False
    for document in documents:
        body = list(_document_lines(document))
        if document.root is None and not body:
            continue
        if written or document.explicit:
            before = [] if written else _comment_lines(document.header)
            yield from (f"{line}\n" for line in before)
            yield f"---{'  ' + document.beside if document.beside is not None else ''}\n"
            if before:
                body = body[len(before) + (body[len(before) : len(before) + 1] == [""]) :]
        yield from (f"{line}\n" for line in body)
        written = True


def _document_lines(document: WrittenDocument) -> Iterator[str]:
    header = _comment_lines(document.header)
    lines = _block_lines(document.root, 0) if document.root is not None else []
    tail = _comment_lines(document.tail)
    yield from header
    if header and (lines or tail):
        yield ""
    yield from lines
    if tail and document.tail[0].blank and lines:
        yield ""
    yield from tail


def _comment_lines(comments: Sequence[Comment]) -> list[str]:
    """Comments, with an empty line before each that has one, but for the first."""
    lines: list[str] = []
    for number, comment in enumerate(comments):
        lines += ["", comment.text] if comment.blank and number else [comment.text]
    return lines


def _block_lines(node: Written, indent: int) -> list[str]:
    """The lines of a node that begins a line, without the indentation of their parent."""
    if isinstance(node, WrittenCollection) and not _is_flow(node, indent):
        return _entries_lines(node, indent)
    return _Value(node, indent).lines


def _entries_lines(node: WrittenCollection, indent: int) -> list[str]:
    lines: list[str] = []
    for entry in node.entries:
        comments = _comment_lines(entry.leading)
        blank = entry.leading[0].blank if entry.leading else entry.blank
        lines += [""] if blank and lines else []
        lines += comments + ([""] if entry.blank and comments else [])
        lines += _entry_lines(entry, indent)
    if node.tail:
        lines += ([""] if node.tail[0].blank else []) + _comment_lines(node.tail)
    return lines


def _entry_lines(entry: Entry, indent: int) -> list[str]:
    value = entry.value
    beside = f"  {entry.beside}" if entry.beside is not None else ""
    prefix = "-" if entry.key is None else f"{_key_text(entry.key)}:"
    before: list[str] = []
    if len(prefix) > _LONGEST_KEY:
        before, prefix = [f"? {prefix[:-1]}"], ":"
    room = indent + len(prefix) + 1
    if isinstance(value, WrittenCollection) and not _is_flow(value, room):
        inner = _entries_lines(value, indent + 2)
        if entry.key is None and not beside and not value.properties and not value.entries[0].leading:
            return [f"- {inner[0]}", *_indented(inner[1:])]
        said = f" {value.properties}" if value.properties else ""
        return [*before, f"{prefix}{said}{beside}", *_indented(inner)]
    shown = _Value(value, room)
    lines = shown.lines
    first = f"{prefix} {lines[0]}" if lines[0] else prefix
    if shown.is_block:
        return [*before, f"{first}{beside}", *_indented(lines[1:])]
    whole = [first, *_indented(lines[1:])]
    return [*before, *whole[:-1], f"{whole[-1]}{beside}"]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]


def _key_text(key: WrittenScalar) -> str:
    said = f"{key.properties} " if key.properties else ""
    return said + (key.raw if key.style is None else text_scalar(key.value))


def _is_flow(node: WrittenCollection, room: int) -> bool:
    """Whether a collection stands in braces: an empty one always does, another where it fits into the line."""
    if not node.entries:
        return True
    return node.flow and room + len(_flow(node)) <= WIDTH


@dataclass(slots=True)
class _Value:
    """The lines of a value behind its key; `is_block` where they are a text of several lines behind a mark."""

    lines: list[str]
    is_block: bool

    def __init__(self, node: Written, room: int) -> None:
        self.is_block = False
        if not isinstance(node, WrittenScalar):
            self.lines = [_flow(node)]
            return
        said = f"{node.properties} " if node.properties else ""
        first, *more = self._scalar(node)
        self.lines = [f"{said}{first}".rstrip() if not more else f"{said}{first}", *more]

    def _scalar(self, node: WrittenScalar) -> list[str]:
        if node.style in ("|", ">"):
            lines = _block_scalar(node)
            self.is_block = lines is not None
            return lines if lines is not None else [text_scalar(node.value)]
        if "\n" in node.raw:
            first, *more = node.raw.split("\n")
            return [first.rstrip(" \t") if more[0].strip() else first, *(line.lstrip(" \t") for line in more)]
        return [node.raw if node.style is None else text_scalar(node.value)]


def _block_scalar(node: WrittenScalar) -> list[str] | None:
    """The lines of a text behind `|` or `>`; None where it is safer in quotes."""
    head, *lines = node.raw.split("\n")
    mark, comment = (head.partition("#")[0].strip(), head[head.find("#") :] if "#" in head else "")
    if re.fullmatch("[|>]-?", mark) is None or "\t" in node.value[:1]:
        return None
    while lines and not lines[-1].strip(" "):
        lines.pop()
    depths = [len(line) - len(line.lstrip(" ")) for line in lines if line.strip(" ")]
    first = depths[0] if depths else 0
    if not depths or min(depths) < first or any(len(line) > first for line in lines if not line.strip(" ")):
        return None
    return [f"{mark}  {comment}" if comment else mark, *(line[first:] for line in lines)]


def _flow(node: Written) -> str:
    """The text of a node on one line, inside of braces."""
    said = f"{node.properties} " if node.properties else ""
    match node:
        case WrittenAlias():
            return node.name
        case WrittenCollection(is_mapping=True):
            return said + "{" + ", ".join(_flow_entry(entry) for entry in node.entries) + "}"
        case WrittenCollection():
            return said + "[" + ", ".join(_flow(entry.value) for entry in node.entries) + "]"
        case WrittenScalar(style=None) if "\n" not in node.raw:
            return said + (node.raw or "null")
        case WrittenScalar():
            return said + flow_text(node.value)
        case _:
            raise TypeError(f"{type(node).__name__} is no value")


def _flow_entry(entry: Entry) -> str:
    assert entry.key is not None
    key = entry.key.raw if entry.key.style is None else flow_text(entry.key.value)
    said = f"{entry.key.properties} " if entry.key.properties else ""
    return f"{said}{key}: {_flow(entry.value)}"
