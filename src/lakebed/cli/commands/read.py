"""`lakebed read TABLE`"""

from __future__ import annotations

import click

from lakebed.cli.commands.spark_options import spark_options, spark_session
from lakebed.cli.main import Session, common_options
from lakebed.cli.progress import stages


def _schema_choice(context: click.Context, parameter: click.Parameter, value: str | None) -> int | str | None:
    if value is None or value in ("latest", "snapshot"):
        return value
    if value.isdigit():
        return int(value)
    raise click.BadParameter("give a schema id, `latest` or `snapshot`")


@click.command()
@click.argument("table")
@click.option("--where", metavar="SQL", help="Only rows for which this Spark SQL expression is true.")
@click.option("--select", "columns", metavar="COLUMNS", help="Spark SQL expressions, separated by commas.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Rows at most; 0 is all.")
@click.option("--snapshot", type=int, help="The state of this snapshot.")
@click.option("--tag", help="The state of this tag.")
@click.option("--as-of", help="The newest state at or before this moment: ISO text, or milliseconds since 1970.")
@click.option("--branch", help="A branch instead of main.")
@click.option("--schema", callback=_schema_choice, help="Read as this schema id, as `latest` or as `snapshot`.")
@click.option("--null-on-cast-error", is_flag=True, help="NULL for stored values that the wanted type cannot hold.")
@spark_options
@common_options
@click.pass_obj
def command(
    session: Session,
    table: str,
    where: str | None,
    columns: str | None,
    limit: int,
    snapshot: int | None,
    tag: str | None,
    as_of: str | None,
    branch: str | None,
    schema: int | str | None,
    null_on_cast_error: bool,
    remote: str | None,
    cores: str,
) -> None:
    """Print rows of TABLE, every file read as one schema. With --json, one JSON object a line.

    TABLE may say a version: db.table@3, @snap:5, @tag:NAME, @branch:NAME.
    """
    from lakebed.render.rows import json_row, rows_text

    lake = session.lake()
    lake.schema(table)
    with stages(f"read {table}") as progress:
        progress("starting Spark")
        frame = lake.read(
            spark_session(remote, cores),
            table,
            snapshot=snapshot,
            tag=tag,
            as_of=as_of,
            branch=branch,
            schema=schema,
            on_cast_error="null" if null_on_cast_error else "error",
        )
        if where:
            frame = frame.where(where)
        if columns:
            frame = frame.selectExpr(*_split(columns))
        if limit:
            frame = frame.limit(limit)
        progress("reading")
        if session.json_mode:
            for row in frame.toLocalIterator():
                session.output.row(json_row(row))
            return
        rows = frame.collect()
    session.output.finish("read", ok=True, result=None, text=lambda: rows_text(frame.columns, rows))


def _split(columns: str) -> list[str]:
    """Split at commas that are outside parentheses, quotes and backticks."""
    parts, depth, quote, start = [], 0, "", 0
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
