"""Read and write manifests and manifest lists: the data files of a snapshot (Paimon, "Manifest").

A snapshot names two manifest lists; a list names manifests; a manifest's entries add or delete data files. Statistics
stay bytes until somebody asks, so that reading ten thousand entries is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Any, TypeAlias

from lakebed.diagnostics import reason_of
from lakebed.errors import CorruptMetadataError, UnsupportedError
from lakebed.format import binary_row
from lakebed.format.avro_records import Part
from lakebed.format.avro_schemas import (
    VERSION,
    entry_schema,
    list_schema,
    no_record,
    read_parts,
    write_container,
)
from lakebed.format.many_values import maker
from lakebed.physical.paimon_types import DataType
from lakebed.store.base import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI = timedelta(milliseconds=1)
#: What stands for the number of buckets that a writer of long ago did not say; as for tables without buckets.
UNKNOWN_TOTAL = -1


class Kind(IntEnum):
    """What an entry does to the set of live files."""

    ADD = 0
    DELETE = 1


class FileSource(IntEnum):
    """How a data file came about."""

    APPEND = 0
    COMPACT = 1


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """What is known of one column of a file, in internal values. None is unknown.

    A column whose null count equals the file's row count is all NULL; then both bounds are None too.
    """

    minimum: Any = None
    maximum: Any = None
    null_count: int | None = None


@dataclass(frozen=True, slots=True)
class SimpleStats:
    """Statistics as they are stored: two binary rows of equal arity and a null count (or None) a field."""

    min_values: bytes = binary_row.EMPTY_ROW
    max_values: bytes = binary_row.EMPTY_ROW
    null_counts: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, types: Sequence[DataType], columns: Sequence[ColumnStatistics]) -> SimpleStats:
        """Encode the statistics of columns of these types."""
        codec = binary_row.codec(tuple(types))
        return cls(
            codec.encode([c.minimum for c in columns]),
            codec.encode([c.maximum for c in columns]),
            tuple(c.null_count for c in columns),
        )

    def decode(self, types: Sequence[DataType]) -> tuple[ColumnStatistics, ...]:
        """The statistics of columns of these types; unknown null counts where the writer left them out."""
        codec = binary_row.codec(tuple(types))
        counts = self.null_counts or (None,) * len(types)
        values = zip(codec.decode(self.min_values), codec.decode(self.max_values), counts, strict=True)
        return tuple(ColumnStatistics(*v) for v in values)


EMPTY_STATS = SimpleStats()
#: How the names of files end that hold the indexes of a data file.
INDEX_SUFFIX = ".index"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFileMeta:
    """One data file. Sizes are exact bytes, counts physical rows, `schema_id` the version that it was written under.

    `creation_time` is the writer's wall clock in milliseconds, as if it were UTC. `value_stats_cols` None: the
    statistics cover all columns of the file's schema, in its order.
    """

    file_name: str
    file_size: int
    row_count: int
    schema_id: int
    value_stats: SimpleStats = EMPTY_STATS
    min_key: bytes = binary_row.EMPTY_ROW
    max_key: bytes = binary_row.EMPTY_ROW
    key_stats: SimpleStats = EMPTY_STATS
    min_sequence_number: int = 0
    max_sequence_number: int = 0
    level: int = 0
    extra_files: tuple[str, ...] = ()
    creation_time: int | None = None
    delete_row_count: int | None = None
    embedded_file_index: bytes | None = None
    file_source: int | None = None
    value_stats_cols: tuple[str, ...] | None = None
    external_path: str | None = None
    first_row_id: int | None = None
    write_cols: tuple[str, ...] | None = None
    write_cols_sequences: tuple[int, ...] | None = None


#: What makes a data file the same in ADD and DELETE, less the partition and the bucket.
FileIdentity = tuple[int, str, tuple[str, ...], bytes | None, str | None]


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """A data file added or deleted. `partition` is a binary row; `total_buckets` is -1 for bucket-unaware tables."""

    kind: int
    partition: bytes
    bucket: int
    total_buckets: int
    file: DataFileMeta

    @property
    def file_identity(self) -> FileIdentity:
        """Level, name, extra files, embedded index and external path."""
        f = self.file
        return f.level, f.file_name, f.extra_files, f.embedded_file_index, f.external_path


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFileMeta:
    """One manifest, as a list names it. The optional bounds are None where its writer left them out."""

    file_name: str
    file_size: int
    num_added_files: int
    num_deleted_files: int
    schema_id: int
    partition_stats: SimpleStats = field(default=EMPTY_STATS)
    min_bucket: int | None = None
    max_bucket: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    min_row_id: int | None = None
    max_row_id: int | None = None
    total_buckets: int | None = None
    extra_files: tuple[str, ...] | None = None


#: What lists say of manifests, by their names: as it is stored, and what it means.
KnownManifests: TypeAlias = dict[str, tuple[tuple[Any, ...], ManifestFileMeta]]


def manifest_path(table_path: str, name: str) -> str:
    """Where a manifest, list or index manifest lies; branches share the directory of the main table."""
    return f"{table_path}/manifest/{name}"


def read_list(
    store: Store, table_path: str, name: str, size: int | None = None, *, known: KnownManifests | None = None
) -> list[ManifestFileMeta]:
    """The manifests that a list names, in order. `size` is what the snapshot says of the list's bytes; checked.

    `known` are those of other lists, which name mostly the same ones: what is in it already is not made again.
    """
    source = manifest_path(table_path, name)
    data = store.read(source)
    _check_size(source, data, size)
    known = {} if known is None else known
    found = []
    with _parts(source):
        for parts in read_parts(data, _META_PARTS, source=source):
            before = known.get(parts[_META_NAME])
            if before is None or before[0] != parts:
                before = known[parts[_META_NAME]] = parts, _meta(parts, source)
            found.append(before[1])
    return found


def read_manifest(store: Store, table_path: str, meta: ManifestFileMeta) -> list[ManifestEntry]:
    """The entries of a manifest, in order. A manifest that is shorter than its list says is corrupt."""
    return list(iterate_manifest(store, table_path, meta))


def iterate_manifest(store: Store, table_path: str, meta: ManifestFileMeta) -> Iterator[ManifestEntry]:
    """The same one by one: a large manifest is never in memory as a whole. That it is too short is told at its end."""
    source = manifest_path(table_path, meta.file_name)
    data = store.read(source)
    _check_size(source, data, meta.file_size)
    added = every = 0
    with _parts(source):
        for parts in read_parts(data, _ENTRY_PARTS, source=source):
            entry = _entry(parts, source)
            every += 1
            added += entry.kind == Kind.ADD
            yield entry
    if (added, every - added) != (meta.num_added_files, meta.num_deleted_files):
        raise _corrupt(
            source,
            f"adds {added} files and deletes {every - added} where its list promises "
            f"{meta.num_added_files} and {meta.num_deleted_files}",
        )


def read_entries(data: bytes, source: str) -> list[ManifestEntry]:
    """The entries in the bytes of a manifest, in order; `source` names it in errors."""
    with _parts(source):
        return [_entry(parts, source) for parts in read_parts(data, _ENTRY_PARTS, source=source)]


def write_list(metas: Sequence[ManifestFileMeta], *, compression: str = "zstd") -> bytes:
    """The bytes of a manifest list."""
    tail = any(m.total_buckets is not None or m.extra_files is not None for m in metas)
    return write_container(list_schema(tail=tail), map(_meta_record, metas), compression)


def write_manifest(entries: Sequence[ManifestEntry], *, compression: str = "zstd") -> bytes:
    """The bytes of a manifest."""
    tail = any(e.file.write_cols_sequences is not None for e in entries)
    return write_container(entry_schema(tail=tail), map(_entry_record, entries), compression)


def describe(
    name: str, size: int, entries: Sequence[ManifestEntry], partition_types: Sequence[DataType], schema_id: int
) -> ManifestFileMeta:
    """What a list says of the manifest `name` with these entries; at least one entry."""
    buckets, levels = [e.bucket for e in entries], [e.file.level for e in entries]
    added = sum(e.kind == Kind.ADD for e in entries)
    return ManifestFileMeta(
        file_name=name,
        file_size=size,
        num_added_files=added,
        num_deleted_files=len(entries) - added,
        schema_id=schema_id,
        partition_stats=partition_statistics(partition_types, [e.partition for e in entries]),
        min_bucket=min(buckets),
        max_bucket=max(buckets),
        min_level=min(levels),
        max_level=max(levels),
    )


def partition_statistics(types: Sequence[DataType], partitions: Iterable[bytes]) -> SimpleStats:
    """Bounds over partition rows, one row an entry. NULLs are counted and take no part in the bounds."""
    codec = binary_row.codec(tuple(types))
    columns = list(zip(*(codec.decode(p) for p in partitions), strict=True))
    return SimpleStats.of(types, [_bounds(values) for values in columns])


def _bounds(values: Sequence[Any]) -> ColumnStatistics:
    known = [v for v in values if v is not None]
    nulls = len(values) - len(known)
    if not known:
        return ColumnStatistics(None, None, nulls)
    return ColumnStatistics(min(known, key=ordering), max(known, key=ordering), nulls)


def ordering(value: Any) -> Any:
    """A key that sorts as the table format does: floats as Java's, with -0.0 below 0.0 and NaN above all."""
    if isinstance(value, float):
        return (1, 0.0, 0) if value != value else (0, value, str(value)[0] != "-")
    return value


