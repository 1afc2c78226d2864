"""Refuse expressions that Spark does not understand, and new values that are not made of one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.diagnostics import Diagnostic
from lakebed.errors import UsageError
from lakebed.spark.query_logs import hushed_query_logs
from lakebed.spark.understood import NOT_UNDERSTOOD, refusal, understood

NOT_OF_ONE_ROW = "LB6556"
_EXPECTED = 'Spark SQL, such as "amount + 1", or a Column'


def value_of(column: str) -> str:
    """The new value of a column in messages."""
    return f"the new value of column {column!r}"


def read_expression(value: str | Column, what: str) -> Column:
    """An expression as a column. Raises `UsageError` (LB6555) for what is none."""
    if not isinstance(value, str | Column):
        raise UsageError.of(
            NOT_UNDERSTOOD,
            f"{what} is no expression: {value!r}",
            expected=_EXPECTED,
            found=repr(value),
            remedy="give the text of an expression, or a Column",
        )
    with understood(what):
        return F.expr(value) if isinstance(value, str) else value


def check_condition(frame: DataFrame, condition: Column, what: str) -> None:
    """Raise `UsageError` (LB6555) for a condition that Spark refuses over the columns of a frame; no row is read."""
    with understood(what):
        _ = frame.where(condition).schema


def check_values(frame: DataFrame, values: Mapping[str, Column]) -> None:
    """Raise `UsageError` for new values, by what they are, that Spark refuses over the columns of a frame (LB6555),
    and for those that are made of several rows or make several (LB6556). No row is read.
    """
    if not values or _refused(lambda: frame.where(reduce(Column.__and__, map(Column.isNotNull, values.values())))):
        problems = [problem for what, value in values.items() for problem in _problems(frame, value, what)]
        if problems:
            raise UsageError(*problems)


def _problems(frame: DataFrame, value: Column, what: str) -> Iterator[Diagnostic]:
    """A filter takes no aggregate, window or generator, while a selection does."""
    selected = _refused(lambda: frame.select(value.alias("value")))
    if selected is not None:
        yield refusal(what, selected)
    elif _refused(lambda: frame.where(value.isNotNull())):
        yield Diagnostic(
            NOT_OF_ONE_ROW,
            f"{what} is not made of one row: it has an aggregate, a window function or one that makes several rows",
            expected="an expression over the columns of one row",
            remedy="compute it into a frame first, and merge that frame",
        )


def _refused(make: Callable[[], DataFrame]) -> AnalysisException | None:
    try:
        with hushed_query_logs():
            _ = make().schema
    except AnalysisException as error:
        return error
    return None
