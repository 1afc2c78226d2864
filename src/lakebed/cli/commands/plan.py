"""`lakebed plan FILE...`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.manifest_files import manifest_sources
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options
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
    "forbidden, 13 when another engine changed the table.",
)
@click.option("--allow", multiple=True, metavar="CODE[:COLUMN]", help="For --exit-code: this change has leave.")
@click.option("--branch", help="Plan for this branch of each table.")
@common_options
@click.pass_obj
def command(
    session: Session,
    files: tuple[str, ...],
    out: str | None,
    exit_code: bool,
    allow: tuple[str, ...],
    branch: str | None,
) -> ExitCode:
    """Show what applying the manifests FILES would change, with a verdict on each change and its reason.

    `-` is a manifest on standard input.
    """
    from lakebed.render.plan_text import render_plan

    plan = session.lake().plan(manifest_sources(files), branch=branch)
    if out is not None:
        _save(plan, out, files)
        session.output.talk(lambda _: f"Saved as {out}: `lakebed apply {out}` makes exactly these changes.")
    session.output.diagnose(plan.all_diagnostics)
    return session.finish(
        plan.to_json(),
        lambda look: render_plan(plan, colour=look.colour, width=look.width),
        code=_gate(plan, frozenset(allow)) if exit_code else ExitCode.OK,
        painted=True,
    )


def _gate(plan: Plan, allow: frozenset[str]) -> ExitCode:
    from lakebed.evolve.plan import leave_missing

    if plan.is_forbidden or leave_missing(plan.tables, allow):
        return ExitCode.REFUSED
    # What `lakebed.catalog.drift` finds; a plan carries it among its warnings.
    if any(d.code.startswith("LB351") for d in plan.all_diagnostics):
        return ExitCode.DRIFT
    return ExitCode.OK if plan.is_noop else ExitCode.CHANGES_PENDING


def _save(plan: Plan, out: str, files: tuple[str, ...]) -> None:
    if any(Path(out).resolve() == Path(file).resolve() for file in files):
        raise UsageError.of("LB7008", f"--out {out} would overwrite the manifest")
    Path(out).write_text(json.dumps(plan.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
