"""`lakebed branch create|list|delete|fast-forward`: make, list, delete and fast-forward branches of a table."""

from __future__ import annotations

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.completers import complete_branches, complete_snapshots, complete_tables, complete_tags
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """Branches of a table: schema versions, snapshots and tags of their own over shared data files.

    `TABLE@branch:NAME` names a branch in every command that looks.
    """


@command.command("list")
@click.argument("table", shell_complete=complete_tables)
@common_options
@click.pass_obj
def list_branches(session: Session, table: str) -> ExitCode:
    """List the branches of TABLE."""
    from lakebed.render.maintenance_text import branches_text

    branches = session.lake().branches(table)
    found = branches.list()
    return session.finish(
        {"table": str(branches.table), "branches": [b.to_json() for b in found]},
        lambda look: branches_text(str(branches.table), found, width=look.width),
    )


@command.command("create")
@click.argument("table", shell_complete=complete_tables)
@click.argument("name")
@click.option("--tag", shell_complete=complete_tags, help="Start from this tag, with its rows.")
@click.option(
    "--snapshot",
    type=click.IntRange(min=1),
    shell_complete=complete_snapshots,
    help="Start from this snapshot; a tag NAME is made for it.",
)
@common_options
@click.pass_obj
def create(session: Session, table: str, name: str, tag: str | None, snapshot: int | None) -> ExitCode:
    """Make branch NAME of TABLE: with its schema and no rows, or with those of a tag or snapshot."""
    branches = session.lake().branches(table)
    made = branches.create(name, tag=tag, snapshot=snapshot)
    what = "without rows" if made.latest_snapshot is None else f"with the rows of snapshot {made.latest_snapshot}"
    return session.finish(
        {"table": str(branches.table), "branch": made.to_json()},
        lambda _: f"Made branch {made.name} of {branches.table} at schema {made.schema_id}, {what}.",
    )


@command.command("delete")
@click.argument("table", shell_complete=complete_tables)
@click.argument("name", shell_complete=complete_branches)
@yes_option
@common_options
@click.pass_obj
def delete(session: Session, table: str, name: str, yes: bool) -> ExitCode:
    """Delete branch NAME of TABLE. Rows that only it has are lost; `lakebed orphans` frees their space."""
    branches = session.lake().branches(table)
    confirm(session, yes, f"delete branch {name} of {branches.table}")
    branches.delete(name)
    return session.finish(
        {"table": str(branches.table), "deleted": name}, lambda _: f"Deleted branch {name} of {branches.table}."
    )


@command.command("fast-forward")
@click.argument("table", shell_complete=complete_tables)
@click.argument("name", shell_complete=complete_branches)
@yes_option
@common_options
@click.pass_obj
def fast_forward(session: Session, table: str, name: str, yes: bool) -> ExitCode:
    """Bring TABLE to where its branch NAME is. Refused where TABLE has gained something since the branch was made."""
    from lakebed.render.maintenance_text import fast_forward_text

    branches = session.lake().branches(table)
    if not branches.fast_forward(name, dry_run=True).is_noop:
        confirm(session, yes, f"bring {branches.table} to where its branch {name} is")
    gained = branches.fast_forward(name)
    return session.finish(gained.to_json(), lambda _: fast_forward_text(gained))
