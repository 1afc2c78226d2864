"""Refuse expressions that Spark does not understand, by an error of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from lakebed.diagnostics import Diagnostic
from lakebed.errors import UsageError
from lakebed.spark.query_logs import hushed_query_logs
from lakebed.spark.spark_errors import name_of

NOT_UNDERSTOOD = "LB6555"
FILTER = "the filter"
_REMEDY = (
    "columns are named as `lakebed show TABLE` lists them, in a merge as t.NAME and those of the source as s.NAME; "
    "the rest is Spark SQL"
)


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Turn Spark's refusal of an expression into `UsageError` (LB6555)."""
    try:
        with hushed_query_logs():
            yield
    except AnalysisException as error:
        raise UsageError(refusal(what, error)) from None


def refusal(what: str, error: Exception) -> Diagnostic:
    """What is said of an expression that Spark has refused."""
    said = name_of(error)
    return Diagnostic(NOT_UNDERSTOOD, f"Spark does not understand {what}: {said}", found=said, remedy=_REMEDY)


def filtered(rows: DataFrame, where: str | None) -> DataFrame:
    """The rows that a filter is true for. Raises `UsageError` (LB6555) where Spark refuses it; no row is read."""
    if where is None:
        return rows
    with understood(FILTER):
        kept = rows.where(where)
        _ = kept.schema
    return kept
