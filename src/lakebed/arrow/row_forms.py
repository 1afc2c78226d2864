"""Convert batches to the rows of data files: the columns of the table, and those of keyed tables before them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.stored_forms import ORC, PARQUET, missing_value, stored_column, stored_field
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import WriteError
from lakebed.format.row_kinds import INSERTS, SEQUENCE_NUMBER, VALUE_KIND, key_field
from lakebed.physical.paimon_types import DataField, with_nullability

NO_COLUMN = "LB6500"


class RowForms:
    """How batches of a task become rows of its files."""

    def __init__(self, task: WriteTask) -> None:
        self._task = task
        self._is_keyed = bool(task.key)
        self._forms = ORC if task.file_format == "orc" else PARQUET
        values = tuple(_as_stored(f, task) for f in task.fields)
        kind = replace(VALUE_KIND, type=with_nullability(VALUE_KIND.type, False))
        number = replace(SEQUENCE_NUMBER, type=with_nullability(SEQUENCE_NUMBER.type, False))
        keys = (key_field(task.fields[i]) for i in task.key_places)
        self._declared = (*task.fields, VALUE_KIND, SEQUENCE_NUMBER) if self._is_keyed else task.fields
        #: The columns of a file, with the types by which it holds them.
        self.stored_fields = (*keys, number, kind, *values) if self._is_keyed else values
        self.stored = self._schema(self.stored_fields)
        #: The columns of the table, and in keyed tables the kind and the number of each row.
        self.values = self._schema((*values, kind, number) if self._is_keyed else values)

    def convert(self, batch: pa.RecordBatch, first_sequence: int) -> pa.RecordBatch:
        """The columns `values` of a batch, in their stored forms; in keyed tables numbered from `first_sequence` on.

        Raises WriteError for what does not fit.
        """
        columns = [stored_column(self._column(batch, f.name), f, self._forms) for f in self._task.fields]
        if self._is_keyed:
            columns += [self._kinds(batch), self._numbers(batch, first_sequence)]
        self._refuse_missing(columns)
        return pa.RecordBatch.from_arrays(columns, schema=self.values)

    def _numbers(self, batch: pa.RecordBatch, first: int) -> pa.Array:
        if self._task.sequence is not None:
            return pa.repeat(pa.scalar(self._task.sequence, pa.int64()), batch.num_rows)
        ones = pa.repeat(pa.scalar(1, pa.int64()), batch.num_rows)
        return pc.cumulative_sum(ones, start=first - 1)

    def file_rows(self, rows: pa.Table) -> pa.Table:
        """The columns `stored` of rows `values`."""
        if not self._is_keyed:
            return rows
        *values, kinds, numbers = rows.columns
        keys = [values[i] for i in self._task.key_places]
        return pa.Table.from_arrays([*keys, numbers, kinds, *values], schema=self.stored)

    def _schema(self, fields: Sequence[DataField]) -> pa.Schema:
        return pa.schema([stored_field(f, self._forms) for f in fields])

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
        return stored_column(self._column(batch, name), VALUE_KIND, self._forms)

    def _refuse_missing(self, columns: Sequence[pa.Array]) -> None:
        for field, stored, values in zip(self._declared, self.values, columns, strict=True):
            if not values.null_count:
                continue
            if not stored.nullable or (not field.type.nullable and _is_inserted(values.is_null(), columns[-2])):
                raise missing_value(field.name, field.type)


def _is_inserted(rows: pa.Array, kinds: pa.Array) -> bool:
    """Whether one of these rows is of a kind that adds a row."""
    return bool(pc.any(pc.and_(rows, pc.is_in(kinds, pa.array(INSERTS, pa.int8())))).as_py())


def _as_stored(field: DataField, task: WriteTask) -> DataField:
    """A column as files hold it: in keyed tables rows that delete have no values but the key's."""
    if not task.key or field.name in task.key:
        return replace(field, type=with_nullability(field.type, field.type.nullable and field.name not in task.key))
    return replace(field, type=with_nullability(field.type, True))
