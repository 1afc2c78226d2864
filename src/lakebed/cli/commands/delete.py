"""`lakebed delete TABLE --where EXPRESSION`: delete the rows that a filter is true for."""

from __future__ import annotations

from typing import Any

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages


@click.command()
@click.argument("table")
@click.option("--where", required=True, metavar="EXPRESSION", help="Spark SQL over the table's columns.")
@click.option("--dry-run", is_flag=True, help="Only say how many rows would be deleted.")
@click.option("--run-id", metavar="ID", help="A run under this id is done once only.")
@yes_option
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    /,
    table: str,
    where: str,
    dry_run: bool,
    run_id: str | None,
    yes: bool,
    **server: Any,
) -> ExitCode:
    """Delete the rows of TABLE, or of a branch of it, that an expression is true for, as one snapshot.

    Older snapshots and tags keep the rows until they expire.
    """
    from lakebed.render.write_text import write_text
    from lakebed.spark.session import check_spark

    rows = session.lake().table(table)
    rows.check_read(where=where)
    check_spark()
    if not dry_run and not session.can_ask:
        confirm(session, yes, f"delete rows of {table}")
    with stages(f"delete from {table}") as progress, spark_failures():
        progress("starting Spark")
        spark = spark_session(**server)
        progress("finding rows")
        looked = rows.delete(spark, where=where, dry_run=True) if dry_run or not yes else None
    if looked is not None:
        if dry_run:
            return session.finish(looked.to_json(), lambda _: write_text(looked))
        if looked.rows_deleted:
            confirm(session, yes, f"delete rows of {table}", question=f"{write_text(looked)}\nDelete?")
    with stages(f"delete from {table}") as progress, spark_failures():
        progress("deleting rows")
        result = rows.delete(spark, where=where, run_id=run_id)
    return session.finish(result.to_json(), lambda _: write_text(result))
