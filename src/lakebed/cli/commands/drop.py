"""`lakebed drop TABLE`"""

from __future__ import annotations

import sys

import click

from lakebed.catalog import TableName
from lakebed.cli.main import Session, common_options
from lakebed.errors import RefusedError


@click.command()
@click.argument("table")
@click.option("--yes", is_flag=True, help="Do not ask. Needed where there is no terminal to ask on.")
@click.option("--purge", is_flag=True, help="Also where data files lie outside the table's directory.")
@common_options
@click.pass_obj
def command(session: Session, table: str, yes: bool, purge: bool) -> None:
    """Drop TABLE and its quarantine: all data and every schema version. Only the table's directory is touched."""
    lake = session.lake()
    name = TableName.parse(table)
    path = lake.tables.table_path(name)
    lake.schema(table)
    if not yes:
        if not sys.stdin.isatty():
            raise RefusedError.of("LB7006", f"dropping {name} was not confirmed", remedy="give --yes")
        click.confirm(f"Drop {name}, all that is in {path}?", abort=True, err=True)
    lake.tables.drop_table(name.database, name.table, purge=purge)
    session.output.finish("drop", ok=True, result={"dropped": str(name)}, text=lambda: f"Dropped {name}.")
