"""`lakebed tables`"""

from __future__ import annotations

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options


@click.command()
@click.argument("database", required=False)
@click.option("--quarantine", is_flag=True, help="List quarantine tables too.")
@common_options
@click.pass_obj
def command(session: Session, database: str | None, quarantine: bool) -> ExitCode:
    """List the tables of the warehouse, or of one DATABASE."""
    from lakebed.catalog.names import quote

    tables = session.lake().tables
    databases = tables.list_databases() if database is None else [database]
    names = [f"{quote(d)}.{quote(t)}" for d in databases for t in tables.list_tables(d, include_quarantine=quarantine)]
    if not names and not session.json_mode:
        session.output.talk(lambda _: "There are no tables.")
    return session.finish({"tables": names}, lambda _: "\n".join(names))
