"""`lakebed plan FILE...`: show what applying manifests would change, with verdicts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.manifest_files import manifest_sources, open_lake_for
from lakebed.cli.commands.saved_plans import save_plan
from lakebed.cli.completers import complete_approvals, complete_branches
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.evolve import Plan


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--out", type=click.Path(dir_okay=False), help="Save the plan here, for `lakebed apply`.")
@click.option(
    "--exit-code",
    is_flag=True,
    help="End with 10 when changes are pending, 11 when one lacks leave or is "
    "forbidden, else 13 when leave to undo what was made outside of `apply` is all that lacks.",
)
@click.option(
    "--allow",
    multiple=True,
    metavar="CODE[:COLUMN]",
    shell_complete=complete_approvals,
    help="Let this breaking change happen; --out keeps it.",
)
@click.option("--branch", shell_complete=complete_branches, help="Plan for this branch of each table.")
@click.option("--undeclared", is_flag=True, help="Name the tables that no manifest declares, as for a directory.")
@common_options
@click.pass_obj
def command(
    session: Session,
    files: tuple[str, ...],
    out: str | None,
    exit_code: bool,
    allow: tuple[str, ...],
    branch: str | None,
    undeclared: bool,
) -> ExitCode:
    """Show what applying the manifests FILES would change, with a verdict on each change and its reason.

    A directory stands for all manifests (*.yaml, *.yml) in it, at any depth, `-` for one on standard input.
    """
    from lakebed.render.plan_text import render_plan

    sources = manifest_sources(session, files)
    lake = open_lake_for(session, sources)
    plan = lake.plan(sources, branch=branch, allow=allow, list_undeclared=undeclared)
    if out is not None:
        _check_place(out, files)
        save_plan(plan, out)
        session.output.talk(lambda _: f"Saved as {out}: `lakebed apply {out}` makes exactly these changes.")
    session.output.diagnose(plan.all_diagnostics)
    return session.finish(
        plan.to_json(),
        lambda look: render_plan(plan, colour=look.colour, width=look.width),
        code=_gate(plan) if exit_code else ExitCode.OK,
        painted=True,
    )


def _gate(plan: Plan) -> ExitCode:
    from lakebed.evolve.verdicts import OUTSIDE_CODE

    if plan.is_forbidden or plan.approved([OUTSIDE_CODE]).leave_missing():
        return ExitCode.REFUSED
    if plan.leave_missing() or plan.annotations_drifted:
        return ExitCode.DRIFT
    return ExitCode.OK if plan.is_noop else ExitCode.CHANGES_PENDING


def _check_place(out: str, files: tuple[str, ...]) -> None:
    from lakebed.manifest.load import manifest_files

    given = [path for file in files for path in (manifest_files(file) if os.path.isdir(file) else [file])]
    if any(Path(out).resolve() == Path(file).resolve() for file in given):
        raise UsageError.of("LB7008", f"--out {out} would overwrite the manifest", remedy="give another file")
