"""Keep PySpark from logging at length each query that fails, besides raising it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_LOGS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_NEVER = logging.CRITICAL + 1


def hush_query_logs() -> None:
    """Log no failed query from now on; for a process of one's own."""
    from pyspark.logger import PySparkLogger

    for name in _LOGS:
        PySparkLogger.getLogger(name).setLevel(_NEVER)


@contextmanager
def hushed_query_logs() -> Iterator[None]:
    """Log no query that fails in here: the failure is told by an error of ours."""
    from pyspark.logger import PySparkLogger

    levels = [(logger, logger.level) for logger in map(PySparkLogger.getLogger, _LOGS)]
    hush_query_logs()
    try:
        yield
    finally:
        for logger, level in levels:
            logger.setLevel(level)
