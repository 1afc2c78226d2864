"""`lakebed apply FILE... | PLAN.json`"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakebed.cli.main import Session, common_options
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.evolve import Plan


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--allow", multiple=True, metavar="CODE[:COLUMN]", help="Let this breaking change happen.")
@click.option("--yes", is_flag=True, help="Do not ask, also on a terminal.")
@common_options
@click.pass_obj
def command(session: Session, files: tuple[str, ...], allow: tuple[str, ...], yes: bool) -> None:
    """Apply the manifests FILES, or one plan that `lakebed plan --out` saved.

    A saved plan runs exactly as it was reviewed, or is refused as stale.
    """
    from lakebed.render.plan_text import render_applied, render_plan

    lake = session.lake()
    plan = _saved_plan(files) or lake.plan(files)
    session.output.diagnose(plan.all_diagnostics)
    if not plan.is_noop and not yes and sys.stdin.isatty() and sys.stdout.isatty():
        session.output.talk(render_plan(plan))
        click.confirm("Apply?", abort=True, err=True)
    applied = lake.apply(plan, allow=allow)
    session.output.finish("apply", ok=True, result=applied.to_json(), text=lambda: render_applied(applied))


def _saved_plan(files: tuple[str, ...]) -> Plan | None:
    """The plan in the one file given, if it is a plan and not a manifest."""
    if not any(f.endswith(".json") for f in files):
        return None
    contents = {}
    for file in files:
        if file.endswith(".json") and Path(file).is_file():
            try:
                contents[file] = json.loads(Path(file).read_text(encoding="utf-8"))
            except (ValueError, UnicodeDecodeError) as error:
                raise UsageError.of("LB7004", f"{file} is not JSON: {error}") from None
    plans = [c for c in contents.values() if isinstance(c, dict) and "tables" in c and "format_version" in c]
    if not plans:
        return None
    if len(files) > 1:
        raise UsageError.of("LB7004", "a saved plan is applied alone", remedy="give one plan, or only manifests")
    from lakebed.evolve import Plan

    return Plan.from_json(plans[0])
