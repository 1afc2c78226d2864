"""Convert batches to the rows of data files: the columns of the table, and those of keyed tables before them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.stored_forms import missing_value, stored_column, stored_field
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import WriteError
from lakebed.format.row_kinds import INSERTS, SEQUENCE_NUMBER, VALUE_KIND, key_field

NO_COLUMN = "LB6500"


class RowForms:
    """How batches of a task become rows of its files."""

    def __init__(self, task: WriteTask) -> None:
        self._task = task
        self._is_keyed = bool(task.key)
        # Rows that delete have no values but the key's.
        required = [not f.type.nullable and (not self._is_keyed or f.name in task.key) for f in task.fields]
        values = [stored_field(f, nullable=not r) for f, r in zip(task.fields, required, strict=True)]
        kind = stored_field(VALUE_KIND, nullable=False)
        #: The columns of the table, and the kind of each row in keyed tables.
        self.values = pa.schema([*values, kind] if self._is_keyed else values)
        keys = [stored_field(key_field(task.fields[i]), nullable=False) for i in task.key_places]
        system = [stored_field(SEQUENCE_NUMBER, nullable=False), kind]
        #: The columns of a file.
        self.stored = pa.schema([*keys, *system, *values] if self._is_keyed else values)

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The columns `values` of a batch, in their stored forms. Raises WriteError for what does not fit."""
        columns = [stored_column(self._column(batch, f.name), f) for f in self._task.fields]
        if self._is_keyed:
            columns.append(self._kinds(batch))
        self._refuse_missing(columns)
        return pa.RecordBatch.from_arrays(columns, schema=self.values)

    def file_rows(self, rows: pa.Table, first_sequence: int) -> pa.Table:
        """The columns `stored` of rows `values`, which are numbered from `first_sequence` on."""
        if not self._is_keyed:
            return rows
        *values, kinds = rows.columns
        ones = pa.repeat(pa.scalar(1, pa.int64()), rows.num_rows)
        numbers = pc.cumulative_sum(ones, start=first_sequence - 1)
        keys = [values[i] for i in self._task.key_places]
        return pa.Table.from_arrays([*keys, pa.chunked_array([numbers]), kinds, *values], schema=self.stored)

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        place = batch.schema.get_field_index(name)
        if place < 0:
            raise WriteError.of(
                NO_COLUMN,
                f"rows come without a column {name!r}, or with several",
                path=name,
                found=", ".join(batch.schema.names),
            )
        return batch.column(place)

    def _kinds(self, batch: pa.RecordBatch) -> pa.Array:
        name = VALUE_KIND.name
        if name not in batch.schema.names:
            return pa.repeat(pa.scalar(0, pa.int8()), batch.num_rows)
        return stored_column(self._column(batch, name), VALUE_KIND)

    def _refuse_missing(self, columns: Sequence[pa.Array]) -> None:
        for field, values in zip((*self._task.fields, VALUE_KIND), columns, strict=False):
            if not values.null_count or (field.type.nullable and field.name not in (*self._task.key, VALUE_KIND.name)):
                continue
            is_missing = True
            if self._is_keyed and field.name not in (*self._task.key, VALUE_KIND.name):
                inserts = pc.is_in(columns[-1], pa.array(INSERTS, pa.int8()))
                is_missing = pc.any(pc.and_(values.is_null(), inserts)).as_py()
            if is_missing:
                raise missing_value(field.name, field.type)
