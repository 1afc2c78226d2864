"""Carry out a migration: make each table in one step, repeatable after interruptions.

Where a store can move directories, a table is put together in a directory of the run, below a name that no engine
takes for a database, and then moved to its place. Elsewhere its files are made in an order that never shows a table
which is not what it will be: rows before versions, the newest version before the older ones, tags and snapshots at the
end, then the record. Hints are left out there: readers look for themselves. Every file is made with create-if-absent
and compared where it is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from lakebed.catalog import schema_file
from lakebed.catalog.names import TableName
from lakebed.catalog.paths import SCHEMA, PathFactory, has_schema
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import AlreadyExistsError, RefusedError, StalePlanError, StoreError
from lakebed.migration.migration_plan import MigrationPlan, RowFile, State, TableMigration, count
from lakebed.migration.mini_source import read_source
from lakebed.readable import Readable
from lakebed.store import DirectoryStore, Store, temporary
from lakebed.store.safe_delete import Inside

STALE = "LB3757"
SOMETHING_ELSE = "LB3758"

_HINTS = ("/LATEST", "/EARLIEST")


@dataclass(frozen=True, slots=True)
class MigratedTable:
    """What became of a table: its newest version, and whether it was migrated now or by an earlier run."""

    name: TableName
    schema_id: int
    versions: int
    row_files: int
    was_done: bool


@dataclass(frozen=True, slots=True)
class MigrationResult(Readable):
    """What became of each table, in the order of the plan."""

    renderer: ClassVar[str] = "lakebed.render.migration_text:render_migrated"

    tables: tuple[MigratedTable, ...]

    def to_json(self) -> dict[str, Any]:
        """The result object of `lakebed migrate --json`."""
        return {
            "tables": [
                {
                    "name": str(t.name),
                    "schema_id": t.schema_id,
                    "versions": t.versions,
                    "row_files": t.row_files,
                    "migrated": not t.was_done,
                }
                for t in self.tables
            ]
        }


def migrate(plan: MigrationPlan, *, progress: Callable[[str], None] | None = None) -> MigrationResult:
    """Make the planned tables, one after the other; the source is only read. `progress` is told each table.

    Raises:
        RefusedError: something stands against the plan, or a question is open; nothing was written.
        StalePlanError: a table of the source is not what it was; the tables before it have been made.
        AlreadyExistsError: somebody else has put something in a table's place.
        StoreError: what the stores say.
    """
    if plan.is_blocked:
        raise RefusedError(*plan.obstacles)
    done = []
    for table in plan.tables:
        if table.state is not State.DONE:
            if progress is not None:
                files = f", {count(len(table.rows), 'file')} of rows" if table.rows else ""
                progress(f"migrating {table.name}: {count(len(table.versions), 'version')}{files}")
            _check_source(plan, table)
            _publish(table, plan.source, plan.target)
        newest = table.versions[-1].id
        was_done = table.state is State.DONE
        done.append(MigratedTable(table.name, newest, len(table.versions), len(table.rows), was_done))
    return MigrationResult(tuple(done))


def state_of(table: TableMigration, target: PathFactory) -> State:
    """Where the table stands in the target.

    Raises:
        AlreadyExistsError: something else is in its place.
        CorruptMetadataError: a schema file of the target cannot be read.
    """
    store, path = target.store, target.table(table.name)
    if not has_schema(store, path):
        if not store.exists(path):
            return State.NEW
        if isinstance(store, DirectoryStore) or not _are_rows_of(table, store, path):
            raise _something_else(table.name, path, f"{path} holds files that are no table's")
        return State.PARTIAL
    manager = SchemaManager(store, path, name=table.name)
    known = manager.ids()
    planned = {version.id: version for version in table.versions}
    newest = table.versions[-1].id
    present = [number for number in known if number <= newest]
    for number in present:
        if number not in planned or manager.load_schema(number).fingerprint != planned[number].fingerprint:
            raise _something_else(table.name, path, f"version {number} there is not that of the migration")
    if not present:
        raise _something_else(table.name, path, "a table of that name is there with other versions")
    if isinstance(store, DirectoryStore):
        return State.DONE
    is_whole = set(planned) <= set(known) and not _missing_snapshots(table, store, path)
    has_record = table.record is None or store.exists(target.metadata(table.name))
    return State.DONE if is_whole and has_record else State.PARTIAL


def interrupted_runs(target: PathFactory) -> list[str]:
    """The directories of runs that did not come to their end, or not yet."""
    directory = f"{target.warehouse}/{temporary.MIGRATION}"
    return [f"{directory}/{entry.name}" for entry in target.store.list(directory)]


def _check_source(plan: MigrationPlan, table: TableMigration) -> None:
    now = read_source(plan.source, table.name, schema_only=plan.schema_only)
    if now.digest != table.source_digest:
        message = f"{table.name} was changed in {plan.source.warehouse} after the migration was planned"
        raise StalePlanError.of(STALE, message, remedy="Plan the migration again.")


def _publish(table: TableMigration, source: PathFactory, target: PathFactory) -> None:
    store = target.store
    store.make_directory(target.database(table.name.database))
    if isinstance(store, DirectoryStore):
        _publish_at_once(table, source, target, store)
    else:
        path = target.table(table.name)
        for inside, read in _files(table, source):
            if not inside.endswith(_HINTS):
                _put(store, f"{path}/{inside}", read(), table.name)
        if table.record is not None:
            store.replace(target.metadata(table.name), table.record.dumps())


def _publish_at_once(table: TableMigration, source: PathFactory, target: PathFactory, store: DirectoryStore) -> None:
    runs = f"{target.warehouse}/{temporary.MIGRATION}"
    run, warehouse = f"{runs}/{temporary.migration_run()}", Inside(store, target.warehouse)
    staged, path = f"{run}/table", target.table(table.name)
    try:
        for inside, read in _files(table, source):
            _put(store, f"{staged}/{inside}", read(), table.name)
        if table.record is not None:
            _put(store, f"{staged}/metadata", table.record.dumps(), table.name)
        if store.is_directory(path) and not store.list(path):
            Inside(store, target.database(table.name.database)).remove_directory(path)
        if store.exists(path):
            raise _something_else(table.name, path, "somebody else has made it meanwhile")
        store.move_directory(staged, path)
    finally:
        # What cannot be cleaned up is told by the next plan, and is no reason to fail.
        with suppress(StoreError):
            warehouse.delete_tree(run)
            if not store.list(runs):
                warehouse.remove_directory(runs)


def _files(table: TableMigration, source: PathFactory) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Paths inside the table's directory and their content, in the order in which they may be made."""
    root = source.table(table.name)

    def reader(file: RowFile) -> Callable[[], bytes]:
        return lambda: source.store.read(f"{root}/{file.path}")

    def writer(version: TableSchema) -> Callable[[], bytes]:
        return lambda: schema_file.dumps(version)

    visible = sorted((f for f in table.rows if _is_state(f)), key=_state_order)
    yield from ((f.path, reader(f)) for f in table.rows if not _is_state(f))
    yield from ((f"{SCHEMA}/schema-{v.id}", writer(v)) for v in reversed(table.versions))
    yield from ((f.path, reader(f)) for f in visible)


