"""Compute a manifest's statistics of data files from their Parquet footers (Paimon, "Manifest").

A bound that is not certain is left out: a wrong one makes every reader skip the file. Nested columns have no bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context
from decimal import Decimal as Number
from typing import Any

from lakebed.catalog.options import METADATA_STATS_MODE
from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.identity_cache import by_identity
from lakebed.format.manifest import ColumnStatistics, DataFileMeta, SimpleStats
from lakebed.format.parquet_footer import leaves, read_footer
from lakebed.physical.paimon_types import (
    BigInt,
    Boolean,
    Char,
    DataField,
    DataType,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
    VarChar,
)
from lakebed.store.base import Store

UNKNOWN = ColumnStatistics()
DEFAULT_MODE = "truncate(16)"
_EXACT = Context(prec=100)
_TRUNCATE = re.compile(r"truncate\((\d+)\)")
_NANOS = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}
_UNIT = re.compile(r"timeUnit=(\w+)")
_SURROGATES = range(0xD800, 0xE000)
_LAST_CODE_POINT = 0x10FFFF
#: Turns a raw Parquet bound into an internal value; None where that is not certain.
_Convert = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """What a footer says: rows, and one entry a field of the file's schema. `stats` is the same for a manifest."""

    rows: int
    columns: tuple[ColumnStatistics, ...]
    stats: SimpleStats


def parquet_statistics(
    store: Store, path: str, fields: Sequence[DataField], options: Mapping[str, str] | None = None
) -> FileStatistics:
    """Row count and statistics of a Parquet file whose columns are `fields` (the schema that it was written under).

    Only the footer is read. `options` are the table's: `metadata.stats-mode` and `fields.<name>.stats-mode` are one of
    none, counts, truncate(n) and full. A column that the file does not have is all NULL.
    """
    return footer_statistics(read_footer(store, path), fields, options)


def footer_statistics(
    metadata: Any, fields: Sequence[DataField], options: Mapping[str, str] | None = None
) -> FileStatistics:
    """The same from a footer that has been read, a `pyarrow.parquet.FileMetaData`."""
    rows = int(metadata.num_rows)
    places = leaves(metadata)
    columns = tuple(_column(metadata, places, rows, f, stats_mode(f.name, options or {})) for f in fields)
    return FileStatistics(rows, columns, SimpleStats.of([f.type for f in fields], columns))


def file_statistics(file: DataFileMeta, schema: TableSchema) -> dict[int, ColumnStatistics]:
    """What a manifest knows of a file's columns, by field id; columns without an entry are unknown.

    `schema` is the version that the file was written under; values are of that version's types. Statistics that do not
    fit the schema are unknown.
    """
    layout = _layout(schema, file.value_stats_cols)
    if not layout.fits(file):
        return {}
    return dict(zip(layout.ids, file.value_stats.decode(layout.types), strict=True))


