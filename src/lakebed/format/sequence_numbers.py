"""Number the rows of a table with a primary key above all that are there.

Rows of one key are merged in the order of their sequence numbers, so a writer counts from above every number of the
table. Commits of Lakebed say in a property of their snapshot from where the next one may count; what others commit
after that is told by the manifests of their own commits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import SequenceNumbersTakenError
from lakebed.format import binary_row
from lakebed.format.live_files import (
    PartitionBounds,
    delta_manifests,
    entries_of,
    partition_types,
    snapshot_manifests,
)
from lakebed.format.manifest import Kind, ManifestEntry, ManifestFileMeta
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import near_partitions
from lakebed.format.table_storage import TableStorage

NEXT_SEQUENCE = "lakebed.next-sequence"
TAKEN = "LB5097"
#: So many snapshots of others are always gone through; of more only as many as the table has manifests.
_ALWAYS = 8

#: A partition in internal values and a bucket.
_Bucket: TypeAlias = tuple[tuple[Any, ...], int]


@dataclass(frozen=True, slots=True)
class _Known:
    """The next free number of all files up to a snapshot."""

    snapshot_id: int = 0
    following: int = 0


def next_sequence(table: TableStorage, latest: Snapshot | None) -> int:
    """A number above every sequence number of the table's files at `latest`."""
    return _following(table, latest, _Known())


def _following(table: TableStorage, latest: Snapshot | None, known: _Known) -> int:
    if latest is None or latest.id <= known.snapshot_id:
        return known.following
    newer: list[Snapshot] = []
    most = _ALWAYS
    for snapshot in table.snapshots.newest_first(after=known.snapshot_id):
        if snapshot.id > latest.id:
            continue
        said = _said(snapshot)
        if said is not None:
            return max(said, known.following, _above(table, newer))
        newer.append(snapshot)
        if len(newer) == _ALWAYS:
            most = max(most, len(snapshot_manifests(table.store, table.path, latest)))
        if len(newer) > most:
            break
    if known.snapshot_id and newer and newer[-1].id == known.snapshot_id + 1:
        return max(known.following, _above(table, newer))
    every = entries_of(table.store, table.path, snapshot_manifests(table.store, table.path, latest))
    return max(known.following, _highest(every) + 1)


def _said(snapshot: Snapshot) -> int | None:
    """What a snapshot says of the next number; properties are anybody's to write."""
    text = (snapshot.properties or {}).get(NEXT_SEQUENCE, "")
    return int(text) if text.isascii() and text.isdigit() else None


def _above(table: TableStorage, snapshots: Iterable[Snapshot]) -> int:
    """A number above those of all files that the commits have added."""
    return 1 + max((_highest(_added(table, s)) for s in snapshots), default=-1)


def _added(table: TableStorage, snapshot: Snapshot) -> Iterable[ManifestEntry]:
    return entries_of(table.store, table.path, delta_manifests(table.store, table.path, snapshot))


def _highest(entries: Iterable[ManifestEntry]) -> int:
    return max((e.file.max_sequence_number for e in entries if e.kind == Kind.ADD), default=-1)


@dataclass(slots=True)
class SequenceState:
    """What the attempts of one commit have learnt of the numbers of the table."""

    known: _Known = _Known()

    def after(self, table: TableStorage, latest: Snapshot | None, added: Sequence[ManifestEntry]) -> int | None:
        """The next free number once `added` are committed on top of `latest`, for the property of the snapshot.

        None where nothing is added and `latest` does not say: then it is not worth looking at the files.
        """
        if not added:
            return None if latest is None else _said(latest)
        following = _following(table, latest, self.known)
        self.known = _Known(0 if latest is None else latest.id, following)
        return max(following, _highest(added) + 1)


@dataclass(slots=True)
class SequenceGuard:
    """A guard of a commit: ends it where another has taken the numbers of its rows in a bucket that it writes.

    `first` has our first number of each bucket, `seen` is the snapshot that they were counted from.
    """

    table: TableStorage
    schema: TableSchema
    first: Mapping[_Bucket, int]
    seen: int = 0

    @classmethod
    def of(
        cls,
        table: TableStorage,
        schema: TableSchema,
        added: Iterable[ManifestEntry],
        latest: Snapshot | None,
        *,
        alone: bool = False,
    ) -> SequenceGuard:
        """The guard of a commit that adds these entries, whose numbers were counted from `latest`.

        `alone`: no file at all may have come, whatever numbers it has.
        """
        decode = binary_row.codec(partition_types(schema)).decode
        first: dict[_Bucket, int] = {}
        for entry in added:
            place, number = (decode(entry.partition), entry.bucket), 0 if alone else entry.file.min_sequence_number
            first[place] = min(first.get(place, number), number)
        return cls(table, schema, first, 0 if latest is None else latest.id)

    def __call__(self, since: Sequence[Snapshot]) -> None:
        """Raise `SequenceNumbersTakenError` where a file of `since` has a number that is not below ours."""
        new = [s for s in since if s.id > self.seen]
        if not new:
            return
        store, path = self.table.store, self.table.path
        if new[-1].id == self.seen + 1:
            metas = [m for s in new for m in delta_manifests(store, path, s)]
        else:
            # Some have expired already: what is left of them is among all files.
            metas = snapshot_manifests(store, path, new[0])
        self._check(metas)
        self.seen = new[0].id

    def _check(self, metas: Iterable[ManifestFileMeta]) -> None:
        types = partition_types(self.schema)
        near = near_partitions(frozenset(partition for partition, _ in self.first))
        decode = binary_row.codec(types).decode
        near_metas = [m for m in metas if near(PartitionBounds.of(m, types))]
        for entry in entries_of(self.table.store, self.table.path, near_metas):
            place = decode(entry.partition), entry.bucket
            taken = entry.file.max_sequence_number
            if entry.kind == Kind.ADD and taken >= self.first.get(place, taken + 1):
                raise SequenceNumbersTakenError.of(
                    TAKEN,
                    f"another commit has added rows up to number {taken} to bucket {place[1]} of partition {place[0]}, "
                    f"where ours begin with {self.first[place]}",
                    path=entry.file.file_name,
                    expected=f"below {self.first[place]}",
                    found=str(taken),
                    remedy="repeat the operation: it numbers its rows anew",
                )
