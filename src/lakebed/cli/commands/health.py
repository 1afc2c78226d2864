"""Tell how tables are, from metadata: `lakebed health [TABLE...]`."""

from __future__ import annotations

import click

from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("tables", nargs=-1, metavar="[TABLE]...", shell_complete=complete_tables)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "prometheus"]),
    default="text",
    help="text, the JSON of --json, or the text that Prometheus reads.",
)
@common_options
@click.pass_obj
def command(session: Session, tables: tuple[str, ...], form: str) -> ExitCode:
    """Tell of each TABLE, or of all, its files, deletions, snapshots and bad rows, and what is noteworthy.

    Only metadata is read, and nothing is changed. A table that cannot be read is told, does not hide the others, and
    makes the command end with its exit code.
    """
    from lakebed.render.health_text import health_text

    session.json_mode = session.json_mode or form == "json"
    if form == "prometheus" and session.json_mode:
        raise click.UsageError("--json and --format prometheus do not go together", click.get_current_context())
    found = session.lake().health(tables or None)
    session.output.diagnose(problem for table in found.failed for problem in table.problems)
    code = ExitCode(max((table.exit_code for table in found.failed), default=ExitCode.OK))
    if form == "prometheus":
        from lakebed.render.prometheus_text import prometheus_text

        return session.finish(None, lambda _: prometheus_text(found), code=code)
    return session.finish(found.to_json(), lambda _: health_text(found, reasons=False), code=code)
