"""Compare declared schemas before and after: logical types by path, and attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.nested_paths import Fields
from lakebed.evolve.schema_changes import ELEMENT, VALUE, Path
from lakebed.model import Extra, Field, LogicalType, Schema, required
from lakebed.model import types as logical
from lakebed.model.extra import DEFAULT, DESCRIPTION, FIELD_ID, PAIMON_TYPE, RENAMED_FROM
from lakebed.physical.paimon_types import Array, DataType, Map, Multiset, Row, Vector, equal_ignoring_nullability

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
    _siblings(found, (), (before, old.fields), (after, new.fields))
    return found


_Level = tuple[Fields, tuple[Field, ...]]


def _siblings(found: Meanings, parent: Path, old: _Level, new: _Level) -> None:
    stored = {column.id: (column, member) for column, member in zip(*old, strict=True)}
    for column, member in zip(*new, strict=True):
        path = (*parent, member.name)
        known = stored.pop(column.id, None)
        if known is None:
            found.after[path] = member.type
            continue
        found.edits += _attributes(path, known[1].extra, member.extra)
        _types(found, path, (known[0].type, known[1].type), (column.type, member.type))
    for _, member in stored.values():
        found.dropped[(*parent, member.name)] = member.type


_Typed = tuple[DataType, LogicalType]


def _types(found: Meanings, path: Path, old: _Typed, new: _Typed) -> None:
    """Note the types at a path and go on into what both have inside."""
    found.before[path], found.after[path] = old[1], new[1]
    before, after = required(old[1]), required(new[1])
    match old[0], before, new[0], after:
        case Row(), logical.Struct(), Row(), logical.Struct():
            _siblings(found, path, (old[0].fields, before.fields), (new[0].fields, after.fields))
        case ((Array() | Vector()), logical.List(), (Array() | Vector()), logical.List()):
            _note(found, path, old[0], new[0], before.fixed_length == after.fixed_length)
            inner = (old[0].element, before.item_type), (new[0].element, after.item_type)
            _types(found, (*path, ELEMENT), *inner)
        case Multiset(), logical.Map(), Multiset(), logical.Map():
            inner = (old[0].element, before.key_type), (new[0].element, after.key_type)
            _types(found, (*path, ELEMENT), *inner)
        case Map(), logical.Map(), Map(), logical.Map():
            _note(found, path, old[0], new[0], bool(before.keys_sorted) == bool(after.keys_sorted))
            _types(found, (*path, "key"), (old[0].key, before.key_type), (new[0].key, after.key_type))
            _types(found, (*path, VALUE), (old[0].value, before.value_type), (new[0].value, after.value_type))
        case _:
            same_carrier = equal_ignoring_nullability(old[0], new[0])
            _note(found, path, old[0], new[0], before == after or not same_carrier)


def _note(found: Meanings, path: Path, old: DataType, new: DataType, same: bool) -> None:
    if not same:
        found.edits.append(Edit(EditKind.MEANING, path, before=old, after=new))


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
