"""Give leave for changes by the approvals of a manifest, until their day.

Those that have ended, and those that do nothing, are told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from lakebed.catalog.annotations import used_approvals
from lakebed.catalog.time_zone import zone_of
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.evolve.check_approvals import ended
from lakebed.evolve.plan import PlannedChange, TablePlan

if TYPE_CHECKING:
    from lakebed.catalog.table_schema import TableSchema
    from lakebed.manifest.approvals import Approval
    from lakebed.manifest.table_manifest import TableManifest


def day_of(millis: int, time_zone: str) -> date:
    """The day of a time, in milliseconds since 1970, in a time zone."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=millis)).astimezone(zone_of(time_zone)).date()


def plan_with_approvals(
    declared: TableManifest,
    today: date,
    make: Callable[[TableManifest], TablePlan],
    *,
    versions: Callable[[], Iterable[TableSchema]] = tuple,
    known: Collection[Approval] = (),
) -> TablePlan:
    """The plan that `make` makes with the approvals that count today, and warnings of those that do not, or do nothing.

    `versions` gives the stored versions of the table: what they were made with is told. Nothing is said of approvals
    that are `known`, and of those of a table that is made, of which no change needs leave.
    """
    current = tuple(a for a in declared.approvals if a.until >= today)
    plan = make(replace(declared, approvals=current))
    if plan.create:
        return plan
    idle = [a for a in current if a not in plan.approvals and a not in known]
    past = [a for a in declared.approvals if a not in current]
    used = {text: number for version in versions() for number, text in used_approvals(version)} if idle else {}
    notes = (*(ended(a, plan) for a in past), *(_idle(a, plan, used.get(a.text)) for a in idle))
    return replace(plan, diagnostics=(*plan.diagnostics, *notes))


def giving(approvals: Iterable[Approval], needed: Iterable[tuple[PlannedChange, str]]) -> tuple[Approval, ...]:
    """Those that give leave for a change; `needed` are changes with the codes that they need leave for."""
    wanted = tuple(needed)
    return tuple(a for a in approvals if any(a.covers(code, change.approved_as) for change, code in wanted))


def _idle(approval: Approval, plan: TablePlan, version: int | None) -> Diagnostic:
    """A warning; only a note where `version` was made with it, as after every change that was approved."""
    needless = next((c.summary for c in plan.changes if approval.covers(c.code, c.approved_as)), None)
    what = "matches no change of the plan" if needless is None else f"is not needed to {needless}"
    note = Diagnostic(
        "LB4238",
        f"{plan.name}: the approval {approval.text} {what}",
        Severity.WARNING,
        position=approval.position,
        path=approval.path,
        found=approval.text,
        expected=", ".join(dict.fromkeys(f"{code}:{c.approved_as}" for c, code in plan.leave_needed())) or None,
        remedy="correct it, or take it out" if needless is None else "take it out",
    )
    if version is None:
        return note
    done = (
        f"{plan.name}: the approval {approval.text} was used for schema {version}, and has done its work: take it out"
    )
    return replace(note, severity=Severity.NOTE, message=done, found=None, expected=None, remedy=None)
