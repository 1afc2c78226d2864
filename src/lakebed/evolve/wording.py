"""Edits in a few words, for plans and histories. Types are said as they are declared, where that is known."""

from __future__ import annotations

import json

from lakebed.evolve.changes import Path
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.meaning import Meanings
from lakebed.model import LogicalType, required
from lakebed.model import types as logical
from lakebed.model.type_name import type_name
from lakebed.physical import path_text
from lakebed.physical import types as p
from lakebed.physical.render import type_line
from lakebed.physical.types import DataType


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
        case EditKind.ANNOTATION:
            return _attribute(edit.name or "", where or "the table", before, after)
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


def _quoted(text: str | None) -> str | None:
    return None if text is None else json.dumps(text, ensure_ascii=False)


def _type(path: Path, known: dict[Path, LogicalType], stored: DataType | None) -> str:
    found = known.get(path)
    return type_name(found) if found is not None else type_line(stored) if stored is not None else ""


def _types(edit: Edit, meanings: Meanings) -> tuple[str, str]:
    """The declared names, or the stored ones where the declared ones do not tell the two types apart."""
    before, after = (required(known.get(edit.path, logical.Null())) for known in (meanings.before, meanings.after))
    if logical.Null() not in (before, after) and type_name(before) != type_name(after):
        return type_name(before), type_name(after)
    old, new = (type_line(p.with_nullability(t, True)) if t is not None else "" for t in (edit.before, edit.after))
    return old, new
