"""Hold what an ingest knows of the lake that it writes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lakebed.catalog.names import TableName
from lakebed.catalog.paths import MAIN
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
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
        return TableStorage(self.store, self.tables.table_path(name), schemas, branch)
