"""Write batches as data files of a table, straight to their places, and as files of its changelog beside them.

This runs in Spark's workers. A file is nobody's until a snapshot names it; a call that fails leaves none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa

from lakebed.arrow.blob_series import BlobSeries
from lakebed.arrow.data_file_writer import DataFileWriter
from lakebed.arrow.hash_index_writer import HashIndexWriter
from lakebed.arrow.row_forms import RowForms
from lakebed.arrow.row_runs import HASH, LAST, Place, runs
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import AlreadyExistsError, LakebedError
from lakebed.format import binary_row
from lakebed.format.manifest import Kind, ManifestEntry
from lakebed.format.new_files import NewFiles
from lakebed.store import Output, Store
from lakebed.store.safe_delete import Inside


def write_data_files(batches: Iterable[pa.RecordBatch], task: WriteTask, *, store: Store | None = None) -> NewFiles:
    """Write rows as data files; entries that add these, in the order in which they were written.

    Entries of blob files follow that of the data file with the other columns of their rows.

    Batches hold the table's columns by name, and `_LAKEBED_BUCKET` (int32) and `_LAKEBED_ROUND` (int32) where rows of a
    partition do not all belong together, `_LAKEBED_HASH` (int32) where buckets are dynamic; in keyed tables also
    `_VALUE_KIND` (int8) where rows do not all insert. Rows of one place come together, in keyed tables sorted by key.
    Where the task makes a changelog, all rows go into changelog files, and `_LAKEBED_LAST` (bool) says which of them go
    into data files, under the same numbers; without it all do. `store` is the table's where it is open already.

    Raises WriteError for rows that are not what they should be, RowOrderError where keys do not ascend, StoreError.
    Whatever is raised, no file that was written stays.
    """
    files = _Files(task.open_store() if store is None else store, task)
    try:
        for batch in batches:
            files.write(batch)
        return files.finish()
    except BaseException:
        files.take_back()
        raise


class _Files:
    """The files of one call: at most one data file and one changelog file of them are open."""

    def __init__(self, store: Store, task: WriteTask) -> None:
        outputs = _Outputs(store, task.table_path)
        self._task, self._outputs = task, outputs
        self._codec = binary_row.codec(task.partition_types)
        self._place: Place | None = None
        self._next_sequence = task.first_sequence
        self._data = _Series(task.of_data_files, RowForms(task.of_data_files), outputs)
        self._blobs: RowForms | None = None
        if task.blob_fields:
            self._blobs = RowForms(task.of_blobs)
            self._data.blobs = self._blobs.values
        self._indexes = None if task.hash_indexes is None else HashIndexWriter(outputs.store, task, outputs.open)
        self._changelog: _Series | None = None
        if task.makes_changelog:
            self._changelog = _Series(task.of_changelog, RowForms(task.of_changelog), outputs, repeats_keys=True)

    def write(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch, into as many files as it takes."""
        first = self._next_sequence
        values = self._data.rows.convert(batch, first)
        logged = None
        if self._changelog is not None:
            alike = self._changelog.task.file_format == self._task.file_format
            logged = values if alike else self._changelog.rows.convert(batch, first)
        last = _last(batch) if logged is not None else None
        blobs = None
        if self._blobs is not None:
            # Rows wait for their row group, and would keep the contents that came with them in memory.
            blobs, values = self._blobs.convert(batch, first), _apart(values)
        partition = [values.column(i) for i in self._data.task.partition_places]
        for run in runs(batch, partition, self._codec):
            if run.place != self._place:
                self._begin_place(run.place)
            if self._indexes is not None:
                hashes = batch.column(HASH).slice(run.start, run.length)
                self._indexes.note(run.place.partition, run.place.bucket, hashes)
            rows = values.slice(run.start, run.length)
            kept = rows if last is None else rows.filter(last.slice(run.start, run.length))
            own = None if blobs is None else blobs.slice(run.start, run.length)
            self._data.write(kept, first + run.start, own)
            if self._changelog is not None and logged is not None:
                self._changelog.write(logged.slice(run.start, run.length), first + run.start)
        self._next_sequence += batch.num_rows

    def finish(self) -> NewFiles:
        """Finish the files that are open; the entries of all files."""
        self._end_place()
        changelog = () if self._changelog is None else tuple(self._changelog.entries)
        indexes = () if self._indexes is None else self._indexes.finish()
        return NewFiles(tuple(self._data.entries), changelog, indexes)

    def take_back(self) -> None:
        """Delete everything that was written, as well as possible: what stays is found by the clean-up of orphans."""
        for series in (self._data, self._changelog):
            if series is not None:
                series.let_go()
        self._outputs.discard()

    def _end_place(self) -> None:
        for series in (self._data, self._changelog):
            if series is not None:
                series.end_file()

    def _begin_place(self, place: Place) -> None:
        self._end_place()
        self._place = place
        directory = self._task.directory(self._codec.decode(place.partition), place.bucket)
        for series in (self._data, self._changelog):
            if series is not None:
                series.place, series.directory = place, directory


