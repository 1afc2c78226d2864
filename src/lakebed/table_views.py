"""Read system tables and changes, and make views for SQL, as methods of `Lake`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakebed.catalog import TableManager, TableRef
from lakebed.store.base import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakebed.inspection import SystemTable, SystemTableRef
    from lakebed.read.travel import Travel


class TableViews:
    """What is made of a table's metadata and of several of its states."""

    _tables: TableManager
    _store: Store
    _clock: Callable[[], int]
    _time_zone: str
    _verify_checksums: bool

    def inspect(
        self,
        table: str,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        branch: str | None = None,
        as_of: datetime | str | int | None = None,
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
        return self._inspected(asked, self._travel_of(asked.ref, snapshot, tag, branch, as_of))

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
        from lakebed.spark.projection import CastRules
        from lakebed.spark.row_changes import ChangesAsked, read_changes

        ref = TableRef.parse(table)
        self._tables.refuse_foreign_rows(ref.name)
        asked = ChangesAsked(since, until, branch or ref.branch, mode, row_kinds, schema)
        rules = CastRules(self._time_zone, on_cast_error, verify_checksums=self._verify_checksums)
        return read_changes(spark, self._tables, self._store, ref.name, asked, rules=rules, scratch=scratch)

    def views(self, spark: SparkSession, database: str | None = None) -> tuple[str, ...]:
        """Make a temporary view of the newest state of every table, for SQL; the names of the views.

        Of the whole warehouse each is named `db.table` as one name, so in SQL it is written in backticks:
        SELECT * FROM `nyc.flights`. With `database` its tables go by their own names. A view keeps the state that it
        was made of: call this again after commits. A table that cannot be read is left out with a `LakebedWarning`.
        """
        from lakebed.spark.views import make_views

        return make_views(spark, self._tables, lambda name: self._read_newest(spark, name), database)

    def _read_newest(self, spark: SparkSession, table: str) -> DataFrame:
        raise NotImplementedError

    def _inspected(self, asked: SystemTableRef, travel: Travel) -> SystemTable:
        from lakebed.read.system_tables import read_system_table

        return read_system_table(self._tables, self._store, asked, travel, clock=self._clock, time_zone=self._time_zone)

    def _travel_of(
        self, ref: TableRef, snapshot: Any, tag: Any, branch: Any, as_of: Any, watermark: int | None = None
    ) -> Travel:
        from lakebed.read.travel import Travel

        return Travel.of(ref, snapshot=snapshot, tag=tag, as_of=as_of, branch=branch, watermark=watermark)


def system_rows(spark: SparkSession, table: SystemTable) -> DataFrame:
    """A system table as a DataFrame."""
    from lakebed.convert.spark import scan_schema

    return spark.createDataFrame(list(table.rows), scan_schema(table.columns))
