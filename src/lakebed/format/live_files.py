"""List the live data files of a snapshot from its manifests."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

from lakebed.catalog.option_values import is_set
from lakebed.catalog.options import DATA_EVOLUTION_ENABLED
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, LakebedError, warn
from lakebed.format import binary_row
from lakebed.format.deletion_vectors import DeletionVector
from lakebed.format.index_manifest import INDEX_TYPE, index_path, read_index_manifest
from lakebed.format.manifest import (
    EMPTY_STATS,
    ColumnStatistics,
    DataFileMeta,
    FileIdentity,
    Kind,
    ManifestEntry,
    ManifestFileMeta,
    iterate_manifest,
    manifest_path,
    ordering,
    read_list,
)
from lakebed.format.many_values import maker, paused_collector
from lakebed.format.partition import data_directory, partition_path
from lakebed.format.refuse_unsupported import refuse_unreadable_files
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.physical.paimon_types import DataType
from lakebed.store.base import Store

_FILE_URL = re.compile("^file:/+", re.IGNORECASE)

#: Whether the files of a partition are wanted; the partition is a tuple of internal values.
PartitionFilter = Callable[[tuple[Any, ...]], bool]
#: Where the file of a deletion vector lies: partition in internal values, bucket and file name.
VectorPlace: TypeAlias = tuple[tuple[Any, ...], int, str]
#: What makes an entry the same file, added or deleted: partition in internal values, bucket, and the file's identity.
Identity: TypeAlias = tuple[tuple[Any, ...], int, FileIdentity]
#: How many files a message names one by one.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class PartitionBounds:
    """What a manifest's partitions lie between, one entry a partition key, in internal values.

    NULLs are in `null_counts` and not in the bounds; a bound that is not known is None.
    """

    minimum: tuple[Any, ...]
    maximum: tuple[Any, ...]
    null_counts: tuple[int | None, ...]
    entries: int

    @classmethod
    def of(cls, meta: ManifestFileMeta, types: Sequence[DataType]) -> PartitionBounds:
        """The bounds of a manifest; unknown where its writer left the statistics of partitions out."""
        columns = _partition_statistics(meta, types)
        return cls(
            tuple(c.minimum for c in columns),
            tuple(c.maximum for c in columns),
            tuple(c.null_count for c in columns),
            meta.num_added_files + meta.num_deleted_files,
        )

    def may_hold(self, values: Mapping[int, Any]) -> bool:
        """Whether a partition with these values, by the place of their key, may be among those of the entries."""
        return all(self._may_have(place, value) for place, value in values.items())

    def _may_have(self, place: int, value: Any) -> bool:
        low, high, nulls = self.minimum[place], self.maximum[place], self.null_counts[place]
        if value is None:
            return nulls != 0
        if low is None or high is None:
            return nulls != self.entries
        return bool(ordering(low) <= ordering(value) <= ordering(high))

    @property
    def only(self) -> tuple[Any, ...] | None:
        """The one partition of all entries, None where there may be several."""
        values: list[Any] = []
        for low, high, nulls in zip(self.minimum, self.maximum, self.null_counts, strict=True):
            if low is None and high is None and nulls == self.entries:
                values.append(None)
            elif low is not None and low == high and nulls == 0:
                values.append(low)
            else:
                return None
        return tuple(values)


@dataclass(frozen=True, slots=True)
class DataFile:
    """A live data file: absolute path or URL, exact bytes, partition in internal values, bucket, and its meta data.

    `deletions` says where the vector of its deleted rows lies, None where it has none.
    """

    path: str
    size: int
    partition: tuple[Any, ...]
    bucket: int
    total_buckets: int
    meta: DataFileMeta
    deletions: DeletionVector | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The file and those beside it that belong to it."""
        directory = posixpath.dirname(self.path)
        return (self.path, *(f"{directory}/{name}" for name in self.meta.extra_files))


_new_data_file = maker(DataFile)


