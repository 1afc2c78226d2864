"""Write rows as data files: Spark brings the rows of each bucket together, its workers write them by Arrow.

Each task writes its files straight to their places and gives back one message: the entries that a commit publishes. No
row comes to the driver, no file is moved or opened again, and files of a task that failed are deleted by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType

from lakebed.arrow.aside_files import ASIDE, AsideFile, split_marked
from lakebed.arrow.plain_rows import PlainRows
from lakebed.arrow.row_runs import BUCKET, LAST, ROUND
from lakebed.arrow.write_files import write_data_files
from lakebed.arrow.write_task import WriteTask
from lakebed.format.index_manifest import index_files_of, index_manifest_bytes
from lakebed.format.manifest import read_entries, write_manifest
from lakebed.format.new_files import UNAWARE, NewFiles
from lakebed.format.row_kinds import INSERTS, VALUE_KIND
from lakebed.physical.paimon_types import DataType, VarChar
from lakebed.spark.arrow_batches import bounded_by_rows, gathered, is_counting, needs_count, refuse_large_rows
from lakebed.spark.dynamic_buckets import in_dynamic_buckets
from lakebed.spark.row_bytes import bucket_of, sort_keys
from lakebed.spark.row_order import UNSORTED, RowOrder
from lakebed.spark.spark_errors import writing_rows
from lakebed.spark.worker_python import check_workers
from lakebed.write.plan_write import WritePlan

if TYPE_CHECKING:
    import pyarrow as pa

_PLACE = "_LAKEBED_PLACE"
_MESSAGE, _CHANGELOG, _INDEXES = "entries", "changelog", "indexes"
_ASIDE_FILE, _ASIDE_ROWS, _BAD_ROWS, _COLUMNS = "aside", "aside_rows", "bad_rows", "columns"


@dataclass(frozen=True, slots=True)
class Compacted:
    """What the files of compacted rows are: their level, and the one number of all rows, 0 and None of append tables.

    The number is not above that of any row which is newer. Sorted rows are brought into `ranges` of their order; 0 says
    that those of one file are together already, as those which are not sorted are.
    """

    level: int = 0
    sequence: int | None = None
    ranges: int = 0


@dataclass(frozen=True, slots=True)
class RowsToWrite:
    """Rows under the schema of a plan: column `v<i>` is the schema's column i, of its scan type.

    `kind` is what a row does to its key, a number as it is stored, or NULL for an insert; `arrival` orders the rows as
    they came. Both are of tables with a primary key only. `order`, of other tables, sorts the rows: neighbours in it
    come into one file. `compacted` says that the rows are those of other files, which go. With `aside`, a directory,
    the frame also has the struct `ASIDE`: where it is not NULL the row is not written, and the struct goes to a file
    there.

    With `plain` the frame has the columns of a source, from which the workers make those of the schema; rows that they
    leave in doubt go to the files aside as they came. Of a table in partitions the columns `v<i>` of these are there
    too, as texts, by which rows are brought together.
    """

    frame: DataFrame
    kind: Column | None = None
    arrival: tuple[Column, ...] = ()
    order: RowOrder = UNSORTED
    compacted: Compacted | None = None
    aside: str | None = None
    plain: PlainRows | None = None


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """What a job has written: files of the table, and files of rows that were put aside, `aside_rows` in all.

    `bad_rows` of these have known problems, and `columns` are those that plain rows had; see `PlainRows`.
    """

    files: NewFiles
    aside: tuple[str, ...] = ()
    aside_rows: int = 0
    bad_rows: int = 0
    columns: frozenset[str] = frozenset()


def write_rows(rows: RowsToWrite, plan: WritePlan, task: WriteTask, *, counts_bytes: bool = False) -> WrittenRows:
    """Write the rows. Nothing refers to the new files before they are committed.

    Raises `LargeRowError` for rows that are to be written again, with `counts_bytes`.
    """
    spark = rows.frame.sparkSession
    check_workers(spark)
    routed = _routed(rows, plan, task)
    names = {f"v{i}": f.name for i, f in enumerate(plan.schema.fields)}
    counts_bytes = counts_bytes or needs_count(plan.schema.fields) or is_counting(spark)
    if not counts_bytes:
        routed = refuse_large_rows(routed, _sent(rows, plan))
    with writing_rows(task.table_path), bounded_by_rows(spark, counts_bytes=counts_bytes):
        told = f"{_ASIDE_FILE} string, {_ASIDE_ROWS} bigint, {_BAD_ROWS} bigint, {_COLUMNS} array<string>"
        schema = f"{_MESSAGE} binary, {_CHANGELOG} binary, {_INDEXES} binary, {told}"
        messages = routed.mapInArrow(_writer(task, names, rows.aside, rows.plain), schema).collect()
    added, changelog = (
        tuple(entry for m in messages if m[part] is not None for entry in read_entries(bytes(m[part]), task.table_path))
        for part in (_MESSAGE, _CHANGELOG)
    )
    parts = (bytes(m[_INDEXES]) for m in messages if m[_INDEXES] is not None)
    indexes = tuple(file for part in parts for file in index_files_of(part, task.table_path))
    aside = tuple(m[_ASIDE_FILE] for m in messages if m[_ASIDE_FILE] is not None)
    columns = frozenset(name for m in messages for name in m[_COLUMNS])
    put_aside, bad = (sum(m[name] for m in messages) for name in (_ASIDE_ROWS, _BAD_ROWS))
    return WrittenRows(NewFiles(added, changelog, indexes), aside, put_aside, bad, columns)


def _sent(rows: RowsToWrite, plan: WritePlan) -> list[tuple[Column, DataType]]:
    """The values that go to the workers, with their types."""
    if rows.plain is not None:
        texts = (f.name for f in rows.frame.schema.fields if isinstance(f.dataType, StringType))
        return [(F.col(name), VarChar()) for name in texts]
    sent = [(F.col(f"v{i}"), f.type) for i, f in enumerate(plan.schema.fields)]
    if rows.aside is not None:
        sent += [(value, VarChar()) for value in _texts_aside(rows.frame)]
    return sent


def _texts_aside(frame: DataFrame) -> list[Column]:
    """The texts that are put aside, of which rows may have large ones."""
    aside = frame.schema[ASIDE].dataType
    assert isinstance(aside, StructType)
    return [F.col(ASIDE).getField(f.name) for f in aside.fields if isinstance(f.dataType, StringType)]


def _routed(rows: RowsToWrite, plan: WritePlan, task: WriteTask) -> DataFrame:
    """The rows with their bucket, those of one partition and bucket together, in the order of writing."""
    index = {f.id: F.col(f"v{i}") for i, f in enumerate(plan.schema.fields)}
    place, columns = _place(plan), list(index.values())
    if rows.plain is not None:
        return _in_place(rows, rows.frame, place, in_buckets=False)
    if rows.aside is not None:
        columns.append(F.col(ASIDE))
    if plan.buckets != UNAWARE:
        values = [index[f.id] for f in plan.bucket_key]
        types = [f.type for f in plan.bucket_key]
        columns.append(bucket_of(values, types, plan.buckets, plan.bucket_function).alias(BUCKET))
    if not plan.is_keyed:
        return _in_place(rows, rows.frame.select(*columns), place, in_buckets=plan.buckets != UNAWARE)
    kind = F.lit(0) if rows.kind is None else F.coalesce(rows.kind, F.lit(0))
    columns.append(kind.cast("tinyint").alias(VALUE_KIND.name))
    arrival = [column.alias(f"arrival{i}") for i, column in enumerate(rows.arrival)]
    frame = rows.frame.select(*columns, *arrival)
    if plan.ignores_deletes:
        kept = F.col(VALUE_KIND.name).isin(*INSERTS)
        frame = frame.where(kept if rows.aside is None else kept | _is_aside())
    if plan.keeps_first:
        # Whatever it was to whom it comes from, here it is a key's first row.
        frame = frame.withColumn(VALUE_KIND.name, F.lit(0).cast("tinyint"))
    if plan.has_dynamic_buckets:
        frame = in_dynamic_buckets(frame, plan, task)
    changelog = task.makes_changelog
    return _in_key_order(frame.repartition(*place), plan, index, len(arrival), with_changelog=changelog)


def _in_place(rows: RowsToWrite, frame: DataFrame, place: Sequence[str], *, in_buckets: bool) -> DataFrame:
    """Rows without a key, those of one place together, in the order that was asked for."""
    wanted = frame.columns
    frame, order = rows.order.prepare(frame)
    if in_buckets:
        frame = frame.repartition(*place)
    elif rows.compacted is not None:
        frame = frame.repartitionByRange(rows.compacted.ranges, *order) if rows.compacted.ranges else frame
    elif order:
        frame = frame.repartitionByRange(*place, *order)
    elif place:
        frame = frame.hint("rebalance", *place)
    return frame.sortWithinPartitions(*place, *order).select(*wanted) if place or order else frame


def _place(plan: WritePlan) -> list[str]:
    """The columns that rows are brought together by. A constant would keep Spark from seeing that they are together."""
    partition = [f"v{i}" for i, f in enumerate(plan.schema.fields) if f in plan.partition]
    return [*partition, BUCKET] if plan.has_buckets else partition


def _in_key_order(
    frame: DataFrame, plan: WritePlan, index: Mapping[int, Column], arrivals: int, *, with_changelog: bool
) -> DataFrame:
    """The row of each key that counts; or, where all of them do, each in a round of its own, the earliest first.

    Where only the last one counts and there is a changelog, all of them, the last one marked.
    """
    keys = sort_keys([index[f.id] for f in plan.key], [f.type for f in plan.key])
    puts_aside = ASIDE in frame.columns
    # What is put aside takes the place of no row of its key.
    window = Window.partitionBy(*_place(plan), *keys, *([_is_aside()] if puts_aside else []))
    order = [F.col(f"arrival{i}") for i in range(arrivals)] or [F.lit(0)]
    if plan.keeps_last or plan.keeps_first:
        if plan.keeps_last:
            order = [*_newest_first(plan, index), *(c.desc() for c in order)]
        placed = frame.withColumn(_PLACE, F.row_number().over(window.orderBy(*order)))
        counts = F.col(_PLACE) == 1
        if with_changelog:
            placed = placed.withColumn(LAST, counts)
            placed = placed.sortWithinPartitions(*_place(plan), *keys, F.col(_PLACE).desc())
        else:
            placed = placed.where(counts | _is_aside() if puts_aside else counts)
            placed = placed.sortWithinPartitions(*_place(plan), *keys)
        return placed.drop(_PLACE, *(f"arrival{i}" for i in range(arrivals)))
    placed = frame.withColumn(ROUND, F.row_number().over(window.orderBy(*order)))
    return placed.sortWithinPartitions(*_place(plan), ROUND, *keys).drop(*(f"arrival{i}" for i in range(arrivals)))


def _is_aside() -> Column:
    return F.col(ASIDE).isNotNull()


def _newest_first(plan: WritePlan, index: Mapping[int, Column]) -> list[Column]:
    """By the table's sequence fields, of which NULL is the oldest value in both orders."""
    assert plan.merge is not None
    ids = {f.name: f.id for f in plan.schema.fields}
    own = [index[ids[name]] for name in plan.merge.order]
    return [c.asc_nulls_last() if plan.merge.descending else c.desc_nulls_last() for c in own]


