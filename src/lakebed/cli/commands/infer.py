"""`lakebed infer TABLE`"""

from __future__ import annotations

from dataclasses import replace

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options


@click.command()
@click.argument("table")
@click.option(
    "--encodings/--no-encodings",
    default=True,
    help="Whether to keep the hints of how values are encoded in Arrow; planning a manifest without them removes them.",
)
@common_options
@click.pass_obj
def command(session: Session, table: str, encodings: bool) -> ExitCode:
    """Print a manifest that declares TABLE as it is, whoever made it. Planning it gives no change."""
    from lakebed.catalog import drift
    from lakebed.manifest import dump_table
    from lakebed.model.encoding import strip_encoding

    lake = session.lake()
    session.output.diagnose(drift(lake.schema(table)))
    manifest = lake.infer(table)
    if not encodings:
        manifest = replace(manifest, schema=strip_encoding(manifest.schema))
    text = dump_table(manifest)
    return session.finish({"table": manifest.name, "manifest": text}, lambda _: text.rstrip("\n"))
