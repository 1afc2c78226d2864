"""Write batches as data files of a table, straight to their places.

This runs in Spark's workers. A file is nobody's until a snapshot names it; a call that fails leaves none.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import pyarrow as pa

from lakebed.arrow.data_file_writer import DataFileWriter
from lakebed.arrow.row_forms import RowForms
from lakebed.arrow.row_runs import Place, runs
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import AlreadyExistsError, LakebedError
from lakebed.format import binary_row
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.store import Output, Store
from lakebed.store.safe_delete import Inside


def write_data_files(
    batches: Iterable[pa.RecordBatch], task: WriteTask, *, store: Store | None = None
) -> tuple[ManifestEntry, ...]:
    """Write rows as data files; entries that add these, in the order in which they were written.

    Batches hold the table's columns by name, and `_LAKEBED_BUCKET` (int32) and `_LAKEBED_ROUND` (int32) where rows of a
    partition do not all belong together; in keyed tables also `_VALUE_KIND` (int8) where rows do not all insert. Rows
    of one place come together, in keyed tables sorted by key. `store` is the table's where it is open already.

    Raises WriteError for rows that are not what they should be, RowOrderError where keys do not ascend, StoreError.
    Whatever is raised, no file that was written stays.
    """
    files = _Files(task.open_store() if store is None else store, task)
    try:
        for batch in batches:
            files.write(batch)
        files.end_file()
    except BaseException:
        files.take_back()
        raise
    return tuple(files.entries)


class _Files:
    """The files of one call: at most one of them is open."""

    def __init__(self, store: Store, task: WriteTask) -> None:
        self._store, self._task = store, task
        self._rows = RowForms(task)
        self._codec = binary_row.codec(task.partition_types)
        self._place: Place | None = None
        self._open: DataFileWriter | None = None
        self._directory = ""
        self._next_sequence = task.first_sequence
        self._outputs: list[Output] = []
        self.entries: list[ManifestEntry] = []

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch, into as many files as it takes."""
        values = self._rows.convert(batch)
        partition = [values.column(i) for i in self._task.partition_places]
        for run in runs(batch, partition, self._codec):
            if run.place != self._place:
                self.end_file()
                self._begin_place(run.place)
            left = values.slice(run.start, run.length)
            while left.num_rows:
                if self._open is not None and self._open.is_full:
                    self.end_file()
                file = self._open = self._open or self._begin_file()
                left = left.slice(file.add(left))

    def end_file(self) -> None:
        """Finish the file that is open."""
        if self._open is None:
            return
        assert self._place is not None
        partition, bucket = self._place.partition, self._place.bucket
        meta = self._open.finish()
        self.entries.append(ManifestEntry(int(Kind.ADD), partition, bucket, self._task.total_buckets, meta))
        self._next_sequence = self._open.next_sequence
        self._open = None

    def take_back(self) -> None:
        """Delete everything that was written, as well as possible: what stays is found by the clean-up of orphans."""
        if self._open is not None:
            self._open.let_go()
        for output in self._outputs:
            with suppress(LakebedError):
                output.discard()

    def _begin_place(self, place: Place) -> None:
        self._place = place
        self._directory = self._task.directory(self._codec.decode(place.partition), place.bucket)

    def _begin_file(self) -> DataFileWriter:
        name = self._task.file_name(len(self._outputs))
        path = f"{self._directory}/{name}"
        try:
            output = self._store.open_output(path)
        except AlreadyExistsError:
            raise
        except BaseException:
            # It may be there by now.
            with suppress(LakebedError):
                Inside(self._store, self._task.table_path).delete(path)
            raise
        self._outputs.append(output)
        return DataFileWriter(output, name, self._task, self._rows, self._next_sequence)