def statistics_of_column(file: DataFileMeta, schema: TableSchema, field_id: int) -> ColumnStatistics | None:
    """The same of one column, without looking at the others; None where it is unknown."""
    layout = _layout(schema, file.value_stats_cols)
    place = layout.places.get(field_id)
    if place is None or not layout.fits(file):
        return None
    stats = file.value_stats
    value = binary_row.codec(layout.types).value
    count = stats.null_counts[place] if place < len(stats.null_counts) else None
    return ColumnStatistics(value(stats.min_values, place), value(stats.max_values, place), count)


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of which there are statistics, in order; `arity` counts those that the schema does not have, too."""

    ids: tuple[int, ...]
    types: tuple[DataType, ...]
    arity: int
    places: dict[int, int]

    def fits(self, file: DataFileMeta) -> bool:
        """Whether the statistics of a file are such."""
        return self.arity == len(self.types) and file.value_stats.min_values[:4] == self.arity.to_bytes(4, "big")


@by_identity
def _layout(schema: TableSchema, names: tuple[str, ...] | None) -> _Layout:
    by_name = {f.name: f for f in schema.fields}
    fields = schema.fields if names is None else [by_name[n] for n in names if n in by_name]
    ids = tuple(f.id for f in fields)
    arity = len(ids) if names is None else len(names)
    return _Layout(ids, tuple(f.type for f in fields), arity, {number: place for place, number in enumerate(ids)})


def stats_mode(name: str, options: Mapping[str, str]) -> str:
    """The mode in which statistics of a column are kept: none, counts, full or `truncate(n)`."""
    mode = options.get(f"fields.{name}.stats-mode", options.get(METADATA_STATS_MODE, DEFAULT_MODE))
    return mode.strip().lower().replace(" ", "")


def _column(
    metadata: Any, places: Mapping[str, tuple[int, int]], rows: int, field: DataField, mode: str
) -> ColumnStatistics:
    if mode == "none" or not places:
        return UNKNOWN
    if field.name not in places:
        return ColumnStatistics(None, None, rows)
    index, count = places[field.name]
    leaf = metadata.schema.column(index)
    if count != 1 or leaf.path != field.name:
        return UNKNOWN
    chunks = [metadata.row_group(g).column(index) for g in range(metadata.num_row_groups)]
    nulls = _null_count(chunks)
    convert = _conversion(field.type, leaf, str(metadata.created_by))
    if mode == "counts" or convert is None or nulls is None:
        return ColumnStatistics(None, None, nulls)
    return column_statistics(field.type, _bounds(chunks, convert), nulls, mode)


def _null_count(chunks: Sequence[Any]) -> int | None:
    total = 0
    for chunk in chunks:
        if not chunk.num_values:
            continue
        statistics = chunk.statistics
        if statistics is None or not statistics.has_null_count:
            return None
        total += statistics.null_count
    return total


def _bounds(chunks: Sequence[Any], convert: _Convert) -> tuple[Any, Any] | None:
    """The least and greatest value over row groups; None as soon as one that has values does not say."""
    found: list[tuple[Any, Any]] = []
    for chunk in chunks:
        statistics = chunk.statistics
        if not chunk.num_values or statistics.null_count == chunk.num_values:
            continue
        if not statistics.has_min_max:
            return None
        pair = convert(statistics.min_raw), convert(statistics.max_raw)
        if None in pair:
            return None
        found.append(pair)
    if not found:
        return None
    return min(low for low, _ in found), max(high for _, high in found)


def column_statistics(type_: DataType, bounds: tuple[Any, Any] | None, nulls: int, mode: str) -> ColumnStatistics:
    """What is kept in a mode of a column whose least and greatest values and number of NULLs are known.

    Texts are cut short, zeros signed outwards, timestamps rounded outwards. `bounds` None is unknown, or all NULL.
    """
    if mode == "none":
        return UNKNOWN
    if bounds is None or mode == "counts":
        return ColumnStatistics(None, None, nulls)
    low, high = bounds
    match type_:
        case Char() | VarChar():
            match = _TRUNCATE.fullmatch(mode)
            if match:
                low, high = low[: int(match[1])], truncate_maximum(high, int(match[1]))
        case Float() | Double():
            low, high = low or -0.0, high or 0.0
        case Timestamp(precision=p) | LocalZonedTimestamp(precision=p):
            step = 10 ** (9 - p)
            low, high = low // step * step, -(-high // step) * step
        case _:
            pass
    if high is None:
        return ColumnStatistics(None, None, nulls)
    return ColumnStatistics(low, high, nulls)


def truncate_maximum(text: str, length: int) -> str | None:
    """An upper bound of `text` of at most `length` code points; None where there is none.

    The last code point that has a successor is raised to it; surrogates, which are no text, are stepped over.
    """
    if len(text) <= length:
        return text
    for i in range(length - 1, -1, -1):
        successor = ord(text[i]) + 1
        if successor in _SURROGATES:
            successor = _SURROGATES.stop
        if successor <= _LAST_CODE_POINT:
            return text[:i] + chr(successor)
    return None


def _conversion(type_: DataType, column: Any, created_by: str) -> _Convert | None:
    """How raw bounds of a leaf column become values of `type_`; None where they are not to be trusted."""
    physical = column.physical_type
    match type_, physical:
        case (Boolean(), "BOOLEAN") | (TinyInt() | SmallInt() | Int() | Date() | Time(), "INT32") | (BigInt(), "INT64"):
            return lambda raw: raw
        case (Float(), "FLOAT") | (Double(), "DOUBLE") if created_by.startswith("parquet-mr"):
            # Other writers leave NaN out of their bounds without a trace, and NaN is above every bound.
            return lambda raw: None if math.isnan(raw) else raw
        case (Char() | VarChar(), "BYTE_ARRAY"):
            return _text
        case (Timestamp() | LocalZonedTimestamp(), "INT64"):
            return _nanoseconds(column)
        case (Decimal(scale=scale), "INT32" | "INT64" | "FIXED_LEN_BYTE_ARRAY" | "BYTE_ARRAY"):
            return _decimal(scale) if column.scale == scale and column.logical_type.type == "DECIMAL" else None
        case _:
            return None


def _text(raw: bytes) -> str | None:
    """A writer may have cut a bound inside of a character; then it is no text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _nanoseconds(column: Any) -> _Convert | None:
    unit = _UNIT.search(str(column.logical_type))
    factor = _NANOS.get(unit[1]) if unit else None
    return None if factor is None else lambda raw: raw * factor


def _decimal(scale: int) -> _Convert:
    def convert(raw: int | bytes) -> Number:
        unscaled = raw if isinstance(raw, int) else int.from_bytes(raw, "big", signed=True)
        return Number(unscaled).scaleb(-scale, _EXACT)

    return convert
