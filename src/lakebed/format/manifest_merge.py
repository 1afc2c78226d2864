"""Choose which manifests of a base list are merged, and cut their entries into new ones.

Manifests of one size class are merged once there are many, so that an entry is written again a few times only, however
large the table grows. Large results are cut between partitions, so that a read of some partitions leaves most manifests
unread. What is large enough stays as it is, unless too many such manifests may hold one partition: where every commit
has files of all partitions, those are merged and cut again, and a read of one partition stays small.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from lakebed.catalog.option_values import size_of, whole_number
from lakebed.catalog.options import (
    MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE,
    MANIFEST_MERGE_MIN_COUNT,
    MANIFEST_TARGET_FILE_SIZE,
)
from lakebed.format import binary_row
from lakebed.format.live_files import split_entries
from lakebed.format.manifest import ManifestEntry, ManifestFileMeta, ordering
from lakebed.physical.paimon_types import DataType

#: A manifest of some partitions is at least such a part of the target size, and at least so many bytes.
_PIECES, _LEAST_PIECE = 16, 64 << 10
#: Entries of which such a manifest is made, however small they are: reading one costs what its entries cost.
_ENTRIES = 4096
#: How much larger manifests of a size class are than those of the next lower one, and how many classes there are.
_GROWTH, _CLASSES = 8, 3
#: Of how many manifests to merge a fourth is the number of large ones that may hold one partition, but never less.
_LEAST_LAYERS = 7

#: A value of a partition that compares with others; no value comes first.
_Place = tuple[bool, Any]


@dataclass(frozen=True, slots=True)
class MergeRule:
    """When manifests are merged and how large they become, in bytes.

    `target` is the most that a manifest takes, about; `piece` is what one with whole partitions takes at least, unless
    it has `entries` entries.
    """

    target: int
    piece: int
    min_count: int
    full_size: int
    entries: int = sys.maxsize
    types: tuple[DataType, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, str], types: Sequence[DataType]) -> MergeRule:
        """The rule of a table, by its options; `types` are those of its partition keys."""
        target = max(size_of(options, MANIFEST_TARGET_FILE_SIZE), 1)
        return cls(
            target,
            min(max(target // _PIECES, _LEAST_PIECE), target) if types else target,
            max(whole_number(options, MANIFEST_MERGE_MIN_COUNT), 2),
            size_of(options, MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE),
            _ENTRIES if types else sys.maxsize,
            tuple(types),
        )

    def chosen(self, metas: Sequence[ManifestFileMeta]) -> list[ManifestFileMeta]:
        """The manifests to merge, in their order; none where there are few of a size.

        All, once those that delete files have grown large: then no DELETE is left.
        """
        if 0 < self.full_size <= sum(m.file_size for m in metas if m.num_deleted_files):
            return list(metas)
        classes: dict[int, list[ManifestFileMeta]] = {}
        large = []
        for meta in metas:
            count = meta.num_added_files + meta.num_deleted_files
            if meta.file_size < max(self.piece // 2, 1) and count < self.entries // 2:
                classes.setdefault(self._class(meta.file_size), []).append(meta)
            else:
                large.append(meta)
        many = {m.file_name for group in classes.values() if len(group) >= self.min_count for m in group}
        many = many or {m.file_name for m in self._layers(large)}
        return [m for m in metas if m.file_name in many]

    def _layers(self, metas: Sequence[ManifestFileMeta]) -> list[ManifestFileMeta]:
        """The most manifests that may all hold one partition, and others; none where they are few."""
        # What was cut between partitions overlaps at its ends, once for each key but the last.
        limit = max(self.min_count // 4, _LEAST_LAYERS) + 2 * (len(self.types) - 1)
        if not self.types or len(metas) < limit:
            return []
        boxes = sorted((box for box in (self._box(m) for m in metas) if box.low != box.high), key=lambda box: box.low)
        deepest: list[_Box] = []
        open_boxes: list[_Box] = []
        for box in boxes:
            open_boxes = [b for b in open_boxes if b.high[0] >= box.low[0]] + [box]
            here = [b for b in open_boxes if b.holds(box.low)]
            if len(here) > len(deepest):
                deepest = here
        return [box.meta for box in deepest] if len(deepest) >= limit else []

    def _box(self, meta: ManifestFileMeta) -> _Box:
        columns = meta.partition_stats.decode(self.types)
        low = tuple(_place(None if c.null_count != 0 else c.minimum) for c in columns)
        return _Box(low, tuple(_place(c.maximum) for c in columns), meta)

    def _class(self, size: int) -> int:
        limit = self.piece // 2 // _GROWTH
        for number in range(_CLASSES - 1):
            if size >= limit:
                return number
            limit //= _GROWTH
        return _CLASSES - 1

    def cut(self, entries: Sequence[ManifestEntry], size: int) -> Iterator[Sequence[ManifestEntry]]:
        """The entries of new manifests. `size` is about what all take; partitions stay whole where that pays."""
        if not self.types or (size < 2 * self.piece and len(entries) < 2 * self.entries):
            yield entries
            return
        decode = cache(binary_row.codec(self.types).decode)
        wanted = min(max(self.piece * len(entries) // max(size, 1), 1), self.entries)

        def place(entry: ManifestEntry) -> tuple[_Place, ...]:
            return tuple(_place(value) for value in decode(entry.partition))

        held: list[ManifestEntry] = []
        for _, group in groupby(sorted(entries, key=place), key=place):
            held += group
            if len(held) >= wanted:
                yield held
                held = []
        if held:
            yield held


@dataclass(frozen=True, slots=True)
class _Box:
    """The least and the greatest value of each partition key in a manifest."""

    low: tuple[_Place, ...]
    high: tuple[_Place, ...]
    meta: ManifestFileMeta

    def holds(self, point: tuple[_Place, ...]) -> bool:
        return all(low <= value <= high for low, value, high in zip(self.low, point, self.high, strict=True))


def _place(value: Any) -> _Place:
    return value is not None, ordering(value)


def left_over(entries: Iterable[ManifestEntry], types: Sequence[DataType], *, everything: bool) -> list[ManifestEntry]:
    """What is left of entries when ADDs and DELETEs of the same file are taken out, in order.

    A DELETE whose ADD is not among them stays, since that may stand in another manifest; not of `everything`.
    """
    added, deleted = split_entries(entries, types)
    live = [e for identity, e in added.items() if identity not in deleted]
    return live if everything else live + [e for identity, e in deleted.items() if identity not in added]
