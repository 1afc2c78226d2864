"""Hold the table whose rows are changed, and read the state of it that a change is made from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import CHAIN_TABLE_ENABLED, ROW_TRACKING_ENABLED
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_schema
from lakebed.errors import UnsupportedError
from lakebed.format.deletion_vectors import has_deletion_vectors, read_positions
from lakebed.format.live_files import DataFile, entry_of_file, plan_files
from lakebed.format.manifest import ManifestEntry
from lakebed.format.row_ranges import has_row_tracking
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.columns.values import Rules
from lakebed.ingest.ingest_context import IngestContext
from lakebed.read.count import known_rows
from lakebed.read.needed_files import ReadPlan, takes_whole_partitions
from lakebed.read.plan_read import Condition, fallback_branch, find_state, plan_read
from lakebed.read.request import ReadRequest
from lakebed.read.table_state import TableState
from lakebed.row_level.row_expressions import check_condition, read_expression
from lakebed.spark.file_rows import FileRows, System, check_case
from lakebed.spark.read import Executor, rows_of_plan, session_condition
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name
from lakebed.spark.table_writer import TableWriter, WriteTarget
from lakebed.spark.understood import FILTER
from lakebed.write.plan_write import WritePlan, plan_write

HAS_IDS, HAS_FALLBACK, IS_CHAIN = "LB5060", "LB6540", "LB6541"

#: Where a row lies: the number of its file among those that were asked for, and its place in it.
PLACE = (System.FILE.value, System.POSITION.value)


@dataclass(frozen=True, slots=True)
class RowTarget:
    """A branch of a table in a lake, the session that reads and writes, and where lists of files lie."""

    context: IngestContext
    table: TableBranch
    session: Callable[[], SparkSession]
    scratch: str | None = None

    @property
    def storage(self) -> TableStorage:
        """The branch as a committer sees it."""
        return self.table.storage

    def begin(self) -> Start:
        """Look at the newest state. Raises `UnsupportedError` for a table whose rows cannot be changed."""
        self.table.tables.refuse_foreign_rows(self.table.name)
        request = ReadRequest(time_zone=self.context.time_zone, verify_checksums=self.context.verify_checksums)
        state = find_state(self.table, request)
        plan = plan_write(state.newest)
        if has_row_tracking(state.newest):
            raise UnsupportedError.of(
                HAS_IDS,
                f"rows of {self.table.label} cannot be changed: each has an id, which it would lose",
                path=ROW_TRACKING_ENABLED,
                remedy="change the rows with an engine that keeps their ids, or overwrite partitions",
            )
        if is_set(state.newest.options, CHAIN_TABLE_ENABLED):
            raise UnsupportedError.of(
                IS_CHAIN,
                f"rows of {self.table.label} cannot be changed: it is a chain table",
                path=CHAIN_TABLE_ENABLED,
                remedy="change the rows with an engine that knows chain tables",
            )
        other = fallback_branch(self.table, request, state)
        if other is not None:
            raise UnsupportedError.of(
                HAS_FALLBACK,
                f"rows of {self.table.label} cannot be changed: what it has not is read from branch {other!r}",
                path=self.table.label,
                found=other,
                remedy="change the rows of a table without the option scan.fallback-branch",
            )
        return Start(self, request, state, plan)


@dataclass(frozen=True)
class Start:
    """The state that one attempt reads, and how its rows are written."""

    target: RowTarget
    request: ReadRequest
    state: TableState
    plan: WritePlan

    @property
    def schema(self) -> TableSchema:
        """The newest schema, which rows are read as and written under."""
        return self.plan.schema

    @property
    def snapshot_id(self) -> int:
        """The snapshot that is read, 0 where there is none."""
        return 0 if self.state.snapshot is None else self.state.snapshot.id

    @cached_property
    def spark(self) -> SparkSession:
        """The session, which can tell the names of the table's columns apart."""
        spark = self.target.session()
        check_case(spark, self.schema)
        return spark

    @cached_property
    def reader(self) -> FileRows:
        """Reads the files of the state."""
        return Executor.of(self.spark, self.target.table, self.request, self.target.scratch).reader(self.state)

    @property
    def rules(self) -> Rules:
        """What new values are checked by."""
        return Rules(self.target.context.time_zone)

    def writer(self) -> TableWriter:
        """What writes rows and commits."""
        context = self.target.context
        target = WriteTarget(
            self.target.storage, self.plan, context.warehouse, context.storage_options, self.target.table.clock
        )
        return TableWriter(self.target.session, target)

    @cached_property
    def no_rows(self) -> DataFrame:
        """The columns of the table, by which Spark judges expressions."""
        return self.spark.createDataFrame([], scan_schema(self.schema.fields))

    def needed(self, where: str | None = None) -> ReadPlan:
        """The files that may hold a row that the filter is true for. Raises `UsageError` where Spark refuses it."""
        if where is not None:
            check_condition(self.no_rows, read_expression(where, FILTER), FILTER)
        return self.narrowed(session_condition(self.spark, where))

    def narrowed(self, wanted: Condition, state: TableState | None = None) -> ReadPlan:
        """The files that may hold a row that a condition is true for, of this state or another one."""
        return plan_read(self.target.table, self.request, wanted, state=state or self.state).main.plan

    def has_new_files(self, where: str) -> bool:
        """Whether the newest state has files that may hold a row that the filter is true for, and this one has not."""
        wanted, newest = session_condition(self.spark, where), find_state(self.target.table, self.request)
        now, before = ({f.path for f in self.narrowed(wanted, state).files} for state in (newest, self.state))
        return not now <= before

    @cached_property
    def waiting(self) -> tuple[DataFile, ...]:
        """The files of a first-row table whose rows no reader sees before they are compacted; none of other tables."""
        snapshot, storage = self.state.snapshot, self.target.storage
        if snapshot is None or not self.plan.keeps_first:
            return ()
        files = plan_files(storage.store, storage.path, snapshot, self.schema)
        return tuple(file for file in files if file.meta.level == 0)

    def drops_files(self, plan: ReadPlan) -> bool:
        """Whether the rows of a plan are whole partitions, which go with their files.

        Never where consumers are told of each row that goes.
        """
        return not self.plan.has_changelog and takes_whole_partitions(plan, self.schema)

    def count(self, plan: ReadPlan) -> int:
        """How many rows a plan gives whose predicate is true for all of them; files that have to be merged are read."""
        known = known_rows(self.target.table.store, plan)
        if known.exact:
            return known.rows
        with spark_errors():
            return known.rows + rows_of_plan(self.reader, known.rest, self.schema).count()

    def placed(self, files: tuple[DataFile, ...]) -> DataFrame:
        """The rows of files with their places, `PLACE`: deleted ones are not among them."""
        return self.reader.read(files, self.schema, System.FILE, System.POSITION)

    def merged(self, plan: ReadPlan) -> DataFrame:
        """The table's rows, by what its files are to it."""
        return rows_of_plan(self.reader, plan, self.schema)

    def to_write(self, rows: DataFrame) -> DataFrame:
        """Rows with the table's columns, as the writer takes them: column `v<i>` is the schema's column i."""
        names = enumerate(self.schema.field_names)
        return rows.select(*(F.col(quote_name(name)).alias(f"v{i}") for i, name in names))

    @property
    def has_vectors(self) -> bool:
        """Whether rows that go are noted in deletion vectors, while their files stay."""
        return has_deletion_vectors(self.schema)

    def entry(self, file: DataFile) -> ManifestEntry:
        """The entry of a live file."""
        return entry_of_file(self.schema, file)

    def live_rows(self, file: DataFile) -> int:
        """How many rows of a file are not deleted."""
        if file.deletions is None:
            return file.meta.row_count
        known = file.deletions.cardinality
        gone = len(read_positions(self.target.table.store, [file.deletions])[0]) if known is None else known
        return file.meta.row_count - gone
