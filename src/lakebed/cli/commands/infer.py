"""`lakebed infer TABLE`"""

from __future__ import annotations

import click

from lakebed.cli.main import Session, common_options


@click.command()
@click.argument("table")
@common_options
@click.pass_obj
def command(session: Session, table: str) -> None:
    """Print a manifest that declares TABLE as it is, whoever made it. Planning it gives no change."""
    from lakebed.catalog import drift
    from lakebed.manifest import dump_table

    lake = session.lake()
    session.output.diagnose(drift(lake.schema(table)))
    text = dump_table(lake.infer(table))
    session.output.finish("infer", ok=True, result={"table": table, "manifest": text}, text=text.rstrip)
