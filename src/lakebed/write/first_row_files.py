"""Choose the level of new files of a first-row table, and find what may hold their keys already.

Readers of such a table see the levels above 0 only, where each key is once (Paimon, "First Row"). New rows of keys that
no row has had are written there, so that they are visible at once, and no row is written that nobody may see. Files of
level 0 are those of writers that leave it to others to compact them: their rows came before ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lakebed.catalog.option_values import whole_number
from lakebed.catalog.options import NUM_LEVELS, NUM_SORTED_RUN_COMPACTION_TRIGGER
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile, data_files, plan_files
from lakebed.format.manifest import ManifestEntry
from lakebed.format.merge_plan import KeyBounds
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import partitions_of
from lakebed.format.table_storage import TableStorage

#: The files of one partition and bucket.
_Place: TypeAlias = tuple[tuple[Any, ...], int]


def top_level(schema: TableSchema) -> int:
    """The highest level: one more levels than runs that start a compaction, unless the table says how many."""
    options = schema.options
    levels = whole_number(options, NUM_LEVELS) or whole_number(options, NUM_SORTED_RUN_COMPACTION_TRIGGER) + 1
    return max(levels - 1, 1)


@dataclass(frozen=True, slots=True)
class FilesBeside:
    """The live files of the partitions and buckets that new files lie in.

    `waiting` are those of level 0, whose rows nobody sees yet. `older` are visible, and may hold a key of new rows or
    of waiting ones. `levels` are those that each place has files at.
    """

    waiting: tuple[DataFile, ...] = ()
    older: tuple[DataFile, ...] = ()
    levels: Mapping[_Place, frozenset[int]] | None = None

    @property
    def matter(self) -> bool:
        """Whether a new row may not be the first one of its key."""
        return bool(self.waiting or self.older)

    def placed(self, schema: TableSchema, added: Sequence[ManifestEntry]) -> tuple[ManifestEntry, ...]:
        """New files at the highest level that has none in their place yet, or at one above all."""
        top, known = top_level(schema), self.levels or {}
        found = []
        for entry, file in zip(added, data_files("", schema, added), strict=True):
            taken = known.get((file.partition, file.bucket), frozenset())
            free = (level for level in range(top, 0, -1) if level not in taken)
            level = next(free, max(taken, default=0) + 1)
            found.append(replace(entry, file=replace(entry.file, level=level)))
        return tuple(found)


#: Where nothing lies, or nothing that stays.
NOTHING = FilesBeside()


def find_beside(
    storage: TableStorage,
    schema: TableSchema,
    snapshot: Snapshot | None,
    added: Sequence[ManifestEntry],
    without: Iterable[str] = (),
) -> FilesBeside:
    """What lies beside new files in a snapshot. `without` are paths of files that go with the commit."""
    if snapshot is None or not added:
        return NOTHING
    scope, gone = partitions_of(schema, added), frozenset(without)
    live = plan_files(
        storage.store, storage.path, snapshot, schema, partition_filter=scope.contains, manifest_filter=scope.may_hold
    )
    new = data_files(storage.path, schema, added)
    places = {(f.partition, f.bucket) for f in new}
    beside = [f for f in live if (f.partition, f.bucket) in places and f.path not in gone]
    waiting = tuple(f for f in beside if f.meta.level == 0)
    keys, ends = KeyBounds(schema), dict[_Place, tuple[Any, Any]]()
    levels: dict[_Place, frozenset[int]] = {}
    for file in (*new, *waiting):
        place, (low, high) = (file.partition, file.bucket), keys.of(file.meta)
        known = ends.get(place, (low, high))
        ends[place] = min(known[0], low), max(known[1], high)
    older = []
    for file in beside:
        place, (low, high) = (file.partition, file.bucket), keys.of(file.meta)
        levels[place] = levels.get(place, frozenset()) | {file.meta.level}
        if file.meta.level and low <= ends[place][1] and ends[place][0] <= high:
            older.append(file)
    return FilesBeside(waiting, tuple(older), levels)
