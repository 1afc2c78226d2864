"""`lakebed plan FILE...`: show what applying manifests would change, with verdicts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from lakebed.cli.commands.manifest_files import (
    drift_option,
    holds_manifests,
    manifest_sources,
    open_lake_for,
    project_directory,
)
from lakebed.cli.commands.row_evidence import RowEvidence, data_options
from lakebed.cli.commands.saved_plans import next_command, save_plan
from lakebed.cli.completers import complete_approvals, complete_branches
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options, variable_option
from lakebed.cli.report_formats import format_option
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.evolve import Plan
    from lakebed.render.findings import Report


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True))
@click.option("--out", type=click.Path(dir_okay=False), help="Save the plan here, for `lakebed apply`.")
@click.option(
    "--exit-code",
    is_flag=True,
    help="End with 10 when changes are pending, 11 when one lacks leave or is forbidden, else 13 when leave to undo "
    "what was made outside of `apply` is all that lacks, or with --all a table is not declared.",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE[:COLUMN]",
    shell_complete=complete_approvals,
    help="Let this breaking change happen; --out keeps it.",
)
@click.option("--branch", shell_complete=complete_branches, help="Plan for this branch of each table.")
@click.option(
    "--all",
    "all_tables",
    is_flag=True,
    help="All manifests of the project, and all tables of the warehouse: those that none declares are told. "
    "Without FILES the manifests are those below the directory of lakebed.toml.",
)
@click.option("--undeclared", is_flag=True, help="Name the tables that no manifest declares, as for a directory.")
@click.option(
    "--odf", is_flag=True, help="Say what Open Data Fabric's rule for changes says, also where it gates none."
)
@drift_option
@data_options
@format_option()
@variable_option
@common_options
@click.pass_obj
def command(
    session: Session,
    files: tuple[str, ...],
    out: str | None,
    exit_code: bool,
    allow: tuple[str, ...],
    branch: str | None,
    all_tables: bool,
    undeclared: bool,
    odf: bool,
    drift: Literal["ask", "refuse", "adopt", "revert"] | None,
    rows: RowEvidence,
) -> ExitCode:
    """Show what applying the manifests FILES would change, with a verdict on each change and its reason.

    A directory stands for all manifests (*.yaml, *.yml) in it, at any depth, `-` for one on standard input.
    """
    from lakebed.render.plan_text import render_plan

    named = files or _of_project(all_tables)
    sources = manifest_sources(session, named)
    lake = open_lake_for(session, sources)
    plan = lake.plan(
        sources,
        branch=branch,
        allow=allow,
        list_undeclared=undeclared,
        all_tables=all_tables,
        drift=drift or session.setting("drift"),
        **rows.asked,
    )
    if out is not None:
        _check_place(out, named)
        save_plan(plan, out)
        session.output.talk(lambda _: f"Saved as {out}: `lakebed apply {out}` makes exactly these changes.")
    session.output.diagnose(plan.all_diagnostics)
    # A saved plan says itself what was allowed, and for which branch.
    again = () if out is not None else tuple(sorted(set(allow)))
    own = {"--branch": branch, "--drift": drift, "--data": rows.data, **session.variable_flags} if out is None else {}
    flags = {**session.warehouse_flags, **own}
    then = next_command(plan, (out,) if out is not None else named, flags, again)
    return session.finish(
        plan.to_json(),
        lambda look: render_plan(plan, colour=look.colour, width=look.width, odf=odf, next_command=then),
        code=_gate(plan, all_tables) if exit_code else ExitCode.OK,
        painted=True,
        report=lambda: _report(session, plan, then),
    )


def _of_project(all_tables: bool) -> tuple[str, ...]:
    """The directory of the manifests of the project."""
    if not all_tables:
        message = "missing argument 'FILES...': name manifests, or give --all for those of the project"
        raise click.UsageError(message, click.get_current_context())
    directory = project_directory()
    # Where every manifest is gone, every table has lost its own.
    return (directory,) if holds_manifests(directory) else ()


def _report(session: Session, plan: Plan, next_command: str | None) -> Report:
    from lakebed.render.plan_report import plan_report
    from lakebed.render.plan_text import plan_totals

    title = "plan" if session.env is None else f"plan env={session.env}"
    return plan_report(plan, title, plan_totals(plan), next_command=next_command)


def _gate(plan: Plan, all_tables: bool) -> ExitCode:
    from lakebed.evolve.verdicts import OUTSIDE_CODE

    forbidden = {change.code for table in plan.tables for change in table.forbidden}
    if forbidden - {OUTSIDE_CODE} or plan.approved([OUTSIDE_CODE]).leave_missing():
        return ExitCode.REFUSED
    if forbidden or plan.leave_missing() or plan.annotations_drifted or (all_tables and plan.undeclared):
        return ExitCode.DRIFT
    return ExitCode.OK if plan.is_noop else ExitCode.CHANGES_PENDING


def _check_place(out: str, files: tuple[str, ...]) -> None:
    from lakebed.manifest.load import manifest_files

    given = [path for file in files for path in (manifest_files(file) if os.path.isdir(file) else [file])]
    if any(Path(out).resolve() == Path(file).resolve() for file in given):
        raise UsageError.of("LB7008", f"--out {out} would overwrite the manifest", remedy="give another file")
