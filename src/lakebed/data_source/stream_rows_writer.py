"""Write batches of `df.writeStream.format("lakebed")`: tasks write files, which the driver commits, each batch once.

Spark makes a writer for each batch, and another one, in another process, that commits it: what the first one knows
comes with the files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from lakebed.data_source.batch_writer import FilesWritten, RowsWriter, entries_of, opened, table_writer
from lakebed.data_source.read_options import StreamWriteOptions
from lakebed.format.snapshot_change import WHOLE_TABLE
from lakebed.ingest import run_history as runs
from lakebed.ingest.run_commit import RunGuard
from lakebed.ingest.run_history import RunCounts
from lakebed.ingest.run_memory import RunMemory
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.ingest.write_frame import APPEND, AtomicWrite
from lakebed.ingest.write_stream import StreamIdentity
from lakebed.spark.spark_errors import plainly
from lakebed.spark.table_writer import TableWriter
from lakebed.write.write_result import WriteRun


class StreamRowsWriter(RowsWriter, DataSourceStreamArrowWriter):
    """The rows of one batch of a streaming query; with `overwrite` they are all rows that the table then has."""

    def __init__(self, asked: StreamWriteOptions, schema: StructType, *, overwrite: bool) -> None:
        self._asked, self._overwrite = asked, overwrite
        super().__init__(self._begin(), schema, asked.write)

    def write(self, iterator: Iterator[pa.RecordBatch]) -> FilesWritten:
        """Write the rows of a task as data files."""
        return self._write(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Publish the files of all tasks as one snapshot, unless the table has the batch. Raises `ConflictError`."""
        with plainly():
            begun, writer = self._taken(messages)
            if not writer.entries and not self._overwrite:
                return
            try:
                asked = self._asked
                stream = StreamIdentity.of(begun.context, asked.checkpoint, asked.name, asked.follows)
                _commit(writer, stream.batch(begun.table.label, batchId), begun)
            finally:
                writer.clear()

    def abort(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Delete what was written where a task has failed. A commit that fails looks after the files itself."""
        if None in messages:
            with plainly():
                self._taken(messages)[1].clear()

    def _begin(self) -> AtomicWrite:
        """The write as of now. It holds what does not travel, so that each process has one of its own."""
        context, table = opened(self._asked.write)
        return AtomicWrite.of(context, table, APPEND, WriteRun.of())

    def _taken(self, messages: Sequence[WriterCommitMessage | None]) -> tuple[AtomicWrite, TableWriter]:
        """The write, under the schema that its files have, and what commits these files."""
        begun = self._begin()
        known = next((m.schema_id for m in messages if isinstance(m, FilesWritten) and m.manifest is not None), None)
        if known is not None:
            begun = replace(begun, schema=begun.table.schemas.load_schema(known))
        writer = table_writer(begun)
        if self._overwrite:
            writer.replaces = lambda _: WHOLE_TABLE
        writer.take(entries_of(messages, begun.storage.path))
        return begun, writer


def _commit(writer: TableWriter, batch: StreamBatch, begun: AtomicWrite) -> None:
    memory = RunMemory(begun.table.name, begun.storage, None)
    memory.load()
    batch.check(memory.records())
    if memory.finished(batch.run_id) is not None:
        return
    batch.check_new(memory.good, memory.bad)
    guard = RunGuard(batch.run_id, (), frozenset(), False, memory.good.until, memory.bad.until, batch)
    counts = RunCounts(writer.rows, 0)
    properties = runs.run_properties(batch.run_id, begun.schema.id, (), counts, attempt=writer.attempt)
    change = batch.change({**properties, **batch.properties})
    guard.check_committed(writer.commit(change, partial(guard.before_table, begun.storage), memory.good.until))
