"""`lakebed ingest TABLE SOURCE...`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lakebed.cli.commands.spark_options import key_values, spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.main import Session, common_options
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from lakebed.spark.ingest import IngestResult


@click.command()
@click.argument("table")
@click.argument("sources", nargs=-1, required=True, type=click.Path())
@click.option("--format", "format_", type=click.Choice(["csv", "json", "parquet"]), help="Else from the file's name.")
@click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of Spark's reader.")
@click.option("--run-id", help="Ingest once under this id, however often the command is repeated.")
@click.option("--again", is_flag=True, help="Ingest files that were ingested before.")
@click.option("--ignore-unknown-columns", is_flag=True, help="Leave out columns that the table does not have.")
@click.option("--max-bad-rows", type=click.IntRange(min=0), help="End with 14 and write nothing beyond this many.")
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
    remote: str | None,
    cores: str,
) -> int:
    """Ingest the files SOURCES into TABLE under its declared schema; bad rows go to its quarantine, with reasons."""
    lake = session.lake()
    with stages(f"ingest {table}") as progress:
        progress("starting Spark")
        spark = spark_session(remote, cores)
        result = lake.ingest(
            spark,
            table,
            list(sources),
            format=format_,
            options=key_values(options, "--option"),
            run_id=run_id,
            again=again,
            unknown_columns="ignore" if ignore_unknown_columns else "fail",
            max_bad_rows=max_bad_rows,
            progress=progress,
        )
    session.output.finish("ingest", ok=True, result=result.to_json(), text=lambda: _text(result))
    return ExitCode.OK


def _text(result: IngestResult) -> str:
    lines = [
        f"{result.table}: {result.rows_read:,} rows read, {result.rows_written:,} written, "
        f"{result.rows_quarantined:,} quarantined (schema {result.schema_id}, run {result.run_id})"
    ]
    if result.snapshot_id is not None:
        lines.append(f"snapshot {result.snapshot_id}")
    lines += [f"skipped {f}: ingested before (--again ingests it again)" for f in result.skipped_files]
    if result.rows_quarantined:
        lines.append(f"bad rows and their reasons: lakebed read '{result.table}__quarantine'")
    return "\n".join(lines)
