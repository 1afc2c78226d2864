"""Describe edits in a few words, for plans and histories."""

from __future__ import annotations

import json
from dataclasses import replace

from lakebed.catalog.annotations import OPTION
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import ValidationError
from lakebed.evolve.diff import diff_steps
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import Meanings, compare
from lakebed.evolve.pairing import ByName, pair
from lakebed.evolve.schema_changes import Path
from lakebed.manifest.compatibility import stored_consumers
from lakebed.model import Extra, LogicalType, required
from lakebed.model import types as logical
from lakebed.model.encoding import is_encoding
from lakebed.model.extra import CONSUMERS
from lakebed.model.type_name import type_name
from lakebed.physical import paimon_types as p
from lakebed.physical import path_text
from lakebed.physical.paimon_tree import highest_id
from lakebed.physical.paimon_types import DataType, type_line


def before_and_after(edit: Edit, meanings: Meanings) -> tuple[str | None, str | None]:
    """What the edit leads from and to, as text."""
    match edit.kind:
        case EditKind.ADD:
            return None, _type(edit.path, meanings.after, edit.after)
        case EditKind.DROP:
            return _type(edit.path, meanings.dropped, edit.before), None
        case EditKind.TYPE | EditKind.MEANING:
            return _types(edit, meanings)
        case EditKind.NULLABILITY:
            nullable = edit.after is not None and edit.after.nullable
            return ("required", "optional") if nullable else ("optional", "required")
        case _:
            return edit.before_text, edit.after_text


def summary(edit: Edit, meanings: Meanings) -> str:
    """One line, such as `rename column dep_delay to departure_delay`."""
    where = path_text(edit.path)
    before, after = before_and_after(edit, meanings)
    match edit.kind:
        case EditKind.CREATE:
            return f"create table {after}"
        case EditKind.ADD:
            return f"add column {where}: {after}"
        case EditKind.DROP:
            return f"drop column {where} ({before})"
        case EditKind.RENAME:
            return f"rename column {path_text((*edit.path[:-1], before or ''))} to {after}"
        case EditKind.TYPE | EditKind.MEANING:
            return f"change type of {where} from {before} to {after}"
        case EditKind.NULLABILITY:
            return f"make {where} {after}"
        case EditKind.POSITION:
            return f"move column {where} to the front" if after is None else f"move column {where} after {after}"
        case EditKind.DEFAULT | EditKind.DESCRIPTION:
            return _attribute(edit.kind.value, where, _quoted(before), _quoted(after))
        case EditKind.ANNOTATION if edit.name == CONSUMERS and not edit.path:
            return _attribute("consumers", None, *map(consumers_in_words, (before, after)))
        case EditKind.ANNOTATION:
            return _attribute(edit.name or "", where or "the table", shortened(before), shortened(after))
        case EditKind.OPTION:
            return _attribute(f"option {edit.name}", None, before, after)
        case EditKind.TABLE_COMMENT:
            return _attribute("description", "the table", _quoted(before), _quoted(after))
        case EditKind.PRIMARY_KEYS | EditKind.PARTITION_KEYS | EditKind.BUCKETS:
            return (
                f"{edit.kind.value}: {after}"
                if before is None
                else f"change {edit.kind.value} from {before} to {after}"
            )


def _attribute(what: str, where: str | None, before: str | None, after: str | None) -> str:
    of = f" of {where}" if where else ""
    if before is None:
        return f"set {what}{of} to {after}"
    if after is None:
        return f"remove {what}{of} (was {before})"
    return f"change {what}{of} from {before} to {after}"


def consumers_in_words(text: str | None) -> str | None:
    """Who reads which columns, in which mode; the text itself where it says none of it."""
    if text is None:
        return None
    found = stored_consumers(Extra({CONSUMERS: json.loads(text)}))
    told = (f"{c.text}: {', '.join(c.columns) or 'all columns'} ({c.mode.value})" for c in found)
    return shortened("; ".join(told) if found else text)


#: Characters of an attribute's value that a line shows.
_LONGEST_VALUE = 80


def shortened(text: str | None) -> str | None:
    """A value for a line, or its beginning: the line says that it changes, and the manifest what it is."""
    return text if text is None or len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."


def _quoted(text: str | None) -> str | None:
    return None if text is None else json.dumps(text, ensure_ascii=False)


def _type(path: Path, known: dict[Path, LogicalType], stored: DataType | None) -> str:
    found = known.get(path)
    if found is None:
        return "" if stored is None else type_line(stored)
    return _name(found, stored)


def _name(declared: LogicalType, stored: DataType | None) -> str:
    return type_name(declared, hint=None if stored is None else _without_null(stored))


def _without_null(stored: DataType) -> str:
    return type_line(p.with_nullability(stored, True))


def _types(edit: Edit, meanings: Meanings) -> tuple[str, str]:
    """The declared names, or the stored ones where the declared ones do not tell the two types apart."""
    before, after = (required(known.get(edit.path, logical.Null())) for known in (meanings.before, meanings.after))
    names = _name(before, edit.before), _name(after, edit.after)
    if logical.Null() not in (before, after) and names[0] != names[1]:
        return names
    old, new = (_without_null(t) if t is not None else "" for t in (edit.before, edit.after))
    return old, new


def describe_changes(
    old: TableSchema, new: TableSchema, *, by_name: bool = False, encodings: bool = False
) -> tuple[str, ...]:
    """One line per difference; empty for equal schemas, whatever their ids and times.

    Columns are the same where their ids are, or with `by_name` where their names are, for schemas of two tables.
    Hints of how values are encoded in Arrow are summed up in one line unless `encodings` asks for them.
    """
    declared = new.logical
    if by_name:
        new = replace(new, fields=pair(old.fields, new.fields, ByName()), highest_field_id=-1)
        new = replace(new, highest_field_id=max(old.highest_field_id, highest_id(new.fields)))
    meanings = compare(old.fields, old.logical, new.fields, declared)
    edits = [e for e in _edits(old, new) if not (e.kind is EditKind.OPTION and e.name == OPTION)]
    shown = dict.fromkeys([*edits, *meanings.edits])
    hints = [e for e in shown if not encodings and e.kind is EditKind.ANNOTATION and is_encoding(e.name or "")]
    lines = [summary(e, meanings) for e in shown if e not in hints]
    return (*lines, *_summed_up(hints))


def _summed_up(hints: list[Edit]) -> tuple[str, ...]:
    columns = len({e.path for e in hints})
    return (f"change encoding hints of {columns} column{'' if columns == 1 else 's'}",) if hints else ()


def _edits(old: TableSchema, new: TableSchema) -> list[Edit]:
    """The edits of the change list, or of what can be said where no changes lead from one to the other.

    Keys are the same where their columns are, whatever they are called.
    """
    names = {f.id: f.name for f in new.fields}
    now = {f.name: names.get(f.id, f.name) for f in old.fields}
    keys = [
        Edit(kind, (), before_text=", ".join(a) or "none", after_text=", ".join(b) or "none")
        for kind, a, b in (
            (EditKind.PRIMARY_KEYS, old.primary_keys, new.primary_keys),
            (EditKind.PARTITION_KEYS, old.partition_keys, new.partition_keys),
        )
        if tuple(now.get(name, name) for name in a) != b
    ]
    plain = replace(new, primary_keys=(), partition_keys=()), replace(old, primary_keys=(), partition_keys=())
    try:
        steps = diff_steps(plain[1], plain[0])
    except ValidationError:
        return [*keys, Edit(EditKind.CREATE, (), after_text="anew, with no column of the one before")]
    return [*keys, *(s.edit for s in steps)]
