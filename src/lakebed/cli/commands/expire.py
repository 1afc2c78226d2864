"""`lakebed expire TABLE`: take old snapshots away, and the files that only they need."""

from __future__ import annotations

from functools import partial

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option(
    "--retain-min", type=int, metavar="N", help="Keep at least so many. Else snapshot.num-retained.min, or 10."
)
@click.option(
    "--retain-max", type=int, metavar="N", help="Keep at most so many. Else snapshot.num-retained.max, or all."
)
@click.option(
    "--older-than", metavar="TIME", help="Keep the states of this time, such as 7d. Else snapshot.time-retained, or 1h."
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@yes_option
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    retain_min: int | None,
    retain_max: int | None,
    older_than: str | None,
    dry_run: bool,
    yes: bool,
) -> ExitCode:
    """Take old snapshots of TABLE away, with the data files, changelogs and manifests that only they need.

    The newest snapshot stays, and so does what tags, branches and consumers need; tags that were to be kept for a time
    go after it. Readers of what goes fail. What was ingested is remembered.
    """
    from lakebed.maintenance.durations import parse_duration
    from lakebed.render.maintenance_text import expiry_text

    age = None if older_than is None else parse_duration(older_than)
    expire = partial(session.lake().table(table).expire, retain_min=retain_min, retain_max=retain_max, older_than=age)
    found = expire(dry_run=True)
    if not dry_run and not found.is_noop:
        confirm(session, yes, f"expire {len(found.snapshots) + len(found.tags):,} snapshots and tags of {found.name}")
        found = expire()
    return session.finish(found.to_json(), lambda _: expiry_text(found))
