"""`lakebed read TABLE`: print, count or explain the rows of a table, or its system tables."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from lakebed.cli.commands.spark_options import spark_failures, spark_options, spark_session
from lakebed.cli.completers import (
    complete_branches,
    complete_expression,
    complete_readable_versions,
    complete_snapshots,
    complete_states,
    complete_tags,
)
from lakebed.cli.exit_codes import ExitCode
from lakebed.cli.fetched_rows import FetchedRows, row_limit, showable
from lakebed.cli.invocation import Session, common_options
from lakebed.cli.progress import stages
from lakebed.cli.read_engine import Reading, engine_option, plain_names
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedWarning, NotCountableError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakebed.lake import Lake

#: Rows, and what is to be said of them.
_Fetched: TypeAlias = tuple[FetchedRows, list[Diagnostic]]


def _schema_choice(context: click.Context, parameter: click.Parameter, value: str | None) -> int | str | None:
    if value is None or value in ("latest", "snapshot"):
        return value
    if value.isdecimal():
        return int(value)
    raise click.BadParameter("give a schema id, `latest` or `snapshot`")


@click.command()
@click.argument("table", shell_complete=complete_states)
@click.option(
    "--where",
    metavar="SQL",
    shell_complete=complete_expression,
    help="Only rows for which this Spark SQL expression is true.",
)
@click.option(
    "--select",
    "columns",
    metavar="COLUMNS",
    shell_complete=complete_expression,
    help="Spark SQL expressions, separated by commas.",
)
@click.option("--limit", type=click.IntRange(min=0), help="Rows at most; 0 is all. Without it 20, and all with --json.")
@click.option("--snapshot", type=int, shell_complete=complete_snapshots, help="The state of this snapshot.")
@click.option("--tag", shell_complete=complete_tags, help="The state of this tag.")
@click.option("--as-of", help="The newest state at or before this moment: ISO text, or milliseconds since 1970.")
@click.option("--branch", shell_complete=complete_branches, help="A branch instead of main.")
@click.option(
    "--schema",
    metavar="ID",
    shell_complete=complete_readable_versions,
    callback=_schema_choice,
    help="Read as this schema id, as `latest` or as `snapshot`.",
)
@click.option("--null-on-cast-error", is_flag=True, help="NULL for stored values that the wanted type cannot hold.")
@click.option(
    "--explain", is_flag=True, help="Show which files would be read, which not, and why. No Spark is started."
)
@click.option("--unmasked", is_flag=True, help="Show personal data of a quarantine, which *** stands for otherwise.")
@click.option("--count", is_flag=True, help="Print the number of rows; they are read only if metadata cannot tell.")
@engine_option
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    /,
    table: str,
    where: str | None,
    columns: str | None,
    limit: int | None,
    engine: str,
    remote: str | None,
    cores: str,
    null_on_cast_error: bool,
    explain: bool,
    count: bool,
    **travel: Any,
) -> ExitCode:
    """Print rows of TABLE, every file read as one schema. With --json, one JSON object a line;
    with --explain or --count, one in all.

    TABLE may say a version: db.table@3, @snap:5, @tag:NAME, @branch:NAME. It may be a system table, which is read
    without Spark: 'db.table$files', $snapshots, $schemas, $options, $tags, $branches, $manifests, $partitions,
    $buckets. (`lakebed explain CODE` is about error codes; --explain here about this read.)
    """
    from lakebed.render.rows import problems_first, rows_text

    lake = session.lake()
    unmasked = travel.pop("unmasked")
    if explain or count:
        _check_plan_options(table, columns, limit, null_on_cast_error, explain=explain, count=count)
        if explain:
            # As for rows, 0 is no limit.
            explained = lake.explain_read(table, where=where, limit=limit or None, **travel)
            return session.finish(explained.to_json(), lambda look: str(explained))
        number = _count(session, Reading(engine, remote, table, {"where": where, **travel}), cores)
        return session.finish({"table": table, "rows": number}, lambda look: str(number))
    if _is_system_table(table) and not (where or columns):
        return _print_system_table(session, table, limit, travel)
    if not _is_system_table(table):
        lake.check_read(table, where=where, select=columns, **travel)
    limit = row_limit(session, limit)
    reading = Reading(engine, remote, table, {"where": where, **travel})
    chosen = None if columns is None else split_expressions(columns)
    masked = _is_quarantine(table) and not unmasked
    with showable():
        found = _by_arrow(session, reading, chosen, limit, null_on_cast_error=null_on_cast_error, masked=masked)
        with nullcontext() if found is not None else spark_failures():
            fetched, notes = found or _by_spark(session, reading, chosen, limit, cores, null_on_cast_error, masked)
            # The spinner is gone from here on: rows may be printed.
            session.output.diagnose(notes)
            if session.json_mode:
                fetched.print_json(session)
                return ExitCode.OK
    names, readable = fetched.names, 0
    shown, more = fetched.shown()
    if _is_quarantine(table):
        names, shown = problems_first(names, shown, ordered=columns is not None)
        readable = 0 if columns else 2
    return session.finish(None, lambda look: rows_text(names, shown, width=look.width, more=more, readable=readable))


def _check_plan_options(
    table: str, columns: str | None, limit: int | None, null_on_cast_error: bool, *, explain: bool, count: bool
) -> None:
    if explain and count:
        raise click.UsageError("give --explain or --count, not both")
    if columns or null_on_cast_error:
        raise click.UsageError("--select and --null-on-cast-error do not go with --explain and --count")
    if count and limit is not None:
        raise click.UsageError("--limit does not go with --count")
    if _is_system_table(table):
        raise UsageError.of(
            "LB5651",
            f"{table} is a system table: --explain and --count are for data files",
            expected="a table with data files",
            found=table,
        )


def _by_arrow(
    session: Session, reading: Reading, chosen: list[str] | None, limit: int, *, null_on_cast_error: bool, masked: bool
) -> _Fetched | None:
    """The rows as Arrow batches; None where Spark is to read them."""
    names = None if chosen is None else plain_names(chosen)
    needs_spark = None
    if _is_system_table(reading.table):
        needs_spark = "a filter or a selection of a system table"
    elif masked:
        needs_spark = "a quarantine without --unmasked"
    elif null_on_cast_error:
        needs_spark = "--null-on-cast-error"
    elif chosen is not None and names is None:
        needs_spark = "an expression in --select"
    lake = session.lake()
    with stages(f"read {reading.table}") as progress, reading.or_spark(), _noted() as notes:
        read = reading.planned(lake, names, None if not limit else limit + 1, needs_spark)
        if read is not None:
            progress("reading")
            return FetchedRows.of_batches(session, lake, read, limit), notes
    return None


def _by_spark(
    session: Session,
    reading: Reading,
    chosen: list[str] | None,
    limit: int,
    cores: str,
    null_on_cast_error: bool,
    masked: bool,
) -> _Fetched:
    lake, table = session.lake(), reading.table
    with stages(f"read {table}") as progress:
        progress("starting Spark")
        spark = spark_session(reading.remote, cores)
        policy: Literal["error", "null"] = "null" if null_on_cast_error else "error"
        whole = chosen is None or masked or _is_system_table(table)
        columns = None if chosen is None or whole else reading.spark_columns(lake, chosen)
        with _noted() as notes:
            frame = lake.read(spark, table, columns=columns, on_cast_error=policy, **reading.asked)
        if masked:
            frame = _masked(lake, table, frame)
        if null_on_cast_error and not _is_system_table(table):
            state = {name: asked for name, asked in reading.asked.items() if name != "where"}
            notes += _made_null(lake.cast_errors(spark, table, **state))
        if chosen is not None:
            frame = frame.selectExpr(*chosen)
        return FetchedRows.of(session, lake, frame, limit, progress), notes


@contextmanager
def _noted() -> Iterator[list[Diagnostic]]:
    """What is warned of meanwhile, to be told once the spinner is gone."""
    notes: list[Diagnostic] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LakebedWarning)
        try:
            yield notes
        finally:
            notes += [w.message.diagnostic for w in caught if isinstance(w.message, LakebedWarning)]


def _count(session: Session, reading: Reading, cores: str) -> int:
    """By metadata, and where these are not enough by reading."""
    lake, table = session.lake(), reading.table
    with suppress(NotCountableError):
        return lake.count(table, **reading.asked)
    lake.check_read(table, **reading.asked)
    with stages(f"count {table}") as progress:
        progress("counting")
        rows = reading.counted(lake)
        if rows is not None:
            return rows
        with spark_failures():
            progress("starting Spark")
            spark = spark_session(reading.remote, cores)
            progress("counting")
            return lake.count(table, spark=spark, **reading.asked)


def _is_system_table(table: str) -> bool:
    from lakebed.catalog.names import split_system_table

    return split_system_table(table) is not None


def _is_quarantine(table: str) -> bool:
    from lakebed.catalog.names import TableRef

    return not _is_system_table(table) and TableRef.parse(table).name.is_quarantine


def _masked(lake: Lake, table: str, frame: DataFrame) -> DataFrame:
    """The rows of a quarantine without personal data; of the columns that it had in a state of long ago, too."""
    from lakebed.catalog.names import TableRef

    name = TableRef.parse(table).name
    of = name.without_quarantine
    return lake.quarantine(str(of)).masked(frame) if lake.tables.exists(of) else frame


def _print_system_table(session: Session, table: str, limit: int | None, travel: dict[str, Any]) -> ExitCode:
    """The rows that metadata gives; Spark is not started."""
    from lakebed.render.rows import json_value, rows_text

    state = {name: travel[name] for name in ("snapshot", "tag", "as_of", "branch")}
    found = session.lake().inspect(table, **state)
    names = found.column_names
    limit = row_limit(session, limit)
    rows = found.rows[:limit] if limit else found.rows
    if session.json_mode:
        for row in rows:
            session.output.row(dict(zip(names, map(json_value, row), strict=True)))
        return ExitCode.OK
    more = len(rows) < len(found.rows)
    return session.finish(None, lambda look: rows_text(names, rows, width=look.width, more=more))


def _made_null(errors: DataFrame) -> list[Diagnostic]:
    """How many stored values are NULL because the wanted type cannot hold them, by column."""
    by_column = errors.groupBy("column", "wanted_type").count().orderBy("column").collect()
    return [
        Diagnostic(
            "LB6901",
            f"{n:,} stored {'value' if n == 1 else 'values'} of {column} cannot be read as {wanted} and are NULL",
            Severity.WARNING,
            path=column,
        )
        for column, wanted, n in by_column
    ]


def split_expressions(columns: str) -> list[str]:
    """Split at commas that are outside parentheses, quotes and backticks."""
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    for i, char in enumerate(columns):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"`":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(columns[start:i])
            start = i + 1
    return [p.strip() for p in (*parts, columns[start:]) if p.strip()]
