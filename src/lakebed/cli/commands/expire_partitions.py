"""`lakebed expire-partitions TABLE`: remove the partitions whose time has passed."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option(
    "--older-than", metavar="TIME", help="Remove those whose time is longer ago, such as 30d. Else the table's option."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be removed.")
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@yes_option
@common_options
@click.pass_obj
def command(
    session: Session, table: str, older_than: str | None, dry_run: bool, run_id: str | None, yes: bool
) -> ExitCode:
    """Remove the partitions of TABLE, or of a branch of it, whose time has passed, as one snapshot.

    When that is the table's options say: partition.expiration-time, partition.expiration-strategy and how values are
    read as times. Partitions whose time nobody can tell stay and are named. Older snapshots and tags keep their rows.
    """
    from lakebed.maintenance.durations import parse_duration
    from lakebed.render.write_text import partition_expiry_text, removal

    age = None if older_than is None else parse_duration(older_than)
    rows = session.lake().table(table)
    if dry_run or not yes:
        found = rows.expire_partitions(older_than=age, dry_run=True)
        if dry_run:
            return session.finish(found.to_json(), lambda _: partition_expiry_text(found))
        if not found.is_noop:
            confirm(session, yes, removal(found.write), question=f"{partition_expiry_text(found)}\nRemove?")
    result = rows.expire_partitions(older_than=age, run_id=run_id)
    return session.finish(result.to_json(), lambda _: partition_expiry_text(result))
