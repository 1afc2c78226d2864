"""Assign rows to the dynamic buckets of their partitions by the hashes of their keys, in Spark's workers.

A hash that an index has stays in its bucket. New ones fill the buckets of their slot: rows of one slot come together,
ordered by their hashes, so that whoever repeats it gives the same rows the same buckets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.arrow.hash_index_writer import read_index
from lakebed.arrow.row_runs import BUCKET, HASH, changes
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import CorruptMetadataError
from lakebed.format.hash_index import NOT_INDEXED, BucketRules, HashIndexes
from lakebed.store import Store

#: The partition of a row, a binary row with its arity, and the slot of its hash.
PARTITION, SLOT = "_LAKEBED_PARTITION", "_LAKEBED_SLOT"


@dataclass(frozen=True, slots=True)
class BucketAssigner:
    """Gives the rows of a task, ordered by `PARTITION`, `SLOT` and `HASH`, their buckets in place of the first two."""

    task: WriteTask
    rules: BucketRules

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches with the column `BUCKET` in addition, and without `PARTITION` and `SLOT`."""
        indexes, store = self.task.hash_indexes, self.task.open_store()
        assert indexes is not None
        partition: _Partition | None = None
        slot: _Slot | None = None
        for batch in batches:
            places, slots, hashes = (batch.column(name) for name in (PARTITION, SLOT, HASH))
            found: list[pa.Array] = []
            for start, end in pairwise([0, *changes([places, slots]), batch.num_rows]):
                if start == end:
                    continue
                place, number = places[start].as_py(), slots[start].as_py()
                if partition is None or partition.place != place:
                    partition, slot = _Partition.of(store, indexes, place), None
                if slot is None or slot.number != number:
                    slot = _Slot.of(number, self.rules, partition)
                found.append(slot.assign(hashes.slice(start, end - start)))
            rest = batch.drop_columns([PARTITION, SLOT])
            yield rest.append_column(BUCKET, pa.concat_arrays(found) if found else pa.array([], pa.int32()))


@dataclass(slots=True)
class _Partition:
    """What the indexes of a partition say: its hashes, ascending, with their buckets, and how many each bucket has."""

    place: bytes
    hashes: pa.Array
    buckets: pa.Array
    counts: dict[int, int]
    fixed: bool

    @classmethod
    def of(cls, store: Store, indexes: HashIndexes, place: bytes) -> _Partition:
        parts = [(bucket, read_index(store, index)[0]) for bucket, index in indexes.of_partition(place).items()]
        hashes = pa.concat_arrays([part for _, part in parts]) if parts else pa.array([], pa.int32())
        numbers = [pa.repeat(pa.scalar(bucket, pa.int32()), len(part)) for bucket, part in parts]
        buckets = pa.concat_arrays(numbers) if numbers else pa.array([], pa.int32())
        order = pc.sort_indices(hashes)
        counts = {bucket: len(part) for bucket, part in parts}
        return cls(place, hashes.take(order), buckets.take(order), counts, indexes.fixed)

    def find(self, hashes: pa.Array) -> pa.Array:
        """The buckets of ascending hashes, NULL of those that are new."""
        places = range(len(self.hashes))
        first = bisect_left(places, hashes[0].as_py(), key=self._hash)
        last = bisect_right(places, hashes[-1].as_py(), key=self._hash)
        near = self.hashes.slice(first, last - first)
        return self.buckets.slice(first, last - first).take(pc.index_in(hashes, value_set=near))

    def _hash(self, place: int) -> int:
        found: int = self.hashes[place].as_py()
        return found


@dataclass(slots=True)
class _Slot:
    """New hashes on their way into the buckets of one slot. `own` says how many hashes each of these has."""

    number: int
    rules: BucketRules
    partition: _Partition
    own: dict[int, int] = field(default_factory=dict)
    last: tuple[int, int] | None = None

    @classmethod
    def of(cls, number: int, rules: BucketRules, partition: _Partition) -> _Slot:
        counts = sorted(partition.counts.items())
        return cls(number, rules, partition, {b: keys for b, keys in counts if b % rules.slots == number})

    def assign(self, hashes: pa.Array) -> pa.Array:
        """The buckets of ascending hashes."""
        known = self.partition.find(hashes)
        if not known.null_count:
            return known
        new = hashes.filter(known.is_null()).unique()
        if self.partition.fixed:
            raise CorruptMetadataError.of(
                NOT_INDEXED,
                f"a key of the table is in no hash index: it has the hash {new[0]}",
                path=self.partition.place.hex(),
                remedy="let the rows be placed anew: overwrite the table with what is read from it",
            )
        return pc.coalesce(known, self._place(new).take(pc.index_in(hashes, value_set=new)))

    def _place(self, new: pa.Array) -> pa.Array:
        """The buckets of ascending hashes that no index has; the first may be the last one of the call before."""
        placed: list[pa.Array] = []
        at = 0
        if self.last is not None and new[0].as_py() == self.last[0]:
            placed.append(pa.array([self.last[1]], pa.int32()))
            at = 1
        while at < len(new) and (bucket := self._open()) is not None:
            taken = min(len(new) - at, self.rules.target - self.own[bucket])
            self.own[bucket] += taken
            at += taken
            placed.append(pa.repeat(pa.scalar(bucket, pa.int32()), taken))
        placed.append(self._spread(new[at:]))
        found = pa.concat_arrays(placed)
        self.last = new[-1].as_py(), found[-1].as_py()
        return found

    def _open(self) -> int | None:
        """A bucket that is not full, else a new one, None where there may be no more."""
        for bucket, keys in self.own.items():
            if keys < self.rules.target:
                return bucket
        free = range(self.number, self.rules.highest + 1, self.rules.slots)
        new = next((bucket for bucket in free if bucket not in self.own), None)
        if new is not None:
            self.own[new] = 0
        return new

    def _spread(self, hashes: pa.Array) -> pa.Array:
        """The buckets of hashes for which there is no room: those that there are, by the hash alone."""
        own = sorted(self.own)
        return pa.array([own[h // self.rules.slots % len(own)] for h in hashes.to_pylist()], pa.int32())
