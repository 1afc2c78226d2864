"""Show a report as annotations of GitHub Actions, on the lines of the manifests.

The form is that of workflow commands: `::error file=FILE,line=LINE,col=COLUMN,title=TITLE::MESSAGE`.
"""

from __future__ import annotations

from lakebed.diagnostics import Severity
from lakebed.render.findings import Finding, PathOf, Report

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_annotations(report: Report, path_of: PathOf) -> str:
    """One line for each finding that asks for attention; nothing where none does."""
    found = (_annotation(f, _LEVELS[f.severity], path_of) for f in report.findings if f.severity is not None)
    return "\n".join(found)


def _annotation(finding: Finding, level: str, path_of: PathOf) -> str:
    position, parts = finding.position, []
    path = path_of(position.file) if position is not None and position.file is not None else None
    if path is not None and position is not None:
        parts = [f"file={_property(path)}", f"line={position.line}", f"col={position.column}"]
    where = ",".join([*parts, f"title={_property(finding.title)}"])
    return f"::{level} {where}::{_data(finding.explanation)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
