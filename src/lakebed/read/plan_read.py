"""Plan a read without an engine: the state, its files, the fallback branch, and what is refused.

Whoever reads rows, counts them, explains a read or looks for values that cannot be read starts from `plan_read`.

Partitions that the main branch does not have are read from another branch, where the option `scan.fallback-branch`
names one. It takes effect on reads of the main branch only. A read of an older state by a snapshot's number means the
snapshot of that number on the other branch too, as other readers take it; where there is none, and for all other ways
of travel, it means the other branch as it was at that time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from lakebed.catalog.names import TableName
from lakebed.catalog.options import SCAN_FALLBACK_BRANCH
from lakebed.catalog.paths import MAIN
from lakebed.catalog.table_schema import TableSchema, unknown_columns
from lakebed.diagnostics import Diagnostic, Severity, near_names
from lakebed.errors import LakebedError, LakebedWarning, UnsupportedError, UsageError
from lakebed.format.live_files import PartitionFilter
from lakebed.format.merge_engine import merge_rules
from lakebed.format.merge_plan import MergePlan
from lakebed.format.refuse_unsupported import refuse_unreadable
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_types import DataField, equal_ignoring_nullability, type_line
from lakebed.read.needed_files import EVERY_ROW, ReadPlan, ReadState, needed_files, with_limit
from lakebed.read.predicate import Predicate
from lakebed.read.request import ReadRequest, Travel
from lakebed.read.table_state import TableState, resolve
from lakebed.read.where_sql import may_name, parse_where, unknown_names

LEFT_OUT = "LB4507"

#: The predicate over the columns of a schema.
Condition = Callable[[TableSchema], Predicate]


@dataclass(frozen=True, slots=True)
class PlannedState:
    """One state of a table and the plan of its read; `branch` is None for main."""

    branch: str | None
    state: TableState
    plan: ReadPlan


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """What is read: a state, and the partitions that a fallback branch adds to it."""

    main: PlannedState
    fallback: PlannedState | None = None

    @property
    def states(self) -> tuple[PlannedState, ...]:
        """Both."""
        return (self.main,) if self.fallback is None else (self.main, self.fallback)


def condition(
    where: str | None, *, time_zone: str, case_sensitive: bool = False, alias: str | None = None
) -> Condition:
    """What can be told of a filter without Spark, which applies it to the rows in any case; see `parse_where`."""
    if where is None:
        return lambda schema: EVERY_ROW
    return lambda schema: parse_where(where, schema, time_zone=time_zone, case_sensitive=case_sensitive, alias=alias)


def plan_read(
    table: TableBranch,
    request: ReadRequest,
    wanted: Condition | None = None,
    *,
    state: TableState | None = None,
    list_partitions: bool = False,
) -> PlannedRead:
    """The states that a read means, and the files of each that it needs.

    `wanted` is the filter as who applies it to the rows understands it; without it the request's own, understood in
    the request's time zone. `state` is what `find_state` has found, where that is known already. `list_partitions`:
    also name the files of partitions that the filter leaves out. A limit leaves no files out where a fallback branch
    takes part. Raises what `find_state` raises, and `UnsupportedError` for what would be read wrongly.
    """
    if wanted is None:
        wanted = condition(request.where, time_zone=request.time_zone)
    state = find_state(table, request) if state is None else state
    planning = _Planning(table, request, wanted, list_partitions)
    plan = planning.files(state)
    fallback = _fallback(table, request, state)
    if fallback is None:
        limited = plan if request.limit is None else with_limit(plan, request.limit)
        return PlannedRead(PlannedState(request.travel.branch, state, limited))
    branch, other = fallback
    # A partition that the predicate leaves out is none of the plan's: it is left out of the other branch, too.
    own = plan.partitions
    missing = planning.files(other, lambda partition: partition not in own)
    return PlannedRead(PlannedState(None, state, plan), PlannedState(branch, other, missing))


def readable_state(table: TableBranch, request: ReadRequest) -> TableState:
    """The state that is read, of a schema that can be read."""
    state = find_state(table, request)
    refuse_unreadable(state.schema, columns=request.columns)
    return state


def check_read(table: TableBranch, request: ReadRequest, select: str | None = None) -> None:
    """Raise what a read raises for what it names; see `lakebed.Lake.check_read`.

    Manifests are read only where it depends on them: rules of a merge that make no sense are refused where rows are
    to be merged.
    """
    with warnings.catch_warnings():
        # The read itself warns of what it leaves out.
        warnings.simplefilter("ignore", LakebedWarning)
        state = find_state(table, request)
        if select is not None:
            looked_at = may_name(f"{select} {request.where or ''}", state.schema.fields)
            request = replace(request, columns=tuple(f.name for f in looked_at))
        fallback = _fallback(table, request, state)
        states = (state,) if fallback is None else (state, fallback[1])
        for one in states:
            refuse_unreadable(one.schema, columns=request.columns)
        if not all(_can_merge(one.schema) for one in states):
            plan_read(table, request, state=state)
    schema = state.schema
    unknown = () if request.where is None else unknown_names(request.where, schema)
    unknown += () if select is None else unknown_names(select, schema, selected=True)
    refuse_unknown(table.name, schema, unknown)


def refuse_unknown(name: TableName, schema: TableSchema, unknown: Collection[str]) -> None:
    """Raise `UsageError` (LB6463) with the names of columns that table `name` does not have, where there are any."""
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


@dataclass(frozen=True, slots=True)
class _Planning:
    table: TableBranch
    request: ReadRequest
    wanted: Condition
    list_partitions: bool

    def files(self, state: TableState, partition_filter: PartitionFilter | None = None) -> ReadPlan:
        refuse_unreadable(state.schema, columns=self.request.columns)
        plan = needed_files(
            ReadState(self.table.store, state.table_path, state.snapshot, state.schema, state.schemas.load_schema),
            self.wanted(state.schema),
            partition_filter=partition_filter,
            list_partitions=self.list_partitions,
        )
        if isinstance(plan.parts, MergePlan) and plan.groups:
            # Raises for rules that make no sense: whoever merges the rows has no other ones.
            merge_rules(state.schema)
        return plan


def _can_merge(schema: TableSchema) -> bool:
    """Whether the rules by which rows of one key are merged make sense, where there are any."""
    try:
        if schema.primary_keys:
            merge_rules(schema)
    except LakebedError:
        return False
    return True


# --- the fallback branch ----------------------------------------------------------------------------------------------


def fallback_branch(table: TableBranch, request: ReadRequest, state: TableState) -> str | None:
    """The branch that a read of a state falls back to. What the newest schema says holds for older states too."""
    if request.travel.branch is not None or table.branch != MAIN:
        return None
    return state.newest.options.get(SCAN_FALLBACK_BRANCH, "").strip() or None


def _fallback(table: TableBranch, request: ReadRequest, main: TableState) -> tuple[str, TableState] | None:
    """The fallback branch of a read, where there is one, and the state of it that goes with that of the main branch.

    Raises UnsupportedError for a column that is read and has another type there.
    """
    branch = fallback_branch(table, request, main)
    if branch is None:
        return None
    state = resolve(table, ReadRequest(travel=Travel(branch=branch)))
    travel, snapshots = request.travel, state.snapshots
    if travel.chosen and main.snapshot is not None:
        same = travel.snapshot if travel.snapshot in snapshots.ids() else None
        then = snapshots.at_or_before(main.snapshot.time_millis) if same is None else snapshots.load(same)
        schema = state.schema if then is None else state.schemas.load_schema(then.schema_id)
        state = replace(state, snapshot=then, schema=schema)
    state = _without_unknown(state, table.name)
    for field in main.schema.fields:
        if request.columns is None or field.name in request.columns:
            branch_column(field, state.schema)
    return branch, state


def branch_column(field: DataField, schema: TableSchema) -> DataField | None:
    """The column of the fallback branch that answers for a column of the main branch; None where it lacks it.

    Columns of both branches go by their names. Raises UnsupportedError for one of another type.
    """
    other = schema.field(field.name)
    if other is not None and not equal_ignoring_nullability(other.type, field.type):
        raise UnsupportedError.of(
            "LB5053",
            f"column {field.name!r} is {type_line(field.type)} on the main branch "
            f"and {type_line(other.type)} on the fallback branch",
            path=field.name,
            expected=type_line(field.type),
            found=type_line(other.type),
            remedy="give the column one type on both branches",
        )
    return other


# --- columns of unknown types -----------------------------------------------------------------------------------------


def find_state(table: TableBranch, request: ReadRequest) -> TableState:
    """The state that is asked for, with a schema of the columns whose types are known; see `resolve`.

    Warns of the others (`LakebedWarning`, LB4507). Raises `UnsupportedError` (LB4507) where a key, or every column, is
    of an unknown type: no rows are left to tell.
    """
    return _without_unknown(resolve(table, request), table.name)


def _without_unknown(state: TableState, name: TableName) -> TableState:
    found = unknown_columns(state.schema.fields)
    if not found:
        return state
    kept = tuple(f for f in state.schema.fields if f.name not in found)
    keys = {*state.schema.primary_keys, *state.schema.partition_keys}
    if not kept or keys & found.keys():
        raise UnsupportedError(*(_left_out(name, c, text, Severity.ERROR) for c, text in found.items()))
    for column, text in found.items():
        warnings.warn(LakebedWarning(_left_out(name, column, text, Severity.WARNING)), stacklevel=4)
    return replace(state, schema=replace(state.schema, fields=kept))


def _left_out(name: TableName, column: str, text: str, severity: Severity) -> Diagnostic:
    left = "is not read" if severity is Severity.ERROR else "is left out"
    return Diagnostic(
        LEFT_OUT,
        f"table {name}: column {column!r} {left}: its type {text} is not known to this version",
        severity,
        path=column,
        found=text,
        remedy="read it with a newer Lakebed",
    )
