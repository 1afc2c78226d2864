"""Count rows and describe columns for the planners of engines: `lakebed analyze TABLE`."""

from __future__ import annotations

from functools import partial

import click

from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.completers import complete_columns, complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.argument("columns", nargs=-1, metavar="[COLUMN]...", shell_complete=complete_columns)
@click.option("--all-columns", is_flag=True, help="All columns that can be described.")
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    columns: tuple[str, ...],
    all_columns: bool,
    run_id: str | None,
    remote: str | None,
    cores: str,
) -> ExitCode:
    """Count the rows of TABLE, or of a branch of it, describe COLUMNs, and commit that as its statistics.

    Engines plan queries by them. Without columns only rows are counted. Nothing else of the table changes.
    """
    from lakebed.render.maintain_text import analysis_text
    from lakebed.spark.session import check_spark

    if columns and all_columns:
        raise click.UsageError("name columns, or give --all-columns", click.get_current_context())
    check_spark()
    rows = session.lake().table(table)
    with stages(f"analyze {table}") as progress, spark_failures():
        progress("reading rows")
        wanted = "all" if all_columns else columns or None
        result = rows.analyze(partial(spark_session, remote, cores), wanted, run_id=run_id)
    return session.finish(result.to_json(), lambda look: analysis_text(result, width=look.width))
