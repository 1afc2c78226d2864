"""`lakebed rename OLD NEW`: rename a table and its quarantine."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("old", shell_complete=complete_tables)
@click.argument("new")
@yes_option
@common_options
@click.pass_obj
def command(session: Session, old: str, new: str, yes: bool) -> ExitCode:
    """Rename the table OLD, and its quarantine with it, to NEW, which may be in another database.

    Nobody should write to the table meanwhile. Not on object stores, which cannot move a table in one step.
    """
    from lakebed.catalog import TableName

    source, target = TableName.parse(old), TableName.parse(new)
    tables = session.lake().tables
    # What is not there needs no answer, nor does a renaming that was confirmed and interrupted.
    if tables.exists(source):
        confirm(session, yes, f"rename {source} to {target}")
    tables.rename_table(source, target)
    return session.finish({"old": str(source), "new": str(target)}, lambda _: f"Renamed {source} to {target}.")
