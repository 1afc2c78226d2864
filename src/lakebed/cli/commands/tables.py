"""`lakebed tables`: list the tables of the warehouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli.completers import complete_databases
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lakebed.catalog import TableName
    from lakebed.diagnostics import Diagnostic
    from lakebed.inspection.history import TableSummary
    from lakebed.lake import Lake


@click.command()
@click.argument("database", required=False, shell_complete=complete_databases)
@click.option("--quarantine", is_flag=True, help="List quarantine tables too.")
@click.option("--names", "names_only", is_flag=True, help="Print only the names, one a line.")
@common_options
@click.pass_obj
def command(session: Session, database: str | None, quarantine: bool, names_only: bool) -> ExitCode:
    """List the tables of the warehouse, or of one DATABASE: newest schema, rows and time of the newest snapshot."""
    from lakebed.catalog import TableName
    from lakebed.render.listing_text import listing_text

    lake = session.lake()
    databases = lake.tables.list_databases() if database is None else [database]
    found = [TableName(d, t) for d in databases for t in lake.tables.list_tables(d, include_quarantine=quarantine)]
    if not found and not session.json_mode:
        session.output.talk(lambda _: "There are no tables.")
    names = [str(name) for name in found]
    if names_only:
        return session.finish({"tables": names}, lambda _: "\n".join(names))
    problems: list[Diagnostic] = []
    states = list(_states(lake, found, problems))
    session.output.diagnose(problems)
    return session.finish(
        {"tables": names, "states": [s.to_json() for s in states]},
        lambda look: listing_text(states, lake.time_zone, width=look.width) if states else "",
    )


def _states(lake: Lake, names: list[TableName], problems: list[Diagnostic]) -> Iterator[TableSummary]:
    """The state of each table; one that cannot be read does not hide the others."""
    from lakebed.errors import LakebedError
    from lakebed.inspection.history import TableSummary, summary_of

    for name in names:
        try:
            yield summary_of(name, lake.tables)
        except LakebedError as error:
            problems += error.diagnostics
            yield TableSummary(name)
