"""`lakebed schema`"""

from __future__ import annotations

import json

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.session import Session, common_options


@click.command()
@common_options
@click.pass_obj
def command(session: Session) -> ExitCode:
    """Print the JSON Schema of manifests, with which editors complete and check them."""
    from lakebed.manifest.json_schema import editor_schema

    schema = editor_schema()
    return session.finish(schema, lambda _: json.dumps(schema, ensure_ascii=False, indent=2))
