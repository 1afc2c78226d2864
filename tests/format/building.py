"""Tables for the tests of this room: schemas, Parquet files and commits, without any other room."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import NotFoundError
from lakebed.format import binary_row
from lakebed.format.commit import Guard, commit
from lakebed.format.live_files import DataFile, partition_types, plan_files
from lakebed.format.manifest import ColumnStatistics, ManifestEntry, SimpleStats
from lakebed.format.new_files import new_append_file
from lakebed.format.partition import data_directory, partition_path
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.statistics import parquet_statistics
from lakebed.format.table_storage import TableStorage
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store.base import Store

PATH = "/wh/lab.db/t"


def fields(*columns: tuple[str, str]) -> tuple[DataField, ...]:
    """Columns of name and type text, numbered from 0."""
    return tuple(DataField(i, name, parse(text)) for i, (name, text) in enumerate(columns))


def table_schema(
    columns: Sequence[tuple[str, str]],
    *,
    partition_keys: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    schema_id: int = 0,
    primary_keys: Sequence[str] = (),
) -> TableSchema:
    """A schema of these columns."""
    found = fields(*columns)
    return TableSchema(
        schema_id, found, len(found) - 1, tuple(partition_keys), tuple(primary_keys), options=options or {}
    )


@dataclass
class Versions:
    """Schema versions in memory, as a `SchemaManager` answers."""

    schemas: list[TableSchema]

    def load_schema(self, schema_id: int, /) -> TableSchema:
        for schema in self.schemas:
            if schema.id == schema_id:
                return schema
        raise NotFoundError.of("LB0000", f"no schema {schema_id}")

    def load_latest_schema(self) -> TableSchema:
        return self.schemas[-1]


@dataclass
class Built:
    """A table under construction, with a clock that moves by a millisecond and nothing random in its file names."""

    store: Store
    schema: TableSchema
    path: str = PATH
    numbers: Any = field(default_factory=count)
    time: Any = field(default_factory=lambda: count(1_700_000_000_000))

    def __post_init__(self) -> None:
        self.versions = Versions([])
        self.evolve(self.schema)

    @property
    def storage(self) -> TableStorage:
        return TableStorage(self.store, self.path, self.versions)

    def evolve(self, schema: TableSchema) -> None:
        """Publish a schema version."""
        self.schema = schema
        self.versions.schemas.append(schema)
        self.store.create_if_absent(f"{self.path}/schema/schema-{schema.id}", schema_file.dumps(schema))

    def clock(self) -> int:
        return next(self.time)

    def new_file(self, partition: tuple[Any, ...] = (), rows: int = 1, name: str | None = None) -> ManifestEntry:
        """A file that is described only; there is nothing in its place."""
        types = [f.type for f in self.schema.fields]
        stats = SimpleStats.of(types, [ColumnStatistics(None, None, None)] * len(types))
        name = name or f"data-{next(self.numbers)}-0.parquet"
        return new_append_file(self.schema, partition, file_name=name, size=10, rows=rows, stats=stats, created=0)

    def keyed_file(
        self, keys: tuple[int, int], *, bucket: int = 0, partition: tuple[Any, ...] = (), **meta: Any
    ) -> ManifestEntry:
        """A file of a table with a BIGINT key and fixed buckets, described only; `keys` are the first and the last."""
        plain = self.new_file(partition)
        low, high = (binary_row.encode([parse("BIGINT")], [key]) for key in keys)
        file = replace(plain.file, **{"min_key": low, "max_key": high, "max_sequence_number": 0} | meta)
        return replace(plain, bucket=bucket, total_buckets=self.schema.bucket, file=file)

    def write(self, data: pa.Table, partition: tuple[Any, ...] = (), **options: Any) -> ManifestEntry:
        """Write rows as a Parquet file into their place."""
        schema = self.schema
        where = partition_path(schema.partition_keys, partition_types(schema), partition, schema.options)
        name = f"data-{next(self.numbers)}-0.parquet"
        path = f"{data_directory(self.path, where, 0, schema.options)}/{name}"
        content = parquet_bytes(data, **options)
        self.store.create_if_absent(path, content)
        found = parquet_statistics(self.store, path, schema.fields, schema.options)
        return new_append_file(
            schema,
            partition,
            file_name=name,
            size=len(content),
            rows=found.rows,
            stats=found.stats,
            created=0,
        )

    def append(self, *files: ManifestEntry, user: str | None = None, **parts: Any) -> Snapshot:
        """Commit files that come; see `commit`."""
        return self.commit(user, added=files, **parts)

    def commit(
        self, user: str | None = None, *, after: int = 0, guard: Guard | None = None, sleep: Any = None, **change: Any
    ) -> Snapshot:
        """Commit a change of these parts; a user of its own for each call unless given."""
        asked = SnapshotChange(commit_user=user or f"user-{next(self.numbers)}", **change)
        pause = sleep or (lambda _: None)
        return commit(self.storage, asked, clock=self.clock, sleep=pause, after=after, guard=guard)

    def plan(self, snapshot: Snapshot | None = None, **parts: Any) -> tuple[DataFile, ...]:
        """The files of a snapshot, by default of the newest."""
        snapshot = snapshot or self.storage.snapshots.latest()
        return () if snapshot is None else plan_files(self.store, self.path, snapshot, self.schema, **parts)

    def names(self, snapshot: Snapshot | None = None, **parts: Any) -> list[str]:
        """The names of the files of a snapshot."""
        return [f.meta.file_name for f in self.plan(snapshot, **parts)]


def parquet_bytes(data: pa.Table, **options: Any) -> bytes:
    """A table as the bytes of a Parquet file."""
    out = io.BytesIO()
    pq.write_table(data, out, **options)
    return out.getvalue()
