"""Find a table's fallback branch: partitions that the main branch lacks are read from it.

The option `scan.fallback-branch` names it. It takes effect on reads of the main branch only. A read of an older state
by a snapshot's number means the snapshot of that number on the other branch too, as other readers take it; where there
is none, and for all other ways of travel, it means the other branch as it was at that time.
"""

from __future__ import annotations

from dataclasses import replace

from lakebed.catalog.names import TableName
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UnsupportedError
from lakebed.format.snapshot import SnapshotManager
from lakebed.physical.paimon_types import DataField, equal_ignoring_nullability, type_line
from lakebed.read.travel import TableState, Travel, resolve
from lakebed.store.base import Store

_OPTION = "scan.fallback-branch"


def fallback_branch(schema: TableSchema) -> str | None:
    """The branch that the table's option names."""
    return schema.options.get(_OPTION, "").strip() or None


def fallback_state(
    tables: TableManager,
    store: Store,
    name: TableName,
    travel: Travel,
    main: TableState,
    branch: str,
    time_zone: str,
) -> TableState:
    """The state of the fallback branch that goes with a state of the main branch."""
    newest = resolve(tables, store, name, Travel(branch=branch), None, time_zone)
    if not travel.chosen or main.snapshot is None:
        return newest
    snapshots = SnapshotManager(store, main.table_path, branch=branch)
    same = travel.snapshot if travel.snapshot in snapshots.ids() else None
    then = snapshots.at_or_before(main.snapshot.time_millis) if same is None else snapshots.load(same)
    schema = newest.schema if then is None else newest.schemas.load_schema(then.schema_id)
    return replace(newest, snapshot=then, schema=schema)


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
