"""Plans, what became of them, and differences of schemas, for people. Pure: text in the style of a compiler.

With `markup` the text carries rich's markup for colours, and brackets in it are escaped; without it is plain.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from lakebed.evolve.described import describe_changes
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.verdicts import ODF_CODE, Verdict
from lakebed.physical import path_text

if TYPE_CHECKING:
    from lakebed.catalog.table_schema import TableSchema
    from lakebed.evolve.apply import AppliedPlan, AppliedTable
    from lakebed.evolve.plan import Plan, PlannedChange, TablePlan

_SIGNS = {EditKind.CREATE: "+", EditKind.ADD: "+", EditKind.DROP: "-"}
_COLOURS = {
    Verdict.SAFE: "green",
    Verdict.CAUTION: "yellow",
    Verdict.BREAKING: "red",
    Verdict.FORBIDDEN: "bold red",
}
_WIDTH = max(len(v) for v in Verdict)
_INDENT = " " * (_WIDTH + 6)


def render_plan(plan: Plan, *, markup: bool = False) -> str:
    """Each table with its changes, their verdicts and reasons, and what needs leave; then one line of totals."""
    blocks = [_table(table, markup) for table in plan.tables]
    return "\n\n".join([*blocks, _totals(plan)])


def render_applied(applied: AppliedPlan) -> str:
    """One line a table."""
    return "\n".join(_applied(table) for table in applied.tables) or "No tables."


def render_diff(old: TableSchema, new: TableSchema, *, by_name: bool = False, markup: bool = False) -> str:
    """One line per difference, in the words of a plan; columns are the same by id, or `by_name`."""
    lines = describe_changes(old, new, by_name=by_name)
    return "\n".join(_escaped(line, markup) for line in lines) or "No differences."


def _applied(table: AppliedTable) -> str:
    if table.created:
        return f"{table.name}: created, schema {table.schema_id}"
    what = "now at" if table.changed else "unchanged, at"
    return f"{table.name}: {what} schema {table.schema_id}"


def _table(table: TablePlan, markup: bool) -> str:
    lines = [_head(table, markup)]
    for change in table.changes:
        lines += _change(change, table, markup)
    lines += _odf(table, markup)
    return "\n".join(lines)


def _head(table: TablePlan, markup: bool) -> str:
    name = _styled(table.name, "bold", markup)
    if table.create:
        return f"{name}: new table"
    if table.is_noop:
        return f"{name}: as declared (schema {table.base_id})"
    if table.target is None:
        return f"{name}: cannot be changed as declared (schema {table.base_id})"
    return f"{name}: schema {table.base_id} to {table.target.id}"


def _change(change: PlannedChange, table: TablePlan, markup: bool) -> list[str]:
    verdict = _styled(change.verdict.value.ljust(_WIDTH), _COLOURS[change.verdict], markup)
    sign = _SIGNS.get(change.kind, "~")
    lines = [f"  {sign} {verdict}  {_escaped(change.summary, markup)}"]
    if table.create:
        return lines
    reason = f"{change.code}: {change.reason}"
    lines.append(_INDENT + _escaped(reason, markup))
    if change.verdict is Verdict.BREAKING:
        lines.append(f"{_INDENT}leave: --allow {change.code}:{_escaped(change.column, markup)}")
    elif change.verdict is Verdict.FORBIDDEN and change.remedy:
        lines.append(f"{_INDENT}remedy: {_escaped(change.remedy, markup)}")
    if change.position is not None and change.verdict.rank >= Verdict.BREAKING.rank:
        lines.append(f"{_INDENT}at {_escaped(str(change.position), markup)}")
    return lines


def _odf(table: TablePlan, markup: bool) -> list[str]:
    """The second, labelled verdict: Open Data Fabric's rule."""
    if table.create or table.is_noop:
        return []
    refused = table.refused_by_odf
    if not refused:
        return ["  ODF migration rule: allowed"]
    gates = "needs leave" if table.compatibility else "does not gate"
    where = ", ".join(dict.fromkeys(path_text(c.path) or c.kind.value for c in refused))
    text = f"ODF migration rule ({ODF_CODE}): refused for {where}; {gates}"
    return ["  " + _escaped(text, markup)]


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


def _styled(text: str, style: str, markup: bool) -> str:
    return f"[{style}]{_escaped(text, markup)}[/]" if markup else text


def _escaped(text: str, markup: bool) -> str:
    return text.replace("[", "\\[") if markup else text
