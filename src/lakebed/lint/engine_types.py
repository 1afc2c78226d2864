"""Tell which columns of a table an engine cannot read, or reads with less than is stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakebed.catalog.table_schema import TableSchema
from lakebed.physical.paimon_tree import types_inside
from lakebed.physical.paimon_types import (
    Blob,
    DataType,
    Double,
    Float,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Multiset,
    Timestamp,
    Variant,
    Vector,
    type_line,
    with_nullability,
)

_NEWER = (Variant, Blob, Vector, Geometry, Geography)
_MICROS = 6


@dataclass(frozen=True, slots=True)
class _Limits:
    """What an engine cannot read: types, partition columns of types; `micros`: it keeps microseconds at the finest."""

    types: tuple[type[DataType], ...] = ()
    partitions: tuple[type[DataType], ...] = ()
    micros: bool = False


#: Engines that a project may declare, with what is known of them.
ENGINES: Mapping[str, _Limits] = {
    "flink": _Limits(),
    "java-0.9": _Limits(types=_NEWER),
    "paimon-cpp": _Limits(types=(*_NEWER, Multiset)),
    "paimon-rust": _Limits(partitions=(Float, Double)),
    "pypaimon": _Limits(types=(Multiset, Geometry, Geography)),
    "spark": _Limits(micros=True),
    "trino": _Limits(types=(Geometry, Geography)),
}


def unreadable_columns(schema: TableSchema, engine: str) -> Iterator[tuple[str, str]]:
    """The columns that an engine does not read as they are stored, each by name, with the reason."""
    limits = ENGINES[engine]
    for column in schema.fields:
        reason = _reason(column.type, limits, is_partition=column.name in schema.partition_keys)
        if reason is not None:
            yield column.name, reason


def _reason(type_: DataType, limits: _Limits, *, is_partition: bool) -> str | None:
    for part in types_inside(type_):
        if isinstance(part, limits.types):
            return f"does not know the type {_bare(part)}"
        if limits.micros and isinstance(part, Timestamp | LocalZonedTimestamp) and part.precision > _MICROS:
            return f"reads {_bare(part)} in microseconds"
    if is_partition and isinstance(type_, limits.partitions):
        return f"reads no table that is partitioned by {_bare(type_)}"
    return None


def _bare(type_: DataType) -> str:
    return type_line(with_nullability(type_, True))
