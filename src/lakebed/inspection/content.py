"""List the manifests, files, partitions and buckets of one snapshot as system tables.

Features that reading would refuse do not matter here: whatever the metadata says is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from lakebed.catalog import SchemaManager, TableSchema
from lakebed.format import binary_row
from lakebed.format.live_files import (
    DataFile,
    data_files,
    entries_of,
    live_entries,
    partition_types,
    snapshot_manifests,
)
from lakebed.format.manifest import FileSource
from lakebed.format.merge_plan import key_types
from lakebed.format.partition import partition_text
from lakebed.format.snapshot import Snapshot
from lakebed.format.statistics import file_statistics
from lakebed.format.value_text import shown_text
from lakebed.inspection.system_table import wall_clock
from lakebed.physical.paimon_types import DataType, with_nullability
from lakebed.store.base import Store

_Rows = Iterator[tuple[Any, ...]]


def manifests(
    store: Store, table_path: str, snapshot: Snapshot, schema: TableSchema, _: SchemaManager, time_zone: str
) -> _Rows:
    """The manifests of the base list and of the delta list, in that order."""
    types = partition_types(schema)
    for meta in snapshot_manifests(store, table_path, snapshot):
        bounds = meta.partition_stats.decode(types) if types else ()
        yield (
            *(meta.file_name, meta.file_size, meta.num_added_files, meta.num_deleted_files, meta.schema_id),
            _braces(_texts(types, [b.minimum for b in bounds], time_zone)),
            _braces(_texts(types, [b.maximum for b in bounds], time_zone)),
            *(meta.min_row_id, meta.max_row_id),
        )


def files(
    store: Store, table_path: str, snapshot: Snapshot, schema: TableSchema, schemas: SchemaManager, time_zone: str
) -> _Rows:
    """The live data files, in the order in which they were committed."""
    types = partition_types(schema)
    versions = cache(schemas.load_schema)
    for file in _live(store, table_path, snapshot, schema):
        meta, written = file.meta, versions(file.meta.schema_id)
        yield (
            _braces(_texts(types, file.partition, time_zone)),
            *(file.bucket, file.path, file.path.rpartition(".")[2], meta.schema_id, meta.level),
            *(meta.row_count, meta.file_size),
            *(_key(row, written, time_zone) for row in (meta.min_key, meta.max_key)),
            *_statistics(file, schema, written, time_zone),
            *(meta.min_sequence_number, meta.max_sequence_number, _created(file), meta.delete_row_count),
            None if meta.file_source is None else FileSource(meta.file_source).name,
            meta.first_row_id,
            None if meta.write_cols is None else list(meta.write_cols),
        )


def partitions(
    store: Store, table_path: str, snapshot: Snapshot, schema: TableSchema, _: SchemaManager, time_zone: str
) -> _Rows:
    """The partitions that have files, sorted by their texts."""
    types = partition_types(schema)
    found = []
    for partition, group in _grouped(_live(store, table_path, snapshot, schema), lambda f: f.partition):
        text = partition_text(schema.partition_keys, types, partition, schema.options, time_zone=time_zone)
        found.append((text, *_sums(group), None, None, None, None, group[-1].total_buckets, False))
    yield from sorted(found, key=lambda row: row[0])


def buckets(
    store: Store, table_path: str, snapshot: Snapshot, schema: TableSchema, _: SchemaManager, time_zone: str
) -> _Rows:
    """The buckets that have files, sorted by partition and number."""
    types = partition_types(schema)
    live = _live(store, table_path, snapshot, schema)
    found = [
        (_braces(_texts(types, partition, time_zone)), bucket, *_sums(group))
        for (partition, bucket), group in _grouped(live, lambda f: (f.partition, f.bucket))
    ]
    yield from sorted(found, key=lambda row: row[:2])


def _live(store: Store, table_path: str, snapshot: Snapshot, schema: TableSchema) -> tuple[DataFile, ...]:
    entries = entries_of(store, table_path, snapshot_manifests(store, table_path, snapshot))
    return data_files(table_path, schema, live_entries(entries, partition_types(schema)))


def _grouped(live: Iterable[DataFile], key: Callable[[DataFile], Any]) -> Iterable[tuple[Any, list[DataFile]]]:
    groups: dict[Any, list[DataFile]] = {}
    for file in live:
        groups.setdefault(key(file), []).append(file)
    return groups.items()


def _sums(group: Sequence[DataFile]) -> tuple[int, int, int, datetime | None]:
    """Rows, bytes, files, and when the last file was made."""
    times = [t for t in map(_created, group) if t is not None]
    rows, size = sum(f.meta.row_count for f in group), sum(f.meta.file_size for f in group)
    return rows, size, len(group), max(times, default=None)


def _created(file: DataFile) -> datetime | None:
    """The writer's wall clock."""
    millis = file.meta.creation_time
    return None if millis is None else wall_clock(millis, UTC, file.meta.file_name)


def _texts(types: Sequence[DataType], values: Sequence[Any], time_zone: str) -> list[str | None]:
    return [None if v is None else shown_text(t, v, time_zone=time_zone) for t, v in zip(types, values, strict=True)]


def _braces(texts: Iterable[str | None]) -> str:
    return "{" + ", ".join("null" if t is None else t for t in texts) + "}"


def _key(row: bytes, written: TableSchema, time_zone: str) -> str | None:
    """The first or last key of a file as `[k, ...]`; NULL where the file has none."""
    if not written.primary_keys or row[:4] == bytes(4):
        return None
    types = tuple(with_nullability(t, True) for t in key_types(written))
    texts = _texts(types, binary_row.codec(types).decode(row), time_zone)
    return "[" + ", ".join("null" if t is None else t for t in texts) + "]"


def _statistics(file: DataFile, schema: TableSchema, written: TableSchema, time_zone: str) -> tuple[str, str, str]:
    """NULL counts, least and greatest values as `{column=value, ...}`, under the names of `schema`."""
    known = file_statistics(file.meta, written)
    stored = {f.id: f.type for f in written.fields}
    nulls: dict[str, str | None] = {}
    low: dict[str, str | None] = {}
    high: dict[str, str | None] = {}
    for field in sorted(schema.fields, key=lambda f: f.name):
        found = known.get(field.id)
        if found is None and field.id not in stored:
            nulls[field.name], low[field.name], high[field.name] = str(file.meta.row_count), None, None
        elif found is not None:
            type_ = stored[field.id]
            nulls[field.name] = None if found.null_count is None else str(found.null_count)
            low[field.name], high[field.name] = _texts([type_, type_], [found.minimum, found.maximum], time_zone)
    return _named(nulls), _named(low), _named(high)


def _named(values: Mapping[str, str | None]) -> str:
    return _braces(f"{k}={'null' if v is None else v}" for k, v in values.items())
