"""`lakebed ingest TABLE SOURCE...`: ingest files into a table; bad rows go to quarantine."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

import click

from lakebed.cli.commands.source_arguments import order_by_option, source_options
from lakebed.cli.commands.spark_options import spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.ingest.arguments import FileKeywords


def _share(context: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """The share that a percentage says."""
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,12})?)%", text.strip(), re.ASCII)
    percent = None if found is None else Decimal(found[1])
    if percent is None or percent > 100:
        raise click.BadParameter("a percentage of all rows is wanted, from 0% to 100%", context, parameter)
    return float(percent / 100)


@click.command()
@click.argument("table")
@source_options
@click.option("--run-id", help="Ingest once under this id, however often the command is repeated.")
@click.option("--again", is_flag=True, help="Ingest files that were ingested before.")
@click.option("--max-bad-rows", type=click.IntRange(min=0), help="End with 14 and write nothing beyond this many.")
@click.option(
    "--max-bad-share",
    metavar="PERCENT",
    callback=_share,
    help="The same beyond this share of all rows, such as 5% or 0.5%.",
)
@click.option(
    "--merge-schema",
    type=click.Choice(["add", "widen"]),
    help="First give the table the source's new columns, or also its wider types; only what is safe.",
)
@click.option("--row-kinds", metavar="COLUMN", help="The source's column that says +I, -U, +U or -D of each row.")
@order_by_option
@click.option("--dry-run", is_flag=True, help="Write nothing: only say what would come of it.")
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    sources: tuple[str, ...],
    read_as: FileKeywords,
    run_id: str | None,
    again: bool,
    max_bad_rows: int | None,
    max_bad_share: float | None,
    merge_schema: Literal["add", "widen"] | None,
    row_kinds: str | None,
    order_by: tuple[str, ...],
    dry_run: bool,
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
    with stages(f"ingest {table}") as progress:

        def session_of_spark() -> SparkSession:
            progress("starting Spark")
            return spark_session(remote, cores)

        result = lake.ingest(
            session_of_spark,
            table,
            list(sources),
            **read_as,
            run_id=run_id,
            again=again,
            max_bad_rows=max_bad_rows,
            max_bad_share=max_bad_share,
            merge_schema=merge_schema,
            row_kinds=row_kinds,
            order_by=order_by,
            dry_run=dry_run,
            progress=progress,
        )
    session.output.diagnose(result.notices)
    none_good = result.rows_quarantined and not result.rows_written and not result.repeated
    code = ExitCode.QUARANTINED if none_good else ExitCode.OK
    return session.finish(result.to_json(), lambda _: ingest_text(result, command_line=True), code=code)
