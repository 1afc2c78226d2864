"""Hold what an ingest knows of the lake that it writes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.names import TableName
from lakebed.catalog.paths import MAIN
from lakebed.catalog.schema_manager import system_clock
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.warehouse_layout import open_warehouse
from lakebed.format.table_storage import TableStorage
from lakebed.ingest.sources.source_listing import SourceStorage, storage_like
from lakebed.store.base import Store


@dataclass(frozen=True, slots=True)
class IngestContext:
    """The lake that is written to: its tables, its time zone, the clock in milliseconds, and the options that its
    storage was opened with.

    `verify_checksums`: hold pages of Parquet files against their checksums, of sources too.
    """

    tables: TableManager
    time_zone: str
    clock: Callable[[], int]
    storage_options: Mapping[str, Any] | None = None
    verify_checksums: bool = True

    def __reduce__(self) -> tuple[Callable[..., IngestContext], tuple[Any, ...]]:
        """How it travels to another process, which opens the lake by the same path or URL."""
        layout = self.tables.path_factory.layout.value
        how = self.storage_options, self.time_zone, self.verify_checksums
        return open_context, (self.warehouse, layout, *how, dict(self.tables.origin), self.tables.lineage)

    @property
    def store(self) -> Store:
        """Where the bytes are."""
        return self.tables.store

    @property
    def warehouse(self) -> str:
        """The warehouse's path or URL."""
        return self.tables.path_factory.warehouse

    @property
    def sources(self) -> SourceStorage:
        """How the storages of sources are opened."""
        return storage_like(self.warehouse, self.storage_options)

    def schema_file(self, name: TableName, schema: TableSchema, branch: str = MAIN) -> str:
        """Where a version of a table's schema lies."""
        return self.tables.get_schema_manager(name.database, name.table, branch).path(schema.id)

    def storage(self, name: TableName, branch: str = MAIN) -> TableStorage:
        """A table as a committer sees it. Raises `NotFoundError` where there is none."""
        schemas = self.tables.get_schema_manager(name.database, name.table, branch)
        return TableStorage(self.store, self.tables.table_path(name), schemas, branch, self.tables.origin)


def open_context(
    warehouse: str,
    layout: str,
    storage_options: Mapping[str, Any] | None,
    time_zone: str,
    verify_checksums: bool,
    origin: Mapping[str, str],
    lineage: bool = False,
) -> IngestContext:
    """A lake that is opened where it is written to, with the clock of that process; `origin` is of who began."""
    paths, store = open_warehouse(warehouse, layout=layout, storage_options=storage_options or None)
    tables = TableManager(paths, store, origin=origin, lineage=lineage)
    return IngestContext(tables, time_zone, system_clock, storage_options, verify_checksums)
