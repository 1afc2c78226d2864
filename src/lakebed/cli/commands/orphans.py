"""`lakebed orphans [TABLE]`: show or remove files that nothing refers to."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", required=False, shell_complete=complete_tables)
@click.option("--remove", is_flag=True, help="Remove them.")
@click.option("--min-age", metavar="TIME", default="1d", show_default=True, help="Leave younger files alone.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed for --remove where there is no terminal to ask on.")
@common_options
@click.pass_obj
def command(session: Session, table: str | None, remove: bool, min_age: str, yes: bool) -> ExitCode:
    """Show files in TABLE's directory that no snapshot, tag, changelog or branch refers to.

    They are left by writers that were killed, lost races, deleted tags and branches, and roll backs. TIME must be
    longer than any job that is writing.

    Without TABLE: what killed reads and migrations have left beside the tables of the warehouse. TIME must then be
    longer than any session of Spark Connect lives.
    """
    from lakebed.maintenance.durations import parse_duration
    from lakebed.render.maintenance_text import orphans_text

    lake = session.lake()
    age = parse_duration(min_age)
    report = lake.orphan_files(table, min_age=age)
    if remove and report.files:
        confirm(
            session,
            yes,
            f"remove {len(report.files):,} files of {report.name or 'the warehouse'} that nothing refers to",
        )
        report = lake.remove_orphans(table, min_age=age)
    return session.finish(report.to_json(), lambda _: orphans_text(report, command_line=True))
