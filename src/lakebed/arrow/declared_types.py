"""Convert rows to the Arrow types that the table's declared schema has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import pyarrow as pa

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.arrow.to_arrow import to_arrow
from lakebed.convert.arrow_rows import TIMES, row_type
from lakebed.errors import UnsupportedError
from lakebed.model import LogicalType, Schema, TimeUnit
from lakebed.model import types as logical
from lakebed.model.encoding import strip_encoding
from lakebed.model.logical_tree import transform
from lakebed.physical.paimon_types import DataField


@dataclass(frozen=True, slots=True)
class DeclaredTypes:
    """The columns `fields` and their Arrow schema, which carries the declared one; see `lakebed.convert.arrow`.

    Where values of `lake.read` may be ones that the declared type lacks, the type is wider: everything is nullable,
    timestamps have microseconds, times milliseconds or finer, Float16 is float. Encodings that the schema asks for are
    left out.
    """

    fields: tuple[DataField, ...]
    schema: pa.Schema

    @classmethod
    def of(cls, schema: TableSchema, fields: Sequence[DataField]) -> Self:
        """The types of some columns of a schema. Raises UnsupportedError (LB2109) for those that have none here."""
        for field in fields:
            row_type(field.type)
        declared = {f.name: f for f in schema.logical.fields}
        chosen = (replace(f, type=_optional(transform(f.type, _as_read))) for f in (declared[f.name] for f in fields))
        wanted, _ = to_arrow(strip_encoding(Schema(tuple(chosen), schema.logical.extra)), strict=False)
        return cls(tuple(fields), wanted)

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Rows, of types of `row_type`, in these. Raises UnsupportedError (LB5606) for a value that does not fit."""
        columns = [
            self._column(values, field, wanted.type)
            for values, field, wanted in zip(batch.columns, self.fields, self.schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema) if columns else batch

    @staticmethod
    def _column(values: pa.Array, field: DataField, wanted: pa.DataType) -> pa.Array:
        if values.type == wanted:
            return values
        try:
            return values.cast(row_type(field.type, TIMES)).cast(wanted)
        except pa.ArrowInvalid as e:
            raise UnsupportedError.of(
                "LB5606",
                f"column {field.name} holds a value that its declared type, {wanted} in Arrow, does not have: {e}",
                path=field.name,
                expected=str(wanted),
                remedy="read with --engine spark, which gives the value as it is stored",
                python_remedy="use lake.read(spark, ...), which gives the value as it is stored",
            ) from e


def _as_read(type_: LogicalType) -> LogicalType:
    """A type with what rows can have: everything in it nullable."""
    match type_:
        case logical.Struct():
            return logical.Struct(tuple(replace(m, type=_optional(m.type)) for m in type_.fields))
        case logical.List():
            return replace(type_, item_type=_optional(type_.item_type))
        case logical.Map():
            return replace(type_, value_type=_optional(type_.value_type))
        case logical.Timestamp():
            return replace(type_, unit=TimeUnit.MICROSECOND)
        case logical.Time(unit=TimeUnit.SECOND):
            return replace(type_, unit=TimeUnit.MILLISECOND)
        case logical.Float16():
            return logical.Float32()
        case _:
            return type_


def _optional(type_: LogicalType) -> LogicalType:
    return type_ if isinstance(type_, logical.Option) else logical.Option(type_)
