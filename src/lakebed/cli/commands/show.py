"""`lakebed show TABLE[@VERSION] | PLAN.json`: show the schema of a table, or a saved plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.saved_plans import load_plan, next_command, not_a_plan
from lakebed.cli.completers import complete_sources
from lakebed.cli.encodings import encodings_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.errors import NotFoundError, UsageError, ValidationError

if TYPE_CHECKING:
    from lakebed.evolve import Plan


@click.command()
@click.argument("table", shell_complete=complete_sources)
@click.option("--physical", is_flag=True, help="The schema file as the table format has it, instead of ODF's types.")
@click.option("--exit-code", is_flag=True, help="End with 13 when another engine changed what is annotated.")
@encodings_option
@common_options
@click.pass_obj
def command(session: Session, table: str, physical: bool, exit_code: bool, encodings: bool) -> ExitCode:
    """Show the schema of TABLE: db.table is the newest version, db.table@3 version 3, @snap:5 that of a snapshot.

    Instead of TABLE a plan that `lakebed plan --out` saved shows what applying it would change.
    """
    saved = load_plan(table)
    if saved is not None:
        return _show_plan(session, saved, next_command(saved, (table,), session.warehouse_flags))
    try:
        return _show_table(session, table, physical, exit_code, encodings)
    except (NotFoundError, UsageError, ValidationError) as error:
        # A table is shown even if a file bears its name; a file of another content is no table that is missing.
        raise not_a_plan(table) or error from None


def _show_plan(session: Session, plan: Plan, then: str | None) -> ExitCode:
    from lakebed.render.plan_text import render_plan

    session.output.diagnose(plan.all_diagnostics)
    return session.finish(
        plan.to_json(),
        lambda look: render_plan(plan, colour=look.colour, width=look.width, next_command=then),
        painted=True,
    )


def _show_table(session: Session, table: str, physical: bool, exit_code: bool, encodings: bool) -> ExitCode:
    from lakebed.catalog import TableRef, drift, schema_file
    from lakebed.model.encoding import strip_encoding
    from lakebed.render.schema_text import schema_text

    schema = session.lake().schema(table)
    name = str(TableRef.parse(table).name)
    logical = schema.logical if encodings else strip_encoding(schema.logical)
    found = drift(schema)
    session.output.diagnose(found)
    return session.finish(
        {"table": name, "schema_id": schema.id, "logical": logical.to_json(), "physical": schema.to_json()},
        lambda look: (
            schema_file.dumps(schema).decode() if physical else schema_text(name, schema, logical, width=look.width)
        ),
        code=ExitCode.DRIFT if found and exit_code else ExitCode.OK,
    )
