"""List, create, alter, rename and drop the tables of a warehouse: `TableManager`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from lakebed.catalog.columns import AnyFields, to_columns
from lakebed.catalog.databases import NO_TABLE, Databases
from lakebed.catalog.dialects import dialect_of
from lakebed.catalog.drop_and_rename import (
    is_drop_interrupted,
    is_rename_interrupted,
    refuse_remains,
    remove_table,
    rename,
)
from lakebed.catalog.first_version import first_version, option_texts
from lakebed.catalog.metadata import Records, TableMetadata, completed_by_record
from lakebed.catalog.mini_rows import refuse_foreign_rows
from lakebed.catalog.names import AnyTableName, TableName, as_table_name, branch_of
from lakebed.catalog.paths import MAIN, Layout, PathFactory, has_schema
from lakebed.catalog.refuse_external import refuse_another_definition, refuse_external_data
from lakebed.catalog.schema_manager import Clock, SchemaManager, system_clock
from lakebed.catalog.table_schema import CURRENT_VERSION, TableSchema
from lakebed.catalog.validate import ensure_valid
from lakebed.diagnostics import Diagnostic
from lakebed.errors import AlreadyExistsError, LakebedError, NotFoundError, ValidationError
from lakebed.store import Store
from lakebed.store.failed_follow_ups import UNDONE, with_note
from lakebed.store.obstacles import refuse_obstacle

TABLE_EXISTS = "LB3123"
NOT_FIRST = "LB3127"


class TableManager:
    """Tables of one warehouse. May be shared by threads.

    Args:
        path_factory: where things lie; its layout decides how schema files are written.
        store: where the bytes are; the path factory's own where None.
        clock: milliseconds since 1970.
        origin: what every snapshot says of who commits it, or what finds that out when it is first needed.
        lineage: whether OpenLineage is told of runs.
    """

    def __init__(
        self,
        path_factory: PathFactory,
        store: Store | None = None,
        clock: Clock = system_clock,
        *,
        origin: Mapping[str, str] | Callable[[], Mapping[str, str]] | None = None,
        lineage: bool = False,
    ) -> None:
        self.path_factory = path_factory
        self.store: Store = store if store is not None else path_factory.store
        if store is not None:
            path_factory.store = store
        self.lineage = lineage
        self._origin = origin
        self._clock = clock
        self._lock = threading.Lock()
        self._managers: dict[tuple[TableName, str], SchemaManager] = {}
        self._databases = Databases(path_factory, self.store)
        self._records = Records(path_factory, clock)

    @cached_property
    def origin(self) -> Mapping[str, str]:
        """What every snapshot says of who commits it; see `lakebed.open`."""
        return dict((self._origin() if callable(self._origin) else self._origin) or {})

    # -- looking -----------------------------------------------------------------------------------------------------

    def list_databases(self) -> list[str]:
        """The databases, sorted; of the mini layout only directories that hold a table, or nothing."""
        return self._databases.names()

    def database_exists(self, database: str) -> bool:
        """Whether there is such a database."""
        return self._databases.exists(database)

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
        found = self._databases.tables(database)
        if not found and not self._databases.exists(database):
            raise self._databases.missing(database)
        return [table for table in found if include_quarantine or not TableName(database, table).is_quarantine]

    def exists(self, name: AnyTableName) -> bool:
        """Whether the table has any schema version."""
        return has_schema(self.store, self.table_path(name))

    def table_path(self, name: AnyTableName) -> str:
        """The table's directory."""
        return self.path_factory.table(name)

    def refuse_foreign_rows(self, name: TableName) -> None:
        """Raise `UnsupportedError` for a table of the mini layout that holds rows which Mini Paimon itself wrote."""
        if self.path_factory.layout is Layout.MINI:
            refuse_foreign_rows(self.store, self.table_path(name), name)

    @property
    def holds_annotations(self) -> bool:
        """Whether schema files of this layout have a place for annotations, the mark of `apply` among them."""
        return self.path_factory.layout is Layout.PAIMON

    def file_problems(self, schema: TableSchema, previous: TableSchema | None) -> Sequence[Diagnostic]:
        """What keeps schema files of this layout from holding `schema` as the version after `previous`."""
        return dialect_of(self.path_factory.layout).problems(schema, previous)

    def get_schema_manager(self, database: str, table: str, branch: str = MAIN) -> SchemaManager:
        """The schema versions of a branch of a table; `t$branch_b` is the branch `b` of `t` too.

        Raises:
            NotFoundError: the table has no such branch, or there is no such table.
            UnsupportedError: the name is that of a system table.
        """
        name, branch = _of_branch(database, table, branch)
        found = self.find_schema_manager(name, branch)
        if found is not None:
            return found
        if branch == MAIN or not self.exists(name):
            raise self._databases.missing_table(name)
        raise _missing_branch(name, branch)

    def find_schema_manager(self, name: TableName, branch: str = MAIN) -> SchemaManager | None:
        """The schema versions of a branch of a table; None where there is no such branch, or no such table."""
        versions = self._manager(name, branch)
        return versions if versions.exists() else None

    def get_table_metadata(self, database: str, table: str) -> TableMetadata:
        """The record of a table, at the newest version. A stale record is put right in its file.

        A table that another engine made gets a record that is made up from its schema files and not written, and so
        does one whose record cannot be understood.

        Raises:
            NotFoundError: there is no such table.
        """
        name = TableName(database, table)
        manager = self.get_schema_manager(database, table)
        return self._records.of(name, manager)

    # -- making ------------------------------------------------------------------------------------------------------

    def create_database(self, database: str, *, ignore_if_exists: bool = False) -> str:
        """Make a database, which is a directory without properties; its path.

        Raises:
            AlreadyExistsError: there is such a database.
            ValidationError: no database can have such a name.
        """
        return self._databases.create(database, ignore_if_exists=ignore_if_exists)

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
        external: bool = False,
    ) -> TableMetadata:
        """Make a table, and its database where there is none. Columns of the primary key become NOT NULL.

        Every form of `lakebed.catalog.columns` is taken for a column. Options `primary-key` and `partition` are folded
        into the keys. With `external` a table that lies in the directory already is taken as it is, provided that its
        columns, keys and options are those that are given; what is not given may be anything.

        Raises:
            AlreadyExistsError: there is such a table, with `external` a different one, or the rest of one.
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
        if external and self.exists(name):
            refuse_another_definition(self.get_schema_manager(database, table).get_current_schema(), schema, name)
            return self.get_table_metadata(database, table)
        return self.create(name, schema)

    def create(self, name: TableName, schema: TableSchema) -> TableMetadata:
        """Make a table of a complete first version. Raises as `create_table`."""
        if schema.id != 0 or schema.version > CURRENT_VERSION:
            message = f"a table starts with schema 0 of format version {CURRENT_VERSION}"
            raise ValidationError.of(NOT_FIRST, message, found=f"schema {schema.id} of format version {schema.version}")
        ensure_valid(schema, branch_exists=lambda branch: branch == MAIN)
        versions = SchemaManager(
            self.store, self.table_path(name), name=name, dialect=dialect_of(self.path_factory.layout)
        )
        if versions.exists():
            refuse_obstacle(self.store, versions.path(0), f"the first version of {name}")
            raise _already_there(name)
        quarantine = self.table_path(name.quarantine) if name.can_have_quarantine else None
        refuse_remains(self.store, name, self.table_path(name), quarantine)
        if not versions.publish(schema):
            raise _already_there(name)
        return self._records.begin(name, schema)

    def alter_table(self, database: str, table: str, changes: Sequence[Any], *, branch: str = MAIN) -> TableSchema:
        """The version after all changes, as one new version; the present one where they change nothing.

        After a lost race the changes are made again on the newer version, unless a column name means another column
        there.

        Raises:
            NotFoundError: there is no such table.
            RefusedError, ValidationError: what is no change, or is not allowed.
            ConflictError: somebody else changed the columns that names stand for.
        """
        name, branch = _of_branch(database, table, branch)
        return self.get_schema_manager(name.database, name.table, branch).alter(changes)

    # -- dropping ----------------------------------------------------------------------------------------------------

    def drop_table(self, database: str, table: str, *, purge: bool = False) -> tuple[TableName, ...]:
        """Delete a table with all that is in its directory, and its quarantine table; the names of both.

        Data files outside the table's directory are never deleted. A table that may have some is refused unless
        `purge` is true, for they are lost with it. Links are not followed. A drop that was interrupted is finished.

        Raises:
            NotFoundError: there is no such table.
            RefusedError: it may have data files outside its directory.
        """
        name = TableName(database, table)
        path = self.table_path(name)
        if not self.exists(name) and not is_drop_interrupted(self.store, path):
            raise self._databases.missing_table(name)
        names = [name]
        if name.can_have_quarantine:
            quarantine = self.table_path(name.quarantine)
            if self.exists(name.quarantine) or is_drop_interrupted(self.store, quarantine):
                names.insert(0, name.quarantine)
        if not purge:
            for dropped in names:
                self._refuse_external_data(dropped)
        self._databases.keep(database)
        for dropped in names:
            try:
                remove_table(self.store, self.table_path(dropped))
            except LakebedError as error:
                if self.exists(dropped):
                    raise
                note = f"the table {dropped} is gone, but something is left in {self.table_path(dropped)}"
                raise with_note(error, UNDONE, note, "Drop it again: that removes the rest.") from error
        self._forget(*names)
        return tuple(reversed(names))

    def drop_database(self, database: str, *, cascade: bool = False, purge: bool = False) -> None:
        """Drop a database that is empty, with `cascade` any: each of its tables as `drop_table` does, then the rest.

        A link in its place is removed and never followed.

        Raises:
            NotFoundError: there is no such database.
            RefusedError: it is not empty, or with `cascade` a table may have data files elsewhere and `purge` is false.
            ConflictError: somebody has made a table in it meanwhile.
        """
        self._databases.drop(
            database,
            cascade=cascade,
            check_table=(lambda _: None) if purge else self._refuse_external_data,
            drop_table=lambda name: self.drop_table(name.database, name.table, purge=purge),
        )

    # -- renaming ----------------------------------------------------------------------------------------------------

    def rename_table(self, old: AnyTableName, new: AnyTableName) -> TableMetadata:
        """Give a table another name, also in another database of the warehouse, and its quarantine with it.

        What is written under the old name at the same moment may be lost. A rename that was interrupted is finished.

        Raises:
            NotFoundError: there is no such table, or no database of the new name.
            AlreadyExistsError: there is something of the new name.
            RefusedError: the storage cannot move a directory in one step, or a name is that of a quarantine.
        """
        source, target = as_table_name(old), as_table_name(new)
        if not is_rename_interrupted(self.store, self.path_factory, source, target):
            if not self.exists(source):
                raise self._databases.missing_table(source)
            if not self._databases.exists(target.database):
                raise self._databases.missing(target.database)
            if self.exists(target):
                raise _already_there(target)
        moved = rename(self.store, self.path_factory, source, target)
        self._forget(source, target, *moved)
        for name in moved:
            self._records.rename(name, f"{source} was renamed to {target}")
        return self.get_table_metadata(target.database, target.table)

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
                    before_new_version=(lambda schema: self._records.check(name, schema)) if branch == MAIN else None,
                    on_new_version=(lambda schema: self._records.follow(name, schema)) if branch == MAIN else None,
                    completed=completed_by_record(self.path_factory, name)
                    if branch == MAIN and self.path_factory.layout is Layout.MINI
                    else None,
                )
            return known

    def _forget(self, *names: TableName) -> None:
        with self._lock:
            for key in [key for key in self._managers if key[0] in names]:
                del self._managers[key]

    def _refuse_external_data(self, name: TableName) -> None:
        refuse_external_data(self.store, self.table_path(name), name, dialect_of(self.path_factory.layout))


def _of_branch(database: str, table: str, branch: str) -> tuple[TableName, str]:
    if branch != MAIN:
        return TableName(database, table), branch
    name, given = branch_of(database, table)
    return name, given or MAIN


def _already_there(name: TableName) -> AlreadyExistsError:
    """The error for a table that is to be made and is there."""
    return AlreadyExistsError.of(
        TABLE_EXISTS,
        f"the table {name} exists already",
        found=str(name),
        remedy="Choose another name, or change the table by a plan.",
    )


def _missing_branch(name: TableName, branch: str) -> NotFoundError:
    """The error for a branch that the table does not have."""
    remedy, in_python = f"`lakebed branch list '{name}'` lists them", f"lake.branches({str(name)!r}).list() has them"
    message = f"the table {name} has no branch {branch!r}"
    return NotFoundError.of(NO_TABLE, message, found=branch, remedy=remedy, python_remedy=in_python)