def _check_size(source: str, data: bytes, size: int | None) -> None:
    if size is not None and size != len(data):
        raise _corrupt(source, f"has {len(data)} bytes where {size} are promised")


def _corrupt(source: str, message: str) -> CorruptMetadataError:
    return CorruptMetadataError.of("LB5010", f"{source} {message}", path=source)


@contextmanager
def _parts(source: str) -> Iterator[None]:
    """Turn a missing or strange part of a record into an error that names the file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as e:
        raise _corrupt(source, f"lacks a part or has a strange one: {reason_of(e)}") from e


def _refuse_version(version: Any, source: str) -> None:
    if version is None:
        raise no_record(source)
    raise UnsupportedError.of(
        "LB5013",
        f"{source} has manifest version {version}",
        path=source,
        expected=str(VERSION),
        found=str(version),
        remedy="read the table with a newer Lakebed",
    )


def _stats(minimum: bytes | None, maximum: bytes | None, counts: list[int | None] | None) -> SimpleStats:
    if minimum is None or maximum is None:
        return EMPTY_STATS
    if not counts and minimum == maximum == binary_row.EMPTY_ROW:
        return EMPTY_STATS
    return _new_stats(minimum, maximum, tuple(counts or ()))


def _tuple(values: Iterable[Any] | None) -> tuple[Any, ...] | None:
    return None if values is None else tuple(values)


def _list(values: Iterable[Any] | None) -> list[Any] | None:
    """To the Avro writer a tuple in a union means something else."""
    return None if values is None else list(values)


def _paths(parts: Sequence[str], *parents: str, is_always: bool = True) -> tuple[Part, ...]:
    return tuple(((*parents, part), is_always) for part in parts)


_STATS_PARTS = ("_MIN_VALUES", "_MAX_VALUES", "_NULL_COUNTS")
_KINDS = (int(Kind.ADD), int(Kind.DELETE))
_new_stats, _new_file, _new_entry = maker(SimpleStats), maker(DataFileMeta), maker(ManifestEntry)
#: What is read of an entry, in the order in which `_entry` takes it.
_ENTRY_PARTS: tuple[Part, ...] = (
    *_paths(("_VERSION", "_KIND", "_PARTITION", "_BUCKET")),
    *_paths(("_TOTAL_BUCKETS",), is_always=False),
    *_paths(("_FILE_NAME", "_FILE_SIZE", "_ROW_COUNT", "_MIN_KEY", "_MAX_KEY"), "_FILE"),
    *_paths(_STATS_PARTS, "_FILE", "_KEY_STATS"),
    *_paths(_STATS_PARTS, "_FILE", "_VALUE_STATS"),
    *_paths(("_MIN_SEQUENCE_NUMBER", "_MAX_SEQUENCE_NUMBER", "_SCHEMA_ID", "_LEVEL", "_EXTRA_FILES"), "_FILE"),
    *_paths(
        (
            *("_CREATION_TIME", "_DELETE_ROW_COUNT", "_EMBEDDED_FILE_INDEX", "_FILE_SOURCE", "_VALUE_STATS_COLS"),
            *("_EXTERNAL_PATH", "_FIRST_ROW_ID", "_WRITE_COLS", "_WRITE_COLS_SEQUENCES"),
        ),
        "_FILE",
        is_always=False,
    ),
)
_META_NAME = 1
#: What is read of a list, in the order in which `_meta` takes it.
_META_PARTS: tuple[Part, ...] = (
    *_paths(("_VERSION", "_FILE_NAME", "_FILE_SIZE", "_NUM_ADDED_FILES", "_NUM_DELETED_FILES", "_SCHEMA_ID")),
    *_paths(_STATS_PARTS, "_PARTITION_STATS"),
    *_paths(
        (
            *("_MIN_BUCKET", "_MAX_BUCKET", "_MIN_LEVEL", "_MAX_LEVEL", "_MIN_ROW_ID", "_MAX_ROW_ID"),
            *("_TOTAL_BUCKETS", "_EXTRA_FILES"),
        ),
        is_always=False,
    ),
)


def _entry(parts: tuple[Any, ...], source: str) -> ManifestEntry:
    version, kind, partition, bucket, total, name, size, rows, min_key, max_key = parts[:10]
    min_sequence, max_sequence, schema_id, level, extra_files = parts[16:21]
    created, deleted_rows, index, source_kind, stats_cols, external, first_row_id, *write_cols = parts[21:]
    if version != VERSION:
        _refuse_version(version, source)
    if kind not in _KINDS:
        raise _corrupt(source, f"has an entry of kind {kind!r} for {name}")
    file = _new_file(
        name,
        size,
        rows,
        schema_id,
        _stats(*parts[13:16]),
        min_key,
        max_key,
        _stats(*parts[10:13]),
        min_sequence,
        max_sequence,
        level,
        tuple(extra_files),
        (created - _EPOCH) // _MILLI if isinstance(created, datetime) else created,
        deleted_rows,
        index,
        source_kind,
        _tuple(stats_cols),
        external,
        first_row_id,
        _tuple(write_cols[0]),
        _tuple(write_cols[1]),
    )
    return _new_entry(kind, partition, bucket, UNKNOWN_TOTAL if total is None else total, file)


def _meta(parts: tuple[Any, ...], source: str) -> ManifestFileMeta:
    version, name, size, added, deleted, schema_id, *stats = parts[:9]
    min_bucket, max_bucket, min_level, max_level, min_row_id, max_row_id, total_buckets, extra_files = parts[9:]
    if version != VERSION:
        _refuse_version(version, source)
    return ManifestFileMeta(
        file_name=name,
        file_size=size,
        num_added_files=added,
        num_deleted_files=deleted,
        schema_id=schema_id,
        partition_stats=_stats(*stats),
        min_bucket=min_bucket,
        max_bucket=max_bucket,
        min_level=min_level,
        max_level=max_level,
        min_row_id=min_row_id,
        max_row_id=max_row_id,
        total_buckets=total_buckets,
        extra_files=_tuple(extra_files),
    )


def _stats_record(stats: SimpleStats) -> dict[str, Any]:
    return {
        "_MIN_VALUES": stats.min_values,
        "_MAX_VALUES": stats.max_values,
        "_NULL_COUNTS": list(stats.null_counts),
    }


def _meta_record(meta: ManifestFileMeta) -> dict[str, Any]:
    return {
        "_VERSION": VERSION,
        "_FILE_NAME": meta.file_name,
        "_FILE_SIZE": meta.file_size,
        "_NUM_ADDED_FILES": meta.num_added_files,
        "_NUM_DELETED_FILES": meta.num_deleted_files,
        "_PARTITION_STATS": _stats_record(meta.partition_stats),
        "_SCHEMA_ID": meta.schema_id,
        "_MIN_BUCKET": meta.min_bucket,
        "_MAX_BUCKET": meta.max_bucket,
        "_MIN_LEVEL": meta.min_level,
        "_MAX_LEVEL": meta.max_level,
        "_MIN_ROW_ID": meta.min_row_id,
        "_MAX_ROW_ID": meta.max_row_id,
        "_TOTAL_BUCKETS": meta.total_buckets,
        "_EXTRA_FILES": _list(meta.extra_files),
    }


def _entry_record(entry: ManifestEntry) -> dict[str, Any]:
    file = entry.file
    return {
        "_VERSION": VERSION,
        "_KIND": entry.kind,
        "_PARTITION": entry.partition,
        "_BUCKET": entry.bucket,
        "_TOTAL_BUCKETS": entry.total_buckets,
        "_FILE": {
            "_FILE_NAME": file.file_name,
            "_FILE_SIZE": file.file_size,
            "_ROW_COUNT": file.row_count,
            "_MIN_KEY": file.min_key,
            "_MAX_KEY": file.max_key,
            "_KEY_STATS": _stats_record(file.key_stats),
            "_VALUE_STATS": _stats_record(file.value_stats),
            "_MIN_SEQUENCE_NUMBER": file.min_sequence_number,
            "_MAX_SEQUENCE_NUMBER": file.max_sequence_number,
            "_SCHEMA_ID": file.schema_id,
            "_LEVEL": file.level,
            "_EXTRA_FILES": list(file.extra_files),
            "_CREATION_TIME": file.creation_time,
            "_DELETE_ROW_COUNT": file.delete_row_count,
            "_EMBEDDED_FILE_INDEX": file.embedded_file_index,
            "_FILE_SOURCE": file.file_source,
            "_VALUE_STATS_COLS": _list(file.value_stats_cols),
            "_EXTERNAL_PATH": file.external_path,
            "_FIRST_ROW_ID": file.first_row_id,
            "_WRITE_COLS": _list(file.write_cols),
            "_WRITE_COLS_SEQUENCES": _list(file.write_cols_sequences),
        },
    }
