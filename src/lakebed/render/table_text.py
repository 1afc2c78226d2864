"""Align text in the columns of a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lakebed.render.terminal import cell_width, wrapped

GAP = 3
_NARROWEST = 30
_LONGEST_RULE = 120


def table_text(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Collection[int] = (), width: int | None = None
) -> str:
    """A table with a heading line and a rule; the columns of the indices `right` are aligned to the right.

    Cells are shown as they are. Where the table is wider than `width`, its last column is wrapped between words.
    """
    if not columns:
        return ""
    widths = column_widths(columns, rows)
    room = None
    if width is not None and total_width(widths) > width:
        room = max(width - total_width(widths[:-1]) - GAP, _NARROWEST)
        widths[-1] = min(widths[-1], room)
    lines = [_line(columns, widths, right), "─" * min(total_width(widths), width or _LONGEST_RULE)]
    for *cells, final in rows:
        for number, part in enumerate(wrapped(final, room)):
            lines.append(_line([*(cells if number == 0 else [""] * len(cells)), part], widths, right))
    return "\n".join(lines)


def column_widths(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """How many columns of a terminal each column of the table takes."""
    widths = [cell_width(c) for c in columns]
    for row in rows:
        for i, cell in enumerate(row):
            widths[i] = max(widths[i], cell_width(cell))
    return widths


def total_width(widths: Sequence[int]) -> int:
    """How wide a table of such columns is."""
    return sum(widths) + GAP * max(len(widths) - 1, 0)


def _line(cells: Sequence[str], widths: Sequence[int], right: Collection[int]) -> str:
    padded = []
    for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        space = " " * (width - cell_width(cell))
        padded.append(space + cell if i in right else cell + space)
    return (" " * GAP).join(padded).rstrip()
