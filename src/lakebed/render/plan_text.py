"""Show plans, their results and differences of schemas in the style of a compiler. Pure.

With `colour` the text carries a terminal's colours; in `width` columns of a terminal it is wrapped between words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from lakebed.evolve.check_approvals import leave_in_python, leave_on_the_command_line
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.plan import approval
from lakebed.evolve.verdicts import ODF_CODE, Verdict
from lakebed.physical import path_text
from lakebed.printable import one_line
from lakebed.render.plan_report import (
    approved_text,
    compatibility_lines,
    drift_lines,
    evidence_line,
    leave_given,
    objections,
    remedy_lines,
    table_status,
    upgrade_first,
)
from lakebed.render.terminal import plain, styled, wrapped

if TYPE_CHECKING:
    from lakebed.diagnostics import Diagnostic
    from lakebed.evolve.apply import AppliedPlan, AppliedTable
    from lakebed.evolve.plan import Plan, PlannedChange, TablePlan

_STYLES = {
    Verdict.SAFE: "green",
    Verdict.CAUTION: "yellow",
    Verdict.BREAKING: "red",
    Verdict.FORBIDDEN: "bold red",
}
_WIDTH = max(len(v) for v in Verdict)
_INDENT = " " * (_WIDTH + 6)


class FrontEnd(Enum):
    """Whom a plan tells how leave is given."""

    COMMAND_LINE = "command line"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class _Leave:
    """What is approved, by what, and how a front end gives leave for more."""

    allowed: Mapping[str, str]
    front_end: FrontEnd

    @classmethod
    def of(cls, plan: Plan, front_end: FrontEnd = FrontEnd.COMMAND_LINE) -> _Leave:
        return cls(leave_given(plan, in_python=front_end is FrontEnd.PYTHON), front_end)

    def lacks(self, code: str, change: PlannedChange, table: TablePlan) -> bool:
        """Whether nothing gives this leave for a change."""
        return table.approval_of(change, code) is None and not {code, approval(code, change)} & self.allowed.keys()

    def wanted(self, *approvals: str) -> str:
        in_python = self.front_end is FrontEnd.PYTHON
        return f"leave: {(leave_in_python if in_python else leave_on_the_command_line)(*approvals)}"


def render_plan(
    plan: Plan,
    *,
    colour: bool = False,
    width: int | None = None,
    front_end: FrontEnd = FrontEnd.COMMAND_LINE,
    odf: bool = False,
    next_command: str | None = None,
) -> str:
    """Each table with its changes, their verdicts and reasons, and what needs leave; then one line of totals.

    `odf` shows what Open Data Fabric's rule says also where it gates nothing, `next_command` what to call.
    """
    leave = _Leave.of(plan, front_end)
    blocks = [_table(table, leave, colour, width, odf) for table in plan.tables if not table.is_noop]
    then = [] if next_command is None else [plain(f"Next: {next_command}", colour)]
    return "\n\n".join([*blocks, *_undeclared(plan, width), "\n".join([plan_totals(plan), *then])])


def render_check(plan: Plan, against: str, *, faulty: int = 0, colour: bool = False, width: int | None = None) -> str:
    """The tables that differ from what they were in `against`, with verdicts; then one line of totals.

    `faulty` tables are declared so that they cannot be planned.
    """
    leave = _Leave.of(plan)
    blocks = []
    for table in plan.tables:
        head = f"{styled(table.name, 'bold', colour)}:"
        if table.create:
            blocks.append(f"{head} new table")
        elif not table.is_noop:
            lines = [line for change in table.changes for line in _change(change, table, leave, colour, width)]
            lines += [*_first(table, colour, width), *_odf(table, leave, colour, width)]
            blocks.append("\n".join([f"{head} {_count(table)}", *lines]))
    return "\n\n".join([*blocks, check_totals(plan, against, faulty)])


def check_totals(plan: Plan, against: str, faulty: int = 0) -> str:
    """One line: how many tables changed since `against`, and the verdicts on what did."""
    new = sum(table.create for table in plan.tables)
    same = sum(table.is_noop for table in plan.tables)
    counts = [(len(plan.tables) - new - same, "changed"), (new, "new"), (same, "unchanged"), (faulty, "faulty")]
    said = ", ".join(f"{count:,} {word}" for count, word in counts if count) or "none"
    return f"Tables against {against}: {said}.{_verdicts(plan)}"


def _count(table: TablePlan) -> str:
    return f"{len(table.changes):,} change{'' if len(table.changes) == 1 else 's'}"


def plan_in_python(plan: Plan) -> str:
    """A plan as `str()` shows it: leave as a program gives it, and at the end what was said about the tables."""
    return _with_diagnostics(render_plan(plan, front_end=FrontEnd.PYTHON), plan.all_diagnostics)


def table_plan_in_python(table: TablePlan) -> str:
    """One table of a plan as `str()` shows it; one line where it is as declared."""
    leave = _Leave({}, FrontEnd.PYTHON)
    shown = _table(table, leave, False, None) if not table.is_noop else _unchanged(table)
    return _with_diagnostics(shown, table.diagnostics)


def applied_in_python(applied: AppliedPlan) -> str:
    """What was done, as `str()` shows it, and what was approved in vain."""
    return _with_diagnostics(render_applied(applied), applied.diagnostics)


def _with_diagnostics(shown: str, diagnostics: Sequence[Diagnostic]) -> str:
    return "\n".join([shown, *map(str, diagnostics)])


def render_applied(applied: AppliedPlan, *, width: int | None = None) -> str:
    """What was done to each table; those that are as they were are counted."""
    lines = [line for table in applied.tables if table.changed for line in _applied(table, width)]
    lines += [
        f"{one_line(t.name)}: applied already, at schema {t.schema_id}" for t in applied.tables if t.already_applied
    ]
    unchanged = [table for table in applied.tables if not (table.changed or table.already_applied)]
    if len(unchanged) == 1:
        lines.append(f"{one_line(unchanged[0].name)}: unchanged, at schema {unchanged[0].schema_id}")
    elif unchanged:
        lines.append(f"{len(unchanged):,} tables: unchanged")
    return "\n".join(lines) or "No tables."


def _applied(table: AppliedTable, width: int | None) -> list[str]:
    what = "created" if table.created else "now at"
    lines = [f"{table.name}: {what}{',' if table.created else ''} schema {table.schema_id}"]
    for change in table.changes:
        first, *more = wrapped(change, None if width is None else width - 4)
        lines += [f"  {first}", *(f"    {line}" for line in more)]
    return lines


def _undeclared(plan: Plan, width: int | None) -> list[str]:
    """The tables that no manifest declares."""
    if not plan.undeclared:
        return []
    first, *names = wrapped(f"No manifest declares: {', '.join(map(one_line, plan.undeclared))}", width)
    return ["\n".join([first, *names])]


def _table(table: TablePlan, leave: _Leave, colour: bool, width: int | None, odf: bool = False) -> str:
    if table.create:
        return "\n".join([_head(table, colour), *_creation(table, colour, width)])
    lines = [_head(table, colour), *_drift(table, colour, width)]
    for change in table.changes:
        lines += _change(change, table, leave, colour, width)
    lines += [*_first(table, colour, width), *_odf(table, leave, colour, width, odf)]
    return "\n".join(lines)


def _creation(table: TablePlan, colour: bool, width: int | None) -> list[str]:
    """A new table: a line for each column, then what is settled with it."""
    lines = []
    for text in _created(table.changes):
        first, *more = wrapped(text, None if width is None else width - 6)
        lines += [f"  + {plain(first, colour)}", *(f"      {plain(line, colour)}" for line in more)]
    return lines


def _created(changes: Sequence[PlannedChange]) -> Iterator[str]:
    for change in changes:
        # The table is told already.
        if change.kind is not EditKind.CREATE:
            yield change.summary.removeprefix("add column ")


def _head(table: TablePlan, colour: bool) -> str:
    return f"{styled(table.name, 'bold', colour)}: {table_status(table)}"


def _first(table: TablePlan, colour: bool, width: int | None) -> list[str]:
    """Who has to follow before the changes are made, and whom they break."""
    lines = []
    for text in (*upgrade_first(table), *compatibility_lines(table)):
        first, *more = wrapped(text, None if width is None else width - 4)
        lines += [f"  {plain(first, colour)}", *(f"    {plain(line, colour)}" for line in more)]
    return lines


def _drift(table: TablePlan, colour: bool, width: int | None) -> list[str]:
    """What was made outside of `apply`, where the plan undoes some of it."""
    if table.drift is None:
        return []
    head, *lines = drift_lines(table)
    return [
        styled(f"  {plain(head, colour)}", "yellow", colour),
        *(
            f"    {plain(piece, colour)}"
            for line in lines
            for piece in wrapped(line, None if width is None else width - 4)
        ),
    ]


def _change(change: PlannedChange, table: TablePlan, leave: _Leave, colour: bool, width: int | None) -> list[str]:
    verdict = styled(change.verdict.value.ljust(_WIDTH), _STYLES[change.verdict], colour)
    first, *more = _pieces(change.summary, width)
    lines = [f"  {change.kind.sign} {verdict}  {plain(first, colour)}"]
    for reason in (f"{change.code}: {change.reason}", *evidence_line(change), *objections(change)):
        more += _pieces(reason, width)
    more += _advice(change, table, leave, width)
    return lines + [_INDENT + plain(line, colour) for line in more]


def _advice(change: PlannedChange, table: TablePlan, leave: _Leave, width: int | None) -> list[str]:
    """What can be done about a change that is not simply made, and where it was declared."""
    needed = change.leave_codes_under(table.compatibility)
    is_forbidden = change.verdict is Verdict.FORBIDDEN
    said: list[str] = []
    if needed or is_forbidden:
        said += remedy_lines(change, lacks_leave=any(leave.lacks(code, change, table) for code in needed))
    if not is_forbidden:
        said += [_leave(code, change, table, leave) for code in needed]
    lines = [line for text in said for line in _pieces(text, width)]
    if change.position is not None and (needed or change.verdict.rank >= Verdict.BREAKING.rank):
        lines.append(f"at {change.position}")
    return lines


def _leave(code: str, change: PlannedChange, table: TablePlan, leave: _Leave) -> str:
    """What approves a change, or that it is approved."""
    wanted = approval(code, change)
    declared = table.approval_of(change, code)
    if declared is not None:
        return approved_text(declared)
    given = next((text for text in (code, wanted) if text in leave.allowed), None)
    return leave.wanted(wanted) if given is None else f"approved by {leave.allowed[given]}"


def _pieces(text: str, width: int | None) -> list[str]:
    return wrapped(text, None if width is None else width - len(_INDENT))


def _odf(table: TablePlan, leave: _Leave, colour: bool, width: int | None, asked: bool = False) -> list[str]:
    """The second, labelled verdict: Open Data Fabric's rule, where it gates or is asked for."""
    if table.create or table.is_noop or not (table.gated_by_odf or asked):
        return []
    refused = table.refused_by_odf
    if not refused:
        return ["  ODF migration rule: allowed"]
    gates = "needs leave" if table.gated_by_odf else "does not gate"
    where = ", ".join(dict.fromkeys(path_text(c.path) or c.kind.value for c in refused))
    text = f"ODF migration rule ({ODF_CODE}): refused for {where}; {gates}"
    first, *more = wrapped(text, None if width is None else width - 4)
    if table.gated_by_odf:
        needed = [c for c in refused if table.approval_of(c, ODF_CODE) is None]
        wanted = [
            text
            for text in dict.fromkeys(approval(ODF_CODE, c) for c in needed)
            if not {text, ODF_CODE} & leave.allowed.keys()
        ]
        if wanted:
            more += [leave.wanted(*wanted)]
            more += wrapped("or take `compatibility: ODF` out of the manifest", None if width is None else width - 4)
        else:
            more += ["approved"]
    return [f"  {plain(first, colour)}", *(f"    {plain(line, colour)}" for line in more)]


