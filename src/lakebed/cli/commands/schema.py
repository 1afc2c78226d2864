"""`lakebed schema`: print the JSON Schema of manifests for editors."""

from __future__ import annotations

import json

import click

from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options


@click.command()
@common_options
@click.pass_obj
def command(session: Session) -> ExitCode:
    """Print the JSON Schema of manifests, with which editors complete and check them.

    The attributes that the project declares (`attributes` in lakebed.toml) are part of it.
    """
    from lakebed.manifest.json_schema import editor_schema

    schema = editor_schema(session.attributes())
    return session.finish(schema, lambda _: json.dumps(schema, ensure_ascii=False, indent=2))
