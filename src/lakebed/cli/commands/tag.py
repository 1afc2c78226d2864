"""`lakebed tag create|list|delete`: make, list and delete tags of a table."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_snapshots, complete_tables, complete_tags
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """Tags of a table: names for snapshots, whose rows and schema they keep.

    `TABLE@tag:NAME` names the state that a tag keeps. TABLE may be a branch, `TABLE@branch:NAME`.
    """


@command.command("list")
@click.argument("table", shell_complete=complete_tables)
@common_options
@click.pass_obj
def list_tags(session: Session, table: str) -> ExitCode:
    """List the tags of TABLE."""
    from lakebed.render.maintenance_text import tags_text

    lake = session.lake()
    tags = lake.tags(table)
    found = tags.list()
    return session.finish(
        {"table": str(tags.table), "branch": tags.branch, "tags": [t.to_json() for t in found]},
        lambda look: tags_text(str(tags.table), found, lake.time_zone, width=look.width),
    )


@command.command("create")
@click.argument("table", shell_complete=complete_tables)
@click.argument("name")
@click.option(
    "--snapshot",
    type=click.IntRange(min=1),
    shell_complete=complete_snapshots,
    help="The snapshot to tag; the newest by default.",
)
@click.option("--retain", metavar="TIME", help="Let engines that expire tags delete it after that time, such as 90d.")
@common_options
@click.pass_obj
def create(session: Session, table: str, name: str, snapshot: int | None, retain: str | None) -> ExitCode:
    """Tag the newest snapshot of TABLE, or another one, as NAME."""
    from lakebed.maintenance.durations import parse_duration

    tags = session.lake().tags(table)
    made = tags.create(name, snapshot=snapshot, retained=None if retain is None else parse_duration(retain))
    return session.finish(
        {"table": str(tags.table), "branch": tags.branch, "tag": made.to_json()},
        lambda _: f"Tagged snapshot {made.snapshot.id} of {tags.table} as {made.name}.",
    )


@command.command("delete")
@click.argument("table", shell_complete=complete_tables)
@click.argument("name", shell_complete=complete_tags)
@yes_option
@common_options
@click.pass_obj
def delete(session: Session, table: str, name: str, yes: bool) -> ExitCode:
    """Delete tag NAME of TABLE. Rows that only it keeps are lost; `lakebed orphans` frees their space."""
    tags = session.lake().tags(table)
    confirm(session, yes, f"delete tag {name} of {tags.table}, of snapshot {tags.get(name).snapshot.id}")
    gone = tags.delete(name)
    return session.finish(
        {"table": str(tags.table), "branch": tags.branch, "deleted": gone.to_json()},
        lambda _: f"Deleted tag {name} of {tags.table}, of snapshot {gone.snapshot.id}.",
    )
