"""A data file with one index container, as the tests of this folder ask it."""

from __future__ import annotations

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import DataFileMeta
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.read.file_index import FileIndex, file_index
from lakebed.testing.memory_store import MemoryStore

PATH = "/wh/db.db/t/bucket-0/data-1.parquet"


def columns(*kinds: str) -> tuple[DataField, ...]:
    return tuple(DataField(i, f"c{i}", parse(kind)) for i, kind in enumerate(kinds))


def schema_of(fields: tuple[DataField, ...]) -> TableSchema:
    return TableSchema(0, fields, len(fields) - 1)


def data_file(rows: int, embedded: bytes | None = None, *, path: str = PATH, extra: tuple[str, ...] = ()) -> DataFile:
    name = path.rpartition("/")[2]
    meta = DataFileMeta(
        file_name=name, file_size=1, row_count=rows, schema_id=0, embedded_file_index=embedded, extra_files=extra
    )
    return DataFile(path, 1, (), 0, -1, meta)


def index_of(fields: tuple[DataField, ...], rows: int, data: bytes, path: str = PATH) -> FileIndex:
    found = file_index(MemoryStore(), data_file(rows, data, path=path), schema_of(fields))
    assert found is not None
    return found
