"""`lakebed drop TABLE`"""

from __future__ import annotations

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options
from lakebed.errors import RefusedError


@click.command()
@click.argument("table")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal to ask on.")
@click.option("--purge", is_flag=True, help="Also where data files lie outside the table's directory.")
@common_options
@click.pass_obj
def command(session: Session, table: str, yes: bool, purge: bool) -> ExitCode:
    """Drop TABLE and its quarantine: all data and every schema version. Only the table's directory is touched."""
    from lakebed.catalog import TableName

    tables = session.lake().tables
    name = TableName.parse(table)
    # A table that is not there needs no answer, nor does a drop that was confirmed and interrupted.
    if not yes and tables.exists(name):
        if not session.can_ask:
            raise RefusedError.of("LB7006", f"dropping {name} was not confirmed", remedy="give --yes")
        session.confirm(f"Drop {name}, all that is in {tables.table_path(name)}?")
    _, *quarantine = tables.drop_table(name.database, name.table, purge=purge)
    return session.finish(
        {"dropped": str(name)}, lambda _: f"Dropped {name} and its quarantine." if quarantine else f"Dropped {name}."
    )
