"""Plan the tasks of a batch read for Spark: state, columns, work. No session takes part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql import types as spark_types

from lakebed.arrow.file_part import Column
from lakebed.arrow.plan_work import Work, WorkPlanner, columns_by_state
from lakebed.catalog import TableManager, TableRef, open_warehouse
from lakebed.convert.scan_types import scan_schema
from lakebed.convert.spark import with_metadata
from lakebed.data_source.read_options import DataSourceOptions, Warehouse
from lakebed.data_source.user_schema import all_nullable, chosen_fields
from lakebed.format.table_branch import TableBranch
from lakebed.model import Schema
from lakebed.read.plan_read import PlannedState, find_state, plan_read
from lakebed.read.pushed_filters import from_filters
from lakebed.read.request import ReadRequest, read_request
from lakebed.read.table_state import TableState

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter


def open_tables(warehouse: Warehouse) -> TableManager:
    """The tables of a warehouse."""
    paths, store = open_warehouse(
        warehouse.location, layout=warehouse.layout, storage_options=warehouse.storage_options or None
    )
    return TableManager(paths, store)


def request_of(options: DataSourceOptions, ref: TableRef) -> ReadRequest:
    """What the options of a read ask for, of the table that they name."""
    return read_request(
        ref,
        time_zone=options.warehouse.time_zone,
        verify_checksums=options.warehouse.verify_checksums,
        snapshot=options.snapshot,
        tag=options.tag,
        branch=options.branch,
        as_of=options.as_of,
        watermark=options.watermark,
        schema=options.schema,
    )


class TableRead:
    """A read of a table in one state. What it is made of is found when it is first asked for."""

    def __init__(self, options: DataSourceOptions) -> None:
        self._options = options
        ref = TableRef.parse(options.table)
        self.table = TableBranch(open_tables(options.warehouse), ref.name)
        self.request = request_of(options, ref)

    @cached_property
    def state(self) -> TableState:
        """The state, with the columns whose types are known."""
        return find_state(self.table, self.request)

    @property
    def schema(self) -> spark_types.StructType:
        """The columns as Spark has them, with their annotations."""
        schema = self.state.schema
        logical = {f.name: f for f in schema.logical.fields}
        wanted = Schema(tuple(logical[f.name] for f in schema.fields), schema.logical.extra)
        return all_nullable(with_metadata(scan_schema(schema.fields), wanted))

    def work(self, wanted: spark_types.StructType, filters: Sequence[Filter] = ()) -> list[Work]:
        """The work of each task of a read of the columns `wanted`, of files that may hold rows that pass `filters`.

        Raises UnsupportedError where rows would not be those that `lake.read` gives.
        """
        schema, zone = self.state.schema, self.request.time_zone
        fields = chosen_fields(wanted, schema, self._options.table)
        planned = plan_read(
            self.table,
            replace(self.request, columns=tuple(f.name for f in fields)),
            lambda known: from_filters(filters, known, time_zone=zone).predicate,
            state=self.state,
        )
        return [
            work
            for one, columns in columns_by_state(planned, fields)
            for work in self._planner(one, columns).plan(one.plan, self._options.split_size)
        ]

    def _planner(self, planned: PlannedState, columns: tuple[Column, ...]) -> WorkPlanner:
        state = planned.state
        return WorkPlanner(
            state.schema,
            state.schemas.load_schema,
            columns,
            self.request.verify_checksums,
            time_zone=self.request.time_zone,
        )
