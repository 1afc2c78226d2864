"""Make reports of plans: each change a finding, at its level and with what gives leave for it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from lakebed.diagnostics import Severity
from lakebed.evolve.check_approvals import leave_on_the_command_line
from lakebed.evolve.describe_edits import consumers_in_words, shortened
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.evidence import Outcome
from lakebed.evolve.plan import approval
from lakebed.evolve.verdicts import ODF_CODE, OUTSIDE_CODE, Verdict
from lakebed.manifest.compatibility import Compatibility
from lakebed.model.differences import Party
from lakebed.model.extra import CONSUMERS
from lakebed.physical import path_text
from lakebed.printable import one_line
from lakebed.render.findings import ChangedPart, Finding, Report, Subject

if TYPE_CHECKING:
    from lakebed.evolve.plan import Plan, PlannedChange, TablePlan
    from lakebed.evolve.schema_changes import Path
    from lakebed.manifest.approvals import Approval

#: How those are called who have to follow before a change is made.
PARTIES = {Party.CONSUMER: "readers", Party.PRODUCER: "writers"}

#: So many columns are named beside the changes, which name all.
_MOST_COLUMNS = 20


def plan_report(plan: Plan, title: str, summary: str, *, next_command: str | None = None) -> Report:
    """The report of a plan, or of a check. Tables that are as declared are subjects without findings."""
    given = leave_given(plan)
    findings = [f for table in plan.tables for f in _table(table, given)]
    return Report(
        title,
        summary,
        tuple(Subject(table.name, table_status(table), drift_lines(table)) for table in plan.tables),
        tuple(findings),
        tuple(f"{t.name}: {line}" for t in plan.tables for line in (*upgrade_first(t), *compatibility_lines(t))),
        next_command,
    )


def leave_given(plan: Plan, *, in_python: bool = False) -> dict[str, str]:
    """What gives each approval of a plan: an option of the command line, or what a program says."""
    given = {text: text if in_python else leave_on_the_command_line(text) for text in plan.approvals}
    reverts = {OUTSIDE_CODE: 'drift="revert"' if in_python else "--drift revert"}
    return given | (reverts if plan.reverts else {})


def table_status(table: TablePlan) -> str:
    """What a plan does to a table, in a few words."""
    if table.create:
        return "new table"
    if table.is_noop:
        but = "" if table.drift is None else " but for what others did"
        return f"as declared{but} (schema {table.base_id})"
    if table.base_fingerprint is None:
        return "not declared any more"
    if table.target is None:
        return f"cannot be changed as declared (schema {table.base_id})"
    return f"schema {table.base_id} to {table.target.id}"


def drift_lines(table: TablePlan) -> tuple[str, ...]:
    """What was made outside of `apply`, where the plan undoes some of it: a line that says so, then what it was."""
    drift = table.drift
    if drift is None:
        return ()
    lost = f"version {drift.applied} is not there any more: what is there may be the work of others"
    head = f"{drift.versions} made outside of apply, which made version {drift.applied} last:"
    changes = drift.changes if drift.changes is not None else (lost,)
    return (head, *changes, *(f"breaks a consumer: {said}" for said in drift.broken))


def upgrade_first(table: TablePlan) -> tuple[str, ...]:
    """Who has to follow the changes before they are made: who reads or writes the columns as they were."""
    if table.target is None or table.create:
        return ()
    renamed = {c.path: c.before for c in table.changes if c.kind is EditKind.RENAME and c.before is not None}
    said = []
    for party, noun in PARTIES.items():
        columns = list(dict.fromkeys(_old_name(c, renamed) for c in table.changes if party in c.breaks))
        more = f" and {len(columns) - _MOST_COLUMNS:,} more" if len(columns) > _MOST_COLUMNS else ""
        if columns:
            said.append(f"{noun} of {', '.join(columns[:_MOST_COLUMNS])}{more}")
    return (f"upgrade first: {'; '.join(said)}",) if said else ()


def objections(change: PlannedChange) -> tuple[str, ...]:
    """What the compatibility of the table and its consumers have against a change, beside its own reason."""
    others = (found for found in change.incompatible if not change.reason.startswith(found.reason))
    return tuple(f"{found.code}: {found.reason}" for found in others)


def remedy_lines(change: PlannedChange, *, lacks_leave: bool) -> tuple[str, ...]:
    """What can be done beside giving leave: about a change that lacks it, or is forbidden, and for whom it breaks."""
    is_open = change.verdict is Verdict.FORBIDDEN or lacks_leave
    own = [change.remedy] if change.remedy and is_open else []
    return tuple(f"remedy: {remedy}" for remedy in dict.fromkeys([*own, *(f.remedy for f in change.incompatible)]))


def evidence_line(change: PlannedChange) -> tuple[str, ...]:
    """What the stored rows say of a change, where they were asked."""
    if change.evidence is None:
        return ()
    text = one_line(change.evidence.text)
    return (text if change.evidence.outcome is Outcome.UNKNOWN else f"rows: {text}",)


def compatibility_lines(table: TablePlan) -> tuple[str, ...]:
    """Whether the changes keep the table's compatibility, and the consumers that they break."""
    if table.create or table.is_noop:
        return ()
    problems = [found for change in table.changes for found in change.incompatible]
    lines = []
    if table.compatibility is not None and not table.gated_by_odf:
        refuses = any(found.consumer is None for found in problems)
        said = "not kept" if refuses else "kept"
        gates = "; nothing needs leave for it" if table.compatibility == Compatibility.NONE else ""
        lines.append(f"compatibility {table.compatibility}: {said}{gates}")
    broken = {
        f.consumer: f.consumer if f.owner is None else f"{f.consumer} ({f.owner})" for f in problems if f.consumer
    }
    return (*lines, f"breaks {', '.join(broken.values())}") if broken else tuple(lines)


