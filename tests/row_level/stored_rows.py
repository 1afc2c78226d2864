"""A table of files in every format, with and without statistics, deletions and columns of older types, and its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import lakebed
from format.laid_out import LaidOut, Vector
from lakebed.catalog import TableName
from lakebed.format.manifest import ColumnStatistics, SimpleStats
from lakebed.format.statistics import column_statistics
from lakebed.manifest import Manifest, parse_manifest
from lakebed.physical import paimon_types as p
from lakebed.physical.paimon_types import DataType
from lakebed.store import LocalStore
from read.foreign_files import file_bytes
from read.lakes import declare, empty_lake, manifest

REQUIRABLE = "  options: {alter-column-null-to-not-null.disabled: 'false'}\n"


def option(type_: str) -> str:
    return f"{{kind: Option, inner: {type_}}}"


#: What the columns of the first version are declared as; `k` becomes an Int64 with the second one.
COLUMNS = {
    "k": option("Int32"),
    "s": option("String"),
    "f": option("Float64"),
    "d": option("{kind: Decimal, precision: 6, scale: 2}"),
    "t": option("{kind: Timestamp, unit: Microsecond}"),
    "day": option("Date"),
    "l": option("{kind: List, itemType: " + option("String") + "}"),
    "r": option("{kind: Struct, fields: [{name: a, type: " + option("Int32") + "}]}"),
}


def declared(**changed: str) -> str:
    """The manifest of `db.t` at its second version, but for these columns: each a type, or `type | attributes`."""
    columns = {**COLUMNS, "k": option("Int64"), **changed}
    lines = []
    for name, text in columns.items():
        type_, _, extra = text.partition(" | ")
        lines.append(f"{{name: {name}, type: {type_}{f', extra: {extra}' if extra else ''}}}")
    return manifest("\n".join(lines), keys=REQUIRABLE)


def sources(**changed: str) -> Manifest:
    return parse_manifest(declared(**changed), source="t.yaml")


@dataclass
class StoredRows:
    """`db.t` of a warehouse; `rows` are those that are not deleted, with days and microseconds as numbers."""

    lake: lakebed.Lake
    table: LaidOut
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    files: int = 0

    @classmethod
    def of(cls, directory: Path) -> StoredRows:
        lake = empty_lake(directory)
        declare(lake, declared(k=COLUMNS["k"]))
        path = lake.tables.table_path(TableName("db", "t"))
        return cls(lake, LaidOut(LocalStore(), path, lake.schema("db.t")))

    def widen(self) -> None:
        """Files that are added from now on are of the second version."""
        declare(self.lake, declared())
        self.table.evolve(self.lake.schema("db.t"))

    def add(
        self, format: str, rows: Sequence[Mapping[str, Any]], *, stats: bool = True, gone: Sequence[int] = ()
    ) -> str:
        """A file of these rows, less those at the places `gone`; its name."""
        schema = self.table.schema
        name = f"{self.files}.{format}"
        self.files += 1
        known = [_statistics(f.type, [row.get(f.name) for row in rows]) for f in schema.fields] if stats else []
        columns = None if stats else ()
        value_stats = SimpleStats.of([f.type for f in schema.fields] if stats else [], known)
        content = file_bytes(format, schema.fields, rows)
        self.table.add(name, content, len(rows), value_stats=value_stats, value_stats_cols=columns)
        if gone:
            self.table.delete({name: Vector(gone)})
        self.rows += [row for place, row in enumerate(rows) if place not in gone]
        return name

    def commit(self) -> None:
        self.table.commit()


def _statistics(type_: DataType, values: Sequence[Any]) -> ColumnStatistics:
    """Those that a writer keeps that leaves NaN out, as many do; none of nested columns but how often they are NULL."""
    there = [v for v in values if v is not None and v == v]
    nulls = values.count(None)
    if isinstance(type_, p.Row | p.Array) or not there:
        return ColumnStatistics(None, None, nulls)
    factor = 1000 if isinstance(type_, p.Timestamp | p.LocalZonedTimestamp) else 1
    return column_statistics(type_, (min(there) * factor, max(there) * factor), nulls, "truncate(2)")
