"""Show the difference of two schemas: what changed, and which readers and writers it breaks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakebed.model.differences import Party
from lakebed.physical import path_text
from lakebed.render.terminal import wrapped

if TYPE_CHECKING:
    from lakebed.model.compare import Comparison

_WHO = {
    Party.PRODUCER: "who writes rows of",
    Party.CONSUMER: "who reads the columns of",
}


def comparison_text(changes: Sequence[str], found: Comparison, *, width: int | None = None) -> str:
    """One line a difference, then a line for each party that it breaks, with the columns that do."""
    if not changes:
        return "No differences."
    broken = [line for text in broken_parties(found) for line in wrapped(text, width)]
    return "\n".join([*changes, *([""] if broken else []), *broken])


def broken_parties(found: Comparison, old: str = "A") -> list[str]:
    """A line for each party that the difference breaks, with the columns that do; `old` is what the first side is."""
    return [_broken(party, found, old) for party in Party if party in found.breaks]


def comparisons_text(
    found: Sequence[tuple[str, str, Sequence[str], Comparison | None]], same: int, *, width: int | None = None
) -> str:
    """Several tables: each by name and what became of it, with its differences; then how many are the same."""
    lines: list[str] = []
    for name, status, changes, comparison in found:
        lines.append(f"{_SIGNS[status]} {name}: {status}")
        if comparison is not None:
            text = comparison_text(changes, comparison, width=None if width is None else width - 4)
            lines += [f"    {line}" if line else "" for line in text.split("\n")]
    if not found:
        return f"No differences in {same:,} tables."
    return "\n".join([*lines, *([f"{same:,} {'table is' if same == 1 else 'tables are'} the same."] if same else [])])


_SIGNS = {"added": "+", "removed": "-", "changed": "~"}


def _broken(party: Party, found: Comparison, old: str) -> str:
    every = (*found.differences, *found.excused)
    columns = dict.fromkeys(path_text(d.path) for d in every if party in d.breaks)
    return f"Breaks {party.value}s ({_WHO[party]} {old}): {', '.join(columns)}"
