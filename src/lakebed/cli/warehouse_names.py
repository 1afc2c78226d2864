"""Find the names in a warehouse that complete a word; those behind a URL are kept for a while."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lakebed.cli.configuration import Configuration
from lakebed.diagnostics import path_text
from lakebed.errors import LakebedError

if TYPE_CHECKING:
    from lakebed.catalog import SchemaManager, TableManager, TableRef
    from lakebed.format.snapshot import SnapshotManager

_LOG = logging.getLogger(__name__)

#: So many of the newest snapshots are named.
MOST_SNAPSHOTS = 20
#: Seconds for which names of a warehouse behind a URL count, and for which it is not asked again where it gave none.
_KEPT = 600
_NOT_ASKED_AGAIN = 60


class WarehouseNames:
    """Databases, tables and what these have, as texts. Raises what the catalog raises, for tables that are not there.

    A table is given as a command takes it: `db.t`, a branch `db.t@branch:b`, for columns also a version `db.t@3`.
    """

    def __init__(self, settings: Configuration) -> None:
        self._settings = settings

    @cached_property
    def _tables(self) -> TableManager:
        from lakebed.catalog import TableManager, open_warehouse

        asked = self._settings
        paths, store = open_warehouse(asked.warehouse, layout=asked.layout, storage_options=asked.storage)
        return TableManager(paths, store)

    def databases(self) -> list[str]:
        """All databases."""
        return self._named("databases", "", lambda: self._tables.list_databases())

    def tables(self, database: str | None = None) -> list[str]:
        """All tables as `db.t`; those of one database with the ones of bad rows, none where it is not there."""
        return self._named("tables", database or "", lambda: self._tables_of(database))

    def _tables_of(self, database: str | None) -> list[str]:
        from lakebed.catalog import TableName

        if database is None:
            return self._tables.list_tables()
        if not self._tables.database_exists(database):
            return []
        names = self._tables.list_tables(database, include_quarantine=True)
        return [str(TableName(database, name)) for name in names]

    def versions(self, table: str) -> list[str]:
        """The numbers of the schema versions, the newest first."""
        return self._named("versions", table, lambda: map(str, reversed(self._schemas(table).ids())))

    def columns(self, table: str, *, members: bool = False) -> list[str]:
        """The columns, also with the members of structs in them."""
        return self._named(f"columns {members}", table, lambda: self._columns(table, members))

    def _columns(self, table: str, members: bool) -> list[str]:
        from lakebed.physical.paimon_tree import fields_inside

        version, schemas = _ref(table).schema_id, self._schemas(table)
        schema = schemas.load_latest_schema() if version is None else schemas.load_schema(version)
        if members:
            return [path_text(path) for path, _ in fields_inside(schema.fields)]
        return [field.name for field in schema.fields]

    def snapshots(self, table: str) -> list[str]:
        """The numbers of the newest snapshots, the last first."""
        return self._named(
            "snapshots", table, lambda: map(str, self._snapshots(table).ids()[: -MOST_SNAPSHOTS - 1 : -1])
        )

    def tags(self, table: str) -> list[str]:
        """The tags."""
        return self._named("tags", table, lambda: self._snapshots(table).tags())

    def branches(self, table: str) -> list[str]:
        """The branches other than `main`."""
        from lakebed.catalog.paths import branch_names

        tables = self._tables
        return self._named("branches", table, lambda: branch_names(tables.store, tables.table_path(_ref(table).name)))

    def _schemas(self, table: str) -> SchemaManager:
        ref = _ref(table)
        return self._tables.get_schema_manager(ref.name.database, ref.name.table, ref.branch or "main")

    def _snapshots(self, table: str) -> SnapshotManager:
        from lakebed.format.snapshot import SnapshotManager

        ref = _ref(table)
        return SnapshotManager(self._tables.store, self._tables.table_path(ref.name), ref.branch or "main")

    def _named(self, kind: str, of: str, ask: Callable[[], Iterable[str]]) -> list[str]:
        warehouse = self._settings.warehouse
        return _kept(json.dumps([warehouse, kind, of]), ask) if "://" in warehouse else list(ask())


def _ref(table: str) -> TableRef:
    from lakebed.catalog import TableRef

    return TableRef.parse(table)


def _kept(key: str, ask: Callable[[], Iterable[str]]) -> list[str]:
    """What was answered a while ago, else what is answered now, which is kept.

    Whoever cannot wait for the answer leaves a note that there is none, so that the next key press does not wait, too.
    """
    file = _directory() / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    known = _read(file)
    if known is not None:
        return known
    _write(file, None)
    names = list(ask())
    _write(file, names)
    return names


def _directory() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if os.path.isabs(named) else Path.home() / ".cache") / "lakebed" / "completion"


def _read(file: Path) -> list[str] | None:
    """The names in a file; none where it notes that there was no answer, None where it is too old or not there."""
    try:
        age = time.time() - file.stat().st_mtime
        names = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    if not 0 <= age < (_NOT_ASKED_AGAIN if names is None else _KEPT):
        return None
    return [str(name) for name in names] if isinstance(names, list) else []


def _write(file: Path, names: list[str] | None) -> None:
    from lakebed.cli.files import write_file

    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_file(file, json.dumps(names))
    except (LakebedError, OSError) as error:
        _LOG.debug("names are not kept: %s", error)
