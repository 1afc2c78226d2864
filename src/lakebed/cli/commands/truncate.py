"""`lakebed truncate TABLE`: remove all rows of a table."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@yes_option
@common_options
@click.pass_obj
def command(session: Session, table: str, dry_run: bool, run_id: str | None, yes: bool) -> ExitCode:
    """Remove all rows of TABLE, or of a branch of it, as one snapshot. Older snapshots and tags keep theirs."""
    from lakebed.render.write_text import removal, write_text

    rows = session.lake().table(table)
    if dry_run or not yes:
        found = rows.truncate(dry_run=True)
        if dry_run:
            return session.finish(found.to_json(), lambda _: write_text(found))
        if found.files_removed:
            confirm(session, yes, removal(found), question=f"{write_text(found)}\nRemove?")
    result = rows.truncate(run_id=run_id)
    return session.finish(result.to_json(), lambda _: write_text(result))