def attempted(task: WriteTask) -> WriteTask:
    """The task as the attempt that runs here does it: no other attempt has its number."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return replace(task, number=0 if context is None else context.taskAttemptId())


def _writer(
    task: WriteTask, names: Mapping[str, str], aside_in: str | None, plain: PlainRows | None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """What a worker does with the rows of its task."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        attempt, rows, aside = attempted(task), gathered(batches), None
        store = task.open_store()
        if aside_in is not None:
            aside = AsideFile(store, f"{aside_in}/{attempt.number}-{uuid4().hex}.arrow")
            rows = aside.taken_from(rows, split_marked if plain is None else plain.split)
        named = (b.rename_columns([names.get(c, c) for c in b.schema.names]) for b in rows)
        files = write_data_files(named, attempt, store=store)
        put_aside = None if aside is None else aside.written
        if files.entries or put_aside is not None:
            parts = [write_manifest(entries) if entries else None for entries in (files.added, files.changelog)]
            parts.append(index_manifest_bytes(files.indexes) if files.indexes else None)
            told = [*(pa.array([part], pa.binary()) for part in parts), pa.array([put_aside], pa.string())]
            told.append(pa.array([0 if aside is None else aside.rows], pa.int64()))
            told.append(pa.array([0 if plain is None else plain.bad], pa.int64()))
            told.append(pa.array([[] if plain is None else sorted(plain.found)], pa.list_(pa.string())))
            yield pa.record_batch(told, [_MESSAGE, _CHANGELOG, _INDEXES, _ASIDE_FILE, _ASIDE_ROWS, _BAD_ROWS, _COLUMNS])

    return write
