"""Write values of columns of blobs into files of their own, beside the data file of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from lakebed.arrow.blob_file import BlobFileWriter
from lakebed.arrow.blob_values import payload_encoder
from lakebed.arrow.write_task import WriteTask
from lakebed.format.manifest import DataFileMeta
from lakebed.store import Output

#: The most bytes of a file that holds several values: one of 2 GiB would not be read as a whole (LB5562).
_MOST_BYTES = 3 << 29
#: Opens the next blob file of the directory: its name, and what is written to.
Open = Callable[[], tuple[str, Output]]


class BlobSeries:
    """The blob files of the rows of one data file: each column has its own, one after the other.

    `schema` are the columns as they are given, `open_next` begins a file.
    """

    def __init__(self, task: WriteTask, schema: pa.Schema, open_next: Open) -> None:
        self._columns = [_Column(task, field, open_next) for field in schema]

    def add(self, rows: pa.RecordBatch) -> None:
        """Write the values of rows. Raises WriteError for what blob files cannot hold."""
        for column, values in zip(self._columns, rows.columns, strict=True):
            column.add(values)

    def finish(self) -> list[DataFileMeta]:
        """Finish the files; what a manifest says of them, those of one column together."""
        return [meta for column in self._columns for meta in column.finish()]


class _Column:
    """The blob files of one column."""

    def __init__(self, task: WriteTask, field: pa.Field, open_next: Open) -> None:
        self._task, self._name, self._open_next = task, field.name, open_next
        self._encode = payload_encoder(field.type, field.name)
        self._open: _File | None = None
        self._finished: list[DataFileMeta] = []

    def add(self, values: pa.Array) -> None:
        for value in values:
            parts = tuple(self._encode(value)) if value.is_valid else None
            file = self._file_for(sum(map(len, parts or ())))
            if parts is None:
                file.writer.add_null()
            else:
                file.writer.add(parts)

    def finish(self) -> Sequence[DataFileMeta]:
        self._end_file()
        return self._finished

    def _file_for(self, size: int) -> _File:
        """The file that the next value, of so many bytes, goes to."""
        if self._open is not None and self._is_full(self._open.writer, size):
            self._end_file()
        if self._open is None:
            self._open = _File(*self._open_next())
        return self._open

    def _is_full(self, writer: BlobFileWriter, size: int) -> bool:
        task = self._task
        too_large = writer.size >= task.blob_target_size or writer.size + size > _MOST_BYTES
        return too_large or writer.rows >= task.target_rows

    def _end_file(self) -> None:
        if self._open is not None:
            self._finished.append(self._open.finish(self._task, self._name))
            self._open = None


class _File:
    """One blob file that is being written."""

    def __init__(self, name: str, output: Output) -> None:
        self._name, self._output = name, output
        self.writer = BlobFileWriter(output)

    def finish(self, task: WriteTask, column: str) -> DataFileMeta:
        self.writer.finish()
        self._output.close()
        rows = self.writer.rows
        return DataFileMeta(
            file_name=self._name,
            file_size=self._output.size,
            row_count=rows,
            schema_id=task.schema_id,
            max_sequence_number=rows - 1,
            creation_time=task.creation_time,
            delete_row_count=0,
            file_source=int(task.source),
            value_stats_cols=(),
            write_cols=(column,),
        )
