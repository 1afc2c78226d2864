"""A small lake to ingest into, and its rows as plain Python values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from lakebed.catalog import TableManager, TableName, open_warehouse
from lakebed.format.live_files import plan_files
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.ingest.ingest import IngestContext, IngestResult, ingest
from lakebed.model import Field
from lakebed.store import Store

FIRST_MOMENT = 1_700_000_000_000


class SmallLake:
    """Tables in a temporary directory, a clock that ticks, and what tests ask of them."""

    def __init__(self, root: Path, spark: SparkSession, time_zone: str = "UTC") -> None:
        warehouse = root / "warehouse"
        warehouse.mkdir(exist_ok=True)
        self.root = root
        self.spark = spark
        path_factory, self.store = open_warehouse(str(warehouse), layout="paimon")
        self.tables = TableManager(path_factory, self.store, clock=lambda: FIRST_MOMENT)
        ticks = itertools.count(FIRST_MOMENT)
        self.context = IngestContext(self.tables, time_zone, lambda: next(ticks))

    def create(self, *fields: Field, partition_keys: Iterable[str] = (), **parts: Any) -> str:
        """A table `db.t` of these columns."""
        self.tables.create_table("db", "t", fields, partition_keys=tuple(partition_keys), **parts)
        return "db.t"

    def file(self, name: str, content: str | bytes) -> str:
        """A source file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def parquet(self, name: str, columns: Mapping[str, Any] | pa.Table, **options: Any) -> str:
        """A source file in Parquet."""
        table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
        path = self.root / name
        pq.write_table(table, path, **options)
        return str(path)

    def ingest(self, source: Any, table: str = "db.t", **parts: Any) -> IngestResult:
        return ingest(self.context, self.spark, table, source, **parts)

    def path(self, table: str = "db.t") -> Path:
        return Path(self.tables.table_path(TableName.parse(table)))

    def snapshots(self, table: str = "db.t") -> list[Snapshot]:
        """All snapshots, oldest first."""
        return list(SnapshotManager(self.store, str(self.path(table))).newest_first())[::-1]

    def files(self, table: str = "db.t") -> list[Any]:
        """The live data files of the newest snapshot."""
        name = TableName.parse(table)
        if not self.tables.exists(name):
            return []
        newest = SnapshotManager(self.store, str(self.path(table))).latest()
        schemas = self.tables.get_schema_manager(name.database, name.table)
        schema = schemas.load_latest_schema()
        return [] if newest is None else list(plan_files(self.store, str(self.path(table)), newest, schema))

    def rows(self, table: str = "db.t", order: str | None = None) -> list[dict[str, Any]]:
        """What is visible, as the files have it."""
        found = [row for f in self.files(table) for row in pq.ParquetFile(f.path).read().to_pylist()]
        return sorted(found, key=lambda r: (r[order] is None, r[order])) if order else found

    def bad(self, table: str = "db.t") -> list[dict[str, Any]]:
        """The quarantined rows."""
        return self.rows(table + "__quarantine")

    def problems(self, table: str = "db.t") -> set[tuple[str | None, str, str | None]]:
        """Path, code and found value of all quarantined problems."""
        return {(p["path"], p["code"], p["found"]) for row in self.bad(table) for p in row["problems"]}

    def data_files(self, table: str = "db.t") -> set[str]:
        """Every file below the table's directory but metadata, also those that nobody sees."""
        kept = {"schema", "snapshot", "manifest", "metadata"}
        found = (p.relative_to(self.path(table)) for p in self.path(table).rglob("*") if p.is_file())
        return {str(p) for p in found if p.parts[0] not in kept}

    def with_store(self, store: Store) -> SmallLake:
        """The same lake through another store."""
        other = object.__new__(SmallLake)
        other.__dict__.update(self.__dict__)
        other.store = store
        other.tables = TableManager(self.tables.path_factory, store, clock=lambda: FIRST_MOMENT)
        other.context = IngestContext(other.tables, self.context.time_zone, self.context.clock)
        return other
