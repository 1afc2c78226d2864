"""System tables for the data source: their rows come from metadata alone."""

from __future__ import annotations

from lakebed.inspection import SystemTable, SystemTableRef
from lakebed.spark.table_views import TableViews
from lakebed.spark_source.batch_plan import open_tables, wall_clock
from lakebed.spark_source.options import ReadOptions


class _Views(TableViews):
    """What makes system tables, for a warehouse that is not a lake."""

    def __init__(self, asked: ReadOptions) -> None:
        self._tables, self._store = open_tables(asked.warehouse)
        self._clock = wall_clock
        self._time_zone = asked.warehouse.time_zone


def system_table(asked: ReadOptions) -> SystemTable | None:
    """The system table that the options name; None where they name a table."""
    if SystemTableRef.parse(asked.table) is None:
        return None
    return _Views(asked).inspect(
        asked.table, snapshot=asked.snapshot, tag=asked.tag, branch=asked.branch, as_of=asked.as_of
    )
