"""Give system tables to the data source: their rows come from metadata alone."""

from __future__ import annotations

from lakebed.data_source.batch_plan import open_tables, wall_clock
from lakebed.data_source.read_options import ReadOptions
from lakebed.inspection import SystemTable, SystemTableRef
from lakebed.read.system_tables import read_system_table
from lakebed.read.travel import Travel


def system_table(asked: ReadOptions) -> SystemTable | None:
    """The system table that the options name; None where they name a table."""
    named = SystemTableRef.parse(asked.table)
    if named is None:
        return None
    tables, store = open_tables(asked.warehouse)
    travel = Travel.of(named.ref, snapshot=asked.snapshot, tag=asked.tag, as_of=asked.as_of, branch=asked.branch)
    return read_system_table(tables, store, named, travel, clock=wall_clock, time_zone=asked.warehouse.time_zone)
