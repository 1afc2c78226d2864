"""Show diagnostics in the style of a compiler, with the line of the source that they are about."""

from __future__ import annotations

import re

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.printable import one_line
from lakebed.redaction import redact
from lakebed.render.terminal import cell_width, plain, styled

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
#: What is underlined: a text in quotes, or as far as a word of YAML goes.
_WORD = re.compile(r"""\$\{\w+\}|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s,{}\[\]:#]+(?::[^\s,{}\[\]:#]+)*""")
#: Lines about these are not shown: a log is read by others than the file.
_SECRET = re.compile(r"secret|passw|token|credential|private|access.?key|account.?key", re.IGNORECASE)
#: Of a longer line only what is around the place is shown.
_MOST = 160
_AROUND = 60


def diagnostic_text(diagnostic: Diagnostic, *, colour: bool = False, source: str | None = None) -> str:
    """Place, severity, code and message on one line, the remedy of the command line on the last one.

    Between them stands `source`, the line that the position is in, with the place underlined.
    """
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    first, *remedy = diagnostic.text(diagnostic.remedy).split("\n")
    before, _, after = first.partition(label)
    style = _STYLES[diagnostic.severity]
    lines = [f"{plain(before, colour)}{styled(label, style, colour)}{plain(after, colour)}"]
    if source is not None and diagnostic.position is not None:
        lines += _excerpt(source, diagnostic.position.line, diagnostic.position.column, style, colour)
    return "\n".join([*lines, *(plain(line, colour) for line in remedy)])


def _excerpt(source: str, line: int, column: int, style: str, colour: bool) -> list[str]:
    """The line with its number, and what underlines the word at the column; without its text where it may be secret."""
    if not source.strip():
        return []
    if redact(source) != source or _SECRET.search(source):
        return [f"{str(line).rjust(5)} | (not shown: the line may hold a secret)"]
    text, at = _cut(source.rstrip(), column - 1)
    word = _WORD.match(text, at)
    before, under = one_line(text[:at].expandtabs(2)), one_line(word[0] if word else text[at : at + 1])
    number = str(line).rjust(5)
    marks = " " * cell_width(before) + styled("^" * max(cell_width(under), 1), style, colour)
    return [f"{number} | {before}{one_line(text[at:])}", f"{' ' * len(number)} | {marks}"]


def _cut(text: str, at: int) -> tuple[str, int]:
    """A part of a long line, and where the place is in it."""
    if len(text) <= _MOST:
        return text, at
    start = max(at - _AROUND, 0)
    before = "..." if start else ""
    end = start + _MOST
    return f"{before}{text[start:end]}{'...' if end < len(text) else ''}", at - start + len(before)
