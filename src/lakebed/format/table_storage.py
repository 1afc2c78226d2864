"""Hold what a committer needs of a table: the store, the path, the schema versions, the branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lakebed.catalog.paths import MAIN
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.snapshot import SnapshotManager
from lakebed.store.base import Store


class Schemas(Protocol):
    """The schema versions of a table's branch."""

    def load_schema(self, schema_id: int, /) -> TableSchema:
        """The version of this id."""
        ...

    def load_latest_schema(self) -> TableSchema:
        """The highest version that is stored now."""
        ...


@dataclass(frozen=True, slots=True)
class TableStorage:
    """A table as a committer sees it: the store, the path of the main table, the schemas and the branch.

    `origin` are properties that every snapshot says of who commits; see `lakebed.format.commit_origin`.
    """

    store: Store
    path: str
    schemas: Schemas
    branch: str = MAIN
    origin: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def snapshots(self) -> SnapshotManager:
        """The snapshots of the branch."""
        return SnapshotManager(self.store, self.path, self.branch)
