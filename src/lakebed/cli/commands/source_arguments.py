"""Take the options of commands that read files as a source of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.commands.spark_options import key_values
from lakebed.cli.completers import complete_columns
from lakebed.errors import UsageError

if TYPE_CHECKING:
    from lakebed.ingest.arguments import FileKeywords, UnknownColumnsAction

_UNKNOWN_OPTIONS = (
    click.option(
        "--unknown-columns",
        type=click.Choice(["fail", "ignore", "quarantine"]),
        help="What becomes of columns that the table does not have; quarantine takes the rows with a value there.",
    ),
    click.option("--ignore-unknown-columns", is_flag=True, help="The same as --unknown-columns ignore."),
)
_OPTIONS = (
    click.option("--format", type=click.Choice(["csv", "json", "parquet"]), help="Else from the file's name."),
    click.option("--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of Spark's reader."),
    *_UNKNOWN_OPTIONS,
    click.option("--include", multiple=True, metavar="PATTERN", help="Read these files only, such as '*.csv'."),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out these files."),
    click.option("--ignore-folders", is_flag=True, help="Folders named key=value are no columns."),
)

order_by_option = click.option(
    "--order-by",
    multiple=True,
    metavar="COLUMN",
    shell_complete=complete_columns,
    help="Sort new files by this column, then by further ones; or by several at once, 'zorder(a, b)'.",
)


def unknown_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what becomes of columns that the table does not have, for `unknown_columns`."""
    for option in reversed(_UNKNOWN_OPTIONS):
        function = option(function)
    return function


def unknown_columns(named: dict[str, Any]) -> UnknownColumnsAction | None:
    """What the `unknown_options` say, which are taken out of what was `named`; None where they say nothing."""
    said, ignores = named.pop("unknown_columns"), named.pop("ignore_unknown_columns")
    if ignores and said not in (None, "ignore"):
        raise UsageError.of("LB7008", f"--ignore-unknown-columns and --unknown-columns {said} do not go together")
    return "ignore" if ignores else said


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The argument SOURCES and the options that say how these files are read, given as `sources` and `read_as`."""

    @functools.wraps(function)
    def command(*given: Any, **named: Any) -> Any:
        read_as: FileKeywords = {
            "format": named.pop("format"),
            "options": key_values(named.pop("options"), "--option"),
            "unknown_columns": unknown_columns(named) or "fail",
            "include": named.pop("include"),
            "exclude": named.pop("exclude"),
            "folders": "ignore" if named.pop("ignore_folders") else "columns",
        }
        return function(*given, read_as=read_as, **named)

    for option in reversed(_OPTIONS):
        command = option(command)
    return click.argument("sources", nargs=-1, required=True, type=click.Path())(command)
