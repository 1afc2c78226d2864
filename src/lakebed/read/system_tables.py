"""Read system tables such as `db.t$files` at the state that a read names, from metadata alone."""

from __future__ import annotations

from lakebed.errors import UsageError
from lakebed.format.table_branch import TableBranch
from lakebed.inspection import OF_A_STATE, SystemTable, inspect
from lakebed.read.request import ReadRequest
from lakebed.read.table_state import resolve


def read_system_table(table: TableBranch, system: str, request: ReadRequest) -> SystemTable:
    """The rows of a system table. Raises `UsageError` (LB5592) for a state of one that has none, `NotFoundError`."""
    if request.travel.chosen and system not in OF_A_STATE:
        raise UsageError.of("LB5592", f"${system} has no earlier states", expected=", ".join(sorted(OF_A_STATE)))
    state = resolve(table, request)
    branch = table if request.travel.branch is None else table.on(request.travel.branch)
    return inspect(system, branch, state.snapshot, state.schema, request.time_zone)
