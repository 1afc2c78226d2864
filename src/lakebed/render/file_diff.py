"""Show how the text of a file changes, as `diff -u` does."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from lakebed.render.terminal import plain, styled

_LINE = re.compile("[^\n]*\n|[^\n]+")
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def file_diff(file: str, old: str, new: str, *, colour: bool = False) -> Iterator[str]:
    """The lines that tell what changes; none where nothing does."""
    # Line breaks that are not LF, and one that lacks at the end, are part of what changes.
    before, after = (_LINE.findall(text) for text in (old, new))
    for line in difflib.unified_diff(before, after, file, file):
        style = "bold" if line.startswith(("---", "+++")) else _STYLES.get(line[:1])
        shown = line.removesuffix("\n")
        yield styled(shown, style, colour) if style else plain(shown, colour)
        if shown == line:
            yield "\\ No newline at end of file"
