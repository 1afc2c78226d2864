"""Read system tables such as `db.t$files` at the state that a read names, from metadata alone."""

from __future__ import annotations

from collections.abc import Callable

from lakebed.catalog import TableManager
from lakebed.errors import UsageError
from lakebed.inspection import OF_A_STATE, DataState, SystemTable, SystemTableRef, inspect
from lakebed.maintenance.place import Place
from lakebed.read.travel import Travel, resolve
from lakebed.store.base import Store


def read_system_table(
    tables: TableManager,
    store: Store,
    asked: SystemTableRef,
    travel: Travel,
    *,
    clock: Callable[[], int],
    time_zone: str,
) -> SystemTable:
    """The rows of a system table. Raises `UsageError` (LB5592) for a state of one that has none, `NotFoundError`."""
    if travel.chosen and asked.system not in OF_A_STATE:
        raise UsageError.of("LB5592", f"${asked.system} has no earlier states", expected=", ".join(sorted(OF_A_STATE)))
    tables.refuse_foreign_rows(asked.ref.name)
    state = resolve(tables, store, asked.ref.name, travel, None, time_zone)
    place = Place(tables, asked.ref.name, clock, travel.branch or "main")
    return inspect(asked.system, place, DataState(state.snapshot, state.schema, state.schemas), time_zone)
