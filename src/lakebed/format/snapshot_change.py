"""Describe what a commit changes: files that come and go, rows that are deleted, what an overwrite replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.deletion_vectors import DeletionVector
from lakebed.format.index_manifest import IndexFile
from lakebed.format.live_files import PartitionBounds, PartitionFilter, partition_types
from lakebed.format.manifest import Kind, ManifestEntry, ordering
from lakebed.format.snapshot import ANALYZE, APPEND, BATCH_IDENTIFIER, COMPACT, OVERWRITE, Snapshot


@dataclass(frozen=True, slots=True)
class Scope:
    """The partitions whose files an overwrite replaces: all that `holds` says, every one where it is None.

    `may_hold` spares manifests by the bounds of their partitions; it must not spare one with a partition of the scope.
    """

    holds: PartitionFilter | None = None
    may_hold: Callable[[PartitionBounds], bool] | None = None

    def contains(self, partition: tuple[Any, ...]) -> bool:
        """Whether the files of a partition are replaced."""
        return self.holds is None or self.holds(partition)


WHOLE_TABLE = Scope()


def matching_partitions(schema: TableSchema, specs: Sequence[Mapping[str, Any]]) -> Scope:
    """The partitions that one of the specs names by some of their keys, in internal values; an empty spec names all."""
    keys = {key: place for place, key in enumerate(schema.partition_keys)}
    wanted = tuple({keys[key]: value for key, value in spec.items()} for spec in specs)
    return Scope(
        lambda partition: any(all(partition[i] == v for i, v in spec.items()) for spec in wanted),
        lambda bounds: any(bounds.may_hold(spec) for spec in wanted),
    )


def partitions_of(schema: TableSchema, entries: Sequence[ManifestEntry]) -> Scope:
    """Exactly the partitions that the entries lie in, as a dynamic overwrite replaces them."""
    decode = binary_row.codec(partition_types(schema)).decode
    wanted = frozenset(map(decode, {entry.partition for entry in entries}))
    return Scope(wanted.__contains__, near_partitions(wanted))


#: How many partitions are held against the bounds of each manifest one by one; of more, what they lie between.
_ONE_BY_ONE = 64


def near_partitions(wanted: frozenset[tuple[Any, ...]]) -> Callable[[PartitionBounds], bool]:
    """Tells whether bounds may hold one of the partitions."""
    if len(wanted) <= _ONE_BY_ONE:
        places = [dict(enumerate(partition)) for partition in wanted]
        return lambda bounds: any(map(bounds.may_hold, places))
    columns = [[v for v in values if v is not None] for values in zip(*wanted, strict=True)]
    ends = [(min(c, key=ordering), max(c, key=ordering)) if len(c) == len(wanted) else None for c in columns]

    def near(bounds: PartitionBounds) -> bool:
        return not any(
            end is not None
            and low is not None
            and high is not None
            # A column of which some value is NULL says nothing.
            and (ordering(high) < ordering(end[0]) or ordering(end[1]) < ordering(low))
            for end, low, high in zip(ends, bounds.minimum, bounds.maximum, strict=True)
        )

    return near


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """Rows of a live data file that go, while the file stays: its deletion vector holds them from then on.

    `rows` are their positions in the file, as a portable Roaring bitmap of 32 bits. `before` is the vector that the
    file had where they were chosen, None where it had none: where that has changed the commit is a conflict.
    """

    entry: ManifestEntry
    rows: bytes
    before: DeletionVector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotChange:
    """What one commit changes. Data files lie in their places already and are never removed by a commit.

    `deleted` are entries as they are live; `overwrite` says which others go, looked up anew on top of each snapshot
    that comes first. `planned_on` is the snapshot in which `deleted` and `deleted_rows` were found live, where that is
    known: then only what was committed since is held against them. `compaction` says that the rows stay the same ones.
    `changelog` are files of changes, for consumers. `indexes` are the hash indexes of buckets from now on. `properties`
    and `operation` are told in the snapshot; a `watermark` never falls. `statistics` is the name of a file of
    statistics, which the snapshot then names.
    """

    commit_user: str
    commit_identifier: int = BATCH_IDENTIFIER
    added: tuple[ManifestEntry, ...] = ()
    deleted: tuple[ManifestEntry, ...] = ()
    overwrite: Scope | None = None
    deleted_rows: tuple[DeletedRows, ...] = ()
    planned_on: Snapshot | None = None
    compaction: bool = False
    changelog: tuple[ManifestEntry, ...] = ()
    indexes: tuple[IndexFile, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    operation: str | None = None
    watermark: int | None = None
    statistics: str | None = None

    @property
    def needed(self) -> tuple[ManifestEntry, ...]:
        """The entries that have to be live: those that go, and those that lose rows."""
        return (*self.deleted, *(d.entry for d in self.deleted_rows))

    @property
    def kind(self) -> str:
        """The kind of the commit."""
        if self.statistics is not None:
            return ANALYZE
        if self.compaction:
            return COMPACT
        return OVERWRITE if self.removes else APPEND

    @property
    def removes(self) -> bool:
        """Whether it takes files or rows away, or may."""
        return bool(self.deleted or self.deleted_rows) or self.overwrite is not None

    @property
    def only_appends(self) -> bool:
        """Whether no live file matters to it: whatever else is committed before, it means the same."""
        return not self.removes and not self.compaction and all(e.file.level == 0 for e in self.added)


def deleting(entry: ManifestEntry) -> ManifestEntry:
    """The entry that takes a live file away: all of its identity is repeated."""
    return replace(entry, kind=int(Kind.DELETE))
