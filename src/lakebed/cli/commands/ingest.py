"""`lakebed ingest TABLE SOURCE...`: ingest files into a table; bad rows go to quarantine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from lakebed.cli.commands.spark_options import key_values, spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@click.command()
@click.argument("table")
@click.argument("sources", nargs=-1, required=True, type=click.Path())
@click.option("--format", "format_", type=click.Choice(["csv", "json", "parquet"]), help="Else from the file's name.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of Spark's reader.")
@click.option("--run-id", help="Ingest once under this id, however often the command is repeated.")
@click.option("--again", is_flag=True, help="Ingest files that were ingested before.")
@click.option("--ignore-unknown-columns", is_flag=True, help="Leave out columns that the table does not have.")
@click.option("--max-bad-rows", type=click.IntRange(min=0), help="End with 14 and write nothing beyond this many.")
@click.option(
    "--merge-schema",
    type=click.Choice(["add", "widen"]),
    help="First give the table the source's new columns, or also its wider types; only what is safe.",
)
@click.option("--include", "include", multiple=True, metavar="PATTERN", help="Read these files only, such as '*.csv'.")
@click.option("--exclude", "exclude", multiple=True, metavar="PATTERN", help="Leave out these files.")
@click.option("--ignore-folders", is_flag=True, help="Folders named key=value are no columns.")
@click.option("--row-kinds", metavar="COLUMN", help="The source's column that says +I, -U, +U or -D of each row.")
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    sources: tuple[str, ...],
    format_: str | None,
    options: tuple[str, ...],
    run_id: str | None,
    again: bool,
    ignore_unknown_columns: bool,
    max_bad_rows: int | None,
    merge_schema: Literal["add", "widen"] | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    ignore_folders: bool,
    row_kinds: str | None,
    remote: str | None,
    cores: str,
) -> ExitCode:
    """Ingest the files SOURCES into TABLE under its declared schema; bad rows go to its quarantine, with reasons."""
    from lakebed.catalog import TableName
    from lakebed.render.ingest_text import ingest_text
    from lakebed.spark.session import check_spark

    lake = session.lake()
    lake.schema(str(TableName.parse(table)))
    check_spark()
    with_options = key_values(options, "--option")
    with stages(f"ingest {table}") as progress:

        def session_of_spark() -> SparkSession:
            progress("starting Spark")
            return spark_session(remote, cores)

        result = lake.ingest(
            session_of_spark,
            table,
            list(sources),
            format=format_,
            options=with_options,
            run_id=run_id,
            again=again,
            unknown_columns="ignore" if ignore_unknown_columns else "fail",
            max_bad_rows=max_bad_rows,
            merge_schema=merge_schema,
            include=include,
            exclude=exclude,
            folders="ignore" if ignore_folders else "columns",
            row_kinds=row_kinds,
            progress=progress,
        )
    session.output.diagnose(result.notices)
    none_good = result.rows_quarantined and not result.rows_written and not result.repeated
    code = ExitCode.QUARANTINED if none_good else ExitCode.OK
    return session.finish(result.to_json(), lambda _: ingest_text(result, command_line=True), code=code)
