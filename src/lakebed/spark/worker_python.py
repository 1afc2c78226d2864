"""Check that the Python of Spark's workers can run Lakebed, before a job needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast
from weakref import WeakKeyDictionary

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.errors import UnsupportedError
from lakebed.spark.scan import is_connect
from lakebed.spark.spark_errors import WORKERS, cause_of, is_sparks

#: What the Python of workers has to have.
NEEDED = ("pyarrow", "lakebed", "fastavro")
_FOUND = "executable string, version string, missing array<string>"
#: What is wrong with the workers of a session; empty where nothing is.
_known: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()


def check_workers(spark: SparkSession) -> None:
    """Raise UnsupportedError where Spark's workers run a Python without Lakebed, or none; a session is asked once."""
    if spark not in _known:
        _known[spark] = _problem(spark)
    problem = _known[spark]
    if problem:
        raise UnsupportedError.of(
            WORKERS,
            problem,
            expected="lakebed[spark], and Python " + ".".join(map(str, sys.version_info[:2])),
            remedy=_remedy(spark),
        )


def _problem(spark: SparkSession) -> str:
    try:
        [found] = _asked().collect()
    except Exception as error:
        if not is_sparks(error):
            raise
        return f"Spark's workers cannot run Python: {cause_of(error)}"
    if not found.missing:
        return ""
    return f"Spark's workers run {found.executable} (Python {found.version}), which has no {', '.join(found.missing)}"


def _asked() -> DataFrame:
    """One row from one worker. It has to run where neither PyArrow nor Lakebed is, so it travels as its own code."""
    needed = NEEDED

    class Look:
        def eval(self) -> Any:
            import platform
            import sys
            from importlib.util import find_spec

            missing = [name for name in needed if find_spec(name) is None]
            yield sys.executable, platform.python_version(), missing

    table_function = cast("Callable[[], DataFrame]", F.udtf(Look, returnType=_FOUND, useArrow=False))
    return table_function()


def _remedy(spark: SparkSession) -> str:
    where = (
        "in the environment of the Spark server" if is_connect(spark) else f"to {sys.executable} before Spark starts"
    )
    return f"set PYSPARK_PYTHON {where}, or install lakebed[spark] for the workers' Python, on every machine of them"