def _as_declared(plan: Plan) -> str:
    if len(plan.tables) == 1:
        return _unchanged(plan.tables[0])
    adopted = sum(table.drift is not None for table in plan.tables)
    but = f", {adopted:,} of them but for what others did" if adopted else ""
    return f"{len(plan.tables):,} tables are as declared{but}"


def _unchanged(table: TablePlan) -> str:
    return f"{one_line(table.name)} is {table_status(table)}"


def plan_totals(plan: Plan) -> str:
    """One line: how many tables are made and changed, and the verdicts on their changes."""
    if plan.is_noop:
        return f"No changes: {_as_declared(plan)}." if plan.tables else "No changes."
    tables = Counter("create" if t.create else "unchanged" if t.is_noop else "change" for t in plan.tables)
    parts = [
        f"{tables[key]} {text}"
        for key, text in (("create", "to create"), ("change", "to change"), ("unchanged", "unchanged"))
        if tables[key]
    ]
    return f"Tables: {', '.join(parts)}.{_verdicts(plan)}"


def _verdicts(plan: Plan) -> str:
    """How many changes of tables that are there have each verdict."""
    verdicts = Counter(c.verdict for t in plan.tables if not t.create for c in t.changes)
    counts = ", ".join(f"{verdicts[v]} {v.value}" for v in Verdict if verdicts[v])
    return f" Changes: {counts}." if counts else ""