@paused_collector()
def plan_files(
    store: Store,
    table_path: str,
    snapshot: Snapshot,
    schema: TableSchema,
    *,
    partition_filter: PartitionFilter | None = None,
    manifest_filter: Callable[[PartitionBounds], bool] | None = None,
) -> tuple[DataFile, ...]:
    """The live files of a snapshot, in the order in which they were committed.

    `table_path` is the main table's, also on a branch. `schema` gives partition keys, their types and the options.
    `partition_filter` chooses partitions; manifests that hold one partition only are judged by it unread.
    `manifest_filter` may drop further manifests by the bounds of their partitions; it must not drop a wanted partition.
    Raises UnsupportedError for files that would be read wrongly.
    """
    types = partition_types(schema)
    named = snapshot_manifests(store, table_path, snapshot)
    metas = [m for m in named if _may_match(m, types, partition_filter, manifest_filter)]
    entries = live_entries(entries_of(store, table_path, metas), types, partition_filter)
    refuse_unreadable_files(e.file for e in entries)
    files = data_files(table_path, schema, entries)
    everything = partition_filter is None and len(metas) == len(named)
    # Files of parts of the same rows are counted by some writers, and not by others.
    if everything and not is_set(schema.options, DATA_EVOLUTION_ENABLED):
        check_rows(snapshot, files, table_path)
    vectors = file_vectors(store, table_path, snapshot, schema)
    if not vectors:
        return files
    check_vectors(vectors, files, manifest_path(table_path, snapshot.index_manifest or ""), everything=everything)
    return tuple(_with_deletions(f, vectors.get(_place(f))) for f in files)


def _place(file: DataFile) -> VectorPlace:
    return file.partition, file.bucket, file.meta.file_name


def _with_deletions(file: DataFile, vector: DeletionVector | None) -> DataFile:
    return file if vector is None else replace(file, deletions=replace(vector, rows=file.meta.row_count))


def file_vectors(
    store: Store, table_path: str, snapshot: Snapshot, schema: TableSchema
) -> dict[VectorPlace, DeletionVector]:
    """The vectors of a snapshot by partition, bucket and data file name: a name alone may be there twice."""
    directory = directories(table_path, schema)
    decode = cache(binary_row.codec(partition_types(schema)).decode)
    found: dict[VectorPlace, DeletionVector] = {}
    for file in read_index_manifest(store, table_path, snapshot):
        if file.type == INDEX_TYPE:
            place = plain_path(index_path(table_path, directory(file.partition, file.bucket), file, schema.options))
            for name, (offset, length, cardinality) in file.ranges.items():
                key = decode(file.partition), file.bucket, name
                if key in found:
                    raise _two_vectors(table_path, snapshot, name, (found[key].path, place))
                found[key] = DeletionVector(place, offset, length, cardinality, index_size=file.size)
    return found


def check_vectors(
    vectors: Mapping[VectorPlace, DeletionVector], files: Sequence[DataFile], source: str, *, everything: bool
) -> None:
    """Hold the vectors that the index manifest `source` names against the live files that were looked at.

    A vector in the place of another partition or bucket than its live file's is an error. One whose file is not live
    anywhere is told by a `LakebedWarning` (LB5078): some engines leave it behind when they have rewritten the file.
    `everything`: all live files were looked at, else only those of some partitions.
    """
    live = {_place(f) for f in files}
    partitions = {f.partition for f in files}
    lost = [key for key in vectors if key not in live and (everything or key[0] in partitions)]
    if not lost:
        return
    alone = {f.meta.file_name: f for f in files if _place(f) not in vectors}
    for partition, bucket, name in lost:
        if name in alone:
            file = alone[name]
            raise CorruptMetadataError.of(
                "LB5075",
                f"{source} has a deletion vector for {name} in bucket {bucket} of partition {partition}; "
                f"the file is live in bucket {file.bucket} of partition {file.partition}",
                path=source,
            )
    said = ", ".join(name for _, _, name in lost[:_NAMED]) + (", ..." if len(lost) > _NAMED else "")
    warn(
        "LB5078",
        f"{source} has deletion vectors for {len(lost)} data files that are not live: {said}",
        path=source,
        remedy="if the names differ from those of live files in a few characters, the index manifest is damaged; "
        "else an engine left the vectors behind, and they delete nothing",
    )


