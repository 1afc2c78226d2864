"""`lakebed history TABLE`"""

from __future__ import annotations

import click

from lakebed.cli.main import Session, common_options


@click.command()
@click.argument("table")
@common_options
@click.pass_obj
def command(session: Session, table: str) -> None:
    """Show the schema versions of TABLE, what each changed, and its snapshots."""
    from lakebed.render.history_text import history_text

    lake = session.lake()
    history = lake.history(table)
    session.output.finish(
        "history", ok=True, result=history.to_json(), text=lambda: history_text(history, lake.time_zone)
    )