def _old_name(change: PlannedChange, renamed: Mapping[Path, str]) -> str:
    """The column that a change is about, as those who use it call it now: `renamed` are old names by new paths."""
    path = change.path
    names = [renamed.get(path[: end + 1], name) for end, name in enumerate(path)]
    if change.kind is EditKind.DROP:
        # Its own name is the old one, which another column may have now.
        names[-1] = path[-1]
    return path_text(tuple(names)) if path else change.column


def approved_text(given: Approval) -> str:
    """An approval of the manifest in words."""
    by = f" by {given.by}" if given.by else ""
    at = f", {given.position}" if given.position is not None else ""
    return f"approved{by} until {given.until}: {given.reason} ({given.text}{at})"


def _table(table: TablePlan, allowed: Mapping[str, str]) -> Iterable[Finding]:
    yield from (Finding.of(d, table.name) for d in table.diagnostics)
    needed: dict[int, list[str]] = {}
    for change, code in table.leave_needed():
        needed.setdefault(id(change), []).append(code)
    for change in table.changes:
        yield _new(change, table) if table.create else _finding(change, table, needed.get(id(change), []), allowed)


def _new(change: PlannedChange, table: TablePlan) -> Finding:
    return Finding(
        change.code,
        None,
        f"{table.name}: {change.summary}",
        table.name,
        change.reason,
        position=change.position,
        verdict=change.verdict,
        change=_part(change, "+"),
    )


def _finding(change: PlannedChange, table: TablePlan, needed: Iterable[str], allowed: Mapping[str, str]) -> Finding:
    """A change of a table that is there; `needed` are the codes of the leave that it takes, `allowed` what gives it."""
    wanted, given = [], []
    for code in needed:
        own = approval(code, change)
        approved = table.approval_of(change, code)
        if approved is not None:
            given.append(approved_text(approved))
        elif code in allowed or own in allowed:
            given.append(f"approved by {allowed[own if own in allowed else code]}")
        else:
            wanted.append(own)
    is_forbidden = change.verdict is Verdict.FORBIDDEN
    remedies = list(remedy_lines(change, lacks_leave=bool(wanted)))
    if wanted and not is_forbidden:
        remedies.append(f"leave: {leave_on_the_command_line(*wanted)}")
    refused = f"Open Data Fabric's rule refuses it ({ODF_CODE})"
    reasons = [change.reason, *evidence_line(change), *objections(change)]
    if table.gated_by_odf and not change.odf_allowed:
        reasons.append(refused)
    return Finding(
        change.code,
        _severity(change, lacks_leave=bool(wanted), is_approved=bool(given)),
        f"{table.name}: {change.summary}",
        table.name,
        "; ".join(reasons),
        (*remedies, *given),
        change.position,
        change.verdict,
        _part(change, change.kind.sign),
    )


def _severity(change: PlannedChange, *, lacks_leave: bool, is_approved: bool) -> Severity | None:
    """A safe change may need leave too, by Open Data Fabric's rule."""
    if change.verdict is Verdict.FORBIDDEN or lacks_leave:
        return Severity.ERROR
    is_plain = change.verdict is Verdict.SAFE and not change.incompatible
    return None if is_plain and not is_approved else Severity.WARNING


def _part(change: PlannedChange, sign: str) -> ChangedPart:
    in_words = consumers_in_words if change.kind is EditKind.ANNOTATION and change.name == CONSUMERS else shortened
    before, after = map(in_words, (change.before, change.after))
    return ChangedPart(sign, _part_name(change), change.field_id, before, after)


def _part_name(change: PlannedChange) -> str:
    """What changes: a column, or the part of a column or of the table."""
    match change.kind:
        case EditKind.CREATE:
            return "table"
        case EditKind.OPTION:
            return f"option {change.name}"
        case EditKind.ANNOTATION if change.name == CONSUMERS:
            return "consumers"
        case EditKind.ANNOTATION:
            return f"{change.name} of {change.column or 'the table'}"
        case EditKind.DESCRIPTION | EditKind.DEFAULT | EditKind.NULLABILITY | EditKind.POSITION:
            return f"{change.kind.value} of {change.column}"
        case _:
            return change.column or change.kind.value
