"""`Lake`: the front door. `lakebed.open(path)` gives one; everything else is reached from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakebed.catalog import TableManager, TableName, TableRef, TableSchema, open_warehouse
from lakebed.store.base import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakebed.evolve import AppliedPlan, Plan, TablePlan
    from lakebed.history import History
    from lakebed.manifest import Manifest, TableManifest
    from lakebed.spark.ingest import IngestResult


def wall_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Lake:
    """A warehouse: its tables, and what can be done with them. Made by `lakebed.open`."""

    def __init__(
        self, tables: TableManager, store: Store, *, time_zone: str, clock: Callable[[], int] = wall_clock
    ) -> None:
        self._tables = tables
        self._store = store
        self._time_zone = time_zone
        self._clock = clock

    @property
    def tables(self) -> TableManager:
        """Create, look up, list and drop tables."""
        return self._tables

    @property
    def store(self) -> Store:
        """The storage that the warehouse lies on."""
        return self._store

    @property
    def warehouse(self) -> str:
        """The warehouse's path or URL."""
        return self._tables.path_factory.warehouse

    @property
    def time_zone(self) -> str:
        """The zone of every zoned cast, parse and rendering."""
        return self._time_zone

    def plan(self, manifest: str | Path | Manifest | Iterable[str | Path | Manifest]) -> Plan:
        """What applying the declared tables would change. Touches nothing.

        Takes the path of a manifest, a loaded one, or several. Raises `ManifestError` with all problems of all files.
        """
        from lakebed.evolve import Plan
        from lakebed.manifest import load_all

        loaded = load_all(manifest)
        return Plan(tuple(self._plan_table(declared) for declared in loaded.tables), loaded.diagnostics)

    def apply(self, plan: Plan, *, allow: Iterable[str] = ()) -> AppliedPlan:
        """Make the planned changes, one schema version a table; a plan without changes writes nothing.

        `allow` names breaking changes that may happen, as `CODE` or `CODE:column`. Raises `RefusedError` for the others
        and for forbidden ones, `StalePlanError` where a table is not what it was when the plan was made.
        """
        from lakebed.evolve import apply

        return apply(plan, self._tables, allow=frozenset(allow), clock=self._clock)

    def ingest(
        self,
        spark: SparkSession,
        table: str,
        source: Any,
        *,
        format: str | None = None,
        options: Mapping[str, str] | None = None,
        run_id: str | None = None,
        again: bool = False,
        unknown_columns: Literal["fail", "ignore"] = "fail",
        max_bad_rows: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> IngestResult:
        """Put rows into an append table under its declared schema; bad rows go to `<table>__quarantine` with reasons.

        `source` is a path, several paths, or a DataFrame. `format` is csv, json or parquet (else from the file's name);
        `options` go to Spark's reader. The same `run_id` ingests once. Files that were ingested before are skipped
        unless `again`. With `max_bad_rows`, more bad rows than that fail the run and nothing is written.
        """
        from lakebed.spark.ingest import IngestContext, ingest

        context = IngestContext(self._tables, self._store, self.warehouse, self._time_zone, self._clock)
        return ingest(
            context,
            spark,
            table,
            source,
            format=format,
            options=options,
            run_id=run_id,
            again=again,
            unknown_columns=unknown_columns,
            max_bad_rows=max_bad_rows,
            progress=progress,
        )

    def read(
        self,
        spark: SparkSession,
        table: str,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        schema: int | Literal["latest", "snapshot"] | None = None,
        on_cast_error: Literal["error", "null"] = "error",
        scratch: str | None = None,
    ) -> DataFrame:
        """The table's rows as a DataFrame, every file read as one schema, by field id.

        `snapshot`, `tag` or `as_of` (aware datetime, ISO text in the lake's zone, or milliseconds since 1970) choose a
        state, `branch` a branch; `table` may say the same as `db.table@snap:5`, `@tag:NAME`, `@branch:NAME` or `@3`.
        `schema` chooses what to read as: the travelled snapshot's own schema by default, else the newest; a version's
        id pins it. `on_cast_error` says what happens to a stored value that the wanted type cannot hold. `scratch` is a
        directory that Spark's driver can read, for the list of files; a sensible place is chosen without it.
        """
        from lakebed.spark.projection import CastRules
        from lakebed.spark.read import read_table
        from lakebed.spark.travel import Travel

        ref = TableRef.parse(table)
        travel = Travel(
            snapshot=snapshot if snapshot is not None else ref.snapshot,
            tag=tag if tag is not None else ref.tag,
            as_of=as_of,
            branch=branch if branch is not None else ref.branch,
        )
        return read_table(
            spark,
            self._tables,
            self._store,
            ref.name,
            travel,
            schema if schema is not None else ref.schema_id,
            rules=CastRules(self._time_zone, on_cast_error),
            scratch=scratch,
        )

    def schema(self, table: str) -> TableSchema:
        """One version of a table's schema: `db.table` is the newest, `db.table@3` version 3, `@snap:5` a snapshot's."""
        from lakebed.table.snapshot import SnapshotManager

        ref = TableRef.parse(table)
        branch = ref.branch or "main"
        manager = self._tables.get_schema_manager(ref.name.database, ref.name.table, branch=branch)
        if ref.schema_id is not None:
            return manager.load_schema(ref.schema_id)
        if ref.snapshot is None and ref.tag is None:
            return manager.load_latest_schema()
        snapshots = SnapshotManager(self._store, self._tables.table_path(ref.name), branch=branch)
        state = snapshots.load(ref.snapshot) if ref.snapshot is not None else snapshots.tag(ref.tag or "")
        return manager.load_schema(state.schema_id)

    def history(self, table: str) -> History:
        """The schema versions of a table, what each changed, and its snapshots."""
        from lakebed.history import history_of

        ref = TableRef.parse(table)
        branch = ref.branch or "main"
        schemas = self._tables.get_schema_manager(ref.name.database, ref.name.table, branch=branch)
        return history_of(ref.name, schemas, self._store, self._tables.table_path(ref.name), branch)

    def infer(self, table: str) -> TableManifest:
        """A manifest that declares the table as it is; planning it gives no change."""
        from lakebed.manifest import table_manifest_of

        ref = TableRef.parse(table)
        return table_manifest_of(str(ref.name), self.schema(table))

    def _plan_table(self, declared: TableManifest) -> TablePlan:
        from lakebed.evolve import plan_table

        name = TableName.parse(declared.name)
        if not self._tables.exists(name):
            return plan_table(declared, None, lambda: False)
        schemas = self._tables.get_schema_manager(name.database, name.table)
        newest = schemas.load_latest_schema()
        return plan_table(declared, newest, lambda: self._has_snapshots(name), history=schemas.versions)

    def _has_snapshots(self, name: TableName) -> bool:
        from lakebed.table.snapshot import SnapshotManager

        return SnapshotManager(self._store, self._tables.table_path(name)).latest_id() is not None


def open_lake(warehouse: str | Path, *, layout: str = "auto", time_zone: str = "UTC") -> Lake:
    """Open a warehouse; exported as `lakebed.open`.

    `warehouse` is a directory or a URL that fsspec knows. `layout` is `auto` (found by looking), `paimon` or `mini`.
    Raises `NotFoundError` or `UsageError` for a place that is no warehouse, and `UsageError` for an unknown zone.
    """
    from lakebed.catalog import check_time_zone

    check_time_zone(time_zone)
    path_factory, store = open_warehouse(str(warehouse), layout=layout)
    from lakebed.evolve import altered, evolved

    tables = TableManager(path_factory, store, wall_clock, evolver=evolved, alterer=altered)
    return Lake(tables, store, time_zone=time_zone)
