"""Make temporary views of tables, so that SQL reaches them by name."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from lakebed.catalog import TableManager, TableName
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import LakebedError, LakebedWarning, UsageError
from lakebed.spark.sql_names import quote_name


def make_views(
    spark: SparkSession, tables: TableManager, read: Callable[[str], DataFrame], database: str | None
) -> tuple[str, ...]:
    """One view a table; `read` gives the rows of the table that a text names. See `lakebed.Lake.views`."""
    databases = tables.list_databases() if database is None else [database]
    names = [TableName(d, t) for d in databases for t in tables.list_tables(d, include_quarantine=True)]
    views = {name: str(name) if database is None else name.table for name in names}
    _refuse_look_alikes(views)
    made = []
    for name, view in views.items():
        try:
            rows = read(str(name))
        except LakebedError as error:
            first = error.diagnostics[0]
            said = Diagnostic("LB5599", f"{name} has no view: {first.code}: {first.message}", Severity.WARNING)
            warnings.warn(LakebedWarning(said), stacklevel=3)
            continue
        rows.createOrReplaceTempView(quote_name(view))
        made.append(view)
    return tuple(made)


def _refuse_look_alikes(views: dict[TableName, str]) -> None:
    seen: dict[str, TableName] = {}
    for name, view in views.items():
        other = seen.setdefault(view.lower(), name)
        if other is not name:
            raise UsageError.of("LB5598", f"{other} and {name} would be one view", found=view)
