"""`lakebed drop TABLE`: drop a table and its quarantine."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", shell_complete=complete_tables)
@yes_option
@click.option("--purge", is_flag=True, help="Also where data files lie outside the table's directory.")
@common_options
@click.pass_obj
def command(session: Session, table: str, yes: bool, purge: bool) -> ExitCode:
    """Drop TABLE and its quarantine: all data and every schema version. Only the table's directory is touched."""
    from lakebed.catalog import TableName

    tables = session.lake().tables
    name = TableName.parse(table)
    # A table that is not there needs no answer, nor does a drop that was confirmed and interrupted.
    if tables.exists(name):
        confirm(session, yes, f"drop {name}, all that is in {tables.table_path(name)}")
    _, *quarantine = tables.drop_table(name.database, name.table, purge=purge)
    return session.finish(
        {"dropped": str(name)}, lambda _: f"Dropped {name} and its quarantine." if quarantine else f"Dropped {name}."
    )
