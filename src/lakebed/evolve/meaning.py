"""Compare declared schemas before and after: logical types by path, and attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lakebed.catalog.node import Node, siblings
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import Path
from lakebed.model import Extra, LogicalType, Schema
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, FIELD_ID, PAIMON_TYPE, RENAMED_FROM
from lakebed.physical.paimon_types import Array, Map, Vector, equal_ignoring_nullability

#: Attributes that Paimon's columns say themselves, or that only say which column is meant.
_ELSEWHERE = frozenset({DEFAULT, FIELD_ID, RENAMED_FROM, PAIMON_TYPE})


@dataclass(slots=True)
class Meanings:
    """The logical types before and after by path, in the names after, and the edits that only annotations show.

    `dropped` has the types of fields that went, by their old name under the new path of what holds them.
    """

    before: dict[Path, LogicalType] = field(default_factory=dict)
    after: dict[Path, LogicalType] = field(default_factory=dict)
    dropped: dict[Path, LogicalType] = field(default_factory=dict)
    edits: list[Edit] = field(default_factory=list)


def compare(before: Fields, old: Schema, after: Fields, new: Schema) -> Meanings:
    """Compare two declared schemas whose columns are `before` and `after`; columns with the same id are the same."""
    found = Meanings()
    found.edits += _attributes((), old.extra, new.extra)
    _siblings(found, (), (before, siblings(before, old.fields)), (after, siblings(after, new.fields)))
    return found


_Level = tuple[Fields, tuple[Node, ...]]


def _siblings(found: Meanings, parent: Path, old: _Level, new: _Level) -> None:
    stored = {column.id: node for column, node in zip(*old, strict=True)}
    for column, node in zip(*new, strict=True):
        path = (*parent, column.name)
        known = stored.pop(column.id, None)
        if known is None:
            found.after[path] = node.meant
            continue
        found.edits += _attributes(path, known.extra, node.extra)
        _types(found, path, known, node)
    for node in stored.values():
        found.dropped[(*parent, node.path[-1])] = node.meant


def _types(found: Meanings, path: Path, old: Node, new: Node) -> None:
    """Note the types at a path and go on into what both have inside."""
    found.before[path], found.after[path] = old.meant, new.meant
    if old.row is not None and new.row is not None:
        _siblings(found, path, (old.row.fields, old.children()), (new.row.fields, new.children()))
        return
    parts = _alike_parts(old, new)
    if _own_part(old) != _own_part(new) if parts else _means_another(old, new):
        found.edits.append(Edit(EditKind.MEANING, path, before=old.stored, after=new.stored))
    for before, after in parts:
        _types(found, (*path, after.path[-1]), before, after)


def _alike_parts(old: Node, new: Node) -> tuple[tuple[Node, Node], ...]:
    """What two lists, two maps or two multisets hold; nothing where the two are of different kinds."""
    lists = (Array, Vector)
    same = type(old.stored) is type(new.stored) or (isinstance(old.stored, lists) and isinstance(new.stored, lists))
    return tuple(zip(old.children(), new.children(), strict=False)) if same else ()


def _own_part(node: Node) -> object:
    """What a list or a map means beside what it holds."""
    match node.stored, node.own:
        case ((Array() | Vector()), logical.List(fixed_length=length)):
            return length
        case Map(), logical.Map(keys_sorted=is_sorted):
            return bool(is_sorted)
        case _:
            return None


def _means_another(old: Node, new: Node) -> bool:
    """Whether two places that are stored alike mean different things."""
    return old.own != new.own and equal_ignoring_nullability(old.stored, new.stored)


def _attributes(path: Path, old: Extra, new: Extra) -> Iterator[Edit]:
    """One edit per attribute that differs; the path of the edit ends with the attribute's name."""
    for key in sorted({*old, *new} - _ELSEWHERE):
        before, after = _shown(old, key), _shown(new, key)
        if before != after:
            yield Edit(EditKind.ANNOTATION, path, before_text=before, after_text=after, name=key)


def _shown(extra: Extra, key: str) -> str | None:
    """JSON text; None for an attribute that is absent, or that is a description of the usual form."""
    if key not in extra or (key == DESCRIPTION and extra.description is not None):
        return None
    value: Any = extra[key]
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
