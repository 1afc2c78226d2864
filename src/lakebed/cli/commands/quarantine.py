"""`lakebed quarantine list|show|replay|purge`: show the bad rows of a table, ingest mended ones, remove them."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

import click

from lakebed.cli.commands.confirmation import confirm, yes_option
from lakebed.cli.commands.source_arguments import unknown_columns, unknown_options
from lakebed.cli.commands.spark_options import key_values, spark_failures, spark_options, spark_session
from lakebed.cli.completers import complete_codes, complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.fetched_rows import FetchedRows, row_limit, showable
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages
from lakebed.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.ingest.arguments import ReplayKeywords
    from lakebed.row_level.quarantine_rows import Quarantine
    from lakebed.row_level.quarantined_rows import QuarantinedRun


def _named(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...] | None:
    """The values of an option, None where it was not given."""
    return value or None


_CHOICE = (
    click.option(
        "--run-id", "run_id", multiple=True, metavar="ID", callback=_named, help="Only the bad rows of this run."
    ),
    click.option(
        "--code",
        multiple=True,
        shell_complete=complete_codes,
        metavar="CODE",
        callback=_named,
        help="Only rows with a problem of this code.",
    ),
    click.option("--where", metavar="SQL", help="Only rows for which this Spark SQL over the quarantine is true."),
)


def _choice_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that choose bad rows: `--run-id`, `--code` and `--where`."""
    for option in reversed(_CHOICE):
        function = option(function)
    return function


@click.group(no_args_is_help=False)
@common_options
def command() -> None:
    """Bad rows of a table, which lie in its quarantine, and what becomes of them."""


@command.command("list")
@click.argument("table", shell_complete=complete_tables)
@spark_options
@common_options
@click.pass_obj
def list_runs(session: Session, table: str, remote: str | None, cores: str) -> ExitCode:
    """List the runs that have bad rows of TABLE: when, of which files, how many, why, how many are mended."""
    from lakebed.render.quarantine_text import runs_text

    lake = session.lake()
    bad = lake.quarantine(table)
    with stages(f"bad rows of {table}") as progress:
        found = _listed_here(bad) if remote is None else None
        if found is None:
            found = _listed_by_spark(bad, progress, remote, cores)
    result = {"table": str(bad.name), "runs": [run.to_json() for run in found]}
    return session.finish(result, lambda look: runs_text(str(bad.name), found, lake.time_zone, width=look.width))


def _listed_here(bad: Quarantine) -> tuple[QuarantinedRun, ...] | None:
    """The runs, counted without Spark; None where only Spark can."""
    if find_spec("pyarrow") is None:
        return None
    try:
        return bad.list()
    except UnsupportedError:
        return None


def _listed_by_spark(
    bad: Quarantine, progress: Callable[[str], None], remote: str | None, cores: str
) -> tuple[QuarantinedRun, ...]:
    from lakebed.spark.session import check_spark

    def session_of_spark() -> SparkSession:
        progress("starting Spark")
        return spark_session(remote, cores)

    check_spark()
    with spark_failures():
        return bad.list(session_of_spark)


@command.command("show")
@click.argument("table", shell_complete=complete_tables)
@_choice_options
@click.option("--limit", type=click.IntRange(min=0), help="Rows at most; 0 is all. Without it 20, and all with --json.")
@click.option("--mended", is_flag=True, help="Also rows that a replay has put into the table.")
@click.option("--unmasked", is_flag=True, help="Show personal data, which *** stands for otherwise.")
@spark_options
@common_options
@click.pass_obj
def show(
    session: Session,
    /,
    table: str,
    limit: int | None,
    remote: str | None,
    cores: str,
    **chosen: Any,
) -> ExitCode:
    """Print bad rows of TABLE: their problems, the text as it was, file, position. With --json, one object a line."""
    from lakebed.render.rows import problems_first, rows_text
    from lakebed.spark.session import check_spark

    lake = session.lake()
    bad = lake.quarantine(table)
    limit = row_limit(session, limit)
    check_spark()
    with spark_failures(), showable():
        with stages(f"bad rows of {table}") as progress:
            progress("starting Spark")
            frame = bad.rows(spark_session(remote, cores), **chosen)
            fetched = FetchedRows.of(session, lake, frame, limit, progress)
        if session.json_mode:
            fetched.print_json(session)
            return ExitCode.OK
    values, more = fetched.shown()
    names, values = problems_first(fetched.names, values, ordered=False)
    return session.finish(None, lambda look: rows_text(names, values, width=look.width, more=more, readable=2))


