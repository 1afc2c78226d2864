"""Write manifests in canonical form, with their comments.

Indentation, spaces, quotes, empty lines, the order of known keys and the spelling of types are one; what is in a block
or in braces, and the order of columns, options and attributes, stay as the author has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lakebed.errors import ManifestError
from lakebed.manifest.load import LoadedFile
from lakebed.manifest.parse_yaml import compose, decode_utf8
from lakebed.manifest.problems import Problems
from lakebed.manifest.properties import spellings
from lakebed.manifest.substitutions import Substitutions
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
from lakebed.manifest.yaml_text import is_json, text_scalar
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
    *("systemColumns", "compatibility", "consumers", "read", "approvals", "schema"),
)
_SCHEMA = ("fields", "extra")
_FIELD = ("name", "type", "extra")
_TYPE = (
    *("kind", "inner", "itemType", "keyType", "valueType", "fields", "precision", "scale", "unit", "timezone"),
    *("fixedLength", "keysSorted"),
)
_TYPES_INSIDE = ("inner", "itemType", "keyType", "valueType")
_LONGEST_KEY = 500


def format_manifest(data: str | bytes, *, source: str | None = None, substitutions: Substitutions | None = None) -> str:
    """The text of a manifest in canonical form, which declares the same; bytes are UTF-8. JSON stays as it is.

    Raises:
        ManifestError: it is no YAML, or has no canonical form (LB1632).
    """
    problems = Problems()
    decoded = decode_utf8(data, source, problems) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    problems.raise_if_any()
    assert decoded is not None
    old = LoadedFile.parse(decoded, source or "", substitutions)
    if not old.tables:
        _refuse_faults_of_syntax(decoded, source)
    if is_json(decoded):
        return decoded
    documents = read_layout(re.sub("\r\n?", "\n", decoded), source)
    for document in documents:
        _shape_document(document)
    text = "".join(_documents_text(documents))
    if text != decoded:
        _check_same(old, LoadedFile.parse(text, source or "", substitutions), source)
    return text


def _refuse_faults_of_syntax(text: str, source: str | None) -> None:
    problems = Problems()
    compose(text, source, problems)
    if problems.errors:
        raise ManifestError(*problems.errors)


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
    _sort(root, _ENVELOPE)
    _close_up(root)
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


def _close_up(root: WrittenCollection) -> None:
    """Take empty lines between the first key and its comments out, for those would be read as the document's."""
    for first in root.entries[:1]:
        first.blank = False
        for comment in first.leading[1:]:
            comment.blank = False


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
            yield f"---{_beside(document.beside)}\n"
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
    if tail and document.tail[0].blank:
        yield from _parting(lines)
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
    return _Value(node, is_root=True).lines


def _entries_lines(node: WrittenCollection, indent: int) -> list[str]:
    lines: list[str] = []
    for entry in node.entries:
        _lift(entry, indent)
        comments = _comment_lines(entry.leading)
        blank = entry.leading[0].blank if entry.leading else entry.blank
        lines += _parting(lines) if blank else []
        lines += comments + ([""] if entry.blank and comments else [])
        lines += _entry_lines(entry, indent)
    if node.tail:
        lines += (_parting(lines) if node.tail[0].blank else []) + _comment_lines(node.tail)
    return lines


def _lift(entry: Entry, indent: int) -> None:
    """Put comments between the dash of an item and its first key above the item."""
    value = entry.value
    if entry.key is not None or not isinstance(value, WrittenCollection) or value.properties:
        return
    if _is_flow(value, indent + 2):
        return
    first = value.entries[0]
    lifted = [entry.beside] if entry.beside is not None else []
    lifted += first.leading if value.is_mapping else []
    if lifted:
        lifted[0].blank, entry.blank = entry.blank, False
        entry.leading += lifted
        entry.beside = None
        first.leading = first.leading[len(first.leading) if value.is_mapping else 0 :]


def _parting(lines: list[str]) -> list[str]:
    """An empty line behind these, where there is none; one that ends a text in a block is part of it."""
    return [""] if lines and lines[-1] else []


def _beside(comment: Comment | None) -> str:
    return f"  {comment.text}" if comment is not None else ""


def _entry_lines(entry: Entry, indent: int) -> list[str]:
    value = entry.value
    beside = _beside(entry.beside)
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
    shown = _Value(value)
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

    def __init__(self, node: Written, *, is_root: bool = False) -> None:
        self.is_block = False
        if not isinstance(node, WrittenScalar):
            self.lines = [_flow(node)]
            return
        said = f"{node.properties} " if node.properties else ""
        first, *more = self._scalar(node, is_root)
        self.lines = [f"{said}{first}".rstrip() if not more else f"{said}{first}", *more]

    def _scalar(self, node: WrittenScalar, is_root: bool) -> list[str]:
        if node.style in ("|", ">"):
            lines = _block_scalar(node, is_root)
            self.is_block = lines is not None
            return lines if lines is not None else [text_scalar(node.value)]
        if "\n" in node.raw:
            first, *more = node.raw.split("\n")
            return [first.rstrip(" \t") if more[0].strip() else first, *(line.lstrip(" \t") for line in more)]
        return [node.raw if node.style is None else text_scalar(node.value)]


def _block_scalar(node: WrittenScalar, is_root: bool) -> list[str] | None:
    """The mark and the lines of a text in a block; None where only quotes can hold it."""
    texts = node.raw.split("\n")[1:]
    shown = next((line for line in texts if line.strip(" ")), None)
    meant = next((line for line in node.value.split("\n") if line.strip(" ")), "")
    if shown is None or meant[:1] == "\t":
        return None
    lines = [line[_depth(shown) - _depth(meant) :] for line in texts]
    while not lines[-1]:
        lines.pop()
    begun = lines[: texts.index(shown) + 1]
    is_indented = any(line.startswith(" ") for line in begun)
    if is_indented and is_root:
        return None
    ends = len(node.value) - len(node.value.rstrip("\n"))
    mark = f"{node.style}{'2' if is_indented else ''}{'-' if ends == 0 else '+' if ends > 1 else ''}"
    return [mark, *lines, *[""] * (ends - 1)]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _flow(node: Written) -> str:
    """The text of a node on one line, inside of braces."""
    parts: list[str] = []
    pending: list[Written | str] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, str):
            parts.append(part)
        else:
            pending += reversed(list(_flow_parts(part)))
    return "".join(parts)


def _flow_parts(node: Written) -> Iterator[Written | str]:
    """The texts and nodes that the text of a node is made of."""
    said = f"{node.properties} " if node.properties else ""
    match node:
        case WrittenAlias():
            yield node.name
        case WrittenCollection():
            yield said + ("{" if node.is_mapping else "[")
            for number, entry in enumerate(node.entries):
                yield ", " if number else ""
                yield _flow_key(entry.key) if entry.key is not None else ""
                yield entry.value
            yield "}" if node.is_mapping else "]"
        case WrittenScalar(style=None) if "\n" not in node.raw:
            yield said + (node.raw or "null")
        case WrittenScalar():
            yield said + flow_text(node.value)
        case _:
            raise TypeError(f"{type(node).__name__} is no value")


def _flow_key(key: WrittenScalar) -> str:
    said = f"{key.properties} " if key.properties else ""
    return f"{said}{key.raw if key.style is None else flow_text(key.value)}: "
