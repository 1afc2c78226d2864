"""Open a warehouse: `lakebed.open(path)` gives a `Lake`, from which everything else is reached."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from lakebed.catalog import TableManager, TableRef, TableSchema
from lakebed.catalog.names import each_name
from lakebed.read.request import TravelKeywords
from lakebed.redaction import redact
from lakebed.store.base import Store
from lakebed.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakebed.chain_store import ExportedChain
    from lakebed.evolve import AppliedPlan, Plan
    from lakebed.evolve.merge_input import AnyColumns
    from lakebed.evolve.pull_manifests import PulledManifests
    from lakebed.ingest.arguments import WatchKeywords
    from lakebed.ingest.ingest import IngestResult
    from lakebed.inspection import SystemTable
    from lakebed.inspection.history import History
    from lakebed.inspection.table_drift import DriftReport
    from lakebed.inspection.table_health import HealthReport
    from lakebed.maintenance.branches import Branches
    from lakebed.maintenance.orphans import OrphanReport
    from lakebed.maintenance.rollback import RollBack
    from lakebed.maintenance.tags import Tags
    from lakebed.maintenance.versions import VersionReport
    from lakebed.manifest import Manifest, TableManifest
    from lakebed.manifest.attribute_registry import AttributeRegistry
    from lakebed.manifest.substitutions import Substitutions
    from lakebed.migration import MigrationPlan, MigrationResult
    from lakebed.read.explanation import ReadExplanation
    from lakebed.row_level.quarantine_rows import Quarantine
    from lakebed.write.maintenance_report import MaintenanceReport


def wall_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


class Lake:
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
        substitutions: Substitutions | None = None,
    ) -> None:
        self._tables = tables
        self._store = store
        self._time_zone = time_zone
        self._clock = clock
        self._attributes = attributes
        self._storage_options = storage_options
        self._verify_checksums = verify_checksums
        self._substitutions = substitutions

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

    @property
    def warehouse(self) -> str:
        """The warehouse's path or URL."""
        return self._tables.path_factory.warehouse

    def table(self, name: str) -> Table:
        """The table `db.t`, a branch of it (`db.t@branch:b`) or a state (`@snap:5`, `@tag:NAME`, `@3`).

        Nothing is read, and the table need not be there yet. The methods of `Table` are those of this class, without
        their first parameter `table`.
        """
        return self._table(TableRef.parse(name))

    def _table(self, ref: TableRef) -> Table:
        return Table(
            self._tables,
            ref,
            self._clock,
            self._time_zone,
            self._verify_checksums,
            self._attributes,
            self._storage_options,
        )

    def plan(
        self,
        manifest: str | Path | Manifest | Iterable[str | Path | Manifest],
        *,
        branch: str | None = None,
        allow: Iterable[str] = (),
        list_undeclared: bool = False,
        all_tables: bool = False,
        drift: Literal["ask", "refuse", "adopt", "revert"] = "ask",
        data: bool | Literal["spark"] = False,
        spark: SparkSession | Callable[[], SparkSession] | None = None,
    ) -> Plan:
        """What applying the declared tables would change. Touches nothing.

        Takes the path of a manifest, of a directory of them (`*.yaml` and `*.yml` at any depth), a loaded one, or
        several. With `branch` it is that branch of each table that would change. `allow` are approvals that the plan
        carries to `apply`, as `CODE` or `CODE:column`. For a directory, or with `list_undeclared`, the plan names the
        tables of the warehouse that nothing declares; with `all_tables`, for manifests that are to declare all of them,
        each is a warning, too (LB4240 where `apply` has made it, else LB4235), unless that is approved. Approvals of
        manifests count until their day in the lake's time zone. `drift` says what becomes of changes that would undo
        what was made outside of `apply`: each needs leave (LB4231), they are forbidden, they are not planned and what
        is there stays, or they are made as if there were leave.

        With `data` the stored rows are asked whether they fit: what becomes required, holds less or allows fewer values
        is safe where all do, and needs leave where some do not, with evidence (`PlannedChange.evidence`) that holds for
        the snapshot it names. Statistics of files come first, then rows, as Arrow batches and, where these do not do,
        by `spark`, a session or what makes one; `data="spark"` reads all rows by it.

        Raises `ManifestError` with all problems of all files, `NotFoundError` for a missing branch, `UsageError` for an
        approval of nothing.
        """
        from lakebed.evolve.drift_rules import drift_rule
        from lakebed.evolve.manifest_approvals import day_of
        from lakebed.evolve.plan_manifests import ManifestPlanner
        from lakebed.format.refuse_unsupported import limits
        from lakebed.row_level.prove_changes import Rows

        prover = Rows(self._tables, self._time_zone, self._verify_checksums, spark, data == "spark") if data else None
        today = day_of(self._clock(), self._time_zone)
        rule, given = drift_rule(drift), self._substitutions
        planner = ManifestPlanner(self._tables, self._attributes, limits, today, rule, prover, given)
        return planner.plan(manifest, branch or "main", allow, list_undeclared=list_undeclared, is_whole=all_tables)

    def apply(self, plan: Plan, *, allow: Iterable[str] = ()) -> AppliedPlan:
        """Make the planned changes, one schema version a table; a plan without changes writes nothing.

        `allow` names breaking changes that may happen, as `CODE` or `CODE:column`, beside those that the plan carries
        and those that manifests approve until today. Raises `RefusedError` for the others and for forbidden ones,
        `StalePlanError` where a table is not what it was, or where rows came since a change was found to be safe by the
        rows (LB4309), and `UsageError` for an approval of nothing.
        """
        from lakebed.evolve import apply
        from lakebed.format.table_branch import newest_snapshot

        return apply(
            plan,
            self._tables,
            self._time_zone,
            allow=frozenset(each_name(allow)),
            clock=self._clock,
            attributes=self._attributes,
            newest_snapshot=partial(newest_snapshot, self._tables),
        )

    def drift(self, manifest: str | Path | Iterable[str | Path], *, files: bool = False) -> DriftReport:
        """How tables, their manifests and, with `files`, their data files have come apart. Touches nothing.

        Of each declared table: the schema versions that were made since `apply` made one, what each did and who wrote
        under it first; what applying the manifest would undo of that, and what else it would change. Of a directory the
        tables of the warehouse that nothing declares are named, too. For `files` the footers of the live Parquet files
        are read, which needs PyArrow.
        """
        from lakebed.inspection.table_drift import measure_drift

        return measure_drift(self.plan(manifest), self._tables, files=files)

    def pull(
        self,
        manifests: str | Path | Iterable[str | Path],
        tables: Iterable[str] = (),
        *,
        whole: bool = False,
    ) -> PulledManifests:
        """What has to be written into manifests so that they declare what was made outside of `apply`. Touches nothing.

        Takes files and directories of manifests, and the names of the tables that are meant, else all that are declared
        there. The result has the files as they are and as they should be, with comments and order kept. What a manifest
        asks for and is not applied stays in it; with `whole`, and where `apply` has made no version of the table, the
        manifest becomes what the table is. Raises `NotFoundError` for a table that is not declared, `ManifestError`
        with everything that cannot be written.
        """
        from lakebed.evolve.pull_manifests import pull_manifests

        sources = [manifests] if isinstance(manifests, str | Path) else manifests
        return pull_manifests(sources, self._tables, each_name(tables), whole=whole, substitutions=self._substitutions)

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
        return self.table(table).merge_schema(data, types=types, case_sensitive=case_sensitive, allow=allow)

    def schema(self, table: str) -> TableSchema:
        """One version of a table's schema: `db.table` is the newest, `db.table@3` version 3, `@snap:5` a snapshot's."""
        return self.table(table).schema()

    def history(self, table: str, *, encodings: bool = False) -> History:
        """The schema versions of a table, what each changed, and its snapshots.

        Changes of encoding hints are told one by one with `encodings`, else summed up.
        """
        return self.table(table).history(encodings=encodings)

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
        return self.table(table).export_events(
            directory, dataset_id=dataset_id, dataset_kind=dataset_kind, keep_encodings=keep_encodings
        )

    def ingest(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        table: str,
        source: Any,
        *,
        format: str | None = None,
        options: Mapping[str, str] | None = None,
        run_id: str | None = None,
        again: bool = False,
        unknown_columns: Literal["fail", "ignore", "quarantine"] = "fail",
        max_bad_rows: int | None = None,
        max_bad_share: float | None = None,
        on_bad_rows: Literal["quarantine", "null", "fail"] = "quarantine",
        merge_schema: bool | Literal["add", "widen"] | None = None,
        include: str | Collection[str] | None = None,
        exclude: str | Collection[str] | None = None,
        folders: Literal["columns", "ignore"] = "columns",
        row_kinds: str | None = None,
        order_by: str | Sequence[str] | None = None,
        dry_run: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> IngestResult:
        """Put rows into a table under its declared schema; bad rows go to `<table>__quarantine` with reasons.

        `source` is a path, several paths, or a DataFrame. `format` is csv, json or parquet (else from the file's name);
        `options` go to Spark's reader. The same `run_id` ingests once. Files that were ingested before are skipped
        unless `again`. With `max_bad_rows`, more bad rows than that fail the run and nothing is written;
        with `max_bad_share`, a larger share of all rows, from 0 to 1. With `on_bad_rows="null"` a bad value becomes
        NULL where its column takes NULL, with `fail` a bad row fails the run; columns and tables that declare
        `lakebed.dev/onBadRow` do as they say.
        `merge_schema` first gives the table the source's new columns (`add`), or also wider types (`widen`).
        `include` and `exclude` are patterns of file names, such as `*.csv`, or of paths below the source, such as
        `archive/**`. Folders named `key=value` are columns, unless `folders="ignore"`. In a table with a primary key a
        row takes the place of the one with its key; `row_kinds` names a column of the source that says `+I`, `-U`, `+U`
        or `-D` of each row. In others `order_by` names columns by which new files are sorted. In place of `spark` may
        be a function that gives the session: it is called when everything that needs no Spark has been looked at.
        `dry_run` writes nothing and tells the counts and the kinds of problems.
        """
        return self.table(table).ingest(
            spark,
            source,
            format=format,
            options=options,
            run_id=run_id,
            again=again,
            unknown_columns=unknown_columns,
            max_bad_rows=max_bad_rows,
            max_bad_share=max_bad_share,
            on_bad_rows=on_bad_rows,
            merge_schema=merge_schema,
            include=include,
            exclude=exclude,
            folders=folders,
            row_kinds=row_kinds,
            order_by=order_by,
            dry_run=dry_run,
            progress=progress,
        )

    def watch(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        table: str,
        source: Any,
        *,
        every: timedelta = timedelta(seconds=10),
        stop_after_idle: timedelta | None = None,
        **asked: Unpack[WatchKeywords],
    ) -> Iterator[IngestResult]:
        """Ingest the files of directories or patterns as they come, each once: the results, one a run that found some.

            for result in lake.watch(spark, "db.t", "incoming", stop_after_idle=timedelta(hours=1)):
                print(result)

        It looks `every` so often, while results are asked for, and takes a file when two looks find the same size and
        time of change. It ends when nothing has come for `stop_after_idle`, else never; what `ingest` raises ends it
        too. Begun again, it goes on: what was ingested, the table remembers. Keywords are those of `ingest` but for
        `run_id`, `again` and `dry_run`. Raises `UsageError`, and `NotFoundError` for a directory that is not there.
        """
        return self.table(table).watch(spark, source, every=every, stop_after_idle=stop_after_idle, **asked)

    def read(
        self,
        spark: SparkSession,
        table: str,
        *,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        watermark: int | None = None,
        schema: int | Literal["latest", "snapshot"] | None = None,
        on_cast_error: Literal["error", "null"] = "error",
        metadata_columns: Collection[str] = (),
        blobs: Literal["content", "descriptor"] = "content",
        scratch: str | None = None,
    ) -> DataFrame:
        """The table's rows as a DataFrame, every file read as one schema, by field id.

        `columns` are names of top-level columns, in the order in which they come, all without: nothing is done for
        the others, so that neither their types nor values that cannot be cast stand in the way. Files of versions that
        agree in these columns are one scan.
        `where` is a boolean expression of Spark SQL: the rows are those of `.where(where)` upon the whole read, and
        only the files are opened that may hold some, by partitions, buckets, keys, statistics and file indexes. `limit`
        is a number of rows that are enough, any of them.
        `snapshot`, `tag` or `as_of` (aware datetime, ISO text in the lake's zone, or milliseconds since 1970) choose a
        state, `branch` a branch; `table` may say the same as `db.table@snap:5`, `@tag:NAME`, `@branch:NAME` or `@3`.
        `schema` chooses what to read as: the travelled snapshot's own schema by default, else the newest; a version's
        id pins it. `watermark` chooses the first state whose watermark has reached it. `on_cast_error` says what
        happens to a stored value that the wanted type cannot hold: the query fails and names the file, the column and
        the value, or the value is NULL; `cast_errors` lists and counts such values. `metadata_columns` adds `_ROW_ID`
        or `_SEQUENCE_NUMBER` of each row, in append tables with `row-tracking.enabled`. `blobs="descriptor"` gives, in
        place of a BLOB's content, the bytes that say where it lies, for `read_blob` and `fetch_blobs`. `scratch` is a
        directory that Spark's driver can read, for the list of files; a sensible place is chosen without it. A column
        of a type of the future is left out with a `LakebedWarning`. `db.t$files` and the like are system tables, made
        from metadata; see `inspect`.
        """
        from lakebed.inspection import SystemTableRef

        state = TravelKeywords(snapshot=snapshot, tag=tag, branch=branch, as_of=as_of, watermark=watermark)
        system = SystemTableRef.parse(table)
        if system is not None:
            handle = self._table(system.ref)
            return handle.read_system_table(spark, system.system, columns=columns, where=where, limit=limit, **state)
        return self.table(table).read(
            spark,
            columns=columns,
            where=where,
            limit=limit,
            schema=schema,
            on_cast_error=on_cast_error,
            metadata_columns=metadata_columns,
            blobs=blobs,
            scratch=scratch,
            **state,
        )

    def fetch_blobs(self, rows: DataFrame, *columns: str) -> DataFrame:
        """`rows` with contents in place of the descriptors in `columns`, fetched by Spark's workers.

        All rows and columns of `rows` are computed then: filter and select before. The workers must reach the files.
        """
        from lakebed.spark.blob_contents import fetched

        return fetched(rows, columns, self._store, self.warehouse)

    def read_blob(self, descriptor: bytes) -> bytes:
        """The content of a blob, by what a read with `blobs="descriptor"` gave for it.

        Only its bytes are read, through the storage of the warehouse, or through another one that the descriptor's URL
        names. `UsageError` says that the bytes are no descriptor.
        """
        from lakebed.format.blob_columns import read_blob

        return read_blob(self._store, self.warehouse, bytes(descriptor))

    def cast_errors(
        self,
        spark: SparkSession,
        table: str,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        watermark: int | None = None,
        schema: int | Literal["latest", "snapshot"] | None = None,
        scratch: str | None = None,
    ) -> DataFrame:
        """The stored values that `read` with the same arguments cannot convert: those that `on_cast_error` is about.

        One row a value, all columns text: `file`, `column` (its path), `stored_type`, `wanted_type`, and the beginning
        of the `value`. `.groupBy("column").count()` says how many values a read with `on_cast_error="null"` makes NULL.
        Only files that hold a column under another type are looked at, those of a fallback branch too.
        """
        state = TravelKeywords(snapshot=snapshot, tag=tag, branch=branch, as_of=as_of, watermark=watermark)
        return self.table(table).cast_errors(spark, schema=schema, scratch=scratch, **state)

    def explain_read(
        self,
        table: str,
        *,
        where: str | None = None,
        limit: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        watermark: int | None = None,
        schema: int | Literal["latest", "snapshot"] | None = None,
    ) -> ReadExplanation:
        """What `read` with these arguments would do: which files it opens and how, which it leaves out and why.

        No Spark is needed. `str()` of it is for people, `.to_json()` for programs. `where` is understood with the
        lake's time zone, as a session has it that the command line starts.
        """
        state = TravelKeywords(snapshot=snapshot, tag=tag, branch=branch, as_of=as_of, watermark=watermark)
        return self.table(table).explain_read(where=where, limit=limit, schema=schema, **state)

    def check_read(
        self,
        table: str,
        *,
        where: str | None = None,
        select: str | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        watermark: int | None = None,
        schema: int | Literal["latest", "snapshot"] | None = None,
    ) -> None:
        """Raise what `read` with these arguments raises for what it names, without Spark.

        That is the table, the state, the schema, the fallback branch, and the columns in `where` and in `select`, which
        is what a SELECT of Spark's SQL gives. `UsageError` (LB6463) says all names that are no columns; what cannot be
        told, Spark tells. Manifests are read only where options say no sensible merge, which rows may or may not need.
        """
        state = TravelKeywords(snapshot=snapshot, tag=tag, branch=branch, as_of=as_of, watermark=watermark)
        return self.table(table).check_read(where=where, select=select, schema=schema, **state)

    def count(
        self,
        table: str,
        *,
        where: str | None = None,
        spark: SparkSession | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        watermark: int | None = None,
        schema: int | Literal["latest", "snapshot"] | None = None,
        scratch: str | None = None,
    ) -> int:
        """How many rows `read` with these arguments gives.

        Metadata answer where they can: files of which every row, or none, is known to match. The other files are read
        by `spark`; without it, `UsageError` (LB5650) says what stands in the way. Stored values that cannot be read are
        found only in files that are read.
        """
        state = TravelKeywords(snapshot=snapshot, tag=tag, branch=branch, as_of=as_of, watermark=watermark)
        return self.table(table).count(where=where, spark=spark, schema=schema, scratch=scratch, **state)

    def inspect(
        self,
        table: str,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
        watermark: int | None = None,
    ) -> SystemTable:
        """A system table such as `db.t$files`, made from metadata without Spark; `lake.read` gives it as a DataFrame.

        There are `snapshots`, `schemas`, `options`, `tags`, `branches`, and of one state `manifests`, `files`,
        `partitions` and `buckets`, of a branch too (`db.t$branch_b$files`). Raises `NotFoundError` for another name,
        `UsageError` for a state of one that has none or for a name without `$`.
        """
        from lakebed.errors import UsageError
        from lakebed.inspection import SystemTableRef

        asked = SystemTableRef.parse(table)
        if asked is None:
            raise UsageError.of("LB5590", f"{table!r} names no system table", expected="a name such as db.t$files")
        state = TravelKeywords(snapshot=snapshot, tag=tag, branch=branch, as_of=as_of, watermark=watermark)
        return self._table(asked.ref).inspect(asked.system, **state)

    def read_changes(
        self,
        spark: SparkSession,
        table: str,
        *,
        since: int | str | datetime,
        until: int | str | datetime | None = None,
        branch: str | None = None,
        mode: Literal["auto", "delta", "changelog", "diff"] = "auto",
        row_kinds: bool = False,
        schema: int | Literal["latest", "snapshot"] | None = None,
        on_cast_error: Literal["error", "null"] = "error",
        scratch: str | None = None,
    ) -> DataFrame:
        """What changed after the state `since`, up to the state `until` (the newest by default).

        A state is a snapshot's id, a tag's name, or an aware moment (the newest snapshot at or before it); `since=0` is
        the time before the first snapshot. `delta` reads what the APPEND commits wrote, `changelog` the changelog files
        of a table with `changelog-producer`, `auto` either by that option; `diff` compares the rows of both states.

        With `row_kinds` each change is a row, with its kind (+I, -U, +U, -D) in the first column `rowkind`. Without it
        deletes and before-images are left out, and of each key there is one row: merged from a `delta`, or the last.
        `schema` is as in `read`. Raises `NotFoundError` where a snapshot between has expired.
        """
        return self.table(table).read_changes(
            spark,
            since=since,
            until=until,
            branch=branch,
            mode=mode,
            row_kinds=row_kinds,
            schema=schema,
            on_cast_error=on_cast_error,
            scratch=scratch,
        )

    def views(self, spark: SparkSession, database: str | None = None) -> tuple[str, ...]:
        """Make a temporary view of the newest state of every table, for SQL; the names of the views.

        Of the whole warehouse each is named `db.table` as one name, so in SQL it is written in backticks:
        SELECT * FROM `nyc.flights`. With `database` its tables go by their own names. A view keeps the state that it
        was made of: call this again after commits. A table that cannot be read is left out with a `LakebedWarning`.
        """
        from lakebed.spark.views import make_views

        return make_views(spark, self._tables, lambda name: self.read(spark, name), database)

    def quarantine(self, table: str) -> Quarantine:
        """The bad rows of a table: `list`, `rows`, `replay`, `purge`."""
        return self.table(table).quarantine()

    def branches(self, table: str) -> Branches:
        """The branches of a table: `list`, `create`, `delete`, `fast_forward`."""
        return self.table(table).branches()

    def tags(self, table: str) -> Tags:
        """The tags of a table, or of a branch (`db.table@branch:NAME`): `list`, `get`, `create`, `delete`."""
        return self.table(table).tags()

    def roll_back(
        self,
        table: str,
        *,
        schema: int | None = None,
        snapshot: int | None = None,
        tag: str | None = None,
        delete_tags: bool = False,
        dry_run: bool = False,
    ) -> RollBack:
        """Make an earlier schema version the newest again, or an earlier snapshot or what a tag keeps; exactly one.

        A schema version is refused (`RefusedError`) while anything refers to a later one. Going back to a snapshot
        takes later snapshots away and leaves the schema; later tags are a refusal unless `delete_tags`. Data files stay
        until `remove_orphans`. `ConflictError` says that somebody wrote at the same time. Stop the writers before.
        """
        return self.table(table).roll_back(
            schema=schema, snapshot=snapshot, tag=tag, delete_tags=delete_tags, dry_run=dry_run
        )

    def unused_versions(self, table: str, *, min_age: timedelta = timedelta(days=1)) -> VersionReport:
        """Every schema version of a table or branch, with what keeps it; what nothing keeps can be removed.

        A version that was the newest less than `min_age` ago stays, for writers that began then. Touches nothing.
        """
        return self.table(table).unused_versions(min_age=min_age)

    def remove_versions(self, table: str, *, min_age: timedelta = timedelta(days=1)) -> VersionReport:
        """Remove the schema versions that nothing keeps; see `unused_versions`. `RefusedError` where in doubt."""
        return self.table(table).remove_versions(min_age=min_age)

    def orphan_files(self, table: str | None = None, *, min_age: timedelta = timedelta(days=1)) -> OrphanReport:
        """The files of a table, with all its branches, that nothing refers to and that are older. Touches nothing.

        Without a table: what killed reads and migrations have left beside the tables of the warehouse.
        """
        from lakebed.maintenance.leftovers import leftover_files

        if table is None:
            return leftover_files(self._tables, self._clock, min_age=min_age)
        return self.table(table).orphan_files(min_age=min_age)

    def remove_orphans(self, table: str | None = None, *, min_age: timedelta = timedelta(days=1)) -> OrphanReport:
        """Remove what `orphan_files` finds. `min_age` must be longer than any job that is writing now.

        Without a table also longer than any session of Spark Connect lives, whose reads look again at their lists.
        """
        from lakebed.maintenance.leftovers import remove_leftovers

        if table is None:
            return remove_leftovers(self._tables, self._clock, min_age=min_age)
        return self.table(table).remove_orphans(min_age=min_age)

    def health(self, tables: Iterable[str] | None = None) -> HealthReport:
        """How tables are, from metadata and without Spark; without `tables` all, but those of bad rows.

        Of each: files by level, size and schema version, what deletion vectors take out, what a compaction or an expiry
        would do by its options, ages of snapshots, what consumers hold, how many rows are in quarantine, by code with
        PyArrow, and `findings`. Tables that cannot be read are in `failed`. Raises `UsageError` for a single state.
        """
        from lakebed.ingest.bad_row_codes import count_bad_rows
        from lakebed.inspection.table_health import measure_tables

        names = self._tables.list_tables() if tables is None else each_name(tables)
        return measure_tables(self._tables, names, self._clock, count_bad_rows)

    def maintain(
        self,
        spark: SparkSession | Callable[[], SparkSession],
        tables: Iterable[str] | None = None,
        *,
        orphans: bool = False,
        dry_run: bool = False,
        progress: Callable[[str], None] | None = None,
    ) -> MaintenanceReport:
        """Do to tables what is due by their options; without `tables` to all, those of bad rows too.

        In this order: partitions expire where `partition.expiration-time` is set, what is fragmented is compacted,
        snapshots and tags expire, and with `orphans` files go that nothing refers to and that are older than a day.
        `spark` may be a function that gives the session: it is called where a compaction is due. With `dry_run` nothing
        is done. What fails is in the report, step by step, and keeps nothing else from being done; what Lakebed does
        not do to such a table is skipped. Raises `UsageError` for the name of a single state.
        """
        from lakebed.ingest.ingest_context import IngestContext
        from lakebed.row_level.maintain_tables import Maintenance, maintain_tables

        names = self._tables.list_tables(include_quarantine=True) if tables is None else each_name(tables)
        context = IngestContext(
            self._tables, self._time_zone, self._clock, self._storage_options, self._verify_checksums
        )
        asked = Maintenance(orphans, dry_run, progress=progress or (lambda _: None))
        return maintain_tables(context, names, spark, asked)

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

        `renames` and `no_renames` say which columns are the same; see `lakebed.migration.plan_migration`.
        """
        from lakebed.migration import plan_migration

        return plan_migration(
            self._tables.path_factory,
            target,
            renames=each_name(renames),
            no_renames=None if no_renames is None else each_name(no_renames),
            tables=None if tables is None else each_name(tables),
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
        place = Warehouse(self.warehouse, layout, storage, self._time_zone, self._verify_checksums, self._tables.origin)
        register_source(spark, place)
        return self.views(spark)

    def infer(self, table: str) -> TableManifest:
        """A manifest that declares the table as it is; planning it gives no change."""
        return self.table(table).infer()
