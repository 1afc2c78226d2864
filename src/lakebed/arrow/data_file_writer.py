"""Write one data file: its rows in groups, its statistics, and what a manifest says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from lakebed.arrow.column_statistics import StatisticsCollector, internal_value
from lakebed.arrow.file_indexes import IndexCollector
from lakebed.arrow.format_writers import open_writer
from lakebed.arrow.keyed_rows import KeyOrder, count_deletes
from lakebed.arrow.row_forms import RowForms
from lakebed.arrow.write_task import WriteTask
from lakebed.format import binary_row
from lakebed.format.manifest import EMPTY_STATS, INDEX_SUFFIX, DataFileMeta
from lakebed.store import Output

#: How much of what is written is held before it becomes a row group: bytes as Arrow has them, and rows.
_GROUP_BYTES, _GROUP_ROWS = 64 << 20, 1 << 20
_LEAST_BYTES = 1 << 20


class DataFileWriter:
    """A data file that is being written to `output`. `repeats_keys`: rows of one key may stand there together.

    Rows that have no numbers of their own are numbered from `first_sequence` on. `open_beside` opens a new file of a
    name in the same directory, for indexes that are too large for the manifest.
    """

    def __init__(
        self,
        output: Output,
        name: str,
        task: WriteTask,
        rows: RowForms,
        first_sequence: int,
        open_beside: Callable[[str], Output],
        *,
        repeats_keys: bool = False,
    ) -> None:
        self._output, self._name, self._task, self._rows = output, name, task, rows
        self._first, self._open_beside = first_sequence, open_beside
        self._writer = open_writer(output, rows, task)
        self._statistics = StatisticsCollector(task.fields, task.options, task.key_places)
        self._indexes = IndexCollector(task.fields, task.options)
        self._order = KeyOrder(task.key, repeats=repeats_keys) if task.key else None
        self._held: list[pa.RecordBatch] = []
        self._held_bytes = self._held_rows = 0
        self._given_bytes = 0
        self._deletes = 0
        self._ends: list[tuple[Any, ...]] = []
        self._numbers: list[int] = []
        self.rows = 0

    @property
    def is_full(self) -> bool:
        """Whether the next rows belong into another file."""
        return self.rows >= self._task.target_rows or self._output.size >= self._task.target_size

    def add(self, batch: pa.RecordBatch) -> int:
        """Take rows from the start of a batch, as many as there is room for; how many these were, at least one."""
        size: int = batch.nbytes
        room = self._group_bytes() - self._held_bytes
        count: int = min(batch.num_rows, self._task.target_rows - self.rows, _GROUP_ROWS - self._held_rows)
        if size > room:
            count = max(1, min(count, batch.num_rows * room // size))
        self._held.append(batch.slice(0, count))
        self._held_bytes += size * count // batch.num_rows
        self._held_rows += count
        self.rows += count
        if self._held_rows >= _GROUP_ROWS or self._held_bytes >= self._group_bytes() - size // batch.num_rows:
            self._write_group()
        return count

    def finish(self) -> DataFileMeta:
        """Write what is left; what a manifest says of the file."""
        self._write_group()
        self._writer.close()
        self._output.close()
        embedded, extra = self._write_indexes()
        numbers = self._numbers or [self._first, self._first + self.rows - 1]
        if self._task.sequence is not None:
            numbers = [self._task.sequence]
        elif not self._task.has_sequence:
            numbers = [0, self.rows - 1]
        return DataFileMeta(
            file_name=self._name,
            file_size=self._output.size,
            row_count=self.rows,
            schema_id=self._task.schema_id,
            value_stats=self._statistics.value_statistics(),
            min_key=self._key(0),
            max_key=self._key(-1),
            key_stats=self._statistics.key_statistics() if self._task.key else EMPTY_STATS,
            min_sequence_number=numbers[0],
            max_sequence_number=numbers[-1],
            extra_files=extra,
            embedded_file_index=embedded,
            level=self._task.level,
            creation_time=self._task.creation_time,
            delete_row_count=self._deletes,
            file_source=int(self._task.source),
            value_stats_cols=self._task.write_cols,
            write_cols=self._task.write_cols,
        )

    def let_go(self) -> None:
        """Write no more; who has the output discards it."""
        self._writer.let_go()

    def _group_bytes(self) -> int:
        """How many bytes the next row group has: fewer towards the size that a file should have."""
        left = self._task.target_size - self._output.size
        if self._output.size and self._given_bytes:
            left = left * self._given_bytes // self._output.size
        return min(_GROUP_BYTES, max(left, min(_LEAST_BYTES, self._task.target_size), 1))

    def _write_group(self) -> None:
        if not self._held:
            return
        rows = pa.Table.from_batches(self._held)
        self._statistics.add(rows.columns[: len(self._task.fields)])
        self._indexes.add(rows)
        if self._order is not None:
            self._look_at_keys(rows, self._order)
        self._writer.write(self._rows.file_rows(rows))
        self._given_bytes += self._held_bytes
        self._held, self._held_bytes, self._held_rows = [], 0, 0

    def _write_indexes(self) -> tuple[bytes | None, tuple[str, ...]]:
        """What a manifest entry has of the file's indexes: them, or the name of the file that they are in."""
        container = self._indexes.container()
        if container is None or self._indexes.is_embedded(container):
            return container, ()
        name = f"{self._name}{INDEX_SUFFIX}"
        output = self._open_beside(name)
        output.write(container)
        output.close()
        return None, (name,)

    def _look_at_keys(self, rows: pa.Table, order: KeyOrder) -> None:
        keys = [rows.column(i) for i in self._task.key_places]
        order.add(keys)
        kinds, numbers = rows.columns[-2:]
        self._deletes += count_deletes(kinds)
        self._ends = [*self._ends[:1], *(_row(keys, at) for at in (0, rows.num_rows - 1))]
        self._numbers = [*self._numbers[:1], numbers[0].as_py(), numbers[-1].as_py()]

    def _key(self, end: int) -> bytes:
        if not self._task.key:
            return binary_row.EMPTY_ROW
        return binary_row.encode([self._task.fields[i].type for i in self._task.key_places], self._ends[end])


def _row(columns: Sequence[pa.ChunkedArray], at: int) -> tuple[Any, ...]:
    return tuple(internal_value(column[at]) for column in columns)
