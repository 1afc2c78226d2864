"""`lakebed tables`"""

from __future__ import annotations

import click

from lakebed.cli.main import Session, common_options


@click.command()
@click.argument("database", required=False)
@click.option("--quarantine", is_flag=True, help="List quarantine tables too.")
@common_options
@click.pass_obj
def command(session: Session, database: str | None, quarantine: bool) -> None:
    """List the tables of the warehouse, or of one DATABASE."""
    tables = session.lake().tables
    databases = [database] if database else tables.list_databases()
    names = [f"{d}.{t}" for d in databases for t in tables.list_tables(d, include_quarantine=quarantine)]
    session.output.finish("tables", ok=True, result={"tables": names}, text=lambda: "\n".join(names))