def _apart(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows in memory of their own."""
    return pa.RecordBatch.from_arrays([pa.concat_arrays([c]) for c in batch.columns], schema=batch.schema)


def _last(batch: pa.RecordBatch) -> pa.Array | None:
    """Which rows go into data files; None for all."""
    at = batch.schema.get_field_index(LAST)
    return None if at < 0 else batch.column(at)


@dataclass(slots=True)
class _Outputs:
    """What one call writes to: every file has a number of its own in its name."""

    store: Store
    table_path: str
    made: list[Output] = field(default_factory=list)
    count: int = 0

    def next_name(self, name: Callable[[int], str]) -> str:
        """The name of the next file, from its number."""
        self.count += 1
        return name(self.count - 1)

    def open(self, path: str) -> Output:
        """A new file."""
        try:
            output = self.store.open_output(path)
        except AlreadyExistsError:
            raise
        except BaseException:
            # It may be there by now.
            with suppress(LakebedError):
                Inside(self.store, self.table_path).delete(path)
            raise
        self.made.append(output)
        return output

    def discard(self) -> None:
        """Delete all of them, as well as possible."""
        for output in self.made:
            with suppress(LakebedError):
                output.discard()


class _Series:
    """The files of one sort, one after the other; `blobs` are the columns that go into files beside them."""

    def __init__(self, task: WriteTask, rows: RowForms, outputs: _Outputs, *, repeats_keys: bool = False) -> None:
        self.task, self.rows = task, rows
        self._outputs, self._repeats_keys = outputs, repeats_keys
        self._open: DataFileWriter | None = None
        self._beside: BlobSeries | None = None
        self.blobs: pa.Schema | None = None
        self.place: Place | None = None
        self.directory = ""
        self.entries: list[ManifestEntry] = []

    def write(self, left: pa.RecordBatch, first: int, blobs: pa.RecordBatch | None = None) -> None:
        """Write rows of one place, whose first one has the number `first` where rows have none of their own.

        `blobs` are the values of the same rows in columns of blobs.
        """
        while left.num_rows:
            if self._open is not None and self._open.is_full:
                self.end_file()
            file = self._open = self._open or self._begin_file(first)
            taken = file.add(left)
            left, first = left.slice(taken), first + taken
            if blobs is not None and self._beside is not None:
                self._beside.add(blobs.slice(0, taken))
                blobs = blobs.slice(taken)

    def end_file(self) -> None:
        """Finish the file that is open, and those beside it."""
        if self._open is None:
            return
        assert self.place is not None
        metas = [self._open.finish(), *(() if self._beside is None else self._beside.finish())]
        place, total = self.place, self.task.total_buckets
        self.entries += (ManifestEntry(int(Kind.ADD), place.partition, place.bucket, total, meta) for meta in metas)
        self._open = self._beside = None

    def let_go(self) -> None:
        """Write no more."""
        if self._open is not None:
            self._open.let_go()

    def _begin_file(self, first: int) -> DataFileWriter:
        name, directory = self._outputs.next_name(self.task.file_name), self.directory

        def open_beside(beside: str) -> Output:
            return self._outputs.open(f"{directory}/{beside}")

        def open_blobs() -> tuple[str, Output]:
            beside = self._outputs.next_name(self.task.blob_file_name)
            return beside, open_beside(beside)

        output = open_beside(name)
        if self.blobs is not None:
            self._beside = BlobSeries(self.task, self.blobs, open_blobs)
        return DataFileWriter(output, name, self.task, self.rows, first, open_beside, repeats_keys=self._repeats_keys)
