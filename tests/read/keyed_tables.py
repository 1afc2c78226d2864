"""Primary-key tables made file by file, with levels, row kinds and sequence numbers at will."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lakebed.catalog import schema_file
from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.manifest import (
    ColumnStatistics,
    DataFileMeta,
    Kind,
    ManifestEntry,
    SimpleStats,
    describe,
    write_list,
    write_manifest,
)
from lakebed.format.merge_plan import key_types, trimmed_key
from lakebed.format.snapshot import Snapshot
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField, with_nullability
from lakebed.store.local import LocalStore

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)


@dataclass(frozen=True)
class Record:
    """A stored row: its kind, its sequence number, and its values by column (NULL where left out)."""

    kind: int
    number: int
    values: Mapping[str, Any]


@dataclass
class KeyedTable:
    """A table `db.NAME` without partitions, of one snapshot. `columns`: type (text or JSON) and Arrow type by name.

    `counted`: columns of which the manifest has statistics.
    """

    warehouse: Path
    name: str
    columns: Mapping[str, tuple[Any, pa.DataType]]
    keys: Sequence[str] = ("k",)
    options: Mapping[str, str] = field(default_factory=dict)
    counted: tuple[str, ...] = ()
    files: list[tuple[DataFileMeta, int]] = field(default_factory=list)

    @property
    def path(self) -> Path:
        return self.warehouse / "db.db" / self.name

    @property
    def schema(self) -> TableSchema:
        fields = []
        for i, (name, (text, _)) in enumerate(self.columns.items()):
            kind = parse(text)
            fields.append(DataField(i, name, with_nullability(kind, False) if name in self.keys else kind))
        options = {"bucket": "1", **self.options}
        return TableSchema(0, tuple(fields), len(fields) - 1, (), tuple(self.keys), options=options)

    def add(
        self,
        records: Sequence[Record],
        *,
        level: int = 0,
        bucket: int = 0,
        thin: bool = False,
        knows_deletes: bool = True,
    ) -> None:
        """A data file with these records, which are sorted by key; `thin`: without the columns of keys."""
        schema = self.schema
        trimmed = trimmed_key(schema)
        records = sorted(records, key=lambda r: tuple(r.values[k] for k in trimmed))
        stored = {} if thin else {f"_KEY_{k}": self._column(k, records) for k in trimmed}
        stored["_SEQUENCE_NUMBER"] = pa.array([r.number for r in records], pa.int64())
        stored["_VALUE_KIND"] = pa.array([r.kind for r in records], pa.int8())
        stored |= {name: self._column(name, records) for name in self.columns}
        path = self.path / f"bucket-{bucket}" / f"data-{len(self.files)}-0.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(stored), path, store_decimal_as_integer=True)
        types = [with_nullability(t, True) for t in key_types(schema)]
        ends = [binary_row.encode(types, [r.values[k] for k in trimmed]) for r in (records[0], records[-1])]
        numbers = [r.number for r in records]
        deletes = sum(r.kind in (UPDATE_BEFORE, DELETE) for r in records)
        meta = DataFileMeta(
            file_name=path.name,
            file_size=path.stat().st_size,
            row_count=len(records),
            schema_id=0,
            min_key=ends[0],
            max_key=ends[1],
            min_sequence_number=min(numbers),
            max_sequence_number=max(numbers),
            level=level,
            creation_time=1_700_000_000_000,
            delete_row_count=deletes if knows_deletes else None,
            value_stats=self._statistics(records),
            value_stats_cols=self.counted,
        )
        self.files.append((meta, bucket))

    def commit(self) -> None:
        """Write the schema, the manifests and the snapshot."""
        store = LocalStore()
        root = str(self.path)
        store.create_if_absent(f"{root}/schema/schema-0", schema_file.dumps(self.schema))
        entries = [ManifestEntry(Kind.ADD, bytes(12), bucket, 1, meta) for meta, bucket in self.files]
        manifest = write_manifest(entries)
        store.create_if_absent(f"{root}/manifest/manifest-0", manifest)
        lists = {"base": write_list([]), "delta": write_list([describe("manifest-0", len(manifest), entries, (), 0)])}
        for name, content in lists.items():
            store.create_if_absent(f"{root}/manifest/manifest-list-{name}", content)
        rows = sum(meta.row_count for meta, _ in self.files)
        snapshot = Snapshot(
            id=1,
            schema_id=0,
            base_manifest_list="manifest-list-base",
            delta_manifest_list="manifest-list-delta",
            commit_user="test",
            commit_identifier=1,
            commit_kind="APPEND",
            time_millis=1_700_000_000_000,
            total_record_count=rows,
            delta_record_count=rows,
        )
        store.create_if_absent(f"{root}/snapshot/snapshot-1", snapshot.dumps())

    def _statistics(self, records: Sequence[Record]) -> SimpleStats:
        columns = [[r.values.get(name) for r in records] for name in self.counted]
        known = [[v for v in values if v is not None] for values in columns]
        stats = [
            ColumnStatistics(min(k, default=None), max(k, default=None), len(values) - len(k))
            for k, values in zip(known, columns, strict=True)
        ]
        fields = {f.name: f for f in self.schema.fields}
        return SimpleStats.of([fields[name].type for name in self.counted], stats)

    def _column(self, name: str, records: Sequence[Record]) -> pa.Array:
        return pa.array([r.values.get(name) for r in records], self.columns[name][1])
