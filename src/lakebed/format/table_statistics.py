"""Write the statistics of a table and of its columns that a snapshot names (Paimon's `Statistics` and `ColStats`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from lakebed.errors import StoreError
from lakebed.format.value_text import cast_text
from lakebed.physical.paimon_types import (
    BigInt,
    Boolean,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Timestamp,
    TinyInt,
)
from lakebed.store.base import Store
from lakebed.store.safe_delete import Inside

#: Timestamps that are finer than this have no least and greatest value: Spark would cut them.
_MICROS = 6


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What is known of the values of a column. Lengths are of characters or bytes, of fixed types their size.

    `distinct_count` is about right; `minimum` and `maximum` are internal values, None where the type has no order here,
    or the column no value.
    """

    field_id: int
    type: DataType
    distinct_count: int
    null_count: int
    average_length: int
    maximum_length: int
    minimum: Any = None
    maximum: Any = None

    def to_json(self) -> dict[str, Any]:
        """The object that the file of statistics holds; what is not known is left out."""
        ends = {"min": self.minimum, "max": self.maximum}
        return {
            "colId": self.field_id,
            "distinctCount": self.distinct_count,
            **{name: ordered_text(self.type, value) for name, value in ends.items() if value is not None},
            "nullCount": self.null_count,
            "avgLen": self.average_length,
            "maxLen": self.maximum_length,
        }


@dataclass(frozen=True, slots=True)
class TableStatistics:
    """Rows of a snapshot as they are read, about how many bytes they take, and what is known of columns, by name."""

    snapshot_id: int
    schema_id: int
    rows: int
    size: int
    columns: Mapping[str, ColumnSummary]

    def to_json(self) -> dict[str, Any]:
        """The object of the file of statistics."""
        return {
            "snapshotId": self.snapshot_id,
            "schemaId": self.schema_id,
            "mergedRecordCount": self.rows,
            "mergedRecordSize": self.size,
            "colStats": {name: column.to_json() for name, column in self.columns.items()},
        }


def is_ordered(type_: DataType) -> bool:
    """Whether the least and the greatest value of a column are kept."""
    match type_:
        case Boolean() | TinyInt() | SmallInt() | Int() | BigInt() | Float() | Double() | Decimal() | Date():
            return True
        case Timestamp(precision=precision) | LocalZonedTimestamp(precision=precision):
            return precision <= _MICROS
        case _:
            return False


def ordered_text(type_: DataType, value: Any) -> str:
    """A value as Java's serializers write it: a date as its days since 1970, an instant on the clock of UTC."""
    return str(value) if isinstance(type_, Date) else cast_text(type_, value)


def write_statistics(store: Store, table_path: str, statistics: TableStatistics) -> str:
    """Write a file of statistics, which nothing names yet; its name. Raises `StoreError` where it cannot be written."""
    name = f"stat-{uuid4()}-0"
    data = json.dumps(statistics.to_json(), ensure_ascii=False, indent=2, separators=(",", " : ")).encode()
    if not store.create_if_absent(_path(table_path, name), data):
        raise StoreError.of("LB3604", f"{_path(table_path, name)} is there already", path=_path(table_path, name))
    return name


def remove_statistics(store: Store, table_path: str, name: str) -> None:
    """Remove a file of statistics that nothing names."""
    Inside(store, table_path).delete(_path(table_path, name))


def _path(table_path: str, name: str) -> str:
    return f"{table_path}/statistics/{name}"