def _is_state(file: RowFile) -> bool:
    """Whether the file makes a state of the table visible."""
    return file.path.startswith(("snapshot/", "tag/"))


def _state_order(file: RowFile) -> tuple[int, int, str]:
    """Tags, then snapshots by number, then hints."""
    number = _snapshot_number(file)
    if number is not None:
        return 1, number, file.path
    return (2 if file.path.endswith(_HINTS) else 0), 0, file.path


def _snapshot_number(file: RowFile) -> int | None:
    text = file.path.removeprefix("snapshot/snapshot-")
    return int(text) if text != file.path and text.isdecimal() else None


def _missing_snapshots(table: TableMigration, store: Store, path: str) -> bool:
    """Whether the newest of the planned snapshots, or one after it, is not there yet."""
    planned = [number for file in table.rows if (number := _snapshot_number(file)) is not None]
    found = (RowFile(f"snapshot/{entry.name}", entry.size) for entry in store.list(f"{path}/snapshot"))
    present = [number for file in found if (number := _snapshot_number(file)) is not None]
    return max(present, default=0) < max(planned, default=0)


def _are_rows_of(table: TableMigration, store: Store, path: str) -> bool:
    """Whether all that is in the place of the table are rows of it, as an interrupted run leaves them."""
    planned = {file.path: file.size for file in table.rows}

    def walk(inside: str) -> Iterator[tuple[str, int]]:
        for entry in store.list(f"{path}/{inside}" if inside else path):
            here = f"{inside}/{entry.name}" if inside else entry.name
            if entry.is_directory:
                yield from walk(here)
            else:
                yield here, entry.size

    return all(planned.get(file) == size for file, size in walk(""))


def _put(store: Store, path: str, data: bytes, name: TableName) -> None:
    """Make a file, or find it there as it is to be."""
    if store.create_if_absent(path, data):
        return
    present = store.read(path)
    if present != data and not _same_version(path, present, data):
        raise _something_else(name, path, f"{path} is there with another content")


def _same_version(path: str, present: bytes, data: bytes) -> bool:
    """Whether two schema files differ in their times only, as those of two runs may."""
    if f"/{SCHEMA}/schema-" not in path:
        return False
    return schema_file.loads(present, source=path).fingerprint == schema_file.loads(data, source=path).fingerprint


def _something_else(name: TableName, path: str, problem: str) -> AlreadyExistsError:
    return AlreadyExistsError.of(
        SOMETHING_ELSE,
        f"{name} cannot be migrated to {path}: {problem}",
        path=path,
        remedy="Choose another target, or drop what is there.",
    )
