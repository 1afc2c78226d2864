"""`lakebed delete TABLE --where EXPRESSION`: delete the rows that a filter is true for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.change_rows import change_rows, row_options
from lakebed.cli.completers import complete_expression, complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.write.write_result import WriteResult


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option(
    "--where",
    required=True,
    metavar="EXPRESSION",
    shell_complete=complete_expression,
    help="Spark SQL over the table's columns.",
)
@row_options
@common_options
@click.pass_obj
def command(session: Session, /, table: str, where: str, **how: Any) -> ExitCode:
    """Delete the rows of TABLE, or of a branch of it, that an expression is true for, as one snapshot.

    Older snapshots and tags keep the rows until they expire.
    """
    rows = session.lake().table(table)
    rows.check_read(where=where)

    def delete(spark: SparkSession, dry_run: bool, run_id: str | None) -> WriteResult:
        return rows.delete(spark, where=where, dry_run=dry_run, run_id=run_id)

    return change_rows(session, table, "delete", delete, how)
