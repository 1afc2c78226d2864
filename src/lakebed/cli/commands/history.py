"""`lakebed history TABLE`: show the schema versions and snapshots of a table."""

from __future__ import annotations

import click

from lakebed.cli.completers import complete_tables
from lakebed.cli.encodings import encodings_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest ones.")
@encodings_option
@common_options
@click.pass_obj
def command(session: Session, table: str, limit: int | None, encodings: bool) -> ExitCode:
    """Show the schema versions of TABLE, what each changed, and its snapshots, the newest last."""
    from lakebed.render.history_text import history_text

    lake = session.lake()
    history = lake.history(table, encodings=encodings)
    if limit is not None:
        history = history.newest(limit)
    return session.finish(history.to_json(), lambda look: history_text(history, lake.time_zone, width=look.width))
