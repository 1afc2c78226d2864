"""Write rows that a task puts aside to a file, and read them in a later job.

They are in no table. A file holds the batches as they came, in Arrow's own format, so that values of every type come
back as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.file_part import open_ranges
from lakebed.arrow.format_writers import Sink
from lakebed.arrow.write_task import WriteTask
from lakebed.store import Output, Store

#: A column of batches: what is put aside of a row that is not to be written, NULL for others.
ASIDE = "_LAKEBED_ASIDE"

#: From a batch to the rows that are written, and those that are put aside; None for no rows.
Split: TypeAlias = Callable[[pa.RecordBatch], tuple[pa.RecordBatch | None, pa.RecordBatch | None]]


def split_marked(batch: pa.RecordBatch) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
    """The rows without `ASIDE`, and what that has of the others."""
    aside = batch.column(batch.schema.get_field_index(ASIDE))
    rest = batch.select([name for name in batch.schema.names if name != ASIDE])
    if aside.null_count == len(aside):
        return (rest if rest.num_rows else None), None
    rows = pa.RecordBatch.from_struct_array(aside.filter(aside.is_valid()))
    return (rest.filter(pc.is_null(aside)) if aside.null_count else None), rows


class AsideFile:
    """The rows that one attempt of a task puts aside, in a file `path`, which is made when the first of them comes."""

    def __init__(self, store: Store, path: str) -> None:
        self._store, self._path = store, path
        self._begun: _Begun | None = None
        #: How many rows were put aside.
        self.rows = 0

    @property
    def written(self) -> str | None:
        """The path of the file; None where no row was put aside."""
        return None if self._begun is None else self._path

    def taken_from(self, batches: Iterable[pa.RecordBatch], split: Split = split_marked) -> Iterator[pa.RecordBatch]:
        """What `split` leaves of the batches; no batch is empty.

        The file is whole when all batches have been taken, and gone where that fails.
        """
        try:
            for batch in batches:
                rest, aside = split(batch)
                if aside is not None:
                    self._write(aside)
                if rest is not None:
                    yield rest
            if self._begun is not None:
                self._begun.close()
        except BaseException:
            if self._begun is not None:
                self._begun.discard()
                self._begun = None
            raise

    def _write(self, rows: pa.RecordBatch) -> None:
        if self._begun is None:
            self._begun = _Begun(self._store.open_output(self._path), rows.schema)
        self._begun.write(rows)
        self.rows += rows.num_rows


def put_all_aside(store: Store, path: str, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, all rows of which are put aside in a file, which is made when the first of them comes.

    The file is whole when all batches have been taken, and gone where that fails.
    """
    begun: _Begun | None = None
    try:
        for batch in batches:
            begun = begun or _Begun(store.open_output(path), batch.schema)
            begun.write(batch)
            yield batch
        if begun is not None:
            begun.close()
    except BaseException:
        if begun is not None:
            begun.discard()
        raise


class _Begun:
    """A file that has been begun."""

    def __init__(self, output: Output, schema: pa.Schema) -> None:
        self._output, self._sink = output, Sink(output)
        options = pa.ipc.IpcWriteOptions(compression="zstd" if pa.Codec.is_available("zstd") else None)
        self._writer = pa.ipc.new_file(self._sink.stream, schema, options=options)

    def write(self, rows: pa.RecordBatch) -> None:
        with self._sink.filled():
            self._writer.write_batch(rows)

    def close(self) -> None:
        with self._sink.filled():
            self._writer.close()
        self._output.close()

    def discard(self) -> None:
        self._sink.let_go()
        self._output.discard()


def aside_batches(task: WriteTask, paths: Iterable[str]) -> Iterator[pa.RecordBatch]:
    """The rows of files that were put aside, in the order of the files and of the rows in them."""
    store = task.open_store()
    for path in paths:
        with open_ranges(store, path, store.size(path)) as source, pa.ipc.open_file(source) as reader:
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)
