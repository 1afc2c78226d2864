"""`lakebed overwrite TABLE SOURCE...`: write files in the place of partitions, or of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.spark_options import key_values, spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command()
@click.argument("table")
@click.argument("sources", nargs=-1, required=True, type=click.Path())
@click.option(
    "--partition", "partitions", multiple=True, metavar="KEY=VALUE[/KEY=VALUE]...", help="A partition to replace."
)
@click.option("--whole", is_flag=True, help="Replace all rows of the table.")
@click.option("--format", "format_", type=click.Choice(["csv", "json", "parquet"]), help="Else from the file's name.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of Spark's reader.")
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@click.option("--ignore-unknown-columns", is_flag=True, help="Leave out columns that the table does not have.")
@click.option("--include", "include", multiple=True, metavar="PATTERN", help="Read these files only, such as '*.csv'.")
@click.option("--exclude", "exclude", multiple=True, metavar="PATTERN", help="Leave out these files.")
@click.option("--ignore-folders", is_flag=True, help="Folders named key=value are no columns.")
@yes_option
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    sources: tuple[str, ...],
    partitions: tuple[str, ...],
    whole: bool,
    format_: str | None,
    options: tuple[str, ...],
    run_id: str | None,
    ignore_unknown_columns: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    ignore_folders: bool,
    yes: bool,
    remote: str | None,
    cores: str,
) -> ExitCode:
    """Put the rows of the files SOURCES in the place of rows of TABLE, or of a branch of it, as one snapshot.

    The partitions that get rows lose those that they have. --partition names the ones to replace instead, and --whole,
    as in a table without partitions always, all. One bad row, and nothing is changed. Older snapshots keep their rows.
    """
    from lakebed.render.write_text import write_text
    from lakebed.spark.session import check_spark

    rows = session.lake().table(table)
    every = whole or not rows.schema().partition_keys
    check_spark()
    with_options = key_values(options, "--option")
    what = (
        "all rows" if every else ", ".join(partitions) if partitions else "the partitions that the files have rows of"
    )
    confirm(session, yes, f"overwrite {what} of {table}", question=f"This replaces {what} of {table}. Go on?")
    with stages(f"overwrite {table}") as progress:

        def session_of_spark() -> SparkSession:
            progress("starting Spark")
            return spark_session(remote, cores)

        result = rows.overwrite_from(
            session_of_spark,
            list(sources),
            partitions=partitions or None,
            whole=whole,
            format=format_,
            options=with_options,
            run_id=run_id,
            unknown_columns="ignore" if ignore_unknown_columns else "fail",
            include=include,
            exclude=exclude,
            folders="ignore" if ignore_folders else "columns",
            progress=progress,
        )
    return session.finish(result.to_json(), lambda _: write_text(result))
