"""Number the records of a table: offsets without gaps from commit to commit, in source order.

Rows are first put aside as they are, good ones only, each with the piece of the source that it comes from (its block)
and a number that grows within the block. The tasks that put them aside count the blocks, which gives every row its
place; what is left to add is where the table ends, which is known for certain only by the commit that wins. Whoever
loses the race numbers again from the rows that were put aside, without reading the source again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.arrow.aside_files import put_all_aside
from lakebed.arrow.write_task import WriteTask
from lakebed.diagnostics import Diagnostic
from lakebed.errors import IngestError
from lakebed.format.commit import TableStorage
from lakebed.physical.paimon_types import DataField
from lakebed.spark.arrow_batches import (
    LargeRowError,
    bounded_by_rows,
    gathered,
    is_counting,
    needs_count,
    refuse_large_rows,
)
from lakebed.spark.rows_aside import RowsAside
from lakebed.spark.spark_errors import spark_errors, writing_rows
from lakebed.spark.sql_names import plain_url
from lakebed.spark.worker_python import check_workers
from lakebed.spark.write_rows import attempted

if TYPE_CHECKING:
    import pyarrow as pa

NEXT_OFFSET = "lakebed.next-offset"
UNPAIRED = "LB6431"
NOT_DENSE = "LB6432"

_CORRECT_FROM, _CORRECT_TO = 2, 3
_SHOWN = 5
#: Stands between the parts of the name of a block.
BETWEEN = "\u0001"
#: The bits of `monotonically_increasing_id` that count the rows of one task.
_WITHIN_TASK = (1 << 33) - 1
#: What a task tells of the rows that it has put aside.
_OF_BLOCK = ("block", "rows", "first", "low", "high", "total")
_COUNTED = "path string, block string, rows bigint, first bigint, low bigint, high bigint, total bigint"


def block_of(part: int, url: Column, start: Column) -> Column:
    """The name of the piece of a source that a row comes from."""
    return F.concat_ws(BETWEEN, F.lit(str(part)), F.coalesce(url, F.lit("")), start.cast("string"))


@dataclass(slots=True)
class _Block:
    """What tasks have counted of a block: rows, the least number, the bounds and the sum of the numbers in a task."""

    rows: int
    first: int
    low: int
    high: int
    total: int

    def with_more(self, other: _Block) -> _Block:
        """The same block together with what another task has of it."""
        first, low, high = min(self.first, other.first), min(self.low, other.low), max(self.high, other.high)
        return _Block(self.rows + other.rows, first, low, high, self.total + other.total)

    @property
    def is_dense(self) -> bool:
        """Whether the rows stand one after the other."""
        return self.high - self.low + 1 == self.rows and 2 * self.total == (self.low + self.high) * self.rows


@dataclass(slots=True)
class NumberedRows:
    """The good rows of a run, put aside, and the place of each block among them.

    `fields` are the columns of the table, `column` is the place of the offset among them, `files` are those of the
    source; `new_task` says how the table's store is opened.
    """

    spark: SparkSession
    aside: RowsAside
    fields: Sequence[DataField]
    column: int
    files: Sequence[str]
    new_task: Callable[[], WriteTask]
    schema: spark_types.StructType = field(default_factory=spark_types.StructType)
    first: dict[str, int] = field(default_factory=dict)
    rows: int = 0
    is_repeated: bool = False

    def write(self, values: DataFrame) -> None:
        """Put rows of columns `v0`, `v1`, ... and `block` aside, in the order that they are read in, and find the place
        of each block. Raises `IngestError` (LB6432) where the rows of a block are not in a row.
        """
        ordered = values.withColumn("row", F.monotonically_increasing_id())
        self.schema, self.aside.task = ordered.schema, self.new_task()
        counts_bytes = needs_count(self.fields) or is_counting(self.spark)
        try:
            self._place(self._run(ordered, self.aside.task, counts_bytes=counts_bytes))
        except LargeRowError:
            # What the failed job has put aside goes with the directory.
            self.is_repeated = True
            self._place(self._run(ordered, self.aside.task, counts_bytes=True))

    def _run(self, rows: DataFrame, task: WriteTask, *, counts_bytes: bool) -> Sequence[Row]:
        check_workers(self.spark)
        directory = self.aside.begin()
        if not counts_bytes:
            rows = refuse_large_rows(rows, [(F.col(f"v{i}"), f.type) for i, f in enumerate(self.fields)])
        with writing_rows(directory), bounded_by_rows(self.spark, counts_bytes=counts_bytes):
            return rows.mapInArrow(_writer(task, directory), _COUNTED).collect()

    def _place(self, counted: Sequence[Row]) -> None:
        self.aside.files = tuple(sorted({row["path"] for row in counted}))
        blocks: dict[str, _Block] = {}
        for _, name, *numbers in counted:
            own = _Block(*numbers)
            blocks[name] = own if name not in blocks else blocks[name].with_more(own)
        self.rows, self.first = 0, {}
        for name in sorted(blocks, key=self._order):
            block = blocks[name]
            if not block.is_dense:
                raise IngestError.of(
                    NOT_DENSE,
                    "the rows cannot be numbered in order: the source gave some of them twice or in several pieces",
                    found=name.replace(BETWEEN, " "),
                    remedy="ingest a source that stays as it is, for example a file",
                )
            self.first[name] = self.rows - block.first
            self.rows += block.rows
        self.aside.rows = self.rows

    def _order(self, block: str) -> tuple[int, int, int]:
        part, url, start = block.split(BETWEEN)
        path = plain_url(url)
        known = {p: i for i, p in enumerate(self.files)}
        return known.get(path, len(known)), int(part), int(start)

    def numbered(self, base: int) -> DataFrame:
        """The rows with their offsets, the first of which is `base`."""
        names = [f"v{i}" for i in range(len(self.schema.fields) - 2)]
        type_ = self.schema[f"v{self.column}"].dataType
        offset = (F.col("first") + F.col("row") + F.lit(base)).cast(type_)
        rows = self._placed()
        return rows.select(*(offset.alias(n) if n == f"v{self.column}" else F.col(n) for n in names))

    def check_corrections(self, operation: int) -> None:
        """Raise `IngestError` (LB6431) unless each correction is a pair: what was, and right after it what is."""
        op = F.col(f"v{operation}").cast("int")
        place = F.col("first") + F.col("row")
        halves = self._placed().where(op.isin(_CORRECT_FROM, _CORRECT_TO))
        pair = F.when(op == _CORRECT_FROM, place + 1).otherwise(place)
        pairs = halves.groupBy(pair.alias("at")).agg(
            F.count_if(op == _CORRECT_FROM).alias("old"), F.count_if(op == _CORRECT_TO).alias("new")
        )
        broken = pairs.where((F.col("old") != 1) | (F.col("new") != 1)).orderBy("at")
        found = broken.limit(_SHOWN).collect()
        if found:
            raise IngestError(*(_unpaired(b["at"], b["old"] == 1) for b in found))

    def _placed(self) -> DataFrame:
        rows = self.aside.read(self.spark, self.schema)
        if len(self.first) == 1:
            return rows.withColumn("first", F.lit(next(iter(self.first.values()))).cast("bigint"))
        data: list[tuple[Any, ...]] = list(self.first.items())
        places = self.spark.createDataFrame(data, "block string, first bigint")
        return rows.join(F.broadcast(places), "block")


def _writer(task: WriteTask, directory: str) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a worker does with the rows of its task: it puts them aside, and tells of each block what it has of it."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        path = f"{directory}/{attempted(task).number}-{uuid4().hex}.arrow"
        counted = [_counted(rows) for rows in put_all_aside(task.open_store(), path, gathered(batches))]
        if counted:
            blocks = _summed(pa.concat_tables(counted))
            yield from blocks.add_column(0, "path", pa.repeat(pa.scalar(path), blocks.num_rows)).to_batches()

    return write


def _summed(counted: pa.Table) -> pa.Table:
    """What batches have of blocks as what a task has of them."""
    asked = list(zip(_OF_BLOCK[1:], ("sum", "min", "min", "max", "sum"), strict=True))
    found = counted.group_by("block").aggregate(asked)
    return found.select(["block", *(f"{name}_{what}" for name, what in asked)]).rename_columns(list(_OF_BLOCK))


def _counted(rows: pa.RecordBatch) -> pa.Table:
    """A row for each block in a batch; see `_Block`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    block, row = rows.column(rows.schema.get_field_index("block")), rows.column(rows.schema.get_field_index("row"))
    within = pc.bit_wise_and(row, pa.scalar(_WITHIN_TASK, pa.int64()))
    table = pa.table({"block": block, "row": row, "within": within})
    asked = [("row", "count"), ("row", "min"), ("within", "min"), ("within", "max"), ("within", "sum")]
    found = table.group_by("block").aggregate(asked)
    return found.select(["block", *(f"{name}_{what}" for name, what in asked)]).rename_columns(list(_OF_BLOCK))


def _unpaired(at: int, is_old: bool) -> Diagnostic:
    if is_old:
        message = f"good row {at} of the source corrects a record, and the next row does not say what it became"
    else:
        message = f"good row {at + 1} of the source says what a record became, and the row before not what it was"
    return Diagnostic(
        UNPAIRED,
        message,
        path="op",
        expected="CorrectFrom (2), right after it CorrectTo (3)",
        remedy="put the two rows together; where one of them is bad, mend it",
    )


def next_offset(table: TableStorage, largest: Callable[[], int | None]) -> int:
    """The offset of the next record. `largest` reads the largest one of all rows, for what others have written."""
    foreign, any_snapshot = False, False
    known = 0
    for snapshot in table.snapshots.newest_first():
        any_snapshot = True
        said = (snapshot.properties or {}).get(NEXT_OFFSET, "")
        if said.isdigit():
            known = int(said)
            break
        foreign = foreign or (snapshot.commit_kind in ("APPEND", "OVERWRITE") and snapshot.delta_record_count != 0)
    else:
        foreign = any_snapshot
    if not foreign:
        return known
    with spark_errors():
        found = largest()
    return max(known, 0 if found is None else int(found) + 1)
