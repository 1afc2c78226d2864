"""`lakebed migrate SOURCE TARGET`: migrate a Mini Paimon warehouse to a Paimon warehouse."""

from __future__ import annotations

from collections.abc import Iterable

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options

_ALL = "all"


@click.command()
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option("--rename", "renames", multiple=True, metavar="TABLE:VERSION:OLD=NEW", help="NEW is what was OLD before.")
@click.option(
    "--no-rename",
    "no_renames",
    multiple=True,
    metavar="TABLE:VERSION:OLD=NEW",
    help="NEW is not what was OLD, though it looks like it; `all` says so of every pair that is not declared.",
)
@click.option("--table", "tables", multiple=True, metavar="TABLE", help="Migrate this table; all where none is named.")
@click.option("--schema-only", is_flag=True, help="Leave rows and branches behind.")
@click.option("--dry-run", is_flag=True, help="Show the plan and end; with 11 where something stands against it.")
@yes_option
@common_options
@click.pass_obj
def command(
    session: Session,
    source: str,
    target: str,
    renames: Iterable[str],
    no_renames: tuple[str, ...],
    tables: tuple[str, ...],
    schema_only: bool,
    dry_run: bool,
    yes: bool,
) -> ExitCode:
    """Turn the Mini Paimon warehouse SOURCE into the Paimon warehouse TARGET, keeping every version of every table.

    Mini Paimon's files hold no field ids: columns are taken as the same by their names, and by the renames that you
    declare. SOURCE is never touched. A run that was interrupted can be repeated.
    """
    from lakebed.migration import migrate, plan_migration
    from lakebed.render.migration_text import render_migrated, render_migration

    denied = None if _ALL in no_renames else no_renames
    plan = plan_migration(
        source, target, renames=renames, no_renames=denied, tables=tables or None, schema_only=schema_only
    )
    session.output.diagnose(plan.all_notes)
    if dry_run:
        session.output.diagnose(plan.obstacles)
        return session.finish(
            plan.to_json(),
            lambda look: render_migration(plan, colour=look.colour, width=look.width),
            code=ExitCode.REFUSED if plan.is_blocked else ExitCode.OK,
            painted=True,
        )
    if not plan.is_noop:
        session.output.talk(lambda look: render_migration(plan, colour=look.colour, width=look.width), painted=True)
    if not (plan.is_blocked or plan.is_noop):
        confirm(session, yes, "migrate", question="\nMigrate?")
    result = migrate(plan, progress=lambda text: session.output.talk(lambda _: text))
    return session.finish(result.to_json(), lambda _: render_migrated(result))
