"""`lakebed database create|drop|list`: make, drop and list databases."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm
from lakebed.cli.completers import complete_databases
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """Databases of the warehouse: each is a directory that holds tables, and has no properties."""


@command.command("list")
@common_options
@click.pass_obj
def list_databases(session: Session) -> ExitCode:
    """List the databases."""
    names = session.lake().tables.list_databases()
    if not names and not session.json_mode:
        session.output.talk(lambda _: "There are no databases.")
    return session.finish({"databases": names}, lambda _: "\n".join(names))


@command.command("create")
@click.argument("name")
@click.option("--if-not-exists", is_flag=True, help="Also where there is such a database.")
@common_options
@click.pass_obj
def create(session: Session, name: str, if_not_exists: bool) -> ExitCode:
    """Make the database NAME. `lakebed apply` makes the database of a new table by itself."""
    tables = session.lake().tables
    path = tables.create_database(name, ignore_if_exists=if_not_exists)
    return session.finish({"database": name, "path": path}, lambda _: f"The database {name} is in {path}.")


@command.command("drop")
@click.argument("name", shell_complete=complete_databases)
@click.option("--cascade", is_flag=True, help="Also with tables in it: all their data and schema versions are deleted.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed with --cascade where there is no terminal to ask on.")
@click.option("--purge", is_flag=True, help="Also where data files lie outside the directory of a table.")
@common_options
@click.pass_obj
def drop(session: Session, name: str, cascade: bool, yes: bool, purge: bool) -> ExitCode:
    """Drop the database NAME if it is empty, with --cascade any."""
    tables = session.lake().tables
    found = tables.list_tables(name)
    if cascade and found:
        what = "1 table" if len(found) == 1 else f"{len(found)} tables"
        confirm(session, yes, f"drop the database {name} with {what}")
    tables.drop_database(name, cascade=cascade, purge=purge)
    return session.finish({"dropped": name, "tables": found}, lambda _: f"Dropped the database {name}.")
