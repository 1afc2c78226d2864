"""Check that the changes of a plan have the leave that they need, and say how it is given."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from lakebed.codes import register
from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import RefusedError, UsageError
from lakebed.evolve.plan import Plan, PlannedChange, TablePlan, approval, leave_missing
from lakebed.evolve.verdicts import ODF_CODE, OUTSIDE_CODE
from lakebed.manifest.approvals import Approval


def leave_on_the_command_line(*approvals: str) -> str:
    """How a shell gives these approvals."""
    import shlex

    return " ".join(f"--allow {shlex.quote(text)}" for text in approvals)


def leave_in_python(*approvals: str) -> str:
    """How a program gives these approvals."""
    return f"lake.apply(plan, allow={json.dumps(approvals, ensure_ascii=False)})"


def proven(changes: Iterable[PlannedChange]) -> tuple[tuple[PlannedChange, str], ...]:
    """Each change that would need leave if the rows had not shown that it is safe, with the code that would give it."""
    return tuple((change, change.proven_code) for change in changes if change.proven_code is not None)


def check_codes(allow: Iterable[str]) -> None:
    """Raise `UsageError` for an approval that names no code."""
    known = register()
    problems = [
        Diagnostic(
            "LB4307",
            f"{text!r} allows nothing: {text.partition(':')[0]!r} is no code",
            expected="CODE, CODE:column, CODE:option or CODE:.comment, such as LB4203:old_name",
            found=text,
            suggestions=near_names(text.partition(":")[0], known),
        )
        for text in sorted(allow)
        if text.partition(":")[0] not in known
    ]
    if problems:
        raise UsageError(*problems)


def unmatched(plan: Plan, allow: Iterable[str]) -> tuple[Diagnostic, ...]:
    """A warning for each approval of one column's change that is no change of the plan.

    It is no error, so that a command can be repeated after what it approves was done. `CODE` without a column is a
    rule for whatever comes, and may match nothing.
    """
    changes = [change for table in plan.tables for change in table.changes]
    planned = {approval(c.code, c) for c in changes} | {
        approval(code, c) for t in plan.tables for c, code in (*t.leave_needed(), *proven(t.changes))
    }
    wanted = plan.leave_needed()
    return tuple(
        Diagnostic(
            "LB4223",
            f"the approval {text} matches no change of the plan",
            Severity.WARNING,
            expected=", ".join(wanted) or None,
            found=text,
            suggestions=near_names(text, [w for w in wanted if w.partition(":")[0] == text.partition(":")[0]]),
            remedy=f"take it out, or approve {' or '.join(wanted)}"
            if wanted
            else "take it out: nothing needs approval",
        )
        for text in sorted(set(allow))
        if ":" in text and text not in planned
    )


_OTHER_REASONS = {
    ODF_CODE: "ODF's rule for changing a schema refuses it",
    OUTSIDE_CODE: "it undoes or changes what was made outside of `apply`",
}


def check_leave(plan: Plan, allow: frozenset[str], today: date) -> None:
    """Everything that stands against the plan, at once."""
    problems = [
        Diagnostic(
            change.code,
            f"{table.name}: cannot {change.summary}: {change.reason}{_of_rows(change)}",
            position=change.position,
            path=change.column or None,
            remedy=change.remedy,
        )
        for table in plan.tables
        for change in table.forbidden
    ]
    missing = leave_missing([without_ended(table, today) for table in plan.tables], allow)
    for table, change, code in missing:
        why = _OTHER_REASONS.get(code, change.reason) if code != change.code else change.reason
        problems.append(
            Diagnostic(
                code,
                f"{table.name}: leave is needed to {change.summary}: {why}{_of_rows(change)}",
                position=change.position,
                path=change.column or None,
                remedy=leave_on_the_command_line(approval(code, change)),
                python_remedy=leave_in_python(approval(code, change)),
            )
        )
    if problems:
        past = [ended(a, t) for t in plan.tables for a in t.approvals if a.until < today] if missing else []
        raise RefusedError(*problems, *past)


def _of_rows(change: PlannedChange) -> str:
    """What the stored rows say, where they were asked."""
    return "" if change.evidence is None else f"; rows: {change.evidence.text}"


def without_ended(plan: TablePlan, today: date) -> TablePlan:
    """The plan without the approvals that have ended since it was made."""
    return replace(plan, approvals=tuple(a for a in plan.approvals if a.until >= today))


def ended(approval: Approval, plan: TablePlan) -> Diagnostic:
    """What is said of an approval that has ended."""
    matching = [c.summary for c, code in plan.leave_needed() if approval.covers(code, c.approved_as)]
    what = f"it takes another one to {', '.join(matching)}" if matching else "it matches no change of the plan"
    return Diagnostic(
        "LB4237",
        f"{plan.name}: the approval {approval.text} ended on {approval.until}; {what}",
        Severity.WARNING,
        position=approval.position,
        path=approval.path,
        found=str(approval.until),
        remedy="agree on a later day, or take it out" if matching else "take it out",
    )
