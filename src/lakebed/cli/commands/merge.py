"""`lakebed merge TABLE SOURCE... --on EXPRESSION`: merge the rows of files into a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.change_rows import change_rows, row_options
from lakebed.cli.commands.source_arguments import source_options
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.ingest.arguments import FileKeywords
    from lakebed.write.write_result import WriteResult


@click.command()
@click.argument("table", shell_complete=complete_tables)
@source_options
@click.option("--on", required=True, metavar="EXPRESSION", help="Spark SQL: t is the table, s the source.")
@click.option("--when-matched", type=click.Choice(["update", "delete"]), help="What becomes of rows that match.")
@click.option("--when-not-matched", type=click.Choice(["insert"]), help="What becomes of new rows.")
@row_options
@common_options
@click.pass_obj
def command(
    session: Session,
    /,
    table: str,
    sources: tuple[str, ...],
    read_as: FileKeywords,
    on: str,
    **how: Any,
) -> ExitCode:
    """Merge the rows of the files SOURCES into TABLE, or a branch of it, as one snapshot.

    A row of the table that matches one of the source gets the values of the columns that the source has, or is deleted;
    a row of the source that matches none is inserted. One bad row, and nothing is changed.
    """
    when_matched, when_not_matched = how["when_matched"], how["when_not_matched"]
    if when_matched is None and when_not_matched is None:
        raise click.UsageError("give --when-matched, --when-not-matched or both")
    rows = session.lake().table(table)
    rows.schema()

    def merge(spark: SparkSession, dry_run: bool, run_id: str | None) -> WriteResult:
        made = rows.merge_from(spark, list(sources), on=on, dry_run=dry_run, run_id=run_id, **read_as)
        if when_matched is not None:
            made = made.when_matched_update() if when_matched == "update" else made.when_matched_delete()
        return (made if when_not_matched is None else made.when_not_matched_insert()).execute()

    return change_rows(session, table, "merge", merge, how)
