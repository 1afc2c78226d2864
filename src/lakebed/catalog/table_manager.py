"""`TableManager`: which databases and tables a warehouse has, and how tables are made, changed and dropped."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lakebed.catalog.altering import Alterer, alter
from lakebed.catalog.annotations import OPTION
from lakebed.catalog.branches import has_schema, has_snapshots
from lakebed.catalog.building import first_version, option_texts
from lakebed.catalog.columns import AnyFields, to_columns
from lakebed.catalog.dialects import dialect_of
from lakebed.catalog.dropping import is_interrupted, leftovers, remove_table
from lakebed.catalog.external import refuse_external_data
from lakebed.catalog.metadata import TableMetadata, described, instant, read_record, synthesised
from lakebed.catalog.names import AnyTableName, TableName, quote, table_problems
from lakebed.catalog.paths import MAIN, Layout, PathFactory
from lakebed.catalog.reshape import Evolver
from lakebed.catalog.schema_manager import Clock, SchemaManager, system_clock
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema
from lakebed.catalog.validate import ensure_valid
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import (
    AlreadyExistsError,
    CorruptMetadataError,
    NotFoundError,
    StoreError,
    UsageError,
    ValidationError,
)
from lakebed.store import Store

NO_DATABASE = "LB3121"
NO_TABLE = "LB3122"
TABLE_EXISTS = "LB3123"
LEFTOVERS = "LB3124"
NO_ALTERER = "LB3126"
NOT_FIRST = "LB3127"


class TableManager:
    """Tables of one warehouse. May be shared by threads.

    Args:
        path_factory: where things lie; its layout decides how schema files are written.
        store: where the bytes are; the path factory's own where None.
        clock: milliseconds since 1970.
        evolver: makes the next version from wanted columns (see `SchemaManager`).
        alterer: makes the next version from changes; without one `alter_table` cannot be used.
    """

    def __init__(
        self,
        path_factory: PathFactory,
        store: Store | None = None,
        clock: Clock = system_clock,
        *,
        evolver: Evolver | None = None,
        alterer: Alterer | None = None,
    ) -> None:
        self.path_factory = path_factory
        self.store: Store = store if store is not None else path_factory.store
        if store is not None:
            path_factory.store = store
        self._clock = clock
        self._evolver = evolver
        self._alterer = alterer
        self._lock = threading.Lock()
        self._managers: dict[tuple[TableName, str], SchemaManager] = {}

    # -- looking -----------------------------------------------------------------------------------------------------

    def list_databases(self) -> list[str]:
        """The databases, sorted; of the mini layout only directories that hold a table."""
        found = []
        for entry in self.store.list(self.path_factory.warehouse):
            database = self.path_factory.database_of(entry.name) if entry.is_directory else None
            if database is None:
                continue
            if self.path_factory.layout is Layout.PAIMON or self._tables_of(database):
                found.append(database)
        return sorted(found)

    def list_tables(self, database: str | None = None, *, include_quarantine: bool = False) -> list[str]:
        """The names of the tables of a database, sorted; without a database `db.table` for all.

        Directories without a schema file are no tables. Quarantine tables are left out unless asked for.

        Raises:
            NotFoundError: there is no such database.
        """
        if database is None:
            return [
                str(TableName(known, table))
                for known in self.list_databases()
                for table in self.list_tables(known, include_quarantine=include_quarantine)
            ]
        found = [t for t in self._tables_of(database) if include_quarantine or not TableName(database, t).is_quarantine]
        if not found and not self._has_database(database):
            raise self._no_database(database)
        return found

    def exists(self, name: AnyTableName) -> bool:
        """Whether the table has any schema version."""
        return has_schema(self.store, self.table_path(name))

    def table_path(self, name: AnyTableName) -> str:
        """The table's directory."""
        return self.path_factory.table(name)

    def get_schema_manager(self, database: str, table: str, branch: str = MAIN) -> SchemaManager:
        """The schema versions of a branch of a table.

        Raises:
            NotFoundError: the table has no such branch, or there is no such table.
        """
        name = TableName(database, table)
        if not has_schema(self.store, self.table_path(name), branch):
            raise self._no_table(name) if branch == MAIN or not self.exists(name) else _no_branch(name, branch)
        return self._manager(name, branch)

    def get_table_metadata(self, database: str, table: str) -> TableMetadata:
        """The record of a table, at the newest version. A stale record is put right in its file.

        A table that another engine made gets a record that is made up from its schema files and not written, and so
        does one whose record cannot be understood.

        Raises:
            NotFoundError: there is no such table.
        """
        name = TableName(database, table)
        manager = self.get_schema_manager(database, table)
        try:
            record = read_record(self.path_factory, name)
        except CorruptMetadataError:
            record = None
        if record is None:
            return synthesised(name, manager)
        latest = manager.get_current_schema()
        if record.current_schema_id == latest.id:
            return record
        return self._write_record(self._raised(record, latest))

    # -- making ------------------------------------------------------------------------------------------------------

    def create_database(self, database: str) -> str:
        """Make the directory of a database; no error when it is there. Its path."""
        path = self.path_factory.database(database)
        self.store.make_directory(path)
        return path

    def create_table(
        self,
        database: str,
        table: str,
        fields: AnyFields,
        primary_keys: Iterable[str] = (),
        partition_keys: Iterable[str] = (),
        *,
        options: Mapping[str, object] | None = None,
        comment: str | None = None,
    ) -> TableMetadata:
        """Make a table, and its database where there is none. Columns of the primary key become NOT NULL.

        Every form of `lakebed.catalog.columns` is taken for a column. Options `primary-key` and `partition` are folded
        into the keys.

        Raises:
            AlreadyExistsError: there is such a table, or the rest of one.
            ValidationError: a name, column, key or option that may not be, with all problems.
        """
        name = TableName(database, table)
        schema = first_version(
            to_columns(fields),
            tuple(primary_keys),
            tuple(partition_keys),
            option_texts(options),
            comment,
            self._clock(),
        )
        return self.create(name, schema)

    def create(self, name: TableName, schema: TableSchema) -> TableMetadata:
        """Make a table of a complete first version. Raises as `create_table`."""
        if schema.id != 0 or schema.version > CURRENT_VERSION:
            message = f"a table starts with schema 0 of format version {CURRENT_VERSION}"
            raise ValidationError(
                Diagnostic(NOT_FIRST, message, found=f"schema {schema.id} of format version {schema.version}")
            )
        ensure_valid(schema, branch_exists=lambda branch: branch == MAIN)
        if self.exists(name):
            raise _exists(name)
        self._refuse_leftovers(name)
        stored = schema if self.path_factory.layout is Layout.PAIMON else _bare(schema)
        if not SchemaManager(
            self.store, self.table_path(name), name=name, dialect=dialect_of(self.path_factory.layout)
        ).publish(stored):
            raise _exists(name)
        return self._write_record(described(name, schema, made=schema.time_millis or self._clock()))

    def after_new_version(self, name: TableName, schema: TableSchema) -> None:
        """Put the record of a table up to a new version of its main branch; a table without a record gets none."""
        try:
            record = read_record(self.path_factory, name)
        except CorruptMetadataError:
            return
        if record is not None and record.current_schema_id < schema.id:
            self._write_record(self._raised(record, schema))

    def alter_table(self, database: str, table: str, changes: Sequence[Any], *, branch: str = MAIN) -> TableSchema:
        """The version after all changes, as one new version; the present one where they change nothing.

        After a lost race the changes are made again on the newer version, unless a column name means another column
        there.

        Raises:
            NotFoundError: there is no such table.
            RefusedError, ValidationError: what the evaluator says.
            ConflictError: somebody else changed the columns that names stand for.
        """
        if self._alterer is None:
            raise UsageError(
                Diagnostic(
                    NO_ALTERER, "this table manager cannot judge changes", remedy="Use lakebed.open(...).tables."
                )
            )
        manager = self.get_schema_manager(database, table, branch)
        path = self.table_path(TableName(database, table))
        return alter(
            manager,
            self._alterer,
            changes,
            has_snapshots=lambda: has_snapshots(self.store, path, branch),
            clock=self._clock,
        )

    # -- dropping ----------------------------------------------------------------------------------------------------

    def drop_table(self, database: str, table: str, *, purge: bool = False) -> None:
        """Delete a table with all that is in its directory, and its quarantine table; links are not followed.

        Data files outside the table's directory are never deleted. A table that may have some is refused unless
        `purge` is true, for they are lost with it. A drop that was interrupted is finished.

        Raises:
            NotFoundError: there is no such table.
            RefusedError: it may have data files outside its directory.
        """
        name = TableName(database, table)
        path = self.table_path(name)
        if not self.exists(name) and not is_interrupted(self.store, path):
            raise self._no_table(name)
        names = [name]
        if not name.is_quarantine and not table_problems(name.quarantine.table):
            quarantine = self.table_path(name.quarantine)
            if self.exists(name.quarantine) or is_interrupted(self.store, quarantine):
                names.insert(0, name.quarantine)
        if not purge:
            for dropped in names:
                refuse_external_data(
                    self.store, self.table_path(dropped), dropped, dialect_of(self.path_factory.layout)
                )
        for dropped in names:
            remove_table(self.store, self.table_path(dropped))
            with self._lock:
                for key in [key for key in self._managers if key[0] == dropped]:
                    del self._managers[key]

    # -- inside ------------------------------------------------------------------------------------------------------

    def _manager(self, name: TableName, branch: str = MAIN) -> SchemaManager:
        with self._lock:
            known = self._managers.get((name, branch))
            if known is None:
                known = self._managers[name, branch] = SchemaManager(
                    self.store,
                    self.table_path(name),
                    branch=branch,
                    name=name,
                    dialect=dialect_of(self.path_factory.layout),
                    clock=self._clock,
                    evolver=self._evolver,
                    on_new_version=(lambda schema: self.after_new_version(name, schema)) if branch == MAIN else None,
                )
            return known

    def _tables_of(self, database: str) -> list[str]:
        directory = self.path_factory.database(database)
        return [
            entry.name
            for entry in self.store.list(directory)
            if entry.is_directory
            and not table_problems(entry.name)
            and has_schema(self.store, f"{directory}/{entry.name}")
        ]

    def _has_database(self, database: str) -> bool:
        directory = self.path_factory.database_directory_name(database)
        return any(e.name == directory and e.is_directory for e in self.store.list(self.path_factory.warehouse))

    def _refuse_leftovers(self, name: TableName) -> None:
        path = self.table_path(name)
        if is_interrupted(self.store, path):
            what, remedy = "a drop of an earlier table was interrupted there", "Drop the table again to finish it."
        elif found := leftovers(self.store, path):
            what, remedy = (
                f"it holds {', '.join(found)} of an earlier table",
                f"Look at {path} and delete the directory.",
            )
        else:
            return
        raise AlreadyExistsError(
            Diagnostic(LEFTOVERS, f"the table {name} cannot be made in {path}: {what}", path=path, remedy=remedy)
        )

    def _raised(self, record: TableMetadata, latest: TableSchema) -> TableMetadata:
        """The record at a version; in the mini layout, whose schema files hold no options, only the id and the time."""
        time = instant(latest.time_millis or self._clock())
        raised = replace(record, current_schema_id=latest.id, last_modified_time=max(record.create_time, time))
        if self.path_factory.layout is Layout.MINI:
            return raised
        properties = {key: value for key, value in sorted(latest.options.items()) if key != OPTION}
        return replace(raised, description=latest.comment or "", properties=properties)

    def _write_record(self, record: TableMetadata) -> TableMetadata:
        """Write the record where that is possible.

        The schema file is the truth and is written already: a store that refuses the record must not make the caller
        believe that the version failed. The next look at the table puts the record right.
        """
        try:
            record.persist(self.path_factory)
        except StoreError:
            return record
        return record

    def _no_database(self, database: str) -> NotFoundError:
        return NotFoundError(
            Diagnostic(
                NO_DATABASE,
                f"there is no database {quote(database)} in {self.path_factory.warehouse}",
                found=database,
                suggestions=near_names(database, self.list_databases()),
                remedy="Create a table in it; the database is made with its first table.",
            )
        )

    def _no_table(self, name: TableName) -> NotFoundError:
        if not self._has_database(name.database):
            near: tuple[str, ...] = near_names(name.database, self.list_databases())
            return NotFoundError(
                Diagnostic(
                    NO_TABLE,
                    f"there is no table {name}: {self.path_factory.warehouse} has no database {quote(name.database)}",
                    found=str(name),
                    suggestions=tuple(f"{quote(database)}.{quote(name.table)}" for database in near),
                    remedy="Check the name, or create the table.",
                )
            )
        near = near_names(name.table, self._tables_of(name.database))
        return NotFoundError(
            Diagnostic(
                NO_TABLE,
                f"there is no table {name} in {self.path_factory.warehouse}",
                found=str(name),
                suggestions=tuple(str(TableName(name.database, table)) for table in near),
                remedy="Check the name, or create the table.",
            )
        )


def _bare(schema: TableSchema) -> TableSchema:
    """What a schema file of the mini layout holds: options and comment are in the record alone, annotations nowhere."""
    kept = {key: value for key, value in schema.options.items() if key == OPTION}
    return replace(schema, options=kept, comment=None)


def _exists(name: TableName) -> AlreadyExistsError:
    return AlreadyExistsError(
        Diagnostic(
            TABLE_EXISTS,
            f"the table {name} exists already",
            found=str(name),
            remedy="Choose another name, or change the table by a plan.",
        )
    )


def _no_branch(name: TableName, branch: str) -> NotFoundError:
    return NotFoundError(Diagnostic(NO_TABLE, f"the table {name} has no branch {branch!r}", found=branch))