def check_rows(snapshot: Snapshot, files: Sequence[DataFile], table_path: str) -> None:
    """Warn (`LakebedWarning`, LB5079) where the live files have more or fewer rows than the snapshot says."""
    rows, promised = sum(f.meta.row_count for f in files), snapshot.total_record_count
    if promised is not None and rows != promised:
        warn(
            "LB5079",
            f"the data files of snapshot {snapshot.id} of {table_path} have {rows:,} rows in all, and the snapshot "
            f"says {promised:,}",
            path=table_path,
            expected=str(promised),
            found=str(rows),
            remedy="compare with an older snapshot: a manifest may be damaged, or an engine may have counted wrongly",
        )


def _two_vectors(table_path: str, snapshot: Snapshot, name: str, places: tuple[str, str]) -> LakebedError:
    source = manifest_path(table_path, snapshot.index_manifest or "")
    return CorruptMetadataError.of(
        "LB5075", f"{source} has two deletion vectors for {name}: in {places[0]} and in {places[1]}", path=source
    )


def directories(table_path: str, schema: TableSchema) -> Callable[[bytes, int], str]:
    """The directory of a partition (a binary row) and a bucket."""
    types = partition_types(schema)
    decode = binary_row.codec(types).decode

    @cache
    def directory(partition: bytes, bucket: int) -> str:
        path = partition_path(schema.partition_keys, types, decode(partition), schema.options)
        return data_directory(table_path, path, bucket, schema.options)

    return directory


def partition_types(schema: TableSchema) -> tuple[DataType, ...]:
    """The types of the partition keys, in their order."""
    types = []
    for key in schema.partition_keys:
        field = schema.field(key)
        if field is None:
            raise CorruptMetadataError.of(
                "LB5015", f"partition key {key!r} is not a column of schema {schema.id}", path=key
            )
        types.append(field.type)
    return tuple(types)


def snapshot_manifests(store: Store, table_path: str, snapshot: Snapshot) -> list[ManifestFileMeta]:
    """The manifests of the base list and then of the delta list."""
    base = read_list(store, table_path, snapshot.base_manifest_list, snapshot.base_manifest_list_size)
    return base + delta_manifests(store, table_path, snapshot)


def delta_manifests(store: Store, table_path: str, snapshot: Snapshot) -> list[ManifestFileMeta]:
    """The manifests of the snapshot's own commit."""
    return read_list(store, table_path, snapshot.delta_manifest_list, snapshot.delta_manifest_list_size)


def _may_match(
    meta: ManifestFileMeta,
    types: Sequence[DataType],
    partition_filter: PartitionFilter | None,
    manifest_filter: Callable[[PartitionBounds], bool] | None,
) -> bool:
    if partition_filter is None and manifest_filter is None:
        return True
    bounds = PartitionBounds.of(meta, types)
    if manifest_filter is not None and not manifest_filter(bounds):
        return False
    only = bounds.only
    return partition_filter is None or only is None or partition_filter(only)


def _partition_statistics(meta: ManifestFileMeta, types: Sequence[DataType]) -> tuple[ColumnStatistics, ...]:
    """Nothing is known of partitions where a writer left their statistics out."""
    if not types or meta.partition_stats == EMPTY_STATS:
        return (ColumnStatistics(),) * len(types)
    return meta.partition_stats.decode(types)


def entries_of(store: Store, table_path: str, metas: Iterable[ManifestFileMeta]) -> Iterator[ManifestEntry]:
    """The entries of manifests, in order, read one by one."""
    for meta in metas:
        yield from iterate_manifest(store, table_path, meta)


