"""Write what Spark hands to `df.write.format("lakebed")`: its tasks write files, which its driver commits at once.

Neither has a session. Rows come as they are in Spark's partitions: nothing is shuffled, converted or looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from lakebed.arrow.write_files import write_data_files
from lakebed.catalog import TableRef
from lakebed.data_source.read_options import WriteOptions
from lakebed.data_source.writable_columns import refuse_unfit_table, written_names
from lakebed.errors import UsageError
from lakebed.format.manifest import ManifestEntry, read_entries, write_manifest
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.ingest_context import IngestContext, open_context
from lakebed.ingest.run_commit import GoodRows
from lakebed.ingest.write_frame import APPEND, AtomicWrite, overwrite_with
from lakebed.spark.arrow_batches import gathered
from lakebed.spark.spark_errors import plainly
from lakebed.spark.table_writer import TableWriter, WriteTarget
from lakebed.spark.write_rows import attempted
from lakebed.write.plan_write import plan_write
from lakebed.write.write_result import WriteRun

#: How much of a task's rows is sorted by partition at a time.
_SORTED_ROWS, _SORTED_BYTES = 1 << 20, 64 << 20


@dataclass(frozen=True)
class FilesWritten(WriterCommitMessage):
    """The files that one task has written under a version of the schema, as a manifest; None for none."""

    manifest: bytes | None
    schema_id: int = 0


class RowsWriter:
    """What writes rows of a DataFrame into files of a table without keys and buckets, in Spark's tasks."""

    def __init__(self, write: AtomicWrite, schema: StructType, asked: WriteOptions) -> None:
        writer = table_writer(write)
        refuse_unfit_table(writer.target.plan, asked.table)
        self._schema_id = write.schema.id
        self._names = written_names(schema, write.schema, asked.table)
        self._task = writer.new_task()

    def _write(self, iterator: Iterator[pa.RecordBatch]) -> FilesWritten:
        task = attempted(self._task)
        with plainly():
            named = (b.rename_columns([self._names[name] for name in b.schema.names]) for b in iterator)
            files = write_data_files(_by_partition(named, task.partition_keys), task)
            return FilesWritten(write_manifest(files.added) if files.added else None, self._schema_id)


class TableRowsWriter(RowsWriter, DataSourceArrowWriter):
    """One write of the rows of a DataFrame to a table without keys and buckets, all or none of them."""

    def __init__(self, asked: WriteOptions, schema: StructType, *, overwrite: bool) -> None:
        self._asked, self._overwrite = asked, overwrite
        self._run = WriteRun.of(asked.run_id)
        write = self._begin()
        self._attempt, self._after = write.attempt, write.after
        self._is_done = write.done() is not None
        super().__init__(write, schema, asked)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> FilesWritten:
        """Write the rows of a task as data files."""
        return FilesWritten(None) if self._is_done else self._write(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Publish the files of all tasks as one snapshot; one that has replaced rows where that was asked."""
        with plainly():
            found = self._begin()
            if self._is_done or found.done() is not None:
                self._discard(found)
                return
            schema = found.table.schemas.load_schema(self._schema_id)
            write = replace(found, schema=schema, attempt=self._attempt, after=self._after)
            writer = table_writer(write)
            writer.take(entries_of(messages, self._task.table_path))
            write.commit(GoodRows(writer), {"+I": writer.rows})

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Delete what was written where a task has failed. A commit that fails looks after the files itself."""
        if None in messages:
            with plainly():
                self._discard(self._begin())

    def _begin(self) -> AtomicWrite:
        """The write as of now. It holds what does not travel, so that each process has one of its own."""
        context, table = opened(self._asked)
        if self._overwrite:
            return overwrite_with(context, table, self._run, partitions=None, whole=False)
        return AtomicWrite.of(context, table, APPEND, self._run)

    def _discard(self, write: AtomicWrite) -> None:
        table_writer(write).discard_failed(self._task.id)


def opened(asked: WriteOptions) -> tuple[IngestContext, TableBranch]:
    """The lake and the table of the options."""
    place = asked.warehouse
    how = place.storage_options, place.time_zone, place.verify_checksums
    context = open_context(place.location, place.layout, *how, place.origin)
    return context, TableBranch.of(context.tables, _with_branch(TableRef.parse(asked.table), asked.branch))


def table_writer(write: AtomicWrite) -> TableWriter:
    """What commits the files of a write."""
    context, plan = write.context, plan_write(write.schema)
    target = WriteTarget(write.storage, plan, context.warehouse, context.storage_options, context.clock)
    return TableWriter(_no_session, target, write.attempt, write.replaces)


def entries_of(messages: Sequence[WriterCommitMessage | None], table_path: str) -> list[ManifestEntry]:
    """The files of all tasks."""
    parts = (m.manifest for m in messages if isinstance(m, FilesWritten) and m.manifest is not None)
    return [entry for part in parts for entry in read_entries(part, table_path)]


def _no_session() -> SparkSession:
    raise AssertionError("a write of the data source has no session")


def _with_branch(ref: TableRef, branch: str | None) -> TableRef:
    """The table with the branch of the option. Raises `UsageError` (LB5600) where the name says another one."""
    if branch is None or ref.branch == branch:
        return ref
    if ref.branch is not None:
        raise UsageError.of(
            "LB5600",
            f"the table is named as {ref}, and the option branch is {branch!r}",
            path="branch",
            found=branch,
            remedy="name the branch once",
        )
    return replace(ref, branch=branch)


def _by_partition(batches: Iterable[pa.RecordBatch], keys: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows, those of one partition together as far as they come close to one another."""
    if not keys:
        yield from gathered(batches)
        return
    order = [(key, "ascending") for key in keys]
    for batch in gathered(batches, most_rows=_SORTED_ROWS, most_bytes=_SORTED_BYTES):
        yield batch.take(pc.sort_indices(batch.select(list(keys)), sort_keys=order))
