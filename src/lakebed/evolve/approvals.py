"""Check what was approved: that its codes exist, and that it approves something of a plan. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from lakebed.codes import register
from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import UsageError
from lakebed.evolve.plan import Plan, approval


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
        approval(code, c) for t in plan.tables for c, code in t.leave_needed()
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
