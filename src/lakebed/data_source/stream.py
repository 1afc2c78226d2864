"""Stream rows of a table's snapshots to `spark.readStream.format("lakebed")`, each row once.

Spark asks for the end of each batch and keeps it, an `Offset`, in the query's checkpoint. A batch is then planned by
its two offsets alone: snapshots never change, so that it is the same after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as spark_types
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from lakebed.arrow.file_part import Column
from lakebed.arrow.plan_work import Work, WorkPlanner, open_rows
from lakebed.data_source.batch_plan import TableRead, open_tables
from lakebed.data_source.handover import as_asked
from lakebed.data_source.read_options import DataSourceOptions
from lakebed.data_source.stream_admission import BatchLimits, Part, advance, begin, between, check_history
from lakebed.data_source.stream_history import TableHistory
from lakebed.data_source.stream_offset import Offset, StreamPlace
from lakebed.data_source.stream_options import OnSchemaChange, Start, StreamOptions
from lakebed.data_source.user_schema import chosen_fields
from lakebed.errors import LakebedError, NotFoundError, UsageError
from lakebed.format.refuse_unsupported import refuse_unreadable
from lakebed.format.row_kinds import INSERTS, KINDS, ROW_KIND, VALUE_KIND
from lakebed.maintenance.consumers import note_consumer
from lakebed.read.plan_changes import follow_commits
from lakebed.read.table_state import TableState, epoch_millis
from lakebed.spark.spark_errors import plainly


@dataclass(frozen=True, slots=True)
class StreamWork:
    """What one task reads. `kinds`: the last column is the stored kind of each row; else all rows are added ones.

    `ignores_deletes`: the table takes no notice of rows that are deletes.
    """

    work: Work
    kinds: bool
    ignores_deletes: bool = False


class _Source:
    """What is known where batches are planned: the schema that the stream has, and the table's history."""

    def __init__(self, asked: DataSourceOptions, options: StreamOptions, wanted: spark_types.StructType) -> None:
        read = TableRead(asked)
        _refuse_travel(asked, read)
        self.state = read.state
        self.options = options
        self.columns = _columns(asked, options, wanted, self.state)
        told = follow_commits(read.table, read.request, self.state, on_overwrite=options.on_overwrite)
        if told.have_kinds and not options.row_kinds:
            raise _needs_kinds(asked, self.state)
        narrow = len(self.columns) < len(self.state.schema.fields)
        change = options.on_schema_change
        chosen = narrow or asked.schema is not None
        fails = change is OnSchemaChange.FAIL or (change is None and not chosen)
        self.history = TableHistory(read.table, read.request, told, fails, narrow)
        self.zone = asked.warehouse.time_zone
        self._verify_checksums = asked.warehouse.verify_checksums
        #: The snapshot that the table knows to be the next one of the consumer.
        self._noted: int | None = None

    @property
    def newest(self) -> int | None:
        """The id of the newest snapshot that is there now."""
        return self.state.snapshots.latest_id()

    def beginning(self) -> StreamPlace:
        """The first place of a new stream. Raises NotFoundError (LB5624) where changes since then are gone."""
        chosen, newest = self.options, self.newest
        if chosen.from_timestamp is not None:
            first = self._after(epoch_millis(chosen.from_timestamp, self.zone))
        elif chosen.from_snapshot is not None:
            first = chosen.from_snapshot
        elif chosen.start is Start.FULL:
            return StreamPlace(True, newest) if newest is not None else StreamPlace(False, 1)
        else:
            return StreamPlace(False, (newest or 0) + 1)
        earliest = self.state.snapshots.earliest_id() or 1
        last = (newest or 0) if chosen.start is Start.FULL else (newest or 0) + 1
        if not earliest <= first <= last:
            raise self._not_there(first, earliest, newest)
        return StreamPlace(chosen.start is Start.FULL, first)

    def _after(self, millis: int) -> int:
        """The first snapshot after a moment; the one that was the newest then, where its whole state is wanted."""
        then = self.state.snapshots.at_or_before(millis)
        if then is None:
            earliest = self.state.snapshots.earliest_id() or 1
            # What came before the first snapshot that is kept is gone, unless it is the very first.
            return earliest if earliest == 1 else 0
        return then.id if self.options.start is Start.FULL else then.id + 1

    def _not_there(self, first: int, earliest: int, newest: int | None) -> LakebedError:
        there = "there are none" if newest is None else f"there are {earliest} to {newest}"
        what = "the snapshots since that moment are gone" if first == 0 else f"snapshot {first} is not there"
        return NotFoundError.of(
            "LB5624",
            f"table {self.history.told.table}: {what}; {there}",
            expected=there,
            remedy="begin at a snapshot that is there, or with start=full, which reads the newest state first",
        )

    def note(self, at: StreamPlace, *, at_most: bool = False) -> None:
        """Have the table note that the stream goes on at this place, where it has a consumer."""
        name = self.options.consumer
        if name is not None and (at_most or at.snapshot != self._noted):
            note_consumer(self.history.table, name, at.snapshot, at_most=at_most)
            self._noted = at.snapshot

    def work(self, parts: Iterator[Part], split_size: int) -> Iterator[StreamWork]:
        """The tasks of a batch, in the order of its parts."""
        schema, load = self.state.schema, self.state.schemas.load_schema
        plain = WorkPlanner(schema, load, self.columns, self._verify_checksums, time_zone=self.zone)
        with_kind = replace(plain, columns=(*self.columns, Column(ROW_KIND, VALUE_KIND, VALUE_KIND)))
        for (merge, kinds), found in groupby(parts, key=lambda part: (part.merge, part.kinds)):
            if merge:
                for part in found:
                    yield StreamWork(plain.merge(part.files), False)
                continue
            files = [file for part in found for file in part.files]
            if not kinds:
                yield from (StreamWork(work, False) for work in plain.split(files, split_size))
                continue
            for work in with_kind.split(files, split_size):
                parts_ = tuple(
                    replace(p, stored=(*(f for f in p.stored if f.id != VALUE_KIND.id), VALUE_KIND)) for p in work.parts
                )
                yield StreamWork(replace(work, parts=parts_), True, self.history.told.ignore_deletes)


class TableStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of a stream. Spark keeps one where it plans batches, and sends copies to its workers."""

    def __init__(self, asked: DataSourceOptions, options: StreamOptions, wanted: spark_types.StructType) -> None:
        self._asked = asked
        self._options = options
        self._wanted = wanted
        self._target: int | None = None
        self._source: _Source | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What workers need; they plan nothing."""
        return {**self.__dict__, "_source": None}

    @property
    def _planning(self) -> _Source:
        if self._source is None:
            self._source = _Source(self._asked, self._options, self._wanted)
        return self._source

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a query without a checkpoint begins."""
        with plainly():
            source = self._planning
            beginning = source.beginning()
            # Asked again before a first batch is done, the table may have gone on: what it said before still counts.
            source.note(beginning, at_most=True)
            return begin(source.history, beginning).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """A limit of one kind, so that Spark lets the reader apply its options; all of them are applied."""
        limits = self._options.limits
        if limits.files is not None:
            return ReadMaxFiles(limits.files)
        if limits.size is not None:
            return ReadMaxBytes(limits.size)
        return ReadAllAvailable() if limits.rows is None else ReadMaxRows(limits.rows)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Take no snapshot after the newest one that is there now."""
        with plainly():
            self._target = self._planning.newest or 0

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The end of the batch that begins at `start`."""
        with plainly():
            source, offset = self._planning, Offset.from_json(start)
            newest = source.newest
            check_history(source.history, offset, newest)
            last = newest or 0 if self._target is None else min(newest or 0, self._target)
            limits = BatchLimits() if isinstance(limit, ReadAllAvailable) else self._options.limits
            return advance(source.history, offset, limits, last).to_json()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The tasks of the batch from `start` to `end`."""
        with plainly():
            source, last = self._planning, Offset.from_json(end)
            # After a restart Spark does an unfinished batch again without asking for its end.
            check_history(source.history, last, source.newest)
            parts = between(source.history, Offset.from_json(start), last)
            return [InputPartition(work) for work in source.work(parts, self._asked.split_size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of a task."""
        task: StreamWork | None = partition.value
        if task is None:
            return
        with plainly():
            store = open_tables(self._asked.warehouse).store
            for batch in open_rows(store, task.work):
                yield as_asked(self._arranged(batch, task), self._wanted, self._asked.table)

    def commit(self, end: dict[str, Any]) -> None:
        """All before `end` is done: what was planned of it is not needed again."""
        with plainly():
            source, at = self._planning, Offset.from_json(end).at
            source.history.forget(at)
            source.note(at)

    def _arranged(self, batch: pa.RecordBatch, task: StreamWork) -> pa.RecordBatch:
        """The columns in the order that is wanted, with the kind of each row where it is asked for."""
        if not self._options.row_kinds:
            return batch
        if task.ignores_deletes:
            batch = batch.filter(pc.is_in(pc.fill_null(batch.column(ROW_KIND), 0), pa.array(INSERTS, pa.int8())))
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        stored = columns.pop(ROW_KIND, None)
        own = iter(columns.values())
        made = [_kinds(stored, batch.num_rows) if _is_kind(f) else next(own) for f in self._wanted.fields]
        return pa.RecordBatch.from_arrays(made, names=self._wanted.names)


def _kinds(stored: pa.Array | None, rows: int) -> pa.Array:
    if stored is None:
        return pa.repeat(pa.scalar(KINDS[0]), rows)
    return pa.array(KINDS).take(pc.fill_null(stored, 0).cast(pa.int8()))


def _is_kind(field: spark_types.StructField) -> bool:
    return field.name.lower() == ROW_KIND


def _columns(
    asked: DataSourceOptions, options: StreamOptions, wanted: spark_types.StructType, state: TableState
) -> tuple[Column, ...]:
    fields = [f for f in wanted.fields if not (options.row_kinds and _is_kind(f))]
    if options.row_kinds and len(fields) == len(wanted.fields):
        raise UsageError.of(
            "LB5623",
            f"row-kinds=true, and the schema that is given has no column {ROW_KIND}",
            path=ROW_KIND,
            remedy=f"name it as well: {ROW_KIND} STRING",
        )
    chosen = chosen_fields(spark_types.StructType(fields), state.schema, asked.table)
    refuse_unreadable(state.schema, columns=[f.name for f in chosen])
    return tuple(Column(f.name, f, f) for f in chosen)


def _refuse_travel(asked: DataSourceOptions, read: TableRead) -> None:
    given = read.request.travel.given
    if given:
        name = given[0].replace("_", "-")
        raise UsageError.of(
            "LB5615",
            f"{name} chooses one state of table {asked.table}, and a stream goes on",
            path=name,
            remedy="say where the stream begins with start, from-snapshot or from-timestamp, or read it without a "
            "stream: spark.read",
        )


def _needs_kinds(asked: DataSourceOptions, state: TableState) -> LakebedError:
    return UsageError.of(
        "LB5623",
        f"table {asked.table} has the primary key ({', '.join(state.schema.primary_keys)}): its rows are updated and "
        "deleted",
        path="row-kinds",
        remedy=f'set .option("row-kinds", "true"): the column {ROW_KIND} then says +I, -U, +U or -D of each row',
    )
