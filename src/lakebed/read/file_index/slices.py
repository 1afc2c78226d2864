"""Compare numbers of rows kept in bit slices, a bitmap for each digit (O'Neil and Quass, 1997)."""

from __future__ import annotations

from dataclasses import dataclass

from lakebed.read.file_index.roaring import BitMap


@dataclass(frozen=True, slots=True)
class Slices:
    """The numbers of the rows `present`, from `low` to `high`.

    `digits[i]` holds the rows whose number, less `low`, has the binary digit i set.
    """

    low: int
    high: int
    present: BitMap
    digits: tuple[BitMap, ...]

    def between(self, first: int, last: int) -> BitMap:
        """The rows of numbers from `first` to `last`, both included."""
        return self._below(last + 1) - self._below(first) if first <= last else self._below(self.low)

    def _below(self, limit: int) -> BitMap:
        import pyroaring

        if limit <= self.low:
            return pyroaring.BitMap()
        if limit > self.high:
            return self.present.copy()
        wanted = limit - self.low
        less, same = pyroaring.BitMap(), self.present.copy()
        for place in range(len(self.digits) - 1, -1, -1):
            digit = self.digits[place]
            if wanted >> place & 1:
                less |= same - digit
                same &= digit
            else:
                same -= digit
        return less
