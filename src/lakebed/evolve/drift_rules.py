"""Ask for leave, refuse, adopt or revert where a plan would undo what was made outside of `apply`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import UsageError
from lakebed.evolve.adopt_drift import adopt_drift
from lakebed.evolve.verdicts import ADOPTED_CODE, OUTSIDE_CODE, Verdict

if TYPE_CHECKING:
    from lakebed.catalog.table_schema import TableSchema
    from lakebed.evolve.declared_edits import AppliedVersion
    from lakebed.evolve.plan import PlannedChange, TablePlan
    from lakebed.manifest.table_manifest import TableManifest


class DriftRule(StrEnum):
    """What becomes of changes that undo what was made outside of `apply`.

    `ask`: each needs leave (LB4231). `refuse`: none is made, whatever leave there is. `adopt`: none is planned; what
    others did stays. `revert`: they are made, where they need no other leave.
    """

    ASK = "ask"
    REFUSE = "refuse"
    ADOPT = "adopt"
    REVERT = "revert"


def drift_rule(name: str) -> DriftRule:
    """The rule of a name. Raises `UsageError` (LB4310) for others."""
    if name not in DriftRule.__members__.values():
        raise UsageError.of(
            "LB4310",
            f"there is no rule {name!r} for what was made outside of `apply`",
            expected=", ".join(DriftRule),
            found=repr(name),
            suggestions=near_names(str(name), list(DriftRule)),
            remedy=f"set `drift`, or give --drift, as one of {', '.join(DriftRule)}",
            python_remedy=f"give drift as one of {', '.join(DriftRule)}",
        )
    return DriftRule(name)


@dataclass(frozen=True, slots=True)
class StoredVersions:
    """The newest version of a table; and the one of a number, where the layout has place for who made it."""

    newest: TableSchema
    find: AppliedVersion | None


def plan_under(
    rule: DriftRule,
    declared: TableManifest,
    versions: StoredVersions,
    make: Callable[[TableManifest, AppliedVersion | None], TablePlan],
) -> TablePlan:
    """The plan of a table under a rule; `make` plans a manifest, given what tells the versions of others.

    A plan that adopts something marks its version as made by others, too: the manifest says less than that one has.
    """
    if rule is DriftRule.ADOPT and versions.find is not None:
        adopted = adopt_drift(declared, versions.newest, versions.find)
        if adopted.drift is not None:
            plan = make(adopted.manifest, None)
            note = _adopted(plan.name, adopted.drift.versions, declared)
            return replace(plan, drift=adopted.drift, diagnostics=(*plan.diagnostics, note))
    plan = make(declared, versions.find)
    if rule is not DriftRule.REFUSE or not any(change.undoes_others for change in plan.changes):
        return plan
    return replace(plan, changes=tuple(map(_refused, plan.changes)), target=None)


def _refused(change: PlannedChange) -> PlannedChange:
    if not change.undoes_others:
        return change
    remedy = "declare it, as `lakebed pull` does, or plan with `--drift adopt` or `--drift revert`"
    return replace(change, verdict=Verdict.FORBIDDEN, code=OUTSIDE_CODE, remedy=remedy)


def _adopted(name: str, versions: str, declared: TableManifest) -> Diagnostic:
    return Diagnostic(
        ADOPTED_CODE,
        f"{name}: the manifest does not declare what {versions} did outside of `apply`, and the plan leaves it",
        Severity.WARNING,
        position=declared.position,
        remedy=f"`lakebed pull {name}` writes it into the manifest",
    )
