"""Choose which manifests of a base list are merged, and cut their entries into new ones.

Manifests of one size class are merged once there are many, so that an entry is written again a few times only, however
large the table grows. What is large enough stays as it is. Large results are cut between partitions, so that a read of
some partitions leaves most manifests unread.
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

    @classmethod
    def of(cls, options: Mapping[str, str], *, partitioned: bool) -> MergeRule:
        """The rule of a table, by its options."""
        target = max(size_of(options, MANIFEST_TARGET_FILE_SIZE), 1)
        return cls(
            target,
            min(max(target // _PIECES, _LEAST_PIECE), target) if partitioned else target,
            max(whole_number(options, MANIFEST_MERGE_MIN_COUNT), 2),
            size_of(options, MANIFEST_FULL_COMPACTION_THRESHOLD_SIZE),
            _ENTRIES if partitioned else sys.maxsize,
        )

    def chosen(self, metas: Sequence[ManifestFileMeta]) -> list[ManifestFileMeta]:
        """The manifests to merge, in their order; none where there are few of a size.

        All, once those that delete files have grown large: then no DELETE is left.
        """
        if 0 < self.full_size <= sum(m.file_size for m in metas if m.num_deleted_files):
            return list(metas)
        classes: dict[int, list[ManifestFileMeta]] = {}
        for meta in metas:
            count = meta.num_added_files + meta.num_deleted_files
            if meta.file_size < max(self.piece // 2, 1) and count < self.entries // 2:
                classes.setdefault(self._class(meta.file_size), []).append(meta)
        many = {m.file_name for group in classes.values() if len(group) >= self.min_count for m in group}
        return [m for m in metas if m.file_name in many]

    def _class(self, size: int) -> int:
        limit = self.piece // 2 // _GROWTH
        for number in range(_CLASSES - 1):
            if size >= limit:
                return number
            limit //= _GROWTH
        return _CLASSES - 1

    def cut(
        self, entries: Sequence[ManifestEntry], types: Sequence[DataType], size: int
    ) -> Iterator[Sequence[ManifestEntry]]:
        """The entries of new manifests. `size` is about what all take; partitions stay whole where that pays."""
        if not types or (size < 2 * self.piece and len(entries) < 2 * self.entries):
            yield entries
            return
        decode = cache(binary_row.codec(tuple(types)).decode)
        wanted = min(max(self.piece * len(entries) // max(size, 1), 1), self.entries)

        def place(entry: ManifestEntry) -> tuple[Any, ...]:
            return tuple((v is not None, ordering(v)) for v in decode(entry.partition))

        held: list[ManifestEntry] = []
        for _, group in groupby(sorted(entries, key=place), key=place):
            held += group
            if len(held) >= wanted:
                yield held
                held = []
        if held:
            yield held


def left_over(entries: Iterable[ManifestEntry], types: Sequence[DataType], *, everything: bool) -> list[ManifestEntry]:
    """What is left of entries when ADDs and DELETEs of the same file are taken out, in order.

    A DELETE whose ADD is not among them stays, since that may stand in another manifest; not of `everything`.
    """
    added, deleted = split_entries(entries, types)
    live = [e for identity, e in added.items() if identity not in deleted]
    return live if everything else live + [e for identity, e in deleted.items() if identity not in added]
