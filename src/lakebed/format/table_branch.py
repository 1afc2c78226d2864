"""Hold one branch of one table: its names and paths, its schema versions, its snapshots, the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakebed.catalog import SchemaManager, TableManager, TableName, TableRef
from lakebed.catalog.option_values import whole_number
from lakebed.catalog.options import DELETE_FILE_THREAD_NUM
from lakebed.catalog.paths import MAIN, branch_root
from lakebed.catalog.schema_manager import Clock, system_clock
from lakebed.errors import UsageError
from lakebed.format.snapshot import SnapshotManager
from lakebed.format.table_storage import TableStorage
from lakebed.store.base import Store
from lakebed.store.failed_follow_ups import afterwards
from lakebed.store.safe_delete import Inside

ONE_STATE = "LB3668"
#: How many objects of a store are deleted at a time, unless the table says.
_DELETES_AT_ONCE = 8


def newest_snapshot(tables: TableManager, name: TableName, branch: str) -> int | None:
    """The number of the newest snapshot of a branch of a table; None where it has none."""
    return TableBranch(tables, name, branch).snapshots.latest_id()


@dataclass(frozen=True, slots=True)
class TableBranch:
    """A branch of a table. `clock` gives milliseconds since 1970."""

    tables: TableManager
    name: TableName
    branch: str = MAIN
    clock: Clock = system_clock

    @classmethod
    def of(cls, tables: TableManager, ref: TableRef, clock: Clock = system_clock) -> TableBranch:
        """The branch that a reference names. Raises `UsageError` for one that names a single state."""
        if names_a_state(ref):
            raise UsageError.of(
                ONE_STATE,
                f"{ref} is one state; a table, or a branch of it, is looked after as a whole",
                found=str(ref),
                remedy=f"Write {ref.name}, or {ref.name}@branch:NAME.",
            )
        return cls(tables, ref.name, ref.branch or MAIN, clock)

    @property
    def store(self) -> Store:
        """Where the bytes are."""
        return self.tables.store

    @property
    def table_path(self) -> str:
        """The table's directory, which all branches share."""
        return self.tables.table_path(self.name)

    @property
    def inside(self) -> Inside:
        """What may be deleted: all that really lies in the table's directory."""
        return Inside(self.store, self.table_path)

    def delete_all(self, paths: Iterable[str]) -> None:
        """Delete files of the table's directory, as many at a time as `delete-file.thread-num` says. Raises as
        `Inside.delete_all`.
        """
        options = self.schemas.get_current_schema().options
        # A local file is gone before another thread has begun.
        usual = _DELETES_AT_ONCE if "://" in self.table_path else 1
        self.inside.delete_all(paths, whole_number(options, DELETE_FILE_THREAD_NUM, usual))

    @property
    def root(self) -> str:
        """The directory of the branch's own `schema/`, `snapshot/`, `tag/` and `changelog/`."""
        return branch_root(self.table_path, self.branch)

    @property
    def label(self) -> str:
        """The table in messages: `db.t`, or `db.t@branch:dev`."""
        return str(self.name) if self.branch == MAIN else f"{self.name}@branch:{self.branch}"

    @property
    def warehouse(self) -> str:
        """The path or URL of the warehouse that the table is in."""
        return self.tables.path_factory.warehouse

    @property
    def schemas(self) -> SchemaManager:
        """The branch's schema versions. Raises `NotFoundError` where there is no such table or branch."""
        return self.tables.get_schema_manager(self.name.database, self.name.table, self.branch)

    @property
    def snapshots(self) -> SnapshotManager:
        """The branch's snapshots and tags."""
        return SnapshotManager(self.store, self.table_path, self.branch)

    @property
    def storage(self) -> TableStorage:
        """The branch as a committer sees it."""
        return TableStorage(self.store, self.table_path, self.schemas, self.branch, self.tables.origin)

    def on(self, branch: str) -> TableBranch:
        """Another branch of the same table."""
        return replace(self, branch=branch)

    def put_record_right(self, done: str) -> None:
        """Let the table's `metadata` record say the newest version of the main branch, where there is a record.

        A failure is a warning that `done` is done.
        """
        if self.branch != MAIN:
            return
        path, remedy = self.tables.path_factory.metadata(self.name), "The next change of the table writes the record."
        with afterwards(done, "its `metadata` record was not brought up to date", path=path, remedy=remedy):
            self.tables.get_table_metadata(self.name.database, self.name.table)


def names_a_state(ref: TableRef) -> bool:
    """Whether a reference is to a single version or snapshot."""
    return ref.schema_id is not None or ref.snapshot is not None or ref.tag is not None
