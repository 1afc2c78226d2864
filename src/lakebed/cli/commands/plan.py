"""`lakebed plan FILE...`"""

from __future__ import annotations

import json
from pathlib import Path

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.main import Session, common_options


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--out", type=click.Path(), help="Save the plan here, for `lakebed apply`.")
@click.option("--exit-code", is_flag=True, help="End with 10 when changes are pending, 11 when they are forbidden.")
@common_options
@click.pass_obj
def command(session: Session, files: tuple[str, ...], out: str | None, exit_code: bool) -> int:
    """Show what applying the manifests FILES would change, with a verdict on each change and its reason."""
    from lakebed.render.plan_text import render_plan

    plan = session.lake().plan(files)
    if out:
        Path(out).write_text(json.dumps(plan.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    session.output.diagnose(plan.all_diagnostics)
    session.output.finish("plan", ok=not plan.is_forbidden, result=plan.to_json(), text=lambda: render_plan(plan))
    if not exit_code:
        return ExitCode.OK
    if plan.is_forbidden:
        return ExitCode.REFUSED
    return ExitCode.OK if plan.is_noop else ExitCode.CHANGES_PENDING
