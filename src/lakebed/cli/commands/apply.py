"""`lakebed apply FILE... | PLAN.json`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.manifest_files import manifest_sources
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.evolve import Plan


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--allow", multiple=True, metavar="CODE[:COLUMN]", help="Let this breaking change happen.")
@click.option("--yes", is_flag=True, help="Do not ask, also on a terminal.")
@click.option("--branch", help="Apply manifests to this branch of each table; a saved plan says its own.")
@common_options
@click.pass_obj
def command(
    session: Session, files: tuple[str, ...], allow: tuple[str, ...], yes: bool, branch: str | None
) -> ExitCode:
    """Apply the manifests FILES, or one plan that `lakebed plan --out` saved.

    A saved plan runs exactly as it was reviewed, or is refused as stale. `-` is a manifest on standard input.
    """
    from lakebed.render.plan_text import render_applied, render_plan

    lake = session.lake()
    saved = _saved_plan(files)
    if saved is not None and branch is not None:
        raise UsageError.of("LB7004", "a saved plan says itself what it is for", remedy="leave out --branch")
    plan = saved or lake.plan(manifest_sources(files), branch=branch)
    session.output.diagnose(plan.all_diagnostics)
    if not yes and session.can_ask and _can_run(plan, frozenset(allow)):
        session.output.talk(lambda look: render_plan(plan, colour=look.colour, width=look.width), painted=True)
        session.confirm("\nApply?")
    applied = lake.apply(plan, allow=allow)
    return session.finish(applied.to_json(), lambda _: render_applied(applied))


def _can_run(plan: Plan, allow: frozenset[str]) -> bool:
    """Whether there is something to ask about: changes, none of which will be refused anyway."""
    from lakebed.evolve.plan import leave_missing

    return not (plan.is_noop or plan.is_forbidden or leave_missing(plan.tables, allow))


def _saved_plan(files: tuple[str, ...]) -> Plan | None:
    """The plan in the one file given, if it is a plan and not a manifest."""
    plans = [content for file in files if (content := _plan_content(file)) is not None]
    if not plans:
        return None
    if len(files) > 1:
        raise UsageError.of("LB7004", "a saved plan is applied alone", remedy="give one plan, or only manifests")
    from lakebed.evolve import Plan

    return Plan.from_json(plans[0])


def _plan_content(file: str) -> dict[str, Any] | None:
    """The object of a plan file; everything else is for the manifest's reader to judge."""
    path = Path(file)
    if not path.is_file():
        return None
    data = path.read_bytes()
    if not data.lstrip().startswith(b"{"):
        return None
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and {"format_version", "tables"} <= content.keys() else None