def live_entries(
    entries: Iterable[ManifestEntry], types: Sequence[DataType], partition_filter: PartitionFilter | None = None
) -> list[ManifestEntry]:
    """The ADDs that no DELETE names, wherever it stands, in order; a file that is added twice counts once.

    Partitions are compared by value, since writers differ in how they encode some NULLs.
    """
    wanted = None if partition_filter is None else lambda partition, _: partition_filter(partition)
    added, deleted = split_entries(entries, types, wanted)
    return [e for identity, e in added.items() if identity not in deleted]


def iterate_live_entries(
    store: Store, table_path: str, metas: Sequence[ManifestFileMeta], types: Sequence[DataType]
) -> Iterator[ManifestEntry]:
    """The entries that `live_entries` gives, one by one: only what identifies them is held, and no statistics.

    Manifests that take files away are read twice.
    """
    identity = _identities(types)
    taking = entries_of(store, table_path, [meta for meta in metas if meta.num_deleted_files])
    passed = {identity(e) for e in taking if e.kind == Kind.DELETE}
    for entry in entries_of(store, table_path, metas):
        if entry.kind == Kind.ADD and (key := identity(entry)) not in passed:
            passed.add(key)
            yield entry


def _identities(types: Sequence[DataType]) -> Callable[[ManifestEntry], Identity]:
    """Tells what makes an entry the same file; partitions are decoded once each."""
    decode = cache(binary_row.codec(tuple(types)).decode)
    return lambda entry: (decode(entry.partition), entry.bucket, entry.file_identity)


def split_entries(
    entries: Iterable[ManifestEntry],
    types: Sequence[DataType],
    wanted: Callable[[tuple[Any, ...], int], bool] | None = None,
) -> tuple[dict[Identity, ManifestEntry], dict[Identity, ManifestEntry]]:
    """The entries that add and those that delete, by identity, in order; of one identity the first counts.

    `wanted` chooses by partition, in internal values, and bucket.
    """
    decode, identity = binary_row.codec(tuple(types)).decode, _identities(types)
    chosen = cache(lambda data, bucket: wanted is None or wanted(decode(data), bucket))
    added: dict[Identity, ManifestEntry] = {}
    deleted: dict[Identity, ManifestEntry] = {}
    for entry in entries:
        if chosen(entry.partition, entry.bucket):
            (added if entry.kind == Kind.ADD else deleted).setdefault(identity(entry), entry)
    return added, deleted


def data_files(table_path: str, schema: TableSchema, entries: Iterable[ManifestEntry]) -> tuple[DataFile, ...]:
    """Entries with their paths and decoded partitions."""
    decode = cache(binary_row.codec(partition_types(schema)).decode)
    directory = directories(table_path, schema)
    return tuple(
        _new_data_file(
            external_path(e.file) or f"{directory(e.partition, e.bucket)}/{e.file.file_name}",
            e.file.file_size,
            decode(e.partition),
            e.bucket,
            e.total_buckets,
            e.file,
            None,
        )
        for e in entries
    )


def entry_of_file(schema: TableSchema, file: DataFile) -> ManifestEntry:
    """The entry of a live file."""
    partition = binary_row.encode(partition_types(schema), file.partition)
    return ManifestEntry(int(Kind.ADD), partition, file.bucket, file.total_buckets, file.meta)


def external_path(file: DataFileMeta) -> str | None:
    """Where a file outside of the table lies; a `file:` URL of any spelling becomes a plain path."""
    return None if file.external_path is None else plain_path(file.external_path)


def plain_path(path: str) -> str:
    return _FILE_URL.sub("/", path)


def files_of_user(
    snapshots: SnapshotManager, table_path: str, schema: TableSchema, commit_user: str
) -> tuple[DataFile, ...]:
    """The files that a user's commits have added, oldest commit first, as far as their snapshots have not expired.

    Files that a later commit has removed are among them.
    """
    store, found = snapshots.store, []
    for snapshot in snapshots.newest_first():
        if snapshot.commit_user == commit_user:
            entries = entries_of(store, table_path, delta_manifests(store, table_path, snapshot))
            found.append([e for e in entries if e.kind == Kind.ADD])
    return data_files(table_path, schema, [e for entries in reversed(found) for e in entries])
