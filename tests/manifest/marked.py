"""Manifests with their expected problems marked in the text: `«LB1060»` stands right before the place."""

from __future__ import annotations

import re

from lakebed.diagnostics import Diagnostic
from lakebed.errors import ManifestError
from lakebed.manifest import parse_manifest

_MARK = re.compile(r"«(LB\d{4})»")


def unmarked(text: str) -> tuple[str, list[tuple[str, int, int]]]:
    """The text without marks, and code, line and column of each."""
    places = []
    while mark := _MARK.search(text):
        before = text[: mark.start()]
        places.append((mark[1], before.count("\n") + 1, len(before) - before.rfind("\n")))
        text = before + text[mark.end() :]
    return text, sorted(places, key=lambda place: place[1:])


def problems_of(text: str, name: str | None = None) -> tuple[Diagnostic, ...]:
    """All that is said about a text: what the error carries, or the warnings of a good one."""
    try:
        return parse_manifest(text, source="t.yaml", name=name).diagnostics
    except ManifestError as error:
        return error.diagnostics


def places_of(problems: tuple[Diagnostic, ...]) -> list[tuple[str, int, int]]:
    """Code, line and column of each problem; every one has a position in the file."""
    assert all(p.position is not None and p.position.file == "t.yaml" for p in problems)
    return [(p.code, p.position.line, p.position.column) for p in problems if p.position is not None]


def table(fields: str, *, content: str = "") -> str:
    """A `kind: Table` around the lines of its fields, and around more lines of its content."""
    more = "".join(f"  {line}\n" for line in content.strip("\n").split("\n")) if content else ""
    listed = "".join(f"    {line}\n" for line in fields.strip("\n").split("\n"))
    return f"kind: Table\nversion: 1\ncontent:\n  name: a.b\n{more}  schema:\n    fields:\n{listed}"