@command.command("replay")
@click.argument("table", shell_complete=complete_tables)
@_choice_options
@click.option("--from", "source", multiple=True, type=click.Path(), help="Ingest this file in the place of the rows.")
@click.option("--format", type=click.Choice(["csv", "json", "parquet"]), help="Else that of the run.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="Goes before the reader's options of then."
)
@unknown_options
@click.option("--dry-run", is_flag=True, help="Only say how many rows are good by now.")
@spark_options
@common_options
@click.pass_obj
def replay(
    session: Session,
    /,
    table: str,
    dry_run: bool,
    remote: str | None,
    cores: str,
    **chosen: Any,
) -> ExitCode:
    """Check bad rows of TABLE again, and ingest those that are good by now, each once; the others stay bad.

    Rows are read as their run was told to, or by other options, and checked against the newest schema. With --from the
    rows of a file are ingested, and the bad rows that are chosen are mended by them.
    """
    from lakebed.render.quarantine_text import replay_text
    from lakebed.spark.session import check_spark

    bad = session.lake().quarantine(table)
    unknown, source = unknown_columns(chosen), list(chosen.pop("source")) or None
    chosen["options"] = key_values(chosen["options"], "--option")
    asked = cast("ReplayKeywords", chosen)
    if unknown is not None:
        asked["unknown_columns"] = unknown
    check_spark()
    with stages(f"replay bad rows of {table}") as progress, spark_failures():

        def session_of_spark() -> SparkSession:
            progress("starting Spark")
            return spark_session(remote, cores)

        asked["progress"] = progress
        result = bad.replay(session_of_spark, source, dry_run=dry_run, **asked)
    return session.finish(result.to_json(), lambda _: replay_text(result))


@command.command("purge")
@click.argument("table", shell_complete=complete_tables)
@_choice_options
@click.option("--older-than", metavar="TIME", help="Only rows that came longer ago than that, such as 90d.")
@click.option("--all", "every", is_flag=True, help="Also rows that are bad still.")
@click.option("--expire", is_flag=True, help="Take all snapshots of the quarantine away but the newest.")
@click.option("--dry-run", is_flag=True, help="Only say how many rows would go.")
@yes_option
@spark_options
@common_options
@click.pass_obj
def purge(session: Session, /, table: str, yes: bool, remote: str | None, cores: str, **how: Any) -> ExitCode:
    """Remove mended rows from the quarantine of TABLE, or all, and say which snapshots still hold them."""
    from lakebed.maintenance.durations import parse_duration
    from lakebed.render.quarantine_text import purge_text
    from lakebed.spark.session import check_spark

    bad = session.lake().quarantine(table)
    dry_run, older, what = how.pop("dry_run"), how.pop("older_than"), f"remove rows of the quarantine of {bad.name}"
    how["older_than"] = None if older is None else parse_duration(older)
    check_spark()
    if not dry_run and not session.can_ask:
        confirm(session, yes, what)
    with stages(f"purge bad rows of {table}") as progress, spark_failures():
        progress("starting Spark")
        spark = spark_session(remote, cores)
        looked = bad.purge(spark, dry_run=True, **how) if dry_run or not yes else None
    if looked is not None and not dry_run and looked.rows:
        confirm(session, yes, what, question=f"{purge_text(looked)}\nRemove?")
    if looked is None or not dry_run:
        with stages(f"purge bad rows of {table}") as progress, spark_failures():
            progress("removing rows")
            looked = bad.purge(spark, **how)
    found = looked
    return session.finish(found.to_json(), lambda _: purge_text(found, command_line=True))
