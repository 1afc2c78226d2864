"""The live data files of real tables, each with its schema and its rows in internal values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile, plan_files
from lakebed.format.snapshot import SnapshotManager
from lakebed.physical.paimon_types import DataField
from lakebed.store.local import LocalStore

STORE = LocalStore()
_NANOS = {"ms": 1_000_000, "us": 1_000, "ns": 1}


@dataclass(frozen=True, slots=True)
class IndexedFile:
    """A data file, the schema that it was written under, and the columns that are in it."""

    file: DataFile
    schema: TableSchema
    columns: dict[str, list[Any]]

    def fields(self) -> list[DataField]:
        return [field for field in self.schema.fields if field.name in self.columns]


def files_of(table: Path) -> Iterator[IndexedFile]:
    """The live files of a table in its latest snapshot, whatever is deleted of them."""
    schemas, snapshots = SchemaManager(STORE, str(table)), SnapshotManager(STORE, str(table))
    latest = snapshots.latest()
    assert latest is not None
    for file in plan_files(STORE, str(table), latest, schemas.load_latest_schema()):
        schema = schemas.load_schema(file.meta.schema_id)
        yield IndexedFile(file, schema, _columns(file.path, schema))


def _columns(path: str, schema: TableSchema) -> dict[str, list[Any]]:
    read = pyarrow.orc.read_table if path.endswith(".orc") else pyarrow.parquet.read_table
    data: pa.Table = read(path)
    return {name: [_internal(v) for v in data[name]] for name in schema.field_names if name in data.column_names}


def _internal(scalar: pa.Scalar) -> Any:
    if isinstance(scalar, pa.TimestampScalar):
        return None if scalar.value is None else scalar.value * _NANOS[scalar.type.unit]
    if isinstance(scalar, pa.Date32Scalar | pa.Time32Scalar):
        return scalar.value
    value = scalar.as_py()
    assert not isinstance(value, date | datetime | time)
    return value
