"""Plans, what became of them, and differences of schemas, for people. Pure: text in the style of a compiler.

With `colour` the text carries a terminal's colours; in `width` columns of a terminal it is wrapped between words.
"""

from __future__ import annotations

import shlex
from collections import Counter
from typing import TYPE_CHECKING

from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.verdicts import ODF_CODE, Verdict
from lakebed.physical import path_text
from lakebed.render.terminal import plain, styled, wrapped

if TYPE_CHECKING:
    from lakebed.evolve.apply import AppliedPlan, AppliedTable
    from lakebed.evolve.plan import Plan, PlannedChange, TablePlan

_SIGNS = {EditKind.CREATE: "+", EditKind.ADD: "+", EditKind.DROP: "-"}
_STYLES = {
    Verdict.SAFE: "green",
    Verdict.CAUTION: "yellow",
    Verdict.BREAKING: "red",
    Verdict.FORBIDDEN: "bold red",
}
_WIDTH = max(len(v) for v in Verdict)
_INDENT = " " * (_WIDTH + 6)


def render_plan(plan: Plan, *, colour: bool = False, width: int | None = None) -> str:
    """Each table with its changes, their verdicts and reasons, and what needs leave; then one line of totals."""
    blocks = [_table(table, colour, width) for table in plan.tables]
    return "\n\n".join([*blocks, _totals(plan)])


def render_applied(applied: AppliedPlan) -> str:
    """One line a table."""
    return "\n".join(_applied(table) for table in applied.tables) or "No tables."


def _applied(table: AppliedTable) -> str:
    if table.created:
        return f"{table.name}: created, schema {table.schema_id}"
    what = "now at" if table.changed else "unchanged, at"
    return f"{table.name}: {what} schema {table.schema_id}"


def _table(table: TablePlan, colour: bool, width: int | None) -> str:
    lines = [_head(table, colour)]
    for change in table.changes:
        lines += _change(change, table, colour, width)
    lines += _odf(table, colour, width)
    return "\n".join(lines)


def _head(table: TablePlan, colour: bool) -> str:
    name = styled(table.name, "bold", colour)
    if table.create:
        return f"{name}: new table"
    if table.is_noop:
        return f"{name}: as declared (schema {table.base_id})"
    if table.target is None:
        return f"{name}: cannot be changed as declared (schema {table.base_id})"
    return f"{name}: schema {table.base_id} to {table.target.id}"


def _change(change: PlannedChange, table: TablePlan, colour: bool, width: int | None) -> list[str]:
    verdict = styled(change.verdict.value.ljust(_WIDTH), _STYLES[change.verdict], colour)
    first, *more = _pieces(change.summary, width)
    lines = [f"  {_SIGNS.get(change.kind, '~')} {verdict}  {plain(first, colour)}"]
    if not table.create:
        more += _pieces(f"{change.code}: {change.reason}", width)
        more += _advice(change, width)
    return lines + [_INDENT + plain(line, colour) for line in more]


def _advice(change: PlannedChange, width: int | None) -> list[str]:
    """What can be done about a change that is not simply made, and where it was declared."""
    lines = []
    if change.verdict is Verdict.BREAKING:
        lines.append(f"leave: --allow {shlex.quote(f'{change.code}:{change.column}')}")
    elif change.verdict is Verdict.FORBIDDEN and change.remedy:
        lines += _pieces(f"remedy: {change.remedy}", width)
    if change.position is not None and change.verdict.rank >= Verdict.BREAKING.rank:
        lines.append(f"at {change.position}")
    return lines


def _pieces(text: str, width: int | None) -> list[str]:
    return wrapped(text, None if width is None else width - len(_INDENT))


def _odf(table: TablePlan, colour: bool, width: int | None) -> list[str]:
    """The second, labelled verdict: Open Data Fabric's rule."""
    if table.create or table.is_noop:
        return []
    refused = table.refused_by_odf
    if not refused:
        return ["  ODF migration rule: allowed"]
    gates = "needs leave" if table.compatibility else "does not gate"
    where = ", ".join(dict.fromkeys(path_text(c.path) or c.kind.value for c in refused))
    text = f"ODF migration rule ({ODF_CODE}): refused for {where}; {gates}"
    first, *more = wrapped(text, None if width is None else width - 4)
    if table.compatibility:
        columns = dict.fromkeys(c.column for c in refused)
        leave = " ".join(f"--allow {shlex.quote(f'{ODF_CODE}:{column}')}" for column in columns)
        more += [f"leave: {leave}"]
        more += wrapped("or take `compatibility: ODF` out of the manifest", None if width is None else width - 4)
    return [f"  {plain(first, colour)}", *(f"    {plain(line, colour)}" for line in more)]


def _totals(plan: Plan) -> str:
    if plan.is_noop:
        return "No changes."
    tables = Counter("create" if t.create else "unchanged" if t.is_noop else "change" for t in plan.tables)
    parts = [
        f"{tables[key]} {text}"
        for key, text in (("create", "to create"), ("change", "to change"), ("unchanged", "unchanged"))
        if tables[key]
    ]
    verdicts = Counter(c.verdict for t in plan.tables if not t.create for c in t.changes)
    counts = ", ".join(f"{verdicts[v]} {v.value}" for v in Verdict if verdicts[v])
    return f"Tables: {', '.join(parts)}." + (f" Changes: {counts}." if counts else "")
