"""`lakebed apply FILE... | PLAN.json`: apply manifests, or a saved plan exactly as it was reviewed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.manifest_files import drift_option, manifest_sources, open_lake_for
from lakebed.cli.commands.row_evidence import RowEvidence, data_options
from lakebed.cli.commands.saved_plans import load_plan
from lakebed.cli.completers import complete_approvals, complete_branches
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.evolve import Plan


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE[:COLUMN]",
    shell_complete=complete_approvals,
    help="Let this breaking change happen.",
)
@yes_option
@click.option(
    "--branch",
    shell_complete=complete_branches,
    help="Apply manifests to this branch of each table; a saved plan says its own.",
)
@drift_option
@data_options
@variable_option
@common_options
@click.pass_obj
def command(
    session: Session,
    files: tuple[str, ...],
    allow: tuple[str, ...],
    yes: bool,
    branch: str | None,
    drift: Literal["ask", "refuse", "adopt", "revert"] | None,
    rows: RowEvidence,
) -> ExitCode:
    """Apply the manifests FILES, or one plan that `lakebed plan --out` saved.

    A saved plan runs exactly as it was reviewed, with what was approved then, or is refused as stale. A directory
    stands for all manifests in it, `-` for one on standard input. With --data the rows are asked first; what only they
    show to be safe is refused where others come meanwhile (LB4309), as it is of a saved plan.
    """
    from lakebed.evolve.check_approvals import check_codes
    from lakebed.render.plan_text import render_applied, render_plan

    check_codes(allow)
    if not files:
        message = "missing argument 'FILES...': name manifests, `.` for all below here, or a plan that was saved"
        raise click.UsageError(message, click.get_current_context())
    saved = _saved_plan(files)
    sources = [] if saved is not None else manifest_sources(session, files)
    lake = open_lake_for(session, sources)
    if saved is not None and (branch is not None or drift is not None):
        said = "--branch" if branch is not None else "--drift"
        raise UsageError.of("LB7004", "a saved plan says itself what it is for", remedy=f"leave out {said}")
    if saved is not None and rows.data:
        remedy = "leave out --data; rows that came since are told (LB4309)"
        raise UsageError.of("LB7004", "a saved plan says itself what the rows say", remedy=remedy)
    plan = saved or lake.plan(sources, branch=branch, drift=drift or session.setting("drift"), **rows.asked)
    session.output.diagnose(plan.all_diagnostics)
    if not yes and _can_run(plan, allow):
        session.output.talk(lambda look: render_plan(plan, colour=look.colour, width=look.width), painted=True)
        confirm(session, yes, "apply the plan", question="\nApply?")
    applied = lake.apply(plan, allow=allow)
    session.output.diagnose(applied.diagnostics)
    return session.finish(applied.to_json(), lambda look: render_applied(applied, width=look.width))


def _can_run(plan: Plan, allow: tuple[str, ...]) -> bool:
    """Whether there is something to ask about: changes, none of which will be refused anyway."""
    return not (plan.is_noop or plan.is_forbidden or plan.approved(allow).approvals_missing())


def _saved_plan(files: tuple[str, ...]) -> Plan | None:
    """The plan in the one file given, if it is a plan and not a manifest."""
    plans = [plan for file in files if (plan := load_plan(file)) is not None]
    if plans and len(files) > 1:
        raise UsageError.of("LB7004", "a saved plan is applied alone", remedy="give one plan, or only manifests")
    return plans[0] if plans else None
