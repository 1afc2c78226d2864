"""Collect the statistics of a file's columns while its rows are written, the same for every file format.

The rules are those by which footers are read (`lakebed.format.statistics`): what is not certain is left out, and nested
columns have no statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.format.manifest import ColumnStatistics, SimpleStats
from lakebed.format.statistics import UNKNOWN, column_statistics, stats_mode
from lakebed.physical.paimon_tree import children
from lakebed.physical.paimon_types import (
    Binary,
    DataField,
    DataType,
    Double,
    Float,
    VarBinary,
)

#: How statistics of the columns of a key are kept, whatever the table says of its columns.
KEY_MODE = "truncate(128)"
_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


def internal_value(value: pa.Scalar) -> Any:
    """A value in its stored form as an internal value (see `lakebed.format.binary_row`)."""
    type_ = value.type
    if pa.types.is_timestamp(type_):
        number = value.cast(pa.int64()).as_py()
        return None if number is None else number * _NANOS[type_.unit]
    if pa.types.is_date32(type_) or pa.types.is_time32(type_):
        return value.cast(pa.int32()).as_py()
    return value.as_py()


class ColumnCollector:
    """What is known of one column after all rows that were shown. `bounds` is whether its bounds are wanted."""

    def __init__(self, type_: DataType, *, bounds: bool) -> None:
        self._type = type_
        self._rows = 0
        self._nulls = 0
        self._bounds: tuple[Any, Any] | None = None
        self._wants_bounds = bounds and not isinstance(type_, Binary | VarBinary)
        self._is_float = isinstance(type_, Float | Double)

    def add(self, values: pa.ChunkedArray) -> None:
        """Take rows into account, in their stored form."""
        self._rows += len(values)
        self._nulls += values.null_count
        if not self._wants_bounds or values.null_count == len(values):
            return
        if self._is_float and pc.any(pc.is_nan(values)).as_py():
            # NaN is above every bound, and readers do not agree on where.
            self._wants_bounds, self._bounds = False, None
            return
        found = pc.min_max(values)
        low, high = internal_value(found["min"]), internal_value(found["max"])
        if self._bounds is not None:
            low, high = min(low, self._bounds[0]), max(high, self._bounds[1])
        self._bounds = low, high

    def statistics(self, mode: str) -> ColumnStatistics:
        """What is kept of it in a mode."""
        return column_statistics(self._type, self._bounds, self._nulls, mode)


class StatisticsCollector:
    """Collects the statistics of the columns of one file; `keys` are the places of the key's columns among `fields`."""

    def __init__(self, fields: Sequence[DataField], options: Mapping[str, str], keys: Sequence[int] = ()) -> None:
        self._fields, self._keys = fields, keys
        self._modes = [stats_mode(f.name, options) for f in fields]
        self._columns = [
            None
            if children(f.type) or (mode == "none" and i not in keys)
            else ColumnCollector(f.type, bounds=mode != "counts" or i in keys)
            for i, (f, mode) in enumerate(zip(fields, self._modes, strict=True))
        ]

    def add(self, columns: Sequence[pa.ChunkedArray]) -> None:
        """Take rows into account: their columns in the order of the fields."""
        for collector, values in zip(self._columns, columns, strict=True):
            if collector is not None:
                collector.add(values)

    def value_statistics(self) -> SimpleStats:
        """The statistics of all columns."""
        return self._stats(range(len(self._fields)), self._modes)

    def key_statistics(self) -> SimpleStats:
        """The statistics of the key's columns, in its order."""
        return self._stats(self._keys, [KEY_MODE] * len(self._fields))

    def _stats(self, places: Sequence[int], modes: Sequence[str]) -> SimpleStats:
        known = [UNKNOWN if (c := self._columns[i]) is None else c.statistics(modes[i]) for i in places]
        return SimpleStats.of([self._fields[i].type for i in places], known)
