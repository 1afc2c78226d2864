"""List, make and drop databases, and list their tables (specification, "Directories").

A database is a directory and nothing else: it has no properties, and nothing is stored for it. On an object store a
prefix is one, as soon as there is anything below it or an object that stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lakebed.catalog.names import TableName, quote, table_problems
from lakebed.catalog.paths import Layout, PathFactory, has_schema
from lakebed.diagnostics import near_names
from lakebed.errors import AlreadyExistsError, ConflictError, NotEmptyError, NotFoundError, RefusedError
from lakebed.store import DirectoryStore, Entry, Store
from lakebed.store.safe_delete import Inside

NO_DATABASE = "LB3121"
NO_TABLE = "LB3122"
DATABASE_EXISTS = "LB3702"
HOLDS_TABLES = "LB3703"
HOLDS_OTHER_THINGS = "LB3704"
_SHOWN = 5


class Databases:
    """Looks up, makes and drops the databases of one warehouse."""

    def __init__(self, path_factory: PathFactory, store: Store) -> None:
        self._paths = path_factory
        self._store = store

    def names(self) -> list[str]:
        """The databases, sorted; of the mini layout only directories that hold a table, or nothing."""
        found = []
        for entry in self._store.list(self._paths.warehouse):
            database = self._paths.database_of(entry.name) if entry.is_directory else None
            if database is not None and (self._paths.layout is Layout.PAIMON or self._is_mini(database)):
                found.append(database)
        return sorted(found)

    def exists(self, database: str) -> bool:
        """Whether there is such a database."""
        path = self._paths.database(database)
        if isinstance(self._store, DirectoryStore):
            return self._store.is_directory(path)
        name = self._paths.database_directory_name(database)
        return any(e.name == name and e.is_directory for e in self._store.list(self._paths.warehouse))

    def tables(self, database: str) -> list[str]:
        """The tables of a database, sorted, quarantine tables among them; directories without a schema are none."""
        return [entry.name for entry in self._entries(database) if self._is_table(database, entry)]

    def create(self, database: str, *, ignore_if_exists: bool = False) -> str:
        """Make a database; its directory.

        Raises:
            AlreadyExistsError: there is such a database.
            ValidationError: no database can have such a name.
        """
        path = self._paths.database(database)
        if not self.exists(database):
            self._store.make_directory(path)
        elif not ignore_if_exists:
            raise AlreadyExistsError.of(
                DATABASE_EXISTS,
                f"the database {quote(database)} exists already in {self._paths.warehouse}",
                found=database,
                remedy="Choose another name, or use the database as it is.",
            )
        return path

    def keep(self, database: str) -> None:
        """Let a database stay when its last table goes: an object store forgets a prefix that nothing is below."""
        if not isinstance(self._store, DirectoryStore):
            self._store.make_directory(self._paths.database(database))

    def drop(
        self,
        database: str,
        *,
        cascade: bool,
        check_table: Callable[[TableName], None],
        drop_table: Callable[[TableName], object],
    ) -> None:
        """Drop a database; with `cascade` also its tables, each by `drop_table`, and all else that is in it.

        `check_table` raises for a table that must not be dropped, before anything is.

        Raises:
            NotFoundError: there is no such database.
            RefusedError: it is not empty, and `cascade` is false.
            ConflictError: somebody has made a table in it meanwhile.
        """
        path = self._paths.database(database)
        if not self.exists(database):
            raise self.missing(database)
        tables = [TableName(database, table) for table in self.tables(database)]
        others = [e.name for e in self._entries(database) if not self._is_table(database, e)]
        if not cascade:
            self._refuse_content(database, tables, others)
        inside = Inside(self._store, self._paths.warehouse)
        if inside.is_link(path):
            # What is behind a link is not this warehouse's.
            inside.delete(path)
            return
        for table in tables:
            check_table(table)
        for table in sorted(tables, key=lambda t: t.is_quarantine):
            # The table of a quarantine may have taken it along.
            if has_schema(self._store, self._paths.table(table)):
                drop_table(table)
        if cascade:
            self._clear(inside, database, others)
        self._remove(inside, database, path)

    def missing(self, database: str) -> NotFoundError:
        """The error for a database that is not there."""
        return NotFoundError.of(
            NO_DATABASE,
            f"there is no database {quote(database)} in {self._paths.warehouse}",
            found=database,
            suggestions=near_names(database, self.names()),
            remedy="Check the name, or make it with `lakebed database create`; a first table makes it too.",
        )

    def missing_table(self, name: TableName) -> NotFoundError:
        """The error for a table that is not there."""
        if not self.exists(name.database):
            near: tuple[str, ...] = near_names(name.database, self.names())
            return NotFoundError.of(
                NO_TABLE,
                f"there is no table {name}: {self._paths.warehouse} has no database {quote(name.database)}",
                found=str(name),
                suggestions=tuple(f"{quote(database)}.{quote(name.table)}" for database in near),
                remedy="Check the name, or create the table.",
            )
        near = near_names(name.table, self.tables(name.database))
        return NotFoundError.of(
            NO_TABLE,
            f"there is no table {name} in {self._paths.warehouse}",
            found=str(name),
            suggestions=tuple(str(TableName(name.database, table)) for table in near),
            remedy="Check the name, or create the table.",
        )

    # -- inside ------------------------------------------------------------------------------------------------------

    def _entries(self, database: str) -> list[Entry]:
        return self._store.list(self._paths.database(database))

    def _is_table(self, database: str, entry: Entry) -> bool:
        directory = self._paths.database(database)
        return (
            entry.is_directory
            and not table_problems(entry.name)
            and has_schema(self._store, f"{directory}/{entry.name}")
        )

    def _is_mini(self, database: str) -> bool:
        entries = [entry for entry in self._entries(database) if not entry.name.startswith(".")]
        return not entries or any(self._is_table(database, entry) for entry in entries)

    def _refuse_content(self, database: str, tables: Sequence[TableName], others: Sequence[str]) -> None:
        if tables:
            what = "1 table" if len(tables) == 1 else f"{len(tables)} tables"
            raise RefusedError.of(
                HOLDS_TABLES,
                f"the database {quote(database)} holds {what}: {_listed([quote(t.table) for t in tables])}",
                found=database,
                remedy="Drop the tables first, or drop the database with --cascade.",
                python_remedy="drop the tables first, or drop the database with cascade=True",
            )
        if others:
            path = self._paths.database(database)
            raise RefusedError.of(
                HOLDS_OTHER_THINGS,
                f"the database {quote(database)} holds no table, but other things in {path}: {_listed(others)}",
                path=path,
                found=database,
                remedy="Move them away, or drop the database with --cascade, which deletes them.",
                python_remedy="move them away, or drop the database with cascade=True, which deletes them",
            )

    def _clear(self, inside: Inside, database: str, others: Sequence[str]) -> None:
        """Delete what is no table; what has come since the first look is not touched."""
        path = self._paths.database(database)
        for entry in self._entries(database):
            if entry.name not in others or self._is_table(database, entry):
                continue
            if entry.is_directory:
                inside.delete_tree(f"{path}/{entry.name}")
            else:
                inside.delete(f"{path}/{entry.name}")

    def _remove(self, inside: Inside, database: str, path: str) -> None:
        try:
            inside.remove_directory(path)
        except NotEmptyError as error:
            raise ConflictError.of(
                HOLDS_TABLES,
                f"the database {quote(database)} was not dropped: something was put into it meanwhile",
                path=path,
                remedy="Look at its tables, and drop it again.",
            ) from error


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown} and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
