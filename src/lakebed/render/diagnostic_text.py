"""Show diagnostics in the style of a compiler."""

from __future__ import annotations

from lakebed.diagnostics import Diagnostic, Severity
from lakebed.render.terminal import plain, styled

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def diagnostic_text(diagnostic: Diagnostic, *, colour: bool = False) -> str:
    """Place, severity, code and message on one line, the remedy of the command line on the next."""
    label = f"{diagnostic.severity}[{diagnostic.code}]"
    before, _, after = diagnostic.text(diagnostic.remedy).partition(label)
    return f"{plain(before, colour)}{styled(label, _STYLES[diagnostic.severity], colour)}{plain(after, colour)}"
