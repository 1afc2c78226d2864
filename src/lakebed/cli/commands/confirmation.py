"""Ask before commands change or delete what exists, unless `--yes` is given; for changes of rows, look first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session
from lakebed.cli.progress import stages
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.write.write_result import WriteResult


def yes_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """The option `--yes`, which `confirm` takes."""
    text = "Do not ask. Needed where there is no terminal to ask on."
    return click.option("--yes", is_flag=True, help=text)(function)


def confirm(session: Session, yes: bool, what: str, *, question: str | None = None) -> None:
    """Ask about `what`, such as `delete tag x`, unless `yes`; `question` is what is asked where that is not enough.

    Raises `UsageError` where there is nobody to ask, `LakebedError` for every answer but yes.
    """
    if yes:
        return
    if not session.can_ask:
        message = f"{what}: not confirmed, nothing was changed"
        raise UsageError.of("LB7006", message, remedy="give --yes, since there is no terminal to ask on")
    session.confirm(question or f"{what[:1].upper()}{what[1:]}?")


#: Makes a change of rows with a session, or only says what it would do.
RowChange: TypeAlias = "Callable[[SparkSession, bool], WriteResult]"


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
        looked = change(spark, True) if dry_run or not yes else None
    if looked is not None:
        if dry_run:
            return session.finish(looked.to_json(), lambda _: write_text(looked))
        if looked.rows_deleted or looked.rows_updated or looked.rows_inserted:
            confirm(session, yes, what, question=f"{write_text(looked)}\n{verb.capitalize()}?")
    with stages(what) as progress, spark_failures():
        progress("changing rows")
        result = change(spark, False)
    return session.finish(result.to_json(), lambda _: write_text(result))


def row_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of `change_rows`: `--dry-run`, `--yes` and the server's."""
    dry_run = click.option("--dry-run", is_flag=True, help="Only say how many rows would be changed.")
    return dry_run(yes_option(spark_options(function)))
