"""The options of commands that need rows, and the Spark session that they get."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--remote` and `--cores`."""
    function = click.option(
        "--remote", envvar="SPARK_REMOTE", metavar="URL", help="A Spark Connect server, such as sc://host:15002."
    )(function)
    return click.option(
        "--cores", default="*", show_default=True, help="Cores of the local Spark that is started without --remote."
    )(function)


def spark_session(remote: str | None, cores: str) -> SparkSession:
    """The session of this process: the server's, else a local one that is tuned for short runs."""
    from lakebed.spark.session import local_session, remote_session

    return remote_session(remote) if remote else local_session("lakebed", cores=cores)


def key_values(given: tuple[str, ...], flag: str) -> dict[str, str]:
    """`key=value` arguments as a dict."""
    out = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{flag} takes KEY=VALUE, not {text!r}")
        out[key] = value
    return out
