"""Write the batches of a streaming query of Spark's into a table, each row once, as an ingest writes rows.

The function that Spark calls with each batch travels to the server over Spark Connect, and opens its lake there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from lakebed.errors import UsageError
from lakebed.ingest.arguments import BAD_ARGUMENT, StreamKeywords, check_arguments
from lakebed.ingest.ingest import ingest_batch, table_job
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.run_history import IngestResult
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.ingest.stream_checkpoint import StreamCheckpoint
from lakebed.spark.spark_errors import plainly
from lakebed.write.write_result import wrong_name

if TYPE_CHECKING:
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True, slots=True)
class StreamIdentity:
    """Which stream of a table a query is: its checkpoint, its name, and the query whose place it takes."""

    checkpoint: StreamCheckpoint
    name: str
    follows: str | None = None

    @classmethod
    def of(
        cls, context: IngestContext, checkpoint: str, name: str | None = None, follows: str | None = None
    ) -> StreamIdentity:
        """The stream of a checkpoint; its name is by default the place of that. Raises `UsageError` (LB6109)."""
        for what, text in (("checkpoint", checkpoint), ("name", name), ("query that it follows", follows)):
            problem = None if text is None and what != "checkpoint" else wrong_name(text)
            if problem is not None:
                raise UsageError.of(
                    BAD_ARGUMENT,
                    f"the {what} of a stream is {problem}: {text!r}",
                    expected="a text",
                    found=repr(text),
                )
        found = StreamCheckpoint.of(checkpoint, context.sources)
        return cls(found, name or found.shown, follows)

    def batch(self, table: str, number: int) -> StreamBatch:
        """A batch that the query has planned. Raises `UnsupportedError` (LB6485) where its checkpoint does not say."""
        return StreamBatch(table, self.name, self.checkpoint.batch(number), self.follows)


@dataclass(frozen=True, slots=True)
class BatchWriter:
    """The function of `foreachBatch` that writes into a table."""

    context: IngestContext
    table: str
    stream: StreamIdentity
    asked: StreamKeywords = field(default_factory=lambda: StreamKeywords())
    on_batch: Callable[[IngestResult], None] | None = None

    def __call__(self, frame: DataFrame, number: int) -> None:
        """Write one batch. Raises what `lakebed.Table.stream_writer` says of a query that fails."""
        with plainly():
            result = ingest_batch(self.context, frame, self.stream.batch(self.table, number), self.asked)
            if result.repeated:
                # The state of a query that aggregates or joins has to come to this batch all the same.
                frame.write.format("noop").mode("overwrite").save()
        if self.on_batch is not None:
            self.on_batch(result)


def stream_writer(frame: DataFrame, write: BatchWriter) -> DataStreamWriter:
    """Spark's writer of a streaming DataFrame; `start` of it begins the query. See `lakebed.Table.stream_writer`."""
    if not frame.isStreaming:
        raise UsageError.of(
            BAD_ARGUMENT,
            "the DataFrame is no stream",
            path=write.table,
            expected="a DataFrame that begins with spark.readStream",
            remedy="append it, or ingest it",
        )
    asked = write.asked
    check_arguments(asked.get("unknown_columns", "fail"), "columns")
    table_job(write.context, lambda: frame.sparkSession, write.table, asked)
    return frame.writeStream.foreachBatch(write).option("checkpointLocation", write.stream.checkpoint.location)
