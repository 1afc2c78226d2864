"""Ask the stored rows about planned changes: `--data` of commands that plan, and what reads the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import click

from lakebed.cli.commands.spark_options import spark_options, spark_session
from lakebed.cli.read_engine import ARROW, AUTO, SPARK, engine_option

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _Asked(TypedDict):
    """The keywords of `lakebed.Lake.plan` that ask the rows."""

    data: bool | Literal["spark"]
    spark: Callable[[], SparkSession] | None


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """Whether the stored rows are asked, and what reads them."""

    data: bool
    engine: str
    remote: str | None
    cores: str

    @property
    def asked(self) -> _Asked:
        """The keywords for a plan. A local Spark is started for rows that Arrow cannot read, where there is one."""
        by_spark = self.engine == SPARK or (self.engine == AUTO and self.remote is not None)
        has_spark = self.engine != ARROW and find_spec("pyspark") is not None
        return {
            "data": "spark" if self.data and by_spark else self.data,
            "spark": (lambda: spark_session(self.remote, self.cores)) if has_spark else None,
        }


def data_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--data`, `--engine` and the options of Spark, as the one parameter `rows`."""

    @wraps(function)
    def command(*args: Any, data: bool, engine: str, remote: str | None, cores: str, **others: Any) -> Any:
        if engine != AUTO and not data:
            raise click.UsageError("--engine reads rows, and takes --data", click.get_current_context())
        return function(*args, rows=RowEvidence(data, engine, remote, cores), **others)

    flag = click.option(
        "--data",
        is_flag=True,
        help="Ask the stored rows whether they fit what becomes required, holds less or allows fewer values: by "
        "statistics of files, else by reading. Verdicts rest on that.",
    )
    return flag(engine_option(spark_options(command)))
