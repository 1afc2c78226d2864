"""Tell which keys each dynamic bucket has, by the hash indexes of a state (Paimon, "Dynamic Bucket").

The index of a bucket has the hashes of all keys that were ever written to it, 4 bytes each, the highest byte first. A
hash stands for all keys that have it, and keeps its bucket when they are deleted.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from lakebed.catalog.option_values import long, text_of, whole, whole_number
from lakebed.catalog.options import (
    DYNAMIC_BUCKET_INITIAL_BUCKETS,
    DYNAMIC_BUCKET_MAX_BUCKETS,
    DYNAMIC_BUCKET_TARGET_ROW_NUM,
)
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import CorruptMetadataError, SequenceNumbersTakenError, UnsupportedError
from lakebed.format import binary_row
from lakebed.format.index_manifest import HASH, IndexFile, index_path, read_index_manifest
from lakebed.format.live_files import (
    PartitionBounds,
    directories,
    entries_of,
    live_entries,
    partition_types,
    plain_path,
    snapshot_manifests,
)
from lakebed.format.manifest import ManifestEntry
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import partitions_of
from lakebed.format.table_storage import TableStorage

NOT_INDEXED = "LB5099"
TAKEN = "LB5097"
#: The highest number that a dynamic bucket may have: other engines hold it in 16 bits.
_HIGHEST = 2**15 - 1
_WIDTH = 4
_REMEDY = "let the rows be placed anew, with no other writer meanwhile"

#: A partition, a binary row with its arity, and a bucket.
_Place: TypeAlias = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class HashIndex:
    """The index of a bucket: where it lies, and how many hashes it has."""

    path: str
    keys: int


@dataclass(frozen=True, slots=True)
class HashIndexes:
    """The indexes of the buckets of a table in one state, by partition, as Lakebed encodes it, and bucket.

    `fixed`: no key comes in addition, so that one without a bucket is a fault of the table.
    """

    files: Mapping[bytes, Mapping[int, HashIndex]] = field(default_factory=dict)
    fixed: bool = False

    def of_partition(self, partition: bytes) -> Mapping[int, HashIndex]:
        """Those of a partition, by bucket."""
        return self.files.get(partition, {})


def find_hash_indexes(
    table: TableStorage, schema: TableSchema, snapshot: Snapshot | None, own: Sequence[IndexFile] = ()
) -> HashIndexes:
    """The indexes of a snapshot; `own` are those that are not committed yet, and take the place of others.

    Raises CorruptMetadataError (LB5099) for a bucket with several.
    """
    found: dict[bytes, dict[int, HashIndex]] = {}
    for files in ([] if snapshot is None else _hash_files(table, snapshot), own):
        named: dict[_Place, str] = {}
        for file, path in zip(files, hash_index_paths(table.path, schema, files), strict=True):
            place = _place(schema, file)
            if place in named:
                raise CorruptMetadataError.of(
                    NOT_INDEXED,
                    f"bucket {file.bucket} has several hash indexes, {named[place]} and {file.name}",
                    path=file.name,
                    remedy=_REMEDY,
                )
            named[place] = file.name
            found.setdefault(place[0], {})[place[1]] = HashIndex(path, file.row_count)
    return HashIndexes(found)


def _hash_files(table: TableStorage, snapshot: Snapshot) -> list[IndexFile]:
    return [f for f in read_index_manifest(table.store, table.path, snapshot) if f.type == HASH]


def _place(schema: TableSchema, file: IndexFile) -> _Place:
    codec = binary_row.codec(partition_types(schema))
    return codec.encode(codec.decode(file.partition)), file.bucket


def hash_index_paths(table_path: str, schema: TableSchema, files: Iterable[IndexFile]) -> list[str]:
    """Where hash indexes lie."""
    directory = directories(table_path, schema)
    places = ((file, directory(file.partition, file.bucket)) for file in files)
    return [plain_path(index_path(table_path, place, file, schema.options)) for file, place in places]


def refuse_unindexed(
    table: TableStorage,
    schema: TableSchema,
    snapshot: Snapshot | None,
    added: Sequence[ManifestEntry],
    indexes: HashIndexes,
) -> None:
    """Raise UnsupportedError (LB5099) where a partition of new files has a bucket with files and without an index.

    A key of it could come into a second bucket. `indexes` are those of `snapshot`.
    """
    if snapshot is None or not added:
        return
    types, scope = partition_types(schema), partitions_of(schema, added)
    codec = binary_row.codec(types)
    named = snapshot_manifests(table.store, table.path, snapshot)
    near = [m for m in named if scope.may_hold is None or scope.may_hold(PartitionBounds.of(m, types))]
    live = live_entries(entries_of(table.store, table.path, near), types, scope.contains)
    places = {(codec.encode(codec.decode(e.partition)), e.bucket): e for e in live}
    for (partition, bucket), entry in places.items():
        if bucket not in indexes.of_partition(partition):
            raise UnsupportedError.of(
                NOT_INDEXED,
                f"bucket {bucket} of partition {codec.decode(partition)} has rows and no hash index of their keys",
                path=entry.file.file_name,
                remedy=f"{_REMEDY}: `lakebed read TABLE --json > rows.jsonl`, then "
                "`lakebed overwrite TABLE --whole rows.jsonl`",
                python_remedy=f"{_REMEDY}: lake.table(t).overwrite(lake.read(spark, t), whole=True)",
            )


@dataclass(slots=True)
class HashIndexGuard:
    """A guard of a commit: ends it where another has changed which keys the buckets of its partitions have.

    `seen` is the snapshot by whose indexes the buckets were chosen.
    """

    table: TableStorage
    schema: TableSchema
    partitions: Collection[bytes]
    seen: Snapshot | None

    @classmethod
    def of(
        cls, table: TableStorage, schema: TableSchema, added: Iterable[ManifestEntry], seen: Snapshot | None
    ) -> HashIndexGuard:
        """The guard of a commit that adds these entries."""
        return cls(table, schema, frozenset(entry.partition for entry in added), seen)

    def __call__(self, since: Sequence[Snapshot]) -> None:
        """Raise `SequenceNumbersTakenError` where the indexes are others by now: buckets are chosen anew then.

        After a roll back the snapshot of a number is another one, so `since` does not tell.
        """
        newest = self.table.snapshots.latest()
        if newest == self.seen:
            return
        if self._names(newest) != self._names(self.seen):
            raise SequenceNumbersTakenError.of(
                TAKEN,
                "another commit has put keys into the buckets of the same partitions",
                path=self.table.path,
                remedy="repeat the operation: it places its rows anew",
            )

    def _names(self, snapshot: Snapshot | None) -> set[tuple[_Place, str]]:
        files = [] if snapshot is None else _hash_files(self.table, snapshot)
        places = ((_place(self.schema, f), f.name) for f in files)
        return {(place, name) for place, name in places if place[0] in self.partitions}


# --- what an index holds ----------------------------------------------------------------------------------------------


def read_hashes(data: bytes, path: str) -> array[int]:
    """The hashes of an index. Raises CorruptMetadataError (LB5099) for one that is cut off."""
    if len(data) % _WIDTH:
        raise CorruptMetadataError.of(
            NOT_INDEXED, f"hash index {path} has {len(data)} bytes, which are no whole hashes", path=path
        )
    hashes = array("i", data)
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes


def hashes_in(data: bytes) -> int:
    """How many hashes an index has."""
    return len(data) // _WIDTH


def hashes_as_stored(hashes: Iterable[int]) -> bytes:
    """The bytes of an index, or of what is added to one."""
    stored = array("i", hashes)
    if sys.byteorder == "little":
        stored.byteswap()
    return stored.tobytes()


# --- how many buckets there are ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BucketRules:
    """How new keys are spread: each of `slots` fills buckets of its own, whose numbers are its own modulo `slots`.

    A bucket gets `target` keys, and its number is at most `highest`: beyond it the buckets that there are get more.
    """

    slots: int
    target: int
    highest: int

    @classmethod
    def of(cls, schema: TableSchema, indexes: HashIndexes) -> BucketRules:
        """Those of a table with these indexes.

        There are as many slots as the table says. Else there is one for each bucket that there is, or in a partition
        only one, so that few keys come into few buckets.
        """
        options = schema.options
        most = whole(text_of(options, DYNAMIC_BUCKET_MAX_BUCKETS)) or -1
        highest = min(_HIGHEST, most - 1 if most > 0 else _HIGHEST)
        wanted = whole_number(options, DYNAMIC_BUCKET_INITIAL_BUCKETS)
        wanted = wanted or (1 if schema.partition_keys else sum(map(len, indexes.files.values())))
        target = max(long(text_of(options, DYNAMIC_BUCKET_TARGET_ROW_NUM)) or 1, 1)
        return cls(max(1, min(wanted, highest + 1)), target, highest)
