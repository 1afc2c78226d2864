"""Resolve and plan a read before Spark: state, schema, files; join the fallback branch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import PartitionFilter
from lakebed.format.support import refuse_unreadable
from lakebed.read.fallback_branch import fallback_branch, fallback_state
from lakebed.read.predicate import Predicate
from lakebed.read.read_plan import EVERY_ROW, ReadPlan, plan_read, with_limit
from lakebed.read.travel import SchemaChoice, TableState, Travel, resolve
from lakebed.read.unknown_types import without_unknown
from lakebed.read.where_sql import parse_where
from lakebed.store.base import Store

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


def condition(where: str | None, *, time_zone: str, case_sensitive: bool = False) -> Condition:
    """What can be told of a filter without Spark, which applies it to the rows in any case."""
    if where is None:
        return lambda schema: EVERY_ROW
    return lambda schema: parse_where(where, schema, time_zone=time_zone, case_sensitive=case_sensitive)


def planned_read(
    tables: TableManager,
    store: Store,
    name: TableName,
    travel: Travel,
    schema: SchemaChoice,
    wanted: Condition,
    *,
    time_zone: str,
    limit: int | None = None,
    list_partitions: bool = False,
) -> PlannedRead:
    """Resolve the state and plan its files. The parameters are those of `resolve` and `plan_read`.

    A limit leaves no files out where a fallback branch takes part.
    """
    state = planned_state(tables, store, name, travel, schema, time_zone=time_zone)
    plan = _plan(store, state, wanted, list_partitions=list_partitions)
    # What the newest schema says of branches holds for older states too.
    branch = fallback_branch(state.newest) if travel.branch is None else None
    if branch is None:
        return PlannedRead(PlannedState(travel.branch, state, plan if limit is None else with_limit(plan, limit)))
    other = without_unknown(fallback_state(tables, store, name, travel, state, branch, time_zone), name)
    # A partition that the predicate leaves out is none of the plan's: it is left out of the other branch, too.
    own = plan.partitions
    missing = _plan(store, other, wanted, lambda partition: partition not in own, list_partitions=list_partitions)
    return PlannedRead(PlannedState(None, state, plan), PlannedState(branch, other, missing))


def planned_state(
    tables: TableManager, store: Store, name: TableName, travel: Travel, schema: SchemaChoice, *, time_zone: str
) -> TableState:
    """The state that is read, of a schema that can be read; see `resolve`."""
    state = without_unknown(resolve(tables, store, name, travel, schema, time_zone), name)
    refuse_unreadable(state.schema)
    return state


def _plan(
    store: Store,
    state: TableState,
    wanted: Condition,
    partition_filter: PartitionFilter | None = None,
    *,
    list_partitions: bool,
) -> ReadPlan:
    refuse_unreadable(state.schema)
    return plan_read(
        store,
        state.table_path,
        state.snapshot,
        state.schema,
        state.schemas.load_schema,
        wanted(state.schema),
        partition_filter=partition_filter,
        list_partitions=list_partitions,
    )
