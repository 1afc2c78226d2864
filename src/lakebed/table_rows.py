"""Ingest and read the rows of tables, as methods of `Lake`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakebed.catalog import TableManager, TableName, TableRef
from lakebed.store.base import Store
from lakebed.table_plans import TablePlans
from lakebed.table_views import TableViews

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakebed.ingest.ingest import IngestResult
    from lakebed.read.travel import Travel


class TableRows(TableViews, TablePlans):
    """Ingest, reads, blobs, and what a read cannot convert."""

    _tables: TableManager
    _store: Store
    _clock: Callable[[], int]
    _time_zone: str
    _storage_options: Mapping[str, Any] | None
    _verify_checksums: bool

    @property
    def warehouse(self) -> str:
        """The warehouse's path or URL."""
        return self._tables.path_factory.warehouse

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
        unknown_columns: Literal["fail", "ignore"] = "fail",
        max_bad_rows: int | None = None,
        merge_schema: bool | Literal["add", "widen"] | None = None,
        include: str | Collection[str] | None = None,
        exclude: str | Collection[str] | None = None,
        folders: Literal["columns", "ignore"] = "columns",
        progress: Callable[[str], None] | None = None,
    ) -> IngestResult:
        """Put rows into an append table under its declared schema; bad rows go to `<table>__quarantine` with reasons.

        `source` is a path, several paths, or a DataFrame. `format` is csv, json or parquet (else from the file's name);
        `options` go to Spark's reader. The same `run_id` ingests once. Files that were ingested before are skipped
        unless `again`. With `max_bad_rows`, more bad rows than that fail the run and nothing is written.
        `merge_schema` first gives the table the source's new columns (`add`), or also wider types (`widen`).
        `include` and `exclude` are patterns of file names, such as `*.csv`, or of paths below the source, such as
        `archive/**`. Folders named `key=value` are columns, unless `folders="ignore"`. In place of `spark` may be a
        function that gives the session: it is called when everything that needs no Spark has been looked at.
        """
        from lakebed.ingest.ingest import IngestContext, ingest

        self._tables.refuse_foreign_rows(TableName.parse(table))
        self._check_before_rows(table)
        context = IngestContext(
            self._tables,
            self._store,
            self.warehouse,
            self._time_zone,
            self._clock,
            self._storage_options,
            self._verify_checksums,
        )
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
            merge_schema=merge_schema,
            include=include,
            exclude=exclude,
            folders=folders,
            progress=progress,
        )

    def read(
        self,
        spark: SparkSession,
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
        on_cast_error: Literal["error", "null"] = "error",
        metadata_columns: Collection[str] = (),
        blobs: Literal["content", "descriptor"] = "content",
        scratch: str | None = None,
    ) -> DataFrame:
        """The table's rows as a DataFrame, every file read as one schema, by field id.

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
        from lakebed.spark.projection import CastRules
        from lakebed.spark.read import read_table
        from lakebed.table_views import system_rows

        system = SystemTableRef.parse(table)
        if system is not None:
            chosen = self._travel_of(system.ref, snapshot, tag, branch, as_of, watermark)
            rows = system_rows(spark, self._inspected(system, chosen))
            rows = rows if where is None else rows.where(where)
            return rows if limit is None else rows.limit(limit)
        ref, travel = self._travel(table, snapshot, tag, branch, as_of, watermark)
        return read_table(
            spark,
            self._tables,
            self._store,
            ref.name,
            travel,
            schema if schema is not None else ref.schema_id,
            rules=CastRules(self._time_zone, on_cast_error, verify_checksums=self._verify_checksums),
            where=where,
            limit=limit,
            scratch=scratch,
            metadata=metadata_columns,
            blobs=blobs,
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
        schema: int | Literal["latest", "snapshot"] | None = None,
        scratch: str | None = None,
    ) -> DataFrame:
        """The stored values that `read` with the same arguments cannot convert: those that `on_cast_error` is about.

        One row a value, all columns text: `file`, `column` (its path), `stored_type`, `wanted_type`, and the beginning
        of the `value`. `.groupBy("column").count()` says how many values a read with `on_cast_error="null"` makes NULL.
        Only files that hold a column under another type are looked at.
        """
        from lakebed.spark.cast_errors import cast_errors
        from lakebed.spark.projection import CastRules

        ref, travel = self._travel(table, snapshot, tag, branch, as_of)
        choice = schema if schema is not None else ref.schema_id
        rules = CastRules(self._time_zone, verify_checksums=self._verify_checksums)
        return cast_errors(spark, self._tables, self._store, ref.name, travel, choice, rules=rules, scratch=scratch)

    def _check_before_rows(self, table: str) -> None:
        """What has to hold before rows go into a table; the project's rules, where it has some."""

    def _travel(
        self,
        table: str,
        snapshot: int | None,
        tag: str | None,
        branch: str | None,
        as_of: datetime | str | int | None,
        watermark: int | None = None,
    ) -> tuple[TableRef, Travel]:
        """The table that a text names, and the state that it or the arguments choose."""
        ref = TableRef.parse(table)
        self._tables.refuse_foreign_rows(ref.name)
        return ref, self._travel_of(ref, snapshot, tag, branch, as_of, watermark)
