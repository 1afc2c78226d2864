"""Write the hash indexes of dynamic buckets that get new keys, beside the data files of a task."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.write_task import WriteTask
from lakebed.format import binary_row
from lakebed.format.hash_index import HashIndex, hashes_as_stored, hashes_in, read_hashes
from lakebed.format.index_manifest import HASH, IndexFile, index_path
from lakebed.store import Output, Store


def read_index(store: Store, index: HashIndex) -> tuple[pa.Array, bytes]:
    """The hashes of an index, INT, in the order of the file, and its bytes."""
    data = store.read(index.path)
    hashes = read_hashes(data, index.path)
    return pa.Array.from_buffers(pa.int32(), len(hashes), [None, pa.py_buffer(hashes)]), data


class HashIndexWriter:
    """Notes the hashes of rows by their bucket, and at the end writes the index of each that has got a new one."""

    def __init__(self, store: Store, task: WriteTask, open_output: Callable[[str], Output]) -> None:
        assert task.hash_indexes is not None
        self._store, self._task, self._open = store, task, open_output
        self._known = task.hash_indexes
        self._decode = binary_row.codec(task.partition_types).decode
        self._noted: dict[tuple[bytes, int], list[pa.Array]] = {}
        self._files: list[IndexFile] = []

    def note(self, partition: bytes, bucket: int, hashes: pa.Array) -> None:
        """Take the hashes of rows of a bucket."""
        if not self._known.fixed:
            self._noted.setdefault((partition, bucket), []).append(hashes.unique())

    def finish(self) -> tuple[IndexFile, ...]:
        """Write the indexes; their entries."""
        for (partition, bucket), noted in self._noted.items():
            self._end_bucket(partition, bucket, pa.concat_arrays(noted).unique())
        return tuple(self._files)

    def _end_bucket(self, partition: bytes, bucket: int, new: pa.Array) -> None:
        before = b""
        index = self._known.of_partition(partition).get(bucket)
        if index is not None:
            known, before = read_index(self._store, index)
            new = new.filter(pc.invert(pc.is_in(new, value_set=known)))
        if len(new):
            data = before + hashes_as_stored(new.to_pylist())
            self._files.append(self._write(partition, bucket, data))

    def _write(self, partition: bytes, bucket: int, data: bytes) -> IndexFile:
        task, name = self._task, f"index-{self._task.id}-{self._task.number}-{len(self._files)}"
        file = IndexFile(0, HASH, name, partition, bucket, len(data), hashes_in(data), {})
        directory = task.directory(self._decode(partition), bucket)
        output = self._open(index_path(task.table_path, directory, file, task.options))
        output.write(data)
        output.close()
        return file
