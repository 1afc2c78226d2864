"""Provide the class behind `format("lakebed")`, which Spark asks for columns and rows, and gives rows to.

Spark runs it in Python processes of its own, without a session: one plans, others read. They must be able to import
Lakebed and to reach the warehouse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyspark
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    InputPartition,
)
from pyspark.sql.types import StructType

from lakebed.arrow.plan_work import Work, open_rows
from lakebed.convert.scan_types import scan_schema
from lakebed.data_source.batch_plan import TableRead, open_tables
from lakebed.data_source.handover import as_asked
from lakebed.data_source.read_options import (
    DataSourceOptions,
    Warehouse,
    read_options,
    stream_write_options,
    write_options,
)
from lakebed.data_source.stream_options import STREAM_OPTIONS, StreamOptions, stream_options
from lakebed.data_source.system_table_rows import system_table
from lakebed.data_source.user_schema import unknown_column, with_row_kind
from lakebed.errors import UsageError
from lakebed.inspection import SystemTable
from lakebed.spark.spark_errors import plainly

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import Filter

#: The first PySpark that tells a source how much a batch may read.
_STREAMS_SINCE = (4, 2)
#: The first one that hands batches to a source that writes.
_WRITES_SINCE = (4, 1)
#: What a session must say for filters to be pushed to a source in Python.
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


class LakebedDataSource(DataSource):
    """The data source `lakebed`; see docs/how-to/read-with-spark-format.md for its options.

    Register it with `spark.dataSource.register`, or with `lake.register(spark)`, which binds it to a warehouse.
    """

    bound: ClassVar[Warehouse | None] = None
    pushes_filters: ClassVar[bool] = False

    @classmethod
    def name(cls) -> str:
        """The name for `format(...)`."""
        return "lakebed"

    @property
    def asked(self) -> DataSourceOptions:
        """What the options say. Raises UsageError (LB5600)."""
        return read_options(self.options, self.bound, push_filters=self.pushes_filters)

    @property
    def stream(self) -> StreamOptions:
        """What the options say of a stream. Raises UsageError (LB5615)."""
        return stream_options(self.options)

    def schema(self) -> StructType:
        """The columns of the table in the state that the options choose."""
        with plainly():
            asked = self.asked
            system = system_table(asked)
            if system is not None:
                return scan_schema(system.columns)
            schema = TableRead(asked).schema
            return with_row_kind(schema) if self.stream.row_kinds else schema

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of a query, of the columns of `schema`."""
        with plainly():
            asked = self.asked
            self._refuse_stream_options()
            system = system_table(asked)
            if system is not None:
                return SystemReader(system, schema)
        return FilteringReader(asked, schema) if asked.push_filters else TableReader(asked, schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """The reader of a streaming query; PySpark before 4.2 has no admission control and is refused."""
        with plainly():
            asked = self.asked
            if system_table(asked) is not None:
                raise UsageError.of("LB5615", f"{asked.table} is a system table, which is no stream of rows")
            _check_version(_STREAMS_SINCE, "LB5615", "cannot limit what a stream in Python reads", "streams")
            from lakebed.data_source.stream import TableStream

            return TableStream(asked, self.stream, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """The writer of rows of the columns of `schema`; PySpark before 4.1 hands over no batches and is refused."""
        with plainly():
            asked = write_options(self.options, self.bound)
            _check_version(_WRITES_SINCE, "LB5608", "hands rows over one by one", "writes by the data source")
            from lakebed.data_source.batch_writer import TableRowsWriter

            return TableRowsWriter(asked, schema, overwrite=overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """The writer of a batch of a streaming query, of rows of the columns of `schema`; `overwrite`: of all rows."""
        with plainly():
            asked = stream_write_options(self.options, self.bound)
            _check_version(_WRITES_SINCE, "LB5608", "hands rows over one by one", "streams that are written")
            from lakebed.data_source.stream_rows_writer import StreamRowsWriter

            return StreamRowsWriter(asked, schema, overwrite=overwrite)

    def _refuse_stream_options(self) -> None:
        given = [name for name in self.options if name.lower() in STREAM_OPTIONS]
        if given:
            raise UsageError.of(
                "LB5615",
                f"option {given[0]} is for streams, and this is a read of one state",
                path=given[0],
                remedy="leave it out, or use spark.readStream",
            )


def _check_version(since: tuple[int, int], code: str, why: str, what: str) -> None:
    if tuple(int(n) for n in pyspark.__version__.split(".")[:2]) < since:
        first = ".".join(map(str, since))
        raise UsageError.of(
            code,
            f"PySpark {pyspark.__version__} {why}",
            expected=first,
            found=pyspark.__version__,
            remedy=f"use PySpark {first} or newer for {what}",
        )


class TableReader(DataSourceReader):
    """Plans the tasks of a query and reads the rows of each."""

    def __init__(self, asked: DataSourceOptions, schema: StructType) -> None:
        self._asked = asked
        self._schema = schema
        self._filters: tuple[Filter, ...] = ()

    def partitions(self) -> Sequence[InputPartition]:
        """One partition a task. Raises UnsupportedError where rows would not be those of `lake.read`."""
        with plainly():
            return [InputPartition(work) for work in TableRead(self._asked).work(self._schema, self._filters)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task; Spark asks for those of no partition where there is none."""
        work: Work | None = partition.value
        if work is not None:
            with plainly():
                store = open_tables(self._asked.warehouse).store
                for batch in open_rows(store, work):
                    yield as_asked(batch, self._schema, self._asked.table)


class FilteringReader(TableReader):
    """A reader that leaves out files by the filters of a query. Spark refuses it where it does not push filters."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Note the filters for the choice of files; all of them are left to Spark for the choice of rows."""
        self._filters = tuple(filters)
        return filters


class SystemReader(DataSourceReader):
    """The rows of a system table such as `db.t$files`, which are made from metadata when the query is planned."""

    def __init__(self, table: SystemTable, schema: StructType) -> None:
        names = [column.name for column in table.columns]
        places = [names.index(name) for name in schema.names if name in names]
        if len(places) < len(schema.names):
            raise unknown_column(next(n for n in schema.names if n not in names), names, "this system table")
        self._rows = [tuple(row[place] for place in places) for row in table.rows]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """All rows."""
        return iter(self._rows)


def bound_source(warehouse: Warehouse, *, pushes_filters: bool = True) -> type[LakebedDataSource]:
    """The data source for tables of one warehouse."""
    parts = {"bound": warehouse, "pushes_filters": pushes_filters, "__doc__": LakebedDataSource.__doc__}
    return type("LakebedDataSource", (LakebedDataSource,), parts)


def register_source(spark: SparkSession, warehouse: Warehouse) -> None:
    """Make the source known to a session, bound to a warehouse, and let the session push filters to it.

    Raises UnsupportedError where the session's workers cannot run it.
    """
    from lakebed.spark.worker_python import check_workers

    check_workers(spark)
    spark.conf.set(PUSHDOWN, "true")
    spark.dataSource.register(bound_source(warehouse))
