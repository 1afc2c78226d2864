"""`lakebed rollback TABLE --to SCHEMA|snap:ID|tag:NAME`: roll a table back to an earlier state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_tables, complete_targets
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options

if TYPE_CHECKING:
    from lakebed.maintenance.rollback import RollBack


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option(
    "--to",
    "target",
    shell_complete=complete_targets,
    metavar="SCHEMA|snap:ID|tag:NAME",
    required=True,
    help="A schema version, a snapshot or a tag.",
)
@click.option("--delete-tags", is_flag=True, help="Delete the tags of later snapshots too.")
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@yes_option
@common_options
@click.pass_obj
def command(session: Session, table: str, target: str, delete_tags: bool, dry_run: bool, yes: bool) -> ExitCode:
    """Roll TABLE back to an earlier schema version, or to an earlier snapshot and its rows. Stop the writers before.

    A schema version can be gone back to while nothing refers to a later one. A snapshot leaves the schema.
    """
    from lakebed.catalog import TableRef
    from lakebed.render.maintenance_text import rollback_text

    lake = session.lake()
    # The grammar of TABLE@VERSION, less a branch, which TABLE names.
    wanted = TableRef.parse(f"t@{target}")

    def roll_back(*, dry_run: bool) -> RollBack:
        return lake.roll_back(
            table,
            schema=wanted.schema_id,
            snapshot=wanted.snapshot,
            tag=wanted.tag,
            delete_tags=delete_tags,
            dry_run=dry_run,
        )

    found = roll_back(dry_run=True)
    if not dry_run and not found.is_noop:
        confirm(session, yes, rollback_text(found).rstrip(".") + ", go on")
        found = roll_back(dry_run=False)
    return session.finish(found.to_json(), lambda _: rollback_text(found))
