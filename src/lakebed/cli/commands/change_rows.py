"""Ask before rows are changed, after saying what would be done: for deletes, updates and merges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.write.write_result import WriteResult

#: Makes a change of rows with a session, or only says what it would do (True); under an id it is done once only.
RowChange: TypeAlias = "Callable[[SparkSession, bool, str | None], WriteResult]"

_OPTIONS = (
    click.option("--dry-run", is_flag=True, help="Only say how many rows would be changed."),
    click.option("--run-id", metavar="ID", help="A run under this id is done once only."),
    yes_option,
    spark_options,
)


def row_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `change_rows`: `--dry-run`, `--run-id`, `--yes` and the server's."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def change_rows(session: Session, table: str, verb: str, change: RowChange, how: Mapping[str, Any]) -> ExitCode:
    """Say what a change of rows would do, ask, and do it. `how` has what `row_options` give."""
    from lakebed.render.write_text import write_text
    from lakebed.spark.session import check_spark

    dry_run, yes, what = how["dry_run"], how["yes"], f"{verb} rows of {table}"
    check_spark()
    if not dry_run and not session.can_ask:
        confirm(session, yes, what)
    with stages(what) as progress, spark_failures():
        progress("starting Spark")
        spark = spark_session(how["remote"], how["cores"])
        progress("finding rows")
        looked = change(spark, True, None) if dry_run or not yes else None
    if looked is not None:
        if dry_run:
            return session.finish(looked.to_json(), lambda _: write_text(looked))
        if looked.rows_deleted or looked.rows_updated or looked.rows_inserted:
            confirm(session, yes, what, question=f"{write_text(looked)}\n{verb.capitalize()}?")
    with stages(what) as progress, spark_failures():
        progress("changing rows")
        result = change(spark, False, how["run_id"])
    return session.finish(result.to_json(), lambda _: write_text(result))
