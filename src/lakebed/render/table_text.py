"""Aligned text tables, by rich, without colour and as wide as they need to be."""

from __future__ import annotations

import io
from collections.abc import Sequence


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with a heading line. Cells are shown as they are, never cut."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(Text(column), no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    sink = io.StringIO()
    Console(file=sink, width=100_000, color_system=None, force_terminal=False).print(table)
    return "\n".join(line.rstrip() for line in sink.getvalue().rstrip().splitlines())
