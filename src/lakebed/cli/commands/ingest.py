"""`lakebed ingest TABLE SOURCE...`: ingest files into a table; bad rows go to quarantine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, TypedDict

import click

from lakebed.cli.commands.source_arguments import order_by_option, source_options
from lakebed.cli.commands.spark_options import spark_options, spark_session
from lakebed.cli.completers import complete_tables
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.ingest.arguments import FileKeywords, WatchKeywords
    from lakebed.ingest.ingest import IngestResult


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
@click.argument("table", shell_complete=complete_tables)
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
    "--on-bad-rows",
    type=click.Choice(["quarantine", "null", "fail"]),
    default="quarantine",
    help="What becomes of a row with a bad value: it goes to quarantine, the value becomes NULL, or the run fails.",
)
@click.option(
    "--merge-schema",
    type=click.Choice(["add", "widen"]),
    help="First give the table the source's new columns, or also its wider types; only what is safe.",
)
@click.option("--row-kinds", metavar="COLUMN", help="The source's column that says +I, -U, +U or -D of each row.")
@order_by_option
@click.option("--dry-run", is_flag=True, help="Write nothing: only say what would come of it.")
@click.option("--watch", is_flag=True, help="Go on with files that come later, until Ctrl-C.")
@click.option("--watch-every", metavar="TIME", help="With --watch: look so often, such as 30s. Else every 10s.")
@click.option("--stop-after-idle", metavar="TIME", help="With --watch: end when nothing has come for so long.")
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
    on_bad_rows: Literal["quarantine", "null", "fail"],
    merge_schema: Literal["add", "widen"] | None,
    row_kinds: str | None,
    order_by: tuple[str, ...],
    dry_run: bool,
    watch: bool,
    watch_every: str | None,
    stop_after_idle: str | None,
    remote: str | None,
    cores: str,
) -> ExitCode:
    """Ingest the files SOURCES into TABLE under its declared schema; bad rows go to its quarantine, with reasons."""
    from lakebed.catalog import TableName
    from lakebed.spark.session import check_spark

    pace = _pace(watch, watch_every, stop_after_idle, once=bool(run_id or again or dry_run))
    spinner = _Spinner(f"ingest {table}")
    asked: WatchKeywords = {
        **read_as,
        "max_bad_rows": max_bad_rows,
        "max_bad_share": max_bad_share,
        "on_bad_rows": on_bad_rows,
        "merge_schema": merge_schema,
        "row_kinds": row_kinds,
        "order_by": order_by,
        "progress": spinner.tell,
    }
    lake = session.lake()
    lake.schema(str(TableName.parse(table)))
    check_spark()

    def session_of_spark() -> SparkSession:
        spinner.tell("starting Spark")
        return spark_session(remote, cores)

    handle, files = lake.table(table), list(sources)
    if watch:
        results = handle.watch(session_of_spark, files, **pace, **asked)
        return _tell_as_they_come(session, results, spinner)
    with spinner.shown():
        result = handle.ingest(session_of_spark, files, **asked, run_id=run_id, again=again, dry_run=dry_run)
    return _tell(session, result)


class _Spinner:
    """The progress that is shown while something goes on, and is gone while a result is told."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._tell: Callable[[str], None] = lambda _: None

    def tell(self, stage: str) -> None:
        self._tell(stage)

    @contextmanager
    def shown(self) -> Iterator[None]:
        with stages(self._title) as self._tell:
            yield


def _tell(session: Session, result: IngestResult) -> ExitCode:
    from lakebed.render.ingest_text import ingest_text

    session.output.diagnose(result.notices)
    none_good = result.rows_quarantined and not result.rows_written and not result.repeated
    code = ExitCode.QUARANTINED if none_good else ExitCode.OK
    return session.finish(result.to_json(), lambda _: ingest_text(result, command_line=True), code=code)


def _tell_as_they_come(session: Session, results: Iterator[IngestResult], spinner: _Spinner) -> ExitCode:
    """Tell each result of a watch, in JSON as a line; the code is that of all of them together."""
    written = quarantined = 0
    while True:
        with spinner.shown():
            spinner.tell("waiting for files")
            result = next(results, None)
        if result is None:
            return ExitCode.QUARANTINED if quarantined and not written else ExitCode.OK
        written, quarantined = written + result.rows_written, quarantined + result.rows_quarantined
        if session.json_mode:
            session.output.row(result.to_json())
        else:
            _tell(session, result)


class _Pace(TypedDict, total=False):
    every: timedelta
    stop_after_idle: timedelta


def _pace(watch: bool, every: str | None, stop_after_idle: str | None, *, once: bool) -> _Pace:
    """How a watch looks. Raises what click raises for options that do not go together."""
    from lakebed.maintenance.durations import parse_duration

    if not watch and (every or stop_after_idle):
        raise click.UsageError("--watch-every and --stop-after-idle need --watch")
    if watch and once:
        raise click.UsageError("--watch takes each file once: it goes with none of --run-id, --again and --dry-run")
    pace: _Pace = {}
    if every is not None:
        pace["every"] = parse_duration(every)
    if stop_after_idle is not None:
        pace["stop_after_idle"] = parse_duration(stop_after_idle)
    return pace
