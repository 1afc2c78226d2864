"""Check rows with new values as an ingest checks them, and write them, all or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.diagnostics import Diagnostic, near_names
from lakebed.errors import UnsupportedError, UsageError
from lakebed.format.merge_engine import MergeEngine, MergeEngineRules
from lakebed.format.row_kinds import KINDS
from lakebed.ingest.bad_rows_error import bad_rows_error, rows_of
from lakebed.ingest.checked_rows import PreparedRows, prepare
from lakebed.ingest.columns.column_names import UnknownColumns
from lakebed.ingest.sources.source_parts import SourceColumn, SourcePart, columns_as_json
from lakebed.ingest.sources.source_types import from_spark
from lakebed.ingest.system_columns import system_roles
from lakebed.row_level.row_target import Start
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name
from lakebed.spark.table_writer import TableWriter
from lakebed.spark.write_rows import RowsToWrite
from lakebed.write.plan_write import WritePlan

BAD_VALUES = "LB6548"
NOT_SET = "LB6549"
NOT_UPDATED = "LB6550"
OLDER = "LB6551"
_REMEDY = (
    "change the values that are set, as by round(..., 2) where the digits are too many, or relax the columns in the "
    "manifest"
)
_KIND = "kind"


@dataclass(frozen=True, slots=True)
class NewRows:
    """Rows that get values, one kind of change to all of them.

    `values` are the new values by column, as expressions over `frame`; `old` are the values of the other columns, as
    the table has them, by column too. Columns that neither says get what an ingest without them gives. `older` says
    which rows would be older than the ones that they take the place of. `before` are all columns as the table has them,
    where consumers are told what a row was, too.
    """

    frame: DataFrame
    values: Mapping[str, Column]
    old: Mapping[str, Column] = field(default_factory=dict)
    kind: str = "+I"
    older: Mapping[str, Column] = field(default_factory=dict)
    before: tuple[Column, ...] = ()


def changed_rows(start: Start, rows: DataFrame, values: Mapping[str, Column], *, of: str | None = None) -> NewRows:
    """Rows of the table, whose columns are those of the alias `of`, with new values in some columns."""
    own = own_columns(start.schema, of=of)
    old = {name: column for name, column in own.items() if name not in values}
    order = () if start.plan.merge is None else start.plan.merge.order
    before = {name: own[name] for name in order if name in values}
    was = tuple(own.values()) if start.plan.has_changelog else ()
    return NewRows(rows, values, old, "+U" if start.plan.is_keyed else "+I", before, was)


@dataclass(frozen=True)
class _Checked:
    """Rows that are checked: `frame` has `v<i>` for each column of the table, `_KIND`, `bad` and `older`."""

    prepared: PreparedRows
    frame: DataFrame
    seen: Observation

    METRICS = ("rows", "bad", "older")

    @property
    def _metrics(self) -> tuple[Column, ...]:
        return (
            F.count(F.lit(1)).alias("rows"),
            F.sum(F.col("bad").cast("bigint")).alias("bad"),
            F.sum((F.col("older") & ~F.col("bad")).cast("bigint")).alias("older"),
        )

    def good(self) -> DataFrame:
        """The good ones, which are counted as they pass."""
        return self.frame.observe(self.seen, *self._metrics).where(~F.col("bad"))

    def counts(self, *, is_observed: bool) -> dict[str, int]:
        """How many rows there are, and how many are bad, when they have been written."""
        found: dict[str, Any] = dict(self.seen.get) if is_observed else {}
        if "rows" not in found:
            # Spark forgets what it observed where no row is left, and over some servers.
            found = self.frame.agg(*self._metrics).collect()[0].asDict()
        return {name: found[name] or 0 for name in self.METRICS}


def write_new_rows(
    start: Start, writer: TableWriter, new: Sequence[NewRows], kept: DataFrame | None = None, kind: str = "+I"
) -> list[int]:
    """Write rows with new values, and `kept` as they are, of a kind; how many there are of each of `new`.

    Raises `BadRowsError` (LB6548) where a value is none of its column, `UsageError` (LB6551) for rows that would be
    older than those that are there. Then nothing is written.
    """
    checked = [_check(start, rows) for rows in new]
    frames = [c.good().select(*_columns(start.schema), _KIND) for c in checked]
    frames += [_of_kind(rows.frame.select(*_numbered(rows.before)), "-U") for rows in new if rows.before]
    if kept is not None:
        frames.append(_of_kind(kept, kind))
    if not frames:
        return []
    with spark_errors():
        rows = reduce(DataFrame.union, frames)
        # Of the two rows of one update the one with its new values comes last: so are their kinds numbered.
        in_order = (F.col(_KIND),) if start.plan.has_changelog else ()
        writer.write(RowsToWrite(rows, F.col(_KIND) if start.plan.is_keyed else None, in_order))
        counts = [c.counts(is_observed=writer.is_observed) for c in checked]
    label = start.target.table.label
    for count, one in zip(counts, checked, strict=True):
        if count["bad"]:
            rows_are = rows_of(count["bad"], count["rows"])
            message = f"{label}: {rows_are} given values that the columns cannot hold"
            raise bad_rows_error(one.prepared.shown(), BAD_VALUES, message, _REMEDY)
        if count["older"]:
            raise older_rows(start, count["older"])
    return [count["rows"] for count in counts]


def _of_kind(rows: DataFrame, kind: str) -> DataFrame:
    return rows.select("*", F.lit(KINDS.index(kind)).cast("tinyint").alias(_KIND))


def _numbered(columns: Sequence[Column]) -> list[Column]:
    return [column.alias(f"v{i}") for i, column in enumerate(columns)]


def _columns(schema: TableSchema) -> list[str]:
    return [f"v{i}" for i in range(len(schema.fields))]


def _check(start: Start, rows: NewRows) -> _Checked:
    schema = start.schema
    asked = [f for f in schema.fields if f.name not in rows.old]
    given = [f for f in asked if f.name in rows.values]
    values = [rows.values[f.name].alias(f"c{i}") for i, f in enumerate(given)]
    old = {name: f"o{i}" for i, name in enumerate(rows.old)}
    beside = [column.alias(old[name]) for name, column in rows.old.items()]
    before = [column.alias(f"q{i}") for i, column in enumerate(rows.older.values())]
    frame = rows.frame.select(*values, *beside, *before)
    types = [from_spark(f.dataType) for f in frame.schema.fields]
    columns = tuple(SourceColumn(f.name, types[i], F.col(f"c{i}")) for i, f in enumerate(given))
    nothing, no_offset = F.lit(None).cast("string"), F.lit(None).cast("bigint")
    part = SourcePart(frame, columns, (), columns_as_json(columns), nothing, no_offset, F.spark_partition_id())
    of_asked = replace(schema, fields=tuple(asked), partition_keys=(), primary_keys=())
    prepared = prepare(start.spark, (part,), of_asked, start.rules, unknown=UnknownColumns.FAIL)
    checked = prepared.all(*old.values(), *(f"q{i}" for i in range(len(before))))
    places = {f.name: f"v{i}" for i, f in enumerate(asked)} | old
    # `v<i>` is another column before than after.
    shown = checked.select(
        *(F.col(places[f.name]).alias(f"v{i}") for i, f in enumerate(schema.fields)),
        F.lit(KINDS.index(rows.kind)).cast("tinyint").alias(_KIND),
        "bad",
        is_older(start.plan.merge, {name: (places[name], f"q{i}") for i, name in enumerate(rows.older)}).alias("older"),
    )
    return _Checked(prepared, shown, Observation())


def is_older(merge: MergeEngineRules | None, pairs: Mapping[str, tuple[str, str]]) -> Column:
    """Whether a row is older than the one before, by the sequence fields, of which NULL is the oldest value.

    `pairs` has the columns of the new and the old value of the sequence fields that are set.
    """
    older = F.lit(False)
    for name in reversed(() if merge is None else merge.order):
        if name in pairs:
            new, before = map(F.col, pairs[name])
            less = new > before if merge is not None and merge.descending else new < before
            is_less = F.coalesce(less, new.isNull() & before.isNotNull())
            older = is_less | (new.eqNullSafe(before) & older)
    return older


def older_rows(start: Start, count: int) -> UsageError:
    """The error for rows that would be older, by the sequence fields, than those that they take the place of."""
    label, order = start.target.table.label, start.plan.merge.order if start.plan.merge else ()
    return UsageError.of(
        OLDER,
        f"{label}: {count} rows would be older, by {', '.join(order)}, than the rows whose place they should take",
        path=order[0] if order else None,
        remedy="leave these rows out by the filter or a condition, or let them be as new as those",
    )


# --- what can be set --------------------------------------------------------------------------------------------------


def refuse_updates(plan: WritePlan, table: str) -> None:
    """Raise `UnsupportedError` (LB6550) where a row that updates is merged with the older one."""
    if plan.merge is not None and plan.merge.engine is not MergeEngine.DEDUPLICATE:
        raise UnsupportedError.of(
            NOT_UPDATED,
            f"rows of {table} cannot be updated: the merge engine {plan.merge.engine} makes one row of the new row and "
            "the older ones",
            path=table,
            found=str(plan.merge.engine),
            remedy="ingest rows that the merge engine makes the wanted ones of, or delete rows and ingest others",
        )


def check_set(schema: TableSchema, names: Sequence[str]) -> None:
    """Raise `UsageError` (LB6549) for columns that an update cannot set."""
    if not names:
        raise UsageError.of(NOT_SET, "an update sets no column", remedy="name the columns and their new values")
    system = system_roles(schema.logical)
    keys = {*schema.primary_keys, *schema.partition_keys} if schema.primary_keys else set()
    problems = []
    for name in names:
        reason = None
        if schema.field(name) is None:
            whole = name.partition(".")[0]
            reason = "is no column of the table"
            if schema.field(whole) is not None:
                reason = f"is a part of column {whole!r}, which is set as a whole"
        elif name in keys:
            reason = "belongs to the key of a row, which stays as it is: delete the row and ingest another"
        elif name in system.values():
            reason = "is a system column, which Lakebed fills"
        if reason is not None:
            is_unknown = schema.field(name) is None and schema.field(name.partition(".")[0]) is None
            near = near_names(name, schema.field_names) if is_unknown else ()
            problems.append(
                Diagnostic(NOT_SET, f"column {name!r} cannot be set: it {reason}", path=name, suggestions=near)
            )
    if problems:
        raise UsageError(*problems)


def own_columns(schema: TableSchema, *without: str, of: str | None = None) -> dict[str, Column]:
    """The table's columns of a frame, or of its alias `of`, but those of some names."""
    prefix = "" if of is None else f"{of}."
    return {n: F.col(f"{prefix}{quote_name(n)}") for n in schema.field_names if n not in without}
