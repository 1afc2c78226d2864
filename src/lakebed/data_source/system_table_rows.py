"""Give system tables to the data source: their rows come from metadata alone."""

from __future__ import annotations

from lakebed.data_source.batch_plan import open_tables, request_of
from lakebed.data_source.read_options import DataSourceOptions
from lakebed.format.table_branch import TableBranch
from lakebed.inspection import SystemTable, SystemTableRef
from lakebed.read.system_tables import read_system_table


def system_table(asked: DataSourceOptions) -> SystemTable | None:
    """The system table that the options name; None where they name a table."""
    named = SystemTableRef.parse(asked.table)
    if named is None:
        return None
    table = TableBranch(open_tables(asked.warehouse), named.ref.name)
    return read_system_table(table, named.system, request_of(asked, named.ref))
