"""Write the hash indexes of dynamic buckets that get new keys, beside the data files of a task."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.write_task import WriteTask
from lakebed.format import binary_row
from lakebed.format.hash_index import HashIndex, hashes_as_stored, read_hashes
from lakebed.format.index_manifest import HASH, IndexFile, index_path
from lakebed.store import Output, Store


def read_index(store: Store, index: HashIndex) -> tuple[pa.Array, bytes]:
    """The hashes of an index, INT, in the order of the file, and its bytes."""
    data = store.read(index.path)
    hashes = read_hashes(data, index.path)
    return pa.Array.from_buffers(pa.int32(), len(hashes), [None, pa.py_buffer(hashes)]), data


class HashIndexWriter:
    """Notes the hashes of the rows of one bucket after the other, and writes its index where one of them is new."""

    def __init__(self, store: Store, task: WriteTask, open_output: Callable[[str], Output]) -> None:
        assert task.hash_indexes is not None
        self._store, self._task, self._open = store, task, open_output
        self._known = task.hash_indexes
        self._decode = binary_row.codec(task.partition_types).decode
        self._place: tuple[bytes, int] | None = None
        self._noted: list[pa.Array] = []
        self._files: list[IndexFile] = []

    def note(self, partition: bytes, bucket: int, hashes: pa.Array) -> None:
        """Take the hashes of rows of a bucket; those of one bucket come together."""
        if (partition, bucket) != self._place:
            self._end_bucket()
            self._place = partition, bucket
        self._noted.append(hashes.unique())

    def finish(self) -> tuple[IndexFile, ...]:
        """Write the index of the last bucket; the entries of all that were written."""
        self._end_bucket()
        return tuple(self._files)

    def _end_bucket(self) -> None:
        if self._place is None or self._known.fixed:
            return
        (partition, bucket), before = self._place, b""
        new = pa.concat_arrays(self._noted).unique()
        index = self._known.of_partition(partition).get(bucket)
        if index is not None:
            known, before = read_index(self._store, index)
            new = new.filter(pc.invert(pc.is_in(new, value_set=known)))
        if len(new):
            data = before + hashes_as_stored(new.to_pylist())
            self._files.append(self._write(partition, bucket, data))
        self._place, self._noted = None, []

    def _write(self, partition: bytes, bucket: int, data: bytes) -> IndexFile:
        task, name = self._task, f"index-{self._task.id}-{self._task.number}-{len(self._files)}"
        file = IndexFile(0, HASH, name, partition, bucket, len(data), len(data) // 4, {})
        directory = task.directory(self._decode(partition), bucket)
        output = self._open(index_path(task.table_path, directory, file, task.options))
        output.write(data)
        output.close()
        return file
