"""Explain, check and count reads from metadata, as methods of `Lake`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lakebed.catalog import TableManager, TableName, TableRef, TableSchema
from lakebed.store.base import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakebed.read.count import KnownRows
    from lakebed.read.explanation import ReadExplanation
    from lakebed.read.planned_read import Condition, PlannedRead


def refuse_unknown_names(name: TableName, schema: TableSchema, where: str | None, select: str | None) -> None:
    """Raise `UsageError` where a filter or what is selected names what is no column."""
    from lakebed.diagnostics import Diagnostic, near_names
    from lakebed.errors import UsageError
    from lakebed.read.where_sql import unknown_names

    unknown = () if where is None else unknown_names(where, schema)
    unknown += () if select is None else unknown_names(select, schema, selected=True)
    if unknown:
        raise UsageError(
            *(
                Diagnostic(
                    "LB6463",
                    f"{name} has no column {column!r}",
                    path=column,
                    suggestions=near_names(column, schema.field_names),
                    remedy=f"`lakebed show {name}` lists the columns",
                )
                for column in dict.fromkeys(unknown)
            )
        )


class TablePlans:
    """The plan of a read, without Spark."""

    _tables: TableManager
    _store: Store
    _time_zone: str
    _verify_checksums: bool
    _travel: Callable[..., Any]

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
        from lakebed.read.explanation import ReadExplanation, StateExplanation
        from lakebed.read.planned_read import condition
        from lakebed.read.where_sql import unknown_names

        wanted = condition(where, time_zone=self._time_zone)
        planned = self._planned(
            table, wanted, schema, (snapshot, tag, branch, as_of, watermark), limit=limit, list_partitions=True
        )
        states = tuple(
            StateExplanation(
                one.state.table_path,
                one.branch,
                None if one.state.snapshot is None else one.state.snapshot.id,
                one.state.schema.id,
                one.plan,
                () if where is None else unknown_names(where, one.state.schema),
            )
            for one in planned.states
        )
        return ReadExplanation(str(TableRef.parse(table).name), states)

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
        """Raise what `read` with these arguments raises for what it names, without Spark and without a look at files.

        That is the table, the state, the schema, and the columns in `where` and in `select`, which is what a SELECT of
        Spark's SQL gives. `UsageError` (LB6463) says all names that are no columns; what cannot be told, Spark tells.
        """
        from lakebed.errors import LakebedWarning
        from lakebed.read.planned_read import planned_state

        ref, travel = self._travel(table, snapshot, tag, branch, as_of, watermark)
        choice = schema if schema is not None else ref.schema_id
        with warnings.catch_warnings():
            # The read itself warns of what it leaves out.
            warnings.simplefilter("ignore", LakebedWarning)
            state = planned_state(self._tables, self._store, ref.name, travel, choice, time_zone=self._time_zone)
        refuse_unknown_names(ref.name, state.schema, where, select)

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
        by `spark`; without it, `NotCountableError` (LB5650) says what stands in the way. Stored values that cannot be
        read are found only in files that are read.
        """
        from lakebed.errors import NotCountableError
        from lakebed.read.count import known_rows
        from lakebed.read.planned_read import condition
        from lakebed.read.where_sql import unknown_names

        if spark is None:
            wanted: Condition = condition(where, time_zone=self._time_zone)
        else:
            from lakebed.spark.read import session_condition

            wanted = session_condition(spark, where)
        planned = self._planned(table, wanted, schema, (snapshot, tag, branch, as_of, watermark))
        known = [known_rows(self._store, one.plan) for one in planned.states]
        rows = sum(one.rows for one in known)
        open_ = [one for one in known if not one.exact]
        obstacles = [one.obstacle for one in open_]
        # Metadata may tell without looking at the part of the filter that Spark refuses.
        columns = planned.main.state.schema
        unknown = () if where is None else unknown_names(where, columns)
        if spark is None:
            obstacles += [f"{name} in the filter is no column" for name in unknown]
        elif where is not None and unknown:
            from lakebed.spark.read import check_filter

            check_filter(spark, columns, where)
        if not obstacles:
            return rows
        if spark is None:
            raise NotCountableError.of(
                "LB5650",
                f"the rows of {table} cannot be counted from metadata: {' and '.join(obstacles)}",
                remedy="give a Spark session: lake.count(table, spark=spark)",
            )
        return rows + self._count_rest(spark, planned, known, where, scratch)

    def _count_rest(
        self,
        spark: SparkSession,
        planned: PlannedRead,
        known: list[KnownRows],
        where: str | None,
        scratch: str | None,
    ) -> int:
        from lakebed.spark.projection import CastRules
        from lakebed.spark.read import count_rows
        from lakebed.spark.scan import choose_scratch

        place = choose_scratch(spark, self._store, self._tables.path_factory.warehouse, scratch)
        rules = CastRules(self._time_zone, verify_checksums=self._verify_checksums)
        return sum(
            count_rows(spark, self._store, one.state, some.rest, where, rules, place, planned.main.state.schema)
            for one, some in zip(planned.states, known, strict=True)
            if not some.exact
        )

    def _planned(
        self,
        table: str,
        wanted: Condition,
        schema: int | Literal["latest", "snapshot"] | None,
        state: tuple[Any, ...],
        **asked: Any,
    ) -> PlannedRead:
        from lakebed.read.planned_read import planned_read

        ref, travel = self._travel(table, *state)
        choice = schema if schema is not None else ref.schema_id
        return planned_read(
            self._tables, self._store, ref.name, travel, choice, wanted, time_zone=self._time_zone, **asked
        )
