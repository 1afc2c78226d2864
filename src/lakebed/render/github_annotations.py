"""Show problems and planned changes as annotations of GitHub Actions, on the lines of the manifests.

The form is that of workflow commands: `::error file=FILE,line=LINE,col=COLUMN,title=TITLE::MESSAGE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from lakebed.diagnostics import Diagnostic, Position, Severity
from lakebed.evolve.plan import leave_missing, leave_on_the_command_line
from lakebed.evolve.verdicts import Verdict

if TYPE_CHECKING:
    from lakebed.evolve.plan import Plan, PlannedChange, TablePlan

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
#: What a command calls a file, as a path from the root of the repository; None for what lies elsewhere.
PathOf = Callable[[str], str | None]


def diagnostic_annotations(diagnostics: Iterable[Diagnostic], path_of: PathOf) -> Iterator[str]:
    """One line for each problem."""
    for d in diagnostics:
        message = d.message if d.remedy is None else f"{d.message}\nremedy: {d.remedy}"
        yield _annotation(_LEVELS[d.severity], d.code, message, d.position, path_of)


def plan_annotations(plan: Plan, path_of: PathOf) -> Iterator[str]:
    """One line for each change that is not safe: an error where it needs leave or is forbidden, else a warning."""
    missing: dict[int, list[str]] = {}
    for _, change, code in leave_missing(plan.tables, frozenset(plan.approvals)):
        missing.setdefault(id(change), []).append(f"{code}:{change.approved_as}")
    for table in plan.tables:
        if table.create:
            continue
        for change in table.changes:
            wanted = missing.get(id(change), [])
            level = _level(change, bool(wanted))
            if level is not None:
                title = f"{change.code} {change.verdict.value}"
                yield _annotation(level, title, _message(table, change, wanted), change.position, path_of)


def _level(change: PlannedChange, lacks_leave: bool) -> str | None:
    if change.verdict is Verdict.FORBIDDEN or lacks_leave:
        return "error"
    return None if change.verdict is Verdict.SAFE else "warning"


def _message(table: TablePlan, change: PlannedChange, wanted: list[str]) -> str:
    lines = [f"{table.name}: {change.summary}", change.reason]
    if change.remedy:
        lines.append(f"remedy: {change.remedy}")
    if wanted:
        lines.append(f"leave: {leave_on_the_command_line(*wanted)}")
    return "\n".join(lines)


def _annotation(level: str, title: str, message: str, position: Position | None, path_of: PathOf) -> str:
    parts = []
    path = path_of(position.file) if position is not None and position.file is not None else None
    if path is not None and position is not None:
        parts = [f"file={_property(path)}", f"line={position.line}", f"col={position.column}"]
    return f"::{level} {','.join([*parts, f'title={_property(title)}'])}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
