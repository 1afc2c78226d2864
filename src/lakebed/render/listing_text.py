"""List the tables of a warehouse, one line a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lakebed.catalog.time_zone import zone_of
from lakebed.printable import one_line
from lakebed.render.iso_times import time_text
from lakebed.render.table_text import table_text

if TYPE_CHECKING:
    from lakebed.inspection.history import TableSummary


def listing_text(states: Sequence[TableSummary], time_zone: str, *, width: int | None = None) -> str:
    """Name, schema, rows and time of the newest snapshot; times are in `time_zone`, `?` is what cannot be read."""
    zone = zone_of(time_zone)
    columns = ("table", "schema", "rows", f"committed ({time_zone})")
    rows = [
        (
            one_line(str(s.name)),
            "?" if s.schema_id is None else str(s.schema_id),
            _rows(s),
            "" if s.snapshot is None else time_text(s.snapshot.time_millis, zone),
        )
        for s in states
    ]
    return table_text(columns, rows, right={1, 2}, width=width)


def _rows(state: TableSummary) -> str:
    if state.schema_id is None:
        return "?"
    if state.snapshot is None:
        return "none"
    count = state.snapshot.total_record_count
    return "?" if count is None else f"{count:,}"
