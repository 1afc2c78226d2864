"""`lakebed update TABLE --set COLUMN=EXPRESSION --where EXPRESSION`: give rows new values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.change_rows import change_rows, row_options
from lakebed.cli.completers import complete_expression, complete_new_values, complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.write.write_result import WriteResult


@click.command()
@click.argument("table", shell_complete=complete_tables)
@click.option(
    "--set",
    "values",
    shell_complete=complete_new_values,
    multiple=True,
    required=True,
    metavar="COLUMN=EXPRESSION",
    help="Spark SQL for a column's value.",
)
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
def command(session: Session, /, table: str, values: tuple[str, ...], where: str, **how: Any) -> ExitCode:
    """Give the rows of TABLE, or of a branch of it, that an expression is true for new values, as one snapshot.

    New values are Spark SQL over the row as it was, such as --set "state='late'" --set "amount=amount * 1.1". They are
    checked as those of an ingest: one bad value, and nothing is changed.
    """
    rows, new = session.lake().table(table), _by_column(values)
    rows.check_read(where=where)

    def update(spark: SparkSession, dry_run: bool, run_id: str | None) -> WriteResult:
        return rows.update(spark, set=new, where=where, dry_run=dry_run, run_id=run_id)

    return change_rows(session, table, "update", update, how)


def _by_column(given: tuple[str, ...]) -> dict[str, str]:
    """The expressions by column. Raises `click.UsageError` for texts that are none and columns that come twice."""
    out: dict[str, str] = {}
    for text in given:
        name, equals, expression = (part.strip() for part in text.partition("="))
        if not (name and equals and expression):
            raise click.UsageError(f"--set takes COLUMN=EXPRESSION, not {text!r}", click.get_current_context())
        if name in out:
            raise click.UsageError(f"--set gives column {name!r} twice", click.get_current_context())
        out[name] = expression
    return out
