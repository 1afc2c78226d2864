"""Keep rows that a job puts aside in files below a table's directory, until another job looks at them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakebed.arrow.aside_files import aside_batches
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import StoreError
from lakebed.store import Store
from lakebed.store.safe_delete import Inside
from lakebed.store.temporary import staging

if TYPE_CHECKING:
    import pyarrow as pa


#: How many rows are worth a task of their own, and a data file: to check them takes much longer than to write them.
_ROWS_OF_TASK = 10_000


@dataclass(slots=True)
class RowsAside:
    """The rows that one write puts aside: `files` are those of the job that came to its end, with `rows` in all, of
    which `bad_rows` have known problems, `task` says how they are opened. `columns` are those that other rows had, if
    that is told of them.
    """

    store: Store
    table_path: str
    id: str = field(default_factory=lambda: uuid4().hex)
    files: tuple[str, ...] = ()
    rows: int = 0
    bad_rows: int = 0
    columns: frozenset[str] = frozenset()
    task: WriteTask | None = None
    _may_exist: bool = False

    @property
    def directory(self) -> str:
        """Where the files lie."""
        return f"{self.table_path}/{staging(self.id)}"

    def begin(self) -> str:
        """The directory, for a job that writes there from now on."""
        self._may_exist = True
        return self.directory

    def read(self, spark: SparkSession, schema: StructType) -> DataFrame:
        """The rows, of the columns that were put aside."""
        if not self.files or self.task is None:
            return spark.createDataFrame([], schema)
        tasks = min(len(self.files), -(-self.rows // _ROWS_OF_TASK))
        numbers = spark.range(0, len(self.files), 1, tasks)
        return numbers.mapInArrow(_reader(self.task, self.files), schema)

    def clear(self) -> None:
        """Delete the files, as well as possible: what stays is found by the clean-up of orphans."""
        if self._may_exist:
            with suppress(StoreError):
                Inside(self.store, self.table_path).delete_tree(self.directory)


def _reader(task: WriteTask, files: tuple[str, ...]) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a worker does with numbers of files."""

    def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            yield from aside_batches(task, (files[number] for number in batch.column(0).to_pylist()))

    return read
