"""`lakebed compact TABLE`: write small files together as large ones."""

from __future__ import annotations

from functools import partial

import click

from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option("--full", is_flag=True, help="All that is not compacted, and files of older schemas and formats.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session, table: str, full: bool, dry_run: bool, run_id: str | None, remote: str | None, cores: str
) -> ExitCode:
    """Write small files of TABLE together as large ones, and the files of each bucket of a table with a primary key.

    The rows stay the same. What is due the options of the table say. Old files stay until their snapshots expire.
    """
    from lakebed.render.write_text import write_text

    rows = session.lake().table(table)
    with stages(f"compact {table}") as progress, spark_failures():
        progress("choosing and writing files")
        result = rows.compact(partial(spark_session, remote, cores), full=full, dry_run=dry_run, run_id=run_id)
    return session.finish(result.to_json(), lambda _: write_text(result))
