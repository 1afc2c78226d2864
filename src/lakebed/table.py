"""Reach everything about one table: `lake.table("db.t")`, or `"db.t@branch:b"` for a branch of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from lakebed.catalog import SchemaManager, TableManager, TableName, TableRef, TableSchema
from lakebed.catalog.names import each_name
from lakebed.catalog.schema_manager import system_clock
from lakebed.read.request import (
    ChangesKeywords,
    FilterKeywords,
    PlanKeywords,
    ReadKeywords,
    ReadRequest,
    StateKeywords,
    TravelKeywords,
    check_keywords,
    read_request,
)
from lakebed.store.base import Store
from lakebed.write.write_result import WriteKeywords, WriteRun

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from lakebed.chain_store import ExportedChain
    from lakebed.evolve.merge_input import AnyColumns
    from lakebed.format.snapshot import SnapshotManager
    from lakebed.format.table_branch import TableBranch
    from lakebed.ingest.arguments import (
        IngestKeywords,
        MergeKeywords,
        OverwriteKeywords,
        StreamKeywords,
        WatchKeywords,
    )
    from lakebed.ingest.ingest import IngestContext, IngestResult
    from lakebed.inspection import SystemTable
    from lakebed.inspection.history import History
    from lakebed.inspection.table_health import TableHealth
    from lakebed.maintenance.branches import Branches
    from lakebed.maintenance.expiry import Expiry
    from lakebed.maintenance.orphans import OrphanReport
    from lakebed.maintenance.rollback import RollBack
    from lakebed.maintenance.tags import Tags
    from lakebed.maintenance.versions import VersionReport
    from lakebed.manifest import TableManifest
    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.read.explanation import ReadExplanation
    from lakebed.row_level.merge_rows import MergeBuilder
    from lakebed.row_level.quarantine_rows import Quarantine
    from lakebed.row_level.row_target import RowTarget
    from lakebed.spark.analyze_table import TableAnalysis
    from lakebed.write.maintenance_report import TableMaintenance
    from lakebed.write.partition_expiry import PartitionExpiry
    from lakebed.write.partition_specs import NamedPartition
    from lakebed.write.write_result import WriteResult


@dataclass(frozen=True, slots=True)
class Table:
    """One table, a branch of it, or a state (`db.t@snap:5`, `@tag:NAME`, `@3`). Made by `lakebed.Lake.table`.

    It holds what the name says and what the lake knows; nothing is read, and nothing need be there, until a method asks
    for it. Most methods are those of `lakebed.Lake`, which explains them, without their first parameter `table`. What a
    read is asked for goes before what the name says.
    """

    tables: TableManager
    ref: TableRef
    clock: Callable[[], int] = system_clock
    time_zone: str = "UTC"
    verify_checksums: bool = True
    attributes: AttributeRegistry | None = None
    storage_options: Mapping[str, Any] | None = None

    def __repr__(self) -> str:
        return f"Table({str(self.ref)!r})"

    @property
    def name(self) -> TableName:
        """Database and table."""
        return self.ref.name

    @property
    def branch(self) -> str:
        """The branch, `main` where the name says none."""
        return self._branch.branch

    @property
    def label(self) -> str:
        """The table in messages: `db.t`, or `db.t@branch:dev`."""
        return self._branch.label

    @property
    def store(self) -> Store:
        """The storage that the table lies on."""
        return self.tables.store

    @property
    def table_path(self) -> str:
        """The table's directory, which all branches share."""
        return self.tables.table_path(self.name)

    @property
    def schemas(self) -> SchemaManager:
        """The schema versions. Raises `NotFoundError` where there is no such table or branch."""
        return self._branch.schemas

    @property
    def snapshots(self) -> SnapshotManager:
        """The snapshots and what tags keep of them."""
        return self._branch.snapshots

    # --- schema -------------------------------------------------------------------------------------------------------

    def schema(self) -> TableSchema:
        """The version that the name says, the newest where it says none."""
        from lakebed.inspection.history import schema_of

        return schema_of(self._branch, self.ref)

    def history(self, *, encodings: bool = False) -> History:
        """The schema versions, what each changed, and the snapshots."""
        from lakebed.inspection.history import history_of

        return history_of(self._branch, encodings=encodings)

    def infer(self) -> TableManifest:
        """A manifest that declares the table as it is."""
        from lakebed.evolve.inferred import inferred_manifest

        return inferred_manifest(str(self.name), self.schema(), self._branch.schemas)[0]

    def merge_schema(
        self,
        data: AnyColumns,
        *,
        types: Literal["add", "widen", "cast"] = "widen",
        case_sensitive: bool = True,
        allow: Iterable[str] = (),
    ) -> TableSchema:
        """Make the columns hold those of `data` too, as one new schema version; see `lakebed.Lake.merge_schema`."""
        from lakebed.evolve.merge_input import incoming_columns
        from lakebed.evolve.merge_schema import SchemaMerge, merge_rules, merge_schema

        rules = merge_rules(types, case_sensitive=case_sensitive)
        merge = SchemaMerge(incoming_columns(data), rules, frozenset(each_name(allow)))
        return merge_schema(self.tables, self.name, merge, branch=self.branch, clock=self.clock)

    def export_events(
        self,
        directory: str | Path,
        *,
        dataset_id: str | None = None,
        dataset_kind: str = "Root",
        keep_encodings: bool = False,
    ) -> ExportedChain:
        """Write the schema versions as Open Data Fabric metadata blocks; see `lakebed.Lake.export_events`."""
        from lakebed.chain_store import export_history
        from lakebed.events import DatasetId
        from lakebed.format.table_branch import names_a_state
        from lakebed.store import open_store

        store, root = open_store(directory)
        identity = None if dataset_id is None else DatasetId.parse(dataset_id)
        end = self.schema().id if names_a_state(self.ref) else None
        return export_history(
            self.name,
            self.schemas,
            store,
            root,
            up_to=end,
            dataset_id=identity,
            dataset_kind=dataset_kind,
            keep_encodings=keep_encodings,
        )

    # --- rows ---------------------------------------------------------------------------------------------------------

    def ingest(
        self, spark: SparkSession | Callable[[], SparkSession], source: Any, **asked: Unpack[IngestKeywords]
    ) -> IngestResult:
        """Put rows into the table; see `lakebed.Lake.ingest`.

        Keywords: `format`, `options`, `run_id`, `again`, `unknown_columns`, `max_bad_rows`, `max_bad_share`,
        `on_bad_rows`, `merge_schema`, `include`, `exclude`, `folders`, `row_kinds`, `order_by`, `dry_run`, `progress`.
        """
        from lakebed.ingest.arguments import IngestKeywords
        from lakebed.ingest.ingest import ingest

        check_keywords("Table.ingest", IngestKeywords, asked)
        self.tables.refuse_foreign_rows(self.name)
        self.check_attributes()
        return ingest(self._ingest_context, spark, str(self.ref), source, **asked)

    def watch(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        source: Any,
        *,
        every: timedelta = timedelta(seconds=10),
        stop_after_idle: timedelta | None = None,
        **asked: Unpack[WatchKeywords],
    ) -> Iterator[IngestResult]:
        """Ingest files as they come, each once; see `lakebed.Lake.watch`.

        Keywords: `format`, `options`, `unknown_columns`, `max_bad_rows`, `max_bad_share`, `on_bad_rows`,
        `merge_schema`, `include`, `exclude`, `folders`, `row_kinds`, `order_by`, `progress`.
        """
        from lakebed.ingest.arguments import WatchKeywords
        from lakebed.ingest.watch_files import Pace, watch

        check_keywords("Table.watch", WatchKeywords, asked, "every", "stop_after_idle")
        self.tables.refuse_foreign_rows(self.name)
        self.check_attributes()
        pace = Pace(every, stop_after_idle)
        return watch(self._ingest_context, spark, str(self.ref), source, pace, asked)

    def stream_writer(
        self,
        frame: DataFrame,
        checkpoint: str,
        *,
        name: str | None = None,
        follows: str | None = None,
        on_batch: Callable[[IngestResult], None] | None = None,
        **asked: Unpack[StreamKeywords],
    ) -> DataStreamWriter:
        """Spark's writer of a streaming DataFrame into the table: what `trigger`, `outputMode` and `start` belong to.

            query = t.stream_writer(stream, "checkpoints/orders").trigger(availableNow=True).start()

        Each batch is checked and written as `ingest` does: bad rows go to quarantine, in a table with a primary key
        rows take the place of those with the same keys, and what `row_kinds` says is done. The schema may change
        between batches. Each row is written once, also where the query or its driver is killed and started again.

        `checkpoint` is the directory of Spark's checkpoint, which Spark's driver and Lakebed reach by the same path or
        URL. `name` tells streams into one table apart, by default it is the place of the checkpoint. Where a stream
        goes on from a new checkpoint, `follows` is the id of the query that it takes the place of, as LB6483 says it.
        `on_batch` is called with the result of each batch, over Spark Connect in the server's Python.

        The query fails, with nothing of the batch visible, for what fails an ingest; with `ConflictError` where the
        checkpoint is older than the table (LB6482), or another one (LB6483), or nobody can tell (LB6484); and with
        `UnsupportedError` (LB6485) where the checkpoint cannot be read. Raises `UsageError` for arguments that make no
        sense, and for a DataFrame that is no stream.

        Keywords: `options`, `unknown_columns`, `max_bad_rows`, `max_bad_share`, `on_bad_rows`, `merge_schema`,
        `row_kinds`, `order_by`.
        """
        from lakebed.ingest.arguments import StreamKeywords
        from lakebed.ingest.write_stream import BatchWriter, StreamIdentity, stream_writer

        check_keywords("Table.stream_writer", StreamKeywords, asked, "name", "follows", "on_batch")
        self.tables.refuse_foreign_rows(self.name)
        self.check_attributes()
        stream = StreamIdentity.of(self._ingest_context, checkpoint, name, follows)
        return stream_writer(frame, BatchWriter(self._ingest_context, str(self.ref), stream, asked, on_batch))

    def read(self, spark: SparkSession, *, scratch: str | None = None, **asked: Unpack[ReadKeywords]) -> DataFrame:
        """The rows as a DataFrame; see `lakebed.Lake.read`.

        Keywords: `columns`, `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`,
        `on_cast_error`, `metadata_columns`, `blobs`.
        """
        check_keywords("Table.read", ReadKeywords, asked, "scratch")
        from lakebed.spark.read import read_table

        return read_table(spark, self._branch, self.request(**asked), scratch)

    def to_batches(
        self, *, columns: Sequence[str] | None = None, **asked: Unpack[PlanKeywords]
    ) -> pa.RecordBatchReader:
        """The rows of `read` as a stream of Arrow batches, without Spark and Java. Needs PyArrow.

        Files are read as batches are asked for, so that little is in memory at a time; where rows of a key have to be
        merged, their files, 1 GiB at most. Whatever takes Arrow's C stream takes it, as DuckDB and Polars do, and
        takes the table itself for all rows. `columns` are names of top-level columns, all without.

        Types are those that `lakebed convert --to arrow` has for the schema, without encodings, and wide enough for
        all values of `read`: nullable everywhere, timestamps of microseconds, times of at least milliseconds, Float16
        as float.

        `where` is Spark SQL as in `read`, understood in the lake's time zone. Raises `UnsupportedError` where rows
        could come out otherwise than by `read`: for a filter that is more than comparisons of columns with literals,
        IN, IS NULL and LIKE 'abc%' (LB5610), for changed types, values and merges that only Spark does (LB5603 to
        LB5606), mostly as the call is made, and else while batches are read. Otherwise raises what `read` raises.

        Keywords: `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.to_batches", PlanKeywords, asked, "columns")
        from lakebed.arrow import require_libraries

        require_libraries(pyarrow="lakebed[arrow]")
        from lakebed.arrow.read_batches import read_batches

        return read_batches(self._branch, self.request(**asked), columns)

    def to_arrow(self, *, columns: Sequence[str] | None = None, **asked: Unpack[PlanKeywords]) -> pa.Table:
        """The rows as an Arrow table, without Spark and Java; see `to_batches`.

        Keywords: `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.to_arrow", PlanKeywords, asked, "columns")
        return self.to_batches(columns=columns, **asked).read_all()

    def to_pandas(self, *, columns: Sequence[str] | None = None, **asked: Unpack[PlanKeywords]) -> pd.DataFrame:
        """The rows as a pandas DataFrame, without Spark and Java; see `to_batches`. Needs pandas, too.

        Keywords: `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.to_pandas", PlanKeywords, asked, "columns")
        from lakebed.arrow import require_libraries

        require_libraries(pyarrow="lakebed[arrow]", pandas="pandas")
        return self.to_arrow(columns=columns, **asked).to_pandas()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows as Arrow's C stream, by which other libraries take the table; see `to_batches`."""
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def count(
        self, *, spark: SparkSession | None = None, scratch: str | None = None, **asked: Unpack[FilterKeywords]
    ) -> int:
        """How many rows `read` gives; see `lakebed.Lake.count`.

        Keywords: `where`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.count", FilterKeywords, asked, "spark", "scratch")
        request = self.request(**asked)
        if spark is None:
            from lakebed.read.count import count_from_metadata

            return count_from_metadata(self._branch, request)
        from lakebed.spark.read import count_table

        return count_table(spark, self._branch, request, scratch)

    def explain_read(self, **asked: Unpack[PlanKeywords]) -> ReadExplanation:
        """What `read` would do, without Spark; see `lakebed.Lake.explain_read`.

        Keywords: `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.explain_read", PlanKeywords, asked)
        from lakebed.read.explanation import explain_read

        return explain_read(self._branch, self.request(**asked))

    def check_read(self, *, select: str | None = None, **asked: Unpack[FilterKeywords]) -> None:
        """Raise what `read` raises for what it names; see `lakebed.Lake.check_read`.

        Keywords: `where`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.check_read", FilterKeywords, asked, "select")
        from lakebed.read.plan_read import check_read

        check_read(self._branch, self.request(**asked), select)

    def cast_errors(
        self, spark: SparkSession, *, scratch: str | None = None, **asked: Unpack[StateKeywords]
    ) -> DataFrame:
        """The stored values that `read` cannot convert; see `lakebed.Lake.cast_errors`.

        Keywords: `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.cast_errors", StateKeywords, asked, "scratch")
        from lakebed.spark.cast_errors import cast_errors

        return cast_errors(spark, self._branch, self.request(**asked), scratch)

    def read_changes(
        self,
        spark: SparkSession,
        *,
        since: int | str | datetime,
        until: int | str | datetime | None = None,
        mode: Literal["auto", "delta", "changelog", "diff"] = "auto",
        row_kinds: bool = False,
        scratch: str | None = None,
        **asked: Unpack[ChangesKeywords],
    ) -> DataFrame:
        """What changed after the state `since`, up to the state `until`; see `lakebed.Lake.read_changes`.

        Keywords: `branch`, `schema`, `on_cast_error`.
        """
        check_keywords("Table.read_changes", ChangesKeywords, asked, "since", "until", "mode", "row_kinds", "scratch")
        from lakebed.read.plan_changes import ChangesAsked
        from lakebed.spark.row_changes import read_changes

        changes = ChangesAsked(since, until, mode, row_kinds)
        return read_changes(spark, self._branch, changes, self.request(**asked), scratch)

    def inspect(self, system: str, **asked: Unpack[TravelKeywords]) -> SystemTable:
        """A system table such as `files`, made from metadata; see `lakebed.Lake.inspect` for which there are.

        Keywords: `snapshot`, `tag`, `branch`, `as_of`, `watermark`.
        """
        check_keywords("Table.inspect", TravelKeywords, asked)
        from lakebed.inspection import check_system
        from lakebed.read.system_tables import read_system_table

        check_system(system)
        return read_system_table(self._branch, system, self.request(**asked))

    def read_system_table(
        self, spark: SparkSession, system: str, *, columns: Sequence[str] | None = None, **asked: Unpack[PlanKeywords]
    ) -> DataFrame:
        """The rows of a system table such as `files` as a DataFrame, of the columns of these names, all without.

        Keywords: `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`.
        """
        check_keywords("Table.read_system_table", PlanKeywords, asked, "columns")
        from lakebed.inspection import check_system
        from lakebed.spark.read import read_system_rows

        check_system(system)
        return read_system_rows(spark, self._branch, system, self.request(columns=columns, **asked))

    def request(self, **asked: Unpack[ReadKeywords]) -> ReadRequest:
        """What keywords ask of a read of this table; what they leave open, the name says.

        Keywords: `columns`, `where`, `limit`, `snapshot`, `tag`, `branch`, `as_of`, `watermark`, `schema`,
        `on_cast_error`, `metadata_columns`, `blobs`.
        """
        check_keywords("Table.request", ReadKeywords, asked)
        return read_request(self.ref, time_zone=self.time_zone, verify_checksums=self.verify_checksums, **asked)

    def append(
        self, frame: DataFrame, *, order_by: str | Sequence[str] | None = None, **asked: Unpack[WriteKeywords]
    ) -> WriteResult:
        """Add the rows of a DataFrame, checked as `ingest` checks them: with one bad row none is added.

        Columns are matched by name. In a table with a primary key they take the place of rows with the same keys, as
        its merge engine says.

        `order_by` names columns by which rows are sorted over all new files, so that a filter on them reads few;
        in a table with buckets those of each bucket; `zorder(a, b)` sorts by both at once. Raises `UsageError` (LB6512)
        for a table with a primary key.

        Raises `BadRowsError` for rows that do not fit, `SourceMismatchError` for columns that do not, and what
        `truncate` raises. `run_id`, `commit_user` and `properties` are those of `truncate`.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.append", WriteKeywords, asked, "order_by")
        from lakebed.ingest.write_frame import append

        return append(self._ingest_context, self._whole, frame, WriteRun.of(**asked), order_by=order_by)

    def upsert(self, frame: DataFrame, *, row_kinds: str | None = None, **asked: Unpack[WriteKeywords]) -> WriteResult:
        """Put rows in the place of those with the same primary keys; otherwise as `append`.

        `row_kinds` is a column of the DataFrame, not of the table, that says what each row does to its key: `+I`, `-U`,
        `+U` or `-D`. The result counts the rows that came, by kind: of several with one key a table whose merge engine
        is `deduplicate` keeps the last. Raises `UsageError` (LB6510) for a table without a primary key.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.upsert", WriteKeywords, asked, "row_kinds")
        from lakebed.ingest.write_frame import upsert

        return upsert(self._ingest_context, self._whole, frame, WriteRun.of(**asked), row_kinds=row_kinds)

    def overwrite(
        self,
        frame: DataFrame,
        *,
        partitions: NamedPartition | Iterable[NamedPartition] | None = None,
        whole: bool = False,
        where: str | None = None,
        order_by: str | Sequence[str] | None = None,
        **asked: Unpack[WriteKeywords],
    ) -> WriteResult:
        """Put the rows of a DataFrame in the place of others, as one snapshot; otherwise as `append`.

        The partitions that get rows lose those that they have; others stay. `partitions` says which lose theirs
        instead, named as for `drop_partitions`, whether or not they get new ones; rows that lie elsewhere are an error
        (LB6511). `whole`, and in a table without partitions and without a filter always, all rows go.

        `where`: the rows go that this filter is true for, as with `delete`. It has to be true for each row that comes,
        else nothing is written (`BadRowsError`, LB6570). The result counts rows of the table, `rows_deleted` and
        `rows_inserted`.

        What others commit at the same time to these partitions goes too if it comes first; with `where` the call is
        made again where it may concern what others have committed, 10 times at most.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.overwrite", WriteKeywords, asked, "partitions", "whole", "where", "order_by")
        from lakebed.row_level.overwrite_rows import overwrite

        target, run = self._row_target(lambda: frame.sparkSession, None), WriteRun.of(**asked)
        return overwrite(target, frame, run, partitions=partitions, whole=whole, where=where, order_by=order_by)

    def overwrite_from(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        source: Any,
        **asked: Unpack[OverwriteKeywords],
    ) -> WriteResult:
        """Put the rows of files in the place of others: `overwrite` with a source as `lakebed.Lake.ingest` reads it.

        Files are read whether or not they were ingested before, and are not remembered as ingested.

        Keywords: `partitions`, `whole`, `where`, `order_by`, `format`, `options`, `unknown_columns`, `include`,
        `exclude`, `folders`, `progress`, `run_id`, `commit_user`, `properties`.
        """
        from lakebed.ingest.arguments import OverwriteKeywords
        from lakebed.row_level.overwrite_rows import overwrite_from

        check_keywords("Table.overwrite_from", OverwriteKeywords, asked)
        return overwrite_from(self._row_target(spark, None), source, asked)

    def truncate(self, *, dry_run: bool = False, **asked: Unpack[WriteKeywords]) -> WriteResult:
        """Remove all rows of the table, or of the branch, as one snapshot; the schema stays.

        What others commit at the same time goes too if it comes first, and stays if it comes after. Older snapshots and
        tags keep their rows, and the files, until they expire. Consumers of changes are not told of the rows.

        `run_id`: a run that has been done under this id is not done again; its result is returned. `commit_user` is the
        user of the commit itself, in place of one made from the run id: a commit of that user is not made again
        either. Without both each call is a run of its own, and where there is no row nothing is committed.
        `properties` are told in the snapshot. `dry_run`: only say what would go. The rows of the result are those that
        files hold.

        Raises `UnsupportedError` for a table that cannot be written, `UsageError` for arguments that make no sense and
        a run id that something else has used, `ConflictError` when every attempt lost the race against other writers.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.truncate", WriteKeywords, asked, "dry_run")
        from lakebed.write.remove_partitions import truncate

        return truncate(self._whole, WriteRun.of(**asked), dry_run=dry_run, time_zone=self.time_zone)

    def drop_partitions(
        self,
        partitions: NamedPartition | Iterable[NamedPartition],
        *,
        dry_run: bool = False,
        **asked: Unpack[WriteKeywords],
    ) -> WriteResult:
        """Remove all rows of some partitions as one snapshot; the other arguments and errors are those of `truncate`.

        A partition is a mapping of values by partition key, such as `{"day": "2024-01-01"}`, or a text
        (`day=2024-01-01/region=eu`). Of keys that are left out any value is meant. Texts are understood as a filter
        understands those that a column is compared with; None, and the name that directories have for it, is NULL.
        That a partition is not there is no error: `partitions` of the result are those that lost files.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.drop_partitions", WriteKeywords, asked, "dry_run")
        from lakebed.write.remove_partitions import drop_partitions

        run = WriteRun.of(**asked)
        return drop_partitions(self._whole, partitions, run, dry_run=dry_run, time_zone=self.time_zone)

    def delete(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        keys: DataFrame | None = None,
        *,
        where: str | None = None,
        dry_run: bool = False,
        scratch: str | None = None,
        **asked: Unpack[WriteKeywords],
    ) -> WriteResult:
        """Delete rows as one snapshot: those that `where` is true for, or those whose primary keys `keys` holds.

        `where` is a boolean expression of Spark SQL over the columns, understood by the session as in `read`. `keys`
        has exactly the columns of the primary key. Only files that may hold such a row are read; none where metadata
        tell enough. An append table with `deletion-vectors.enabled` keeps its files and notes the rows; without, the
        files that hold such a row are written anew. A table with a primary key gets a row `-D` for each. Older
        snapshots and tags keep the rows until they expire.

        The rows are those of the newest snapshot as the call begins. Where another commit changes the same files, or
        the same buckets of a table with a primary key, before this one, the call is made again on top of it, 10 times
        at most. `dry_run`: only count the rows. The other keywords are those of `truncate`; `rows_deleted` of the
        result counts rows of the table.

        Raises `UnsupportedError` for a table whose rows cannot be deleted, `UsageError` for arguments that make no
        sense, `ConflictError` when others were first each time.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.delete", WriteKeywords, asked, "keys", "where", "dry_run", "scratch")
        from lakebed.row_level.delete_rows import delete_rows

        return delete_rows(self._row_target(spark, scratch), keys, where, WriteRun.of(**asked), dry_run=dry_run)

    def update(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        *,
        set: Mapping[str, str | Column],
        where: str | None = None,
        dry_run: bool = False,
        scratch: str | None = None,
        **asked: Unpack[WriteKeywords],
    ) -> WriteResult:
        """Give the rows that `where` is true for new values, as one snapshot.

        `set` has an expression by column: Spark SQL over the row's columns as they were (`"'late'"`, `"amount + 1"`),
        or a Column. What comes out is converted and checked as an ingest does, in those columns: where a single value
        cannot be held, nothing is written. Columns of the key of a table with a primary key cannot be set. Rows go as
        with `delete` and come again; their order is not kept. All else is as with `delete`.

        Raises what `delete` raises, and `BadRowsError` for values that the columns cannot hold.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.update", WriteKeywords, asked, "set", "where", "dry_run", "scratch")
        from lakebed.row_level.update_rows import update_rows

        return update_rows(self._row_target(spark, scratch), where, set, WriteRun.of(**asked), dry_run=dry_run)

    def compact(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        *,
        full: bool = False,
        dry_run: bool = False,
        scratch: str | None = None,
        **asked: Unpack[WriteKeywords],
    ) -> WriteResult:
        """Write small files together as large ones, and the files of buckets of keys as one run, as one snapshot.

        The rows stay the same; those that are deleted, or that newer rows of their keys have replaced, are not written
        again. What is due the options of the table say (`compaction.min.file-num` and others), as for other engines;
        `full` takes all that is not compacted, and files of older schemas and formats. Old files stay until their
        snapshots expire. All else is as with `delete`; consumers of changes are told nothing.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.compact", WriteKeywords, asked, "full", "dry_run", "scratch")
        from lakebed.row_level.compact_files import compact

        return compact(self._row_target(spark, scratch), WriteRun.of(**asked), full=full, dry_run=dry_run)

    def analyze(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        columns: Sequence[str] | Literal["all"] | None = None,
        **asked: Unpack[WriteKeywords],
    ) -> TableAnalysis:
        """Count the rows of the newest snapshot, describe columns, and commit that as statistics that engines plan by.

        `columns` are names, or `all` that can be described: distinct values (about), NULLs, lengths, and the least and
        the greatest value where the type has an order that is kept. One job reads them; without columns the rows are
        counted, by metadata where these tell. The statistics stay with later snapshots of the same schema.

        Raises `UsageError` (LB6580) for a column that is not there or cannot be described, and what `truncate` raises.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.analyze", WriteKeywords, asked, "columns")
        from lakebed.spark.analyze_table import analyze

        return analyze(spark, self._whole, self.request(), columns, WriteRun.of(**asked))

    def merge(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        source: DataFrame,
        *,
        on: str | Column,
        dry_run: bool = False,
        scratch: str | None = None,
        **asked: Unpack[WriteKeywords],
    ) -> MergeBuilder:
        """Merge the rows of a DataFrame into the table, as one snapshot; `execute` of what is returned does it.

            t.merge(spark, df, on="t.id = s.id").when_matched_update().when_not_matched_insert().execute()

        `on`, the conditions and the values are Spark SQL, or Columns, in which `t` is the table and `s` the source. Of
        the clauses of a kind the first one whose condition is true counts. New values are converted and checked as an
        ingest does. A row of the table that several rows of the source would change is an error; nothing is written.

        The joined rows that a clause is about are kept in memory or on disk of the executors meanwhile; the call fails
        where one of these is lost. The source is read once, and again where the call is made again. All else is as with
        `delete` and `update`.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.merge", WriteKeywords, asked, "on", "dry_run", "scratch")
        from lakebed.row_level.merge_rows import merge_frame

        return merge_frame(self._row_target(spark, scratch), source, on, WriteRun.of(**asked), dry_run=dry_run)

    def merge_from(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        source: Any,
        *,
        on: str | Column,
        dry_run: bool = False,
        **asked: Unpack[MergeKeywords],
    ) -> MergeBuilder:
        """Merge the rows of files: `merge` with a source as `lakebed.Lake.ingest` reads it.

        The source has those of its columns that the table has, with the values that an ingest would write; other
        columns are an error, or left out (`unknown_columns="ignore"`). One bad row is an error. Files are read whether
        or not they were ingested before, and are not remembered as ingested.

        Keywords: `format`, `options`, `unknown_columns`, `include`, `exclude`, `folders`, `progress`, `run_id`,
        `commit_user`, `properties`.
        """
        from lakebed.ingest.arguments import MergeKeywords
        from lakebed.row_level.merge_rows import merge_from

        check_keywords("Table.merge_from", MergeKeywords, asked, "on", "dry_run")
        return merge_from(self._row_target(spark, None), source, on, asked, dry_run=dry_run)

    # --- bad rows -----------------------------------------------------------------------------------------------------

    def quarantine(self) -> Quarantine:
        """The table's bad rows: `list`, `rows`, `replay`, `purge`."""
        from lakebed.row_level.quarantine_rows import Quarantine

        return Quarantine.of(self._ingest_context, str(self.ref), self.check_attributes)

    # --- maintenance --------------------------------------------------------------------------------------------------

    def health(self) -> TableHealth:
        """How the table is, or a branch of it, from metadata alone; see `lakebed.Lake.health`."""
        from lakebed.ingest.bad_row_codes import count_bad_rows
        from lakebed.inspection.table_health import measure_table

        return measure_table(self._whole, count_bad_rows)

    def maintain(
        self, spark: SparkSession | Callable[[], SparkSession], *, orphans: bool = False, dry_run: bool = False
    ) -> TableMaintenance:
        """Do what is due by the table's options; see `lakebed.Lake.maintain`."""
        from lakebed.row_level.maintain_tables import Maintenance, maintain_table

        return maintain_table(self._row_target(spark, None), Maintenance(orphans, dry_run))

    def branches(self) -> Branches:
        """The branches: `list`, `create`, `delete`, `fast_forward`."""
        from lakebed.maintenance.branches import Branches

        return Branches(self._whole)

    def tags(self) -> Tags:
        """The tags: `list`, `get`, `create`, `delete`."""
        from lakebed.maintenance.tags import Tags

        return Tags(self._whole)

    def roll_back(
        self,
        *,
        schema: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        delete_tags: bool = False,
        dry_run: bool = False,
    ) -> RollBack:
        """Make an earlier version, snapshot or tag the newest again; see `lakebed.Lake.roll_back`."""
        from lakebed.maintenance.rollback import Target, roll_back

        target = Target(schema=schema, snapshot=snapshot, tag=tag)
        return roll_back(self._whole, target, delete_tags=delete_tags, dry_run=dry_run)

    def expire(
        self,
        *,
        retain_min: int | None = None,
        retain_max: int | None = None,
        older_than: timedelta | None = None,
        dry_run: bool = False,
    ) -> Expiry:
        """Take old snapshots away, with the files that only they need.

        At least `retain_min` snapshots stay, at most `retain_max`, and so does the state of every moment that is not
        `older_than`. Without them the table's options count: `snapshot.num-retained.min` (10), `.max` (no limit) and
        `snapshot.time-retained` (an hour). Tags, branches and consumers keep what they need; tags that were to be kept
        for a time go after it. What was ingested is remembered. `RefusedError` where in doubt.
        """
        from lakebed.ingest.expire_snapshots import expire_snapshots

        kept = {"retain_min": retain_min, "retain_max": retain_max}
        return expire_snapshots(self._whole, **kept, older_than=older_than, dry_run=dry_run)

    def expire_partitions(
        self, *, older_than: timedelta | None = None, dry_run: bool = False, **asked: Unpack[WriteKeywords]
    ) -> PartitionExpiry:
        """Remove the partitions whose time is longer ago than `older_than`, as one snapshot.

        Else than `partition.expiration-time` says. Their time is that of their values, a wall clock of the lake's time
        zone, or of their last file, as the table's options say; those whose time nobody can tell stay and are named.
        The other arguments and errors are those of `truncate`.

        Keywords: `run_id`, `commit_user`, `properties`.
        """
        check_keywords("Table.expire_partitions", WriteKeywords, asked, "older_than", "dry_run")
        from lakebed.write.partition_expiry import expire_partitions

        run, zone = WriteRun.of(**asked), self.time_zone
        return expire_partitions(self._whole, run, older_than=older_than, dry_run=dry_run, time_zone=zone)

    def unused_versions(self, *, min_age: timedelta = timedelta(days=1)) -> VersionReport:
        """Every schema version, with what keeps it; see `lakebed.Lake.unused_versions`."""
        from lakebed.maintenance.versions import unused_versions

        return unused_versions(self._whole, min_age=min_age)

    def remove_versions(self, *, min_age: timedelta = timedelta(days=1)) -> VersionReport:
        """Remove the schema versions that nothing keeps; see `lakebed.Lake.remove_versions`."""
        from lakebed.maintenance.versions import remove_versions

        return remove_versions(self._whole, min_age=min_age)

    def orphan_files(self, *, min_age: timedelta = timedelta(days=1)) -> OrphanReport:
        """The files that nothing refers to; see `lakebed.Lake.orphan_files`."""
        from lakebed.maintenance.orphans import orphan_files

        return orphan_files(self._whole, min_age=min_age)

    def remove_orphans(self, *, min_age: timedelta = timedelta(days=1)) -> OrphanReport:
        """Remove what `orphan_files` finds; see `lakebed.Lake.remove_orphans`."""
        from lakebed.maintenance.orphans import remove_orphans

        return remove_orphans(self._whole, min_age=min_age)

    # --- wiring -------------------------------------------------------------------------------------------------------

    def check_attributes(self, schema: TableSchema | None = None) -> None:
        """Raise `ValidationError` where the attributes, of `schema` or as stored, are not as the project declares."""
        from lakebed.manifest.attribute_registry import check_stored

        if self.attributes is not None:
            check_stored(self.attributes, str(self.ref), (schema or self.schema()).logical)

    @property
    def _branch(self) -> TableBranch:
        """The branch that the name says, whether or not it says a state."""
        from lakebed.catalog.paths import MAIN
        from lakebed.format.table_branch import TableBranch

        return TableBranch(self.tables, self.name, self.ref.branch or MAIN, self.clock)

    @property
    def _whole(self) -> TableBranch:
        """The branch. Raises `UsageError` where the name says a single state."""
        from lakebed.format.table_branch import TableBranch

        return TableBranch.of(self.tables, self.ref, self.clock)

    def _row_target(self, spark: SparkSession | Callable[[], SparkSession], scratch: str | None) -> RowTarget:
        from functools import cache

        from lakebed.row_level.row_target import RowTarget

        return RowTarget(self._ingest_context, self._whole, cache(spark if callable(spark) else lambda: spark), scratch)

    @property
    def _ingest_context(self) -> IngestContext:
        from lakebed.ingest.ingest import IngestContext

        return IngestContext(self.tables, self.time_zone, self.clock, self.storage_options, self.verify_checksums)
