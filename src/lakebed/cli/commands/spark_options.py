"""Start the Spark session of commands that need rows, by their options; show its failures."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from lakebed.cli.invocation import Session
from lakebed.errors import CastError, LakebedError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ZONE = "spark.sql.session.timeZone"
#: What a value that cannot be cast says, up to the end of its line or of Spark's own words about it.
_CAST = re.compile(r"\[LB6901\] (.*? cannot be read as [^\n.]*?)(?: SQLSTATE|[\n.]|$)")


def _cores(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value == "*" or (value.isdecimal() and int(value)):
        return value
    raise click.BadParameter("give a number of cores, or * for all")


def spark_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--remote`, `--cores` and `--no-verify-checksums`, which the run's `Session` remembers."""

    def skip_checksums(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        context.ensure_object(Session).skip_checksums = value

    function = click.option(
        "--no-verify-checksums",
        is_flag=True,
        expose_value=False,
        callback=skip_checksums,
        help="Do not hold pages of Parquet files against their checksums.",
    )(function)
    function = click.option(
        "--remote", envvar="SPARK_REMOTE", metavar="URL", help="A Spark Connect server, such as sc://host:15002."
    )(function)
    return click.option(
        "--cores",
        default="*",
        show_default=True,
        callback=_cores,
        metavar="N",
        help="Cores of the local Spark that is started without --remote.",
    )(function)


def spark_session(remote: str | None, cores: str) -> SparkSession:
    """The session of this process: the server's, else a local one that is tuned for short runs.

    It understands expressions in the lake's time zone, as what is known of them without Spark does.
    """
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"pyspark\.")
    from lakebed.spark.query_logs import hush_query_logs
    from lakebed.spark.session import local_session, remote_session

    run = click.get_current_context().ensure_object(Session)
    config = run.setting("spark")
    with spark_failures():
        if remote:
            session = remote_session(remote, config=config)
        else:
            with _jvm_set_aside():
                session = local_session("lakebed", cores=cores, config=config)
        zone = run.configuration().time_zone
        if session.conf.get(_ZONE) != zone:
            session.conf.set(_ZONE, zone)
    hush_query_logs()
    return session


@contextlib.contextmanager
def spark_failures() -> Iterator[None]:
    """Turn failures of Spark into errors of ours: `UsageError` for an expression that it does not understand."""
    try:
        yield
    except Exception as error:
        from lakebed.spark.spark_errors import is_sparks, known_failure, name_of, raised_by_us

        known = known_failure(error)
        if known is not None:
            raise known from None
        if not is_sparks(error):
            raise
        ours = raised_by_us(error)
        if ours is not None:
            raise ours from None
        said = name_of(error)
        from pyspark.errors import AnalysisException

        if isinstance(error, AnalysisException):
            remedy = "columns are named as `lakebed show TABLE` lists them; the rest is Spark SQL"
            raise UsageError.of(
                "LB7011", f"Spark does not understand that: {said}", found=said, remedy=remedy
            ) from None
        cast = _CAST.search(str(error))
        if cast:
            remedy = "leave the column out, read with --null-on-cast-error, or read under the schema before the change"
            raise CastError.of("LB6901", cast[1], remedy=remedy) from None
        raise LakebedError.of("LB7012", f"Spark failed: {said}", found=said) from None


@contextlib.contextmanager
def _jvm_set_aside() -> Iterator[None]:
    """A JVM inherits standard error and warns there at length: give it a file, which is shown if it does not start."""
    sys.stderr.flush()
    with tempfile.TemporaryFile() as aside, os.fdopen(os.dup(2), "wb") as stderr:
        os.dup2(aside.fileno(), 2)
        try:
            yield
        except Exception:
            aside.seek(0)
            stderr.write(aside.read())
            raise
        finally:
            os.dup2(stderr.fileno(), 2)


def key_values(given: tuple[str, ...], flag: str) -> dict[str, str]:
    """`key=value` arguments as a dict; of several datetime patterns under one key, one a line."""
    out: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise click.UsageError(f"{flag} takes KEY=VALUE, not {text!r}", click.get_current_context())
        out[key] = f"{out[key]}\n{value}" if key in out and key.lower().endswith("format") else value
    return out
