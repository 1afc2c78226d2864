"""The history of a table for people: versions with what they changed, and snapshots, in order of time."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from lakebed.history import History


def history_text(history: History, time_zone: str) -> str:
    """Times are shown in `time_zone`, to the second."""
    zone = ZoneInfo(time_zone)
    events: list[tuple[int, int, list[str]]] = []
    for version in history.versions:
        schema = version.schema
        head = f"{_time(schema.time_millis, zone)}  schema {schema.id}   {len(schema.fields)} columns"
        events.append((schema.time_millis, 0, [head, *(f"    {change}" for change in version.changes)]))
    for snapshot in history.snapshots:
        line = (
            f"{_time(snapshot.time_millis, zone)}  snapshot {snapshot.id} {snapshot.commit_kind.lower()} "
            f"{snapshot.delta_record_count or 0:+,} rows = {snapshot.total_record_count or 0:,} "
            f"(schema {snapshot.schema_id})"
        )
        events.append((snapshot.time_millis, 1, [line]))
    lines = [line for _, _, block in sorted(events, key=lambda e: e[:2]) for line in block]
    return "\n".join([f"{history.name}", *lines])


def _time(millis: int, zone: ZoneInfo) -> str:
    return datetime.fromtimestamp(millis / 1000, zone).strftime("%Y-%m-%d %H:%M:%S")
