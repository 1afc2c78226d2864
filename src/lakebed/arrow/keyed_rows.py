"""Check that rows of keyed tables stand in the order of their keys; count those that delete."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import RowOrderError
from lakebed.format.row_kinds import DELETES

NOT_ASCENDING = "LB6503"


class KeyOrder:
    """The order of the keys of one file, shown part by part. `repeats`: a key may stand there several times."""

    def __init__(self, names: Sequence[str], *, repeats: bool = False) -> None:
        self._names = names
        self._above = pc.greater_equal if repeats else pc.greater
        self._last: list[pa.Array] | None = None

    def add(self, keys: Sequence[pa.ChunkedArray]) -> None:
        """Take the keys of the next rows, one column a key. Raises RowOrderError unless they ascend."""
        count = len(keys[0])
        columns = [_ordered(column) for column in keys]
        firsts, lasts = ([c.slice(at, 1).combine_chunks() for c in columns] for at in (0, count - 1))
        if self._last is not None and not self._ascend(self._last, firsts):
            raise self._error()
        if not self._ascend([c.slice(0, count - 1) for c in columns], [c.slice(1) for c in columns]):
            raise self._error()
        self._last = lasts

    def _ascend(self, before: Sequence[pa.ChunkedArray], after: Sequence[pa.ChunkedArray]) -> bool:
        """Whether each key is above the one before it, compared column by column."""
        above = self._above(after[-1], before[-1])
        for low, high in zip(before[-2::-1], after[-2::-1], strict=True):
            above = pc.or_(pc.greater(high, low), pc.and_(pc.equal(high, low), above))
        return bool(pc.all(above, min_count=0).as_py())

    def _error(self) -> RowOrderError:
        keys = ", ".join(self._names)
        return RowOrderError.of(
            NOT_ASCENDING,
            f"rows of a file do not ascend strictly by the key ({keys}): readers would show keys several times",
            path=keys,
            expected="rows sorted by key, each key once",
            remedy="report this: nothing was written",
        )


def _ordered(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values whose order is that of the table format: floats by their bits, -0.0 below 0.0 and NaN above all."""
    if not pa.types.is_floating(column.type):
        return column
    whole, highest = (pa.int64(), 2**63 - 1) if column.type == pa.float64() else (pa.int32(), 2**31 - 1)
    canonical = pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)
    bits = pa.chunked_array([chunk.view(whole) for chunk in canonical.chunks], whole)
    return pc.if_else(pc.less(bits, 0), pc.bit_wise_xor(bits, pa.scalar(highest, whole)), bits)


def count_deletes(kinds: pa.ChunkedArray) -> int:
    """How many rows of these kinds take a row away."""
    if pc.max(kinds).as_py() == 0:
        return 0
    return int(pc.sum(pc.is_in(kinds, pa.array(DELETES, pa.int8()))).as_py() or 0)
