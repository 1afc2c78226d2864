"""Group files whose ranges overlap: of keys in a bucket, of row ids with data evolution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from lakebed.format.live_files import DataFile


def overlapping(files: Sequence[DataFile], bounds: Callable[[DataFile], tuple[Any, Any]]) -> Iterator[list[DataFile]]:
    """Runs of files whose ranges overlap, directly or through others, in the order of the ranges.

    `bounds` gives the first and the last of a file's range, both inclusive. Within a run files keep their order.
    """
    ranges = [(*bounds(file), place) for place, file in enumerate(files)]
    run: list[int] = []
    end: Any = None
    for low, high, place in sorted(ranges, key=lambda r: r[0]):
        if run and low > end:
            yield [files[i] for i in sorted(run)]
            run = []
        end = max(end, high) if run else high
        run.append(place)
    if run:
        yield [files[i] for i in sorted(run)]
