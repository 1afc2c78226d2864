"""`lakebed overwrite TABLE SOURCE...`: write files in the place of partitions, of all rows, or of those of a filter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.source_arguments import order_by_option, source_options
from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.completers import complete_expression, complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.ingest.arguments import FileKeywords


@click.command()
@click.argument("table", shell_complete=complete_tables)
@source_options
@click.option(
    "--partition", "partitions", multiple=True, metavar="KEY=VALUE[/KEY=VALUE]...", help="A partition to replace."
)
@click.option("--whole", is_flag=True, help="Replace all rows of the table.")
@click.option(
    "--where",
    metavar="EXPRESSION",
    shell_complete=complete_expression,
    help="Replace the rows that this Spark SQL is true for.",
)
@order_by_option
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@yes_option
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    sources: tuple[str, ...],
    read_as: FileKeywords,
    partitions: tuple[str, ...],
    whole: bool,
    where: str | None,
    order_by: tuple[str, ...],
    run_id: str | None,
    yes: bool,
    remote: str | None,
    cores: str,
) -> ExitCode:
    """Put the rows of the files SOURCES in the place of rows of TABLE, or of a branch of it, as one snapshot.

    The partitions that get rows lose those that they have. --partition names the ones to replace instead, --where the
    rows, by an expression that has to be true for the new ones too, and --whole, as in a table without partitions
    always, all. One bad row, and nothing is changed. Older snapshots keep their rows.
    """
    from lakebed.render.write_text import write_text
    from lakebed.spark.session import check_spark

    rows = session.lake().table(table)
    if where is not None:
        rows.check_read(where=where)
    check_spark()
    what = _what(partitions, where, every=whole or not rows.schema().partition_keys)
    confirm(session, yes, f"overwrite {what} of {table}", question=f"This replaces {what} of {table}. Go on?")
    with stages(f"overwrite {table}") as progress, spark_failures():

        def session_of_spark() -> SparkSession:
            progress("starting Spark")
            return spark_session(remote, cores)

        result = rows.overwrite_from(
            session_of_spark,
            list(sources),
            partitions=partitions or None,
            whole=whole,
            where=where,
            order_by=order_by,
            **read_as,
            run_id=run_id,
            progress=progress,
        )
    return session.finish(result.to_json(), lambda _: write_text(result))


def _what(partitions: tuple[str, ...], where: str | None, *, every: bool) -> str:
    if where is not None:
        return f"the rows with {where}"
    if every:
        return "all rows"
    return ", ".join(partitions) if partitions else "the partitions that the files have rows of"
