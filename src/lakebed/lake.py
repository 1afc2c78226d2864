"""Open a warehouse as `Lake`, the front door: everything else is reached from it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from lakebed.catalog import TableManager, TableName, TableRef, TableSchema, open_warehouse
from lakebed.errors import ValidationError
from lakebed.redaction import redact
from lakebed.store.base import Store
from lakebed.table_care import TableCare
from lakebed.table_rows import TableRows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakebed.chain_store import ExportedChain
    from lakebed.evolve import AppliedPlan, Plan, TablePlan
    from lakebed.evolve.merge_input import AnyColumns
    from lakebed.inspection.history import History
    from lakebed.manifest import Manifest, TableManifest
    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.migration import MigrationPlan, MigrationResult


def wall_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Lake(TableCare, TableRows):
    """A warehouse: its tables, and what can be done with them. Made by `lakebed.open`."""

    def __init__(
        self,
        tables: TableManager,
        store: Store,
        *,
        time_zone: str,
        clock: Callable[[], int] = wall_clock,
        attributes: AttributeRegistry | None = None,
        storage_options: Mapping[str, Any] | None = None,
        verify_checksums: bool = True,
    ) -> None:
        self._tables = tables
        self._store = store
        self._time_zone = time_zone
        self._clock = clock
        self._attributes = attributes
        self._storage_options = storage_options
        self._verify_checksums = verify_checksums

    def __repr__(self) -> str:
        return f"Lake({redact(self._tables.path_factory.warehouse)!r})"

    @property
    def tables(self) -> TableManager:
        """Create, look up, list and drop tables."""
        return self._tables

    @property
    def store(self) -> Store:
        """The storage that the warehouse lies on."""
        return self._store

    @property
    def time_zone(self) -> str:
        """The zone of every zoned cast, parse and rendering."""
        return self._time_zone

    def plan(
        self,
        manifest: str | Path | Manifest | Iterable[str | Path | Manifest],
        *,
        branch: str | None = None,
        allow: Iterable[str] = (),
        list_undeclared: bool = False,
    ) -> Plan:
        """What applying the declared tables would change. Touches nothing.

        Takes the path of a manifest, of a directory of them (`*.yaml` and `*.yml` at any depth), a loaded one, or
        several. With `branch` it is that branch of each table that would change. `allow` are approvals that the plan
        carries to `apply`, as `CODE` or `CODE:column`. For a directory, or with `list_undeclared`, the plan names the
        tables of the warehouse that nothing declares. Raises `ManifestError` with all problems of all files,
        `NotFoundError` for a missing branch, `UsageError` for an approval of nothing.
        """
        from lakebed.evolve import Plan
        from lakebed.evolve.approvals import check_codes, unmatched
        from lakebed.manifest import load_all
        from lakebed.manifest.attribute_registry import check_declared

        loaded = load_all(manifest)
        warnings = check_declared(self._attributes, loaded.tables) if self._attributes is not None else ()
        planned = tuple(self._plan_table(declared, branch or "main") for declared in loaded.tables)
        plan = Plan(planned, (*loaded.diagnostics, *warnings)).approved(allow)
        check_codes(plan.approvals)
        plan = replace(plan, diagnostics=(*plan.diagnostics, *unmatched(plan, plan.approvals)))
        if list_undeclared or _has_directory(manifest):
            plan = replace(plan, undeclared=self._undeclared(loaded))
        return plan

    def apply(self, plan: Plan, *, allow: Iterable[str] = ()) -> AppliedPlan:
        """Make the planned changes, one schema version a table; a plan without changes writes nothing.

        `allow` names breaking changes that may happen, as `CODE` or `CODE:column`, beside those that the plan carries.
        Raises `RefusedError` for the others and for forbidden ones, `StalePlanError` where a table is not what it was
        when the plan was made, `UsageError` for an approval of nothing.
        """
        from lakebed.evolve import apply

        for table in plan.tables:
            if table.target is not None:
                self._check_attributes(table.name, table.target)
        return apply(plan, self._tables, allow=frozenset(allow), clock=self._clock)

    def merge_schema(
        self,
        table: str,
        data: AnyColumns,
        *,
        types: Literal["add", "widen", "cast"] = "widen",
        case_sensitive: bool = True,
        allow: Iterable[str] = (),
    ) -> TableSchema:
        """Make the table's columns hold those of `data` too, as one new schema version; its newest version then.

        `data` is a DataFrame, its schema, a declared schema, or a list of columns; `table` may say a branch
        (`db.table@branch:NAME`). Columns are matched by name, at every level. New ones are added at the end, nullable;
        where both have a column of other types, `types` says whether the table's stays (`add`), becomes the data's
        where that is wider (`widen`), or in any way that stored values can be cast (`cast`). Where the table holds
        everything already, nothing is written.

        Only what is safe is done; `allow` names other changes that may happen, as `CODE` or `CODE:column`. Raises
        `RefusedError` for those without leave, `ValidationError` for what cannot be merged or is not allowed to change,
        `ConflictError` where somebody else made a name mean another column meanwhile.
        """
        from lakebed.evolve.merge_input import incoming_columns
        from lakebed.evolve.merge_schema import SchemaMerge, merge_rules, merge_schema

        ref = TableRef.parse(table)
        merge = SchemaMerge(incoming_columns(data), merge_rules(types, case_sensitive=case_sensitive), frozenset(allow))
        return merge_schema(self._tables, ref.name, merge, branch=ref.branch or "main", clock=self._clock)

    def schema(self, table: str) -> TableSchema:
        """One version of a table's schema: `db.table` is the newest, `db.table@3` version 3, `@snap:5` a snapshot's."""
        from lakebed.format.snapshot import SnapshotManager

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

    def history(self, table: str, *, encodings: bool = False) -> History:
        """The schema versions of a table, what each changed, and its snapshots.

        Changes of encoding hints are told one by one with `encodings`, else summed up.
        """
        from lakebed.inspection.history import history_of

        ref = TableRef.parse(table)
        branch = ref.branch or "main"
        schemas = self._tables.get_schema_manager(ref.name.database, ref.name.table, branch=branch)
        path = self._tables.table_path(ref.name)
        return history_of(ref.name, schemas, self._store, path, branch, encodings=encodings)

    def export_events(
        self,
        table: str,
        directory: str | Path,
        *,
        dataset_id: str | None = None,
        dataset_kind: str = "Root",
        keep_encodings: bool = False,
    ) -> ExportedChain:
        """Write the schema versions of a table to a directory as hash-linked Open Data Fabric metadata blocks.

        A chain that is there is continued; `table` may say how far to go (`db.table@3`) or a branch. Without
        `dataset_id` (`did:odf:...`) the dataset has an identity that follows from the table's name and first version.
        `ConflictError` says that the directory holds another chain.
        """
        from lakebed.chain_store import export_history
        from lakebed.events import DatasetId
        from lakebed.store import open_store

        ref = TableRef.parse(table)
        schemas = self._tables.get_schema_manager(ref.name.database, ref.name.table, branch=ref.branch or "main")
        ends = ref.schema_id is not None or ref.snapshot is not None or ref.tag is not None
        store, root = open_store(directory)
        return export_history(
            ref.name,
            schemas,
            store,
            root,
            up_to=self.schema(table).id if ends else None,
            dataset_id=DatasetId.parse(dataset_id) if dataset_id is not None else None,
            dataset_kind=dataset_kind,
            keep_encodings=keep_encodings,
        )

    def plan_migration(
        self,
        target: str | Path,
        *,
        renames: Iterable[str] = (),
        no_renames: Iterable[str] | None = (),
        tables: Iterable[str] | None = None,
        schema_only: bool = False,
    ) -> MigrationPlan:
        """What turning this Mini Paimon warehouse into a Paimon warehouse at `target` would do. Touches nothing.

        `renames` and `no_renames` answer, as `TABLE:VERSION:OLD=NEW`, which columns are the same; see
        `lakebed.migration.plan_migration`.
        """
        from lakebed.migration import plan_migration

        return plan_migration(
            self._tables.path_factory,
            target,
            renames=renames,
            no_renames=no_renames,
            tables=tables,
            schema_only=schema_only,
        )

    def migrate(self, plan: MigrationPlan) -> MigrationResult:
        """Make the tables of a migration plan in its target; this warehouse is only read. See `lakebed.migration`."""
        from lakebed.migration import migrate

        return migrate(plan)

    def register(self, spark: SparkSession) -> tuple[str, ...]:
        """Make this warehouse known to a session: `spark.read.format("lakebed")`, and a view of every table, for SQL.

        The format then finds tables of this warehouse by their names, and filters choose the files that it reads: for
        that the session's setting `spark.sql.python.filterPushdown.enabled` becomes true. A session has one warehouse
        registered, the last one; `option("warehouse", ...)` names another. Spark's workers must reach the warehouse by
        the same path or URL, and are sent its storage options. Gives the names of the views; see `views`.
        """
        from lakebed.data_source.data_source import register_source
        from lakebed.data_source.read_options import Warehouse

        layout = self._tables.path_factory.layout.value
        storage = dict(self._storage_options or {})
        place = Warehouse(self.warehouse, layout, storage, self._time_zone, self._verify_checksums)
        register_source(spark, place)
        return self.views(spark)

    def infer(self, table: str) -> TableManifest:
        """A manifest that declares the table as it is; planning it gives no change."""
        from lakebed.manifest import table_manifest_of

        ref = TableRef.parse(table)
        return table_manifest_of(str(ref.name), self.schema(table))

    def _check_before_rows(self, table: str) -> None:
        if self._attributes is not None:
            self._check_attributes(table, self.schema(table))

    def _check_attributes(self, table: str, schema: TableSchema) -> None:
        """Raise `ValidationError` where the attributes are not as the project declares them."""
        from lakebed.manifest.attribute_registry import check_stored

        if self._attributes is not None:
            check_stored(self._attributes, table, schema.logical)

    def _read_newest(self, spark: SparkSession, table: str) -> DataFrame:
        return self.read(spark, table)

    def _undeclared(self, declared: Manifest) -> tuple[str, ...]:
        """The tables that no manifest declares: a listing of directories, no file is read."""
        names = {str(_declared_name(table)) for table in declared.tables}
        return tuple(name for name in self._tables.list_tables() if name not in names)

    def _plan_table(self, declared: TableManifest, branch: str) -> TablePlan:
        from lakebed.catalog.branch_names import has_snapshots
        from lakebed.evolve import plan_table
        from lakebed.format.support import limits

        name = _declared_name(declared)
        if branch == "main" and not self._tables.exists(name):
            marks = (lambda _: None) if self._tables.holds_annotations else None
            problems = self._tables.file_problems
            return plan_table(declared, None, lambda: False, file_problems=problems, applied=marks, limits=limits)
        schemas = self._tables.get_schema_manager(name.database, name.table, branch)
        newest = schemas.load_latest_schema()
        planned = plan_table(
            declared,
            newest,
            lambda: has_snapshots(self._store, self._tables.table_path(name), branch),
            history=schemas.versions,
            file_problems=schemas.problems,
            applied=schemas.find if self._tables.holds_annotations else None,
            limits=limits,
        )
        return planned if branch == "main" else replace(planned, name=str(TableRef(name, branch=branch)))


def _has_directory(manifest: str | Path | Manifest | Iterable[str | Path | Manifest]) -> bool:
    sources = [manifest] if isinstance(manifest, str | Path) else manifest if isinstance(manifest, Iterable) else []
    return any(isinstance(source, str | Path) and Path(source).is_dir() for source in sources)


def _declared_name(declared: TableManifest) -> TableName:
    """The name of a declared table. What is wrong with it is told with the place where it is declared."""
    try:
        return TableName.parse(declared.name)
    except ValidationError as error:
        at = declared.property_position("name")
        raise ValidationError(*(replace(d, position=d.position or at) for d in error.diagnostics)) from None


def open_lake(
    warehouse: str | Path,
    *,
    layout: str = "auto",
    time_zone: str = "UTC",
    storage_options: Mapping[str, Any] | None = None,
    allow_overwrite_races: bool = False,
    attributes: str | Path | AttributeRegistry | None = None,
    verify_checksums: bool = True,
) -> Lake:
    """Open a warehouse; exported as `lakebed.open`.

    `warehouse` is a directory or a URL that fsspec knows. `layout` is `auto` (found by looking), `paimon` or `mini`.
    `storage_options` are the driver's (for S3 for example `endpoint_url`, `key`, `secret`). A storage that cannot
    create a file exclusively is refused for writing, unless `allow_overwrite_races`: then only one process may write.
    `attributes` are those that the project declares, or the file that declares them; plan, apply and ingest enforce
    them. `verify_checksums`: reads hold the pages of Parquet files, of sources too, against the checksums that they
    carry, and fail where one is wrong; files without checksums are read as ever. Raises `NotFoundError` or
    `UsageError` for a place that is no warehouse, `UsageError` for an unknown zone, and `ManifestError` for a faulty
    declaration of attributes.
    """
    from lakebed.catalog import check_time_zone

    check_time_zone(time_zone)
    path_factory, store = open_warehouse(
        str(warehouse), layout=layout, storage_options=storage_options, allow_overwrite_races=allow_overwrite_races
    )
    tables = TableManager(path_factory, store, wall_clock)
    return Lake(
        tables,
        store,
        time_zone=time_zone,
        attributes=_attributes(attributes),
        storage_options=storage_options,
        verify_checksums=verify_checksums,
    )


def register(spark: SparkSession, warehouse: str | Path, **options: Any) -> tuple[str, ...]:
    """Make a warehouse known to a session: `spark.read.format("lakebed")`, and a temporary view of every table.

    `options` are those of `lakebed.open`. Gives the names of the views; see `Lake.register` and `Lake.views`.
    """
    return open_lake(warehouse, **options).register(spark)


def _attributes(declared: str | Path | AttributeRegistry | None) -> AttributeRegistry | None:
    if not isinstance(declared, str | Path):
        return declared
    from lakebed.manifest.attribute_document import load_attributes

    return load_attributes(declared)
