"""`lakebed infer TABLE`"""

from __future__ import annotations

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options


@click.command()
@click.argument("table")
@common_options
@click.pass_obj
def command(session: Session, table: str) -> ExitCode:
    """Print a manifest that declares TABLE as it is, whoever made it. Planning it gives no change."""
    from lakebed.catalog import drift
    from lakebed.manifest import dump_table

    lake = session.lake()
    session.output.diagnose(drift(lake.schema(table)))
    manifest = lake.infer(table)
    text = dump_table(manifest)
    return session.finish({"table": manifest.name, "manifest": text}, lambda _: text.rstrip("\n"))
