"""Refuse edits whose result the schema files of a layout cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic
from lakebed.errors import UnsupportedError
from lakebed.evolve.diff_columns import Edit, EditKind
from lakebed.evolve.verdicts import Judgement, Verdict
from lakebed.physical import path_text

#: What keeps the files from holding a version after the one before it (None for the first); empty if nothing.
FileProblems: TypeAlias = Callable[[TableSchema, TableSchema | None], Sequence[Diagnostic]]

_ATTRIBUTES = (EditKind.ANNOTATION, EditKind.MEANING)


def refused_by_files(edits: Sequence[Edit], problems: Iterable[Diagnostic]) -> dict[Edit, Judgement]:
    """Each problem as a refusal of the edits that it is about.

    Raises:
        UnsupportedError: there are problems and no edit is about any, such as those of columns that stay as they are.
    """
    found: dict[Edit, Judgement] = {}
    others: list[Diagnostic] = []
    for d in problems:
        about = [e for e in edits if _is_about(e, d.path or "")]
        if not about:
            others.append(d)
        for edit in about:
            found.setdefault(edit, Judgement(Verdict.FORBIDDEN, d.code, d.message, d.remedy))
    if others and not found:
        raise UnsupportedError(*others)
    return found


def _is_about(edit: Edit, path: str) -> bool:
    if path.startswith("options."):
        return edit.kind in _ATTRIBUTES or (edit.kind is EditKind.OPTION and path == f"options.{edit.name}")
    return path_text(edit.path) == path and edit.kind not in (EditKind.DROP, EditKind.POSITION)
