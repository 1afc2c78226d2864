"""`lakebed show TABLE[@VERSION]`"""

from __future__ import annotations

import click

from lakebed.cli.main import Session, common_options


@click.command()
@click.argument("table")
@click.option("--physical", is_flag=True, help="The schema file as the table format has it, instead of ODF's types.")
@common_options
@click.pass_obj
def command(session: Session, table: str, physical: bool) -> None:
    """Show the schema of TABLE: db.table is the newest version, db.table@3 version 3, @snap:5 that of a snapshot."""
    from lakebed.catalog import drift, schema_file
    from lakebed.render.schema_text import schema_text

    schema = session.lake().schema(table)
    session.output.diagnose(drift(schema))
    result = {"schema_id": schema.id, "logical": schema.logical.to_json(), "physical": schema.to_json()}
    session.output.finish(
        "show",
        ok=True,
        result=result,
        text=lambda: schema_file.dumps(schema).decode() if physical else schema_text(table, schema),
    )
