"""Read a table as Arrow batches in this process, without Spark: the rows of `lake.read`, or a refusal by code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import pyarrow as pa

from lakebed.arrow.file_part import Column, batch_schema
from lakebed.arrow.plan_work import Work, WorkPlanner, columns_by_state, open_rows
from lakebed.arrow.row_filter import judged_columns, matching_rows
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_types import DataField
from lakebed.read.needed_columns import any_column, chosen_columns
from lakebed.read.plan_read import PlannedState, condition, find_state, plan_read, refuse_unknown
from lakebed.read.predicate import Predicate
from lakebed.read.request import ReadRequest
from lakebed.read.where_sql import unknown_names
from lakebed.store.base import Store

#: About how many bytes of files are fetched at a time; the second where some rows are enough.
_SPLIT_SIZE, _FIRST_ROWS = 128 << 20, 16 << 20


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows of the read; those that `filter` is true for, which may need columns after those that are wanted."""

    work: Work
    filter: Predicate | None


@dataclass(frozen=True, slots=True)
class BatchRead:
    """A planned read of the columns `fields` of a schema: its rows, at most `limit`, come from `pieces`."""

    store: Store
    schema: TableSchema
    fields: tuple[DataField, ...]
    pieces: tuple[_Piece, ...]
    limit: int | None

    @property
    def row_schema(self) -> pa.Schema:
        """The Arrow schema of the batches."""
        return batch_schema([Column(f.name, f, f) for f in self.fields])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows, read as they are asked for, with types of `row_type`.

        Raises UnsupportedError for what would come out otherwise than by `lake.read`, CorruptMetadataError for damage.
        """
        left = self.limit
        for piece in self.pieces:
            if left == 0:
                return
            for batch in self._rows(piece):
                if left is not None:
                    batch = batch.slice(0, left)
                    left -= batch.num_rows
                if batch.num_rows:
                    yield batch
                if left == 0:
                    return

    def _rows(self, piece: _Piece) -> Iterator[pa.RecordBatch]:
        wanted = list(range(len(self.fields)))
        for batch in open_rows(self.store, piece.work):
            yield batch if piece.filter is None else matching_rows(piece.filter, batch).select(wanted)


def read_batches(
    table: TableBranch, request: ReadRequest, columns: Sequence[str] | None = None
) -> pa.RecordBatchReader:
    """The rows in the Arrow types of the declared schema, read as they are asked for; see `plan_batches`."""
    from lakebed.arrow.declared_types import DeclaredTypes

    read = plan_batches(table, request, columns)
    types = DeclaredTypes.of(read.schema, read.fields)
    return pa.RecordBatchReader.from_batches(types.schema, map(types.convert, read.batches()))


def plan_batches(table: TableBranch, request: ReadRequest, columns: Sequence[str] | None = None) -> BatchRead:
    """The read that `request` asks for, of top-level columns by their names, all without `columns`.

    Files that its filter does not need are left out. Raises what `plan_read` raises, UsageError (LB6463) for a column
    that is not there, and UnsupportedError where rows could come out otherwise than by `lake.read`: LB2109 and LB5603
    to LB5606 for files and columns, LB5610 for a filter.
    """
    state = find_state(table, request)
    schema = state.schema
    fields = schema.fields if columns is None else chosen_columns(table.name, schema, columns)
    told = condition(request.where, time_zone=request.time_zone)
    predicate = told(schema)
    refuse_unknown(table.name, schema, () if request.where is None else unknown_names(request.where, schema))
    judged = judged_columns(predicate)
    needed = (*fields, *(column for column in judged if column not in fields)) or any_column(schema)
    asked = replace(request, columns=tuple(f.name for f in needed))
    planned = plan_read(table, asked, lambda other: predicate if other is schema else told(other), state=state)
    split_size = _SPLIT_SIZE if request.limit is None else _FIRST_ROWS
    reader = _Reader(predicate, request, split_size)
    states = zip(columns_by_state(planned, fields), columns_by_state(planned, needed), strict=True)
    pieces = tuple(piece for (one, own), (_, more) in states for piece in reader.pieces(one, own, more))
    return BatchRead(table.store, schema, tuple(fields), pieces, request.limit)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Plans the pieces of a state: files whose rows all fit need no filter, nor the columns that it looks at."""

    predicate: Predicate
    request: ReadRequest
    split_size: int

    def pieces(self, planned: PlannedState, own: tuple[Column, ...], needed: tuple[Column, ...]) -> Iterator[_Piece]:
        state, plan = planned.state, planned.plan
        certain = WorkPlanner(
            state.schema,
            state.schemas.load_schema,
            own,
            self.request.verify_checksums,
            orc_apart=True,
            time_zone=self.request.time_zone,
        )
        filtered = replace(certain, columns=needed)
        for fits, files in groupby(plan.as_they_are, lambda file: file.path in plan.certain):
            planner = certain if fits else filtered
            yield from (
                _Piece(w, None if fits else self.predicate) for w in planner.split(tuple(files), self.split_size)
            )
        yield from (_Piece(work, self.predicate) for work in filtered.plan_groups(plan.groups))
