"""Make bitmaps of the positions of rows, and positions of bitmaps.

This runs in Spark's workers, but for what brings their messages together: what comes from them, and goes to them, is
one message a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyroaring

#: So many positions are one batch.
_BATCH = 1 << 16
#: The columns beside the number of the file and the position: a portable Roaring bitmap, and how many rows there were.
BITMAP, TIMES = "bitmap", "times"


@dataclass(slots=True)
class Positions:
    """Positions of one file. `times` counts those that were there several times as often."""

    bitmap: pyroaring.BitMap = field(default_factory=pyroaring.BitMap)
    times: int = 0

    def add(self, positions: Sequence[int]) -> None:
        """Add positions."""
        self.bitmap.update(positions)
        self.times += len(positions)


def to_bitmaps(batches: Iterable[pa.RecordBatch], file: str) -> Iterator[pa.RecordBatch]:
    """From rows of the number of a file (int32) and a position in it (int64) a row for each file.

    Its columns are the number, which is called `file`, and `BITMAP` and `TIMES`.
    """
    found: dict[int, Positions] = {}
    for batch in batches:
        by_file = pa.table(batch.columns[:2], ["file", "at"]).group_by("file").aggregate([("at", "list")])
        for number, positions in zip(by_file["file"].to_pylist(), by_file["at_list"].to_pylist(), strict=True):
            found.setdefault(number, Positions()).add(positions)
    if found:
        columns = [
            pa.array(list(found), pa.int32()),
            pa.array([p.bitmap.serialize() for p in found.values()], pa.binary()),
            pa.array([p.times for p in found.values()], pa.int64()),
        ]
        yield pa.record_batch(columns, [file, BITMAP, TIMES])


def merge_bitmaps(messages: Iterable[Iterable[Any]]) -> dict[int, Positions]:
    """The positions of each file from the rows that `to_bitmaps` has made in all tasks, by the number of the file."""
    found: dict[int, Positions] = {}
    for number, bitmap, times in messages:
        known = found.setdefault(number, Positions())
        known.bitmap |= pyroaring.BitMap.deserialize(bytes(bitmap))
        known.times += times
    return dict(sorted(found.items()))


def bitmaps_table(bitmaps: Sequence[bytes], file: str) -> pa.Table:
    """What `to_positions` takes: a row for each bitmap, with its place among them as the number of the file."""
    numbers = pa.array(range(len(bitmaps)), pa.int32())
    return pa.table({file: numbers, BITMAP: pa.array(bitmaps, pa.binary())})


def to_positions(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """From rows of the number of a file and a bitmap a row for each position: the number, and the position."""
    for batch in batches:
        for number, bitmap in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            positions = pyroaring.BitMap.deserialize(bitmap).to_array()
            for start in range(0, len(positions), _BATCH):
                part = pa.array(positions[start : start + _BATCH], pa.int64())
                yield pa.record_batch([pa.repeat(pa.scalar(number, pa.int32()), len(part)), part], list(names))
