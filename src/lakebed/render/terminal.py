"""Prepare text for a terminal: colour, cut and wrap."""

from __future__ import annotations

import textwrap

from lakebed.printable import printable

_SGR = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36", "bold red": "1;31"}


def styled(text: str, style: str, colour: bool) -> str:
    """The text in a style, or as it is without `colour`."""
    return f"\x1b[{_SGR[style]}m{printable(text)}\x1b[0m" if colour else text


def plain(text: str, colour: bool) -> str:
    """A piece without style of a text that has some."""
    return printable(text) if colour else text


def cell_width(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis that together fit into `width` columns."""
    if cell_width(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def wrapped(text: str, width: int | None) -> list[str]:
    """The text in lines of at most `width` columns, broken between words; None breaks nothing.

    A word that is longer keeps a line of its own. Less than 30 columns are never asked of the words.
    """
    if width is None:
        return [text]
    return textwrap.wrap(text, max(width, 30), break_long_words=False, break_on_hyphens=False) or [""]
