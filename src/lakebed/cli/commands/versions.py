"""`lakebed versions TABLE`: show what keeps each schema version; remove unused ones."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option("--remove", is_flag=True, help="Remove the versions that nothing keeps.")
@click.option("--min-age", metavar="TIME", default="1d", show_default=True, help="Keep what was the newest since then.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed for --remove where there is no terminal to ask on.")
@common_options
@click.pass_obj
def command(session: Session, table: str, remove: bool, min_age: str, yes: bool) -> ExitCode:
    """Show what keeps each schema version of TABLE: snapshots, tags, changelogs, branches, statistics, data files.

    What nothing keeps can be removed; the newest version stays. TIME must be longer than any job that is writing.
    """
    from lakebed.maintenance.durations import parse_duration
    from lakebed.render.maintenance_text import versions_text

    lake = session.lake()
    age = parse_duration(min_age)
    report = lake.unused_versions(table, min_age=age)
    if remove and report.unused:
        confirm(session, yes, f"remove schema {', '.join(map(str, report.unused))} of {report.name}")
        report = lake.remove_versions(table, min_age=age)
    return session.finish(report.to_json(), lambda look: versions_text(report, command_line=True, width=look.width))
