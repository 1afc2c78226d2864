"""Make the rows of each system table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta, tzinfo
from typing import Any

from lakebed.catalog import TableSchema
from lakebed.catalog.time_zone import zone_of
from lakebed.format.snapshot import Snapshot
from lakebed.format.table_branch import TableBranch
from lakebed.inspection.content import buckets, files, manifests, partitions
from lakebed.inspection.system_table import OF_A_STATE, SystemTable, columns_of, wall_clock
from lakebed.maintenance.branches import Branches
from lakebed.maintenance.tags import Tags

_Rows = Iterator[tuple[Any, ...]]


def inspect(
    system: str, table: TableBranch, snapshot: Snapshot | None, schema: TableSchema, time_zone: str
) -> SystemTable:
    """The system table `system` (one of `NAMES`) of a branch of a table.

    `snapshot` is the state that is shown, None where there is none, and `schema` the one that values are shown under.
    Moments are wall clocks of `time_zone`; those of data files are the writer's, as the format stores them.
    """
    rows = (
        _of_state(system, table, snapshot, schema, time_zone)
        if system in OF_A_STATE
        else _listed(system, table, time_zone)
    )
    return SystemTable(system, columns_of(system), tuple(rows))


def _of_state(system: str, table: TableBranch, snapshot: Snapshot | None, schema: TableSchema, time_zone: str) -> _Rows:
    if snapshot is None:
        return iter(())
    made = {"files": files, "manifests": manifests, "partitions": partitions, "buckets": buckets}[system]
    return made(table.store, table.table_path, snapshot, schema, table.schemas, time_zone)


def _listed(system: str, table: TableBranch, time_zone: str) -> _Rows:
    zone = zone_of(time_zone)
    made = {
        "snapshots": _snapshots,
        "schemas": _schemas,
        "options": _options,
        "tags": _tags,
        "branches": _branches,
    }[system]
    return made(table, zone)


def _snapshots(table: TableBranch, zone: tzinfo) -> _Rows:
    manager = table.snapshots
    for number in manager.ids():
        s = manager.load(number)
        yield (
            *(s.id, s.schema_id, s.commit_user, s.commit_identifier, s.commit_kind),
            wall_clock(s.time_millis, zone, manager.path(number)),
            *(s.base_manifest_list, s.delta_manifest_list, s.changelog_manifest_list),
            *(s.total_record_count, s.delta_record_count, s.changelog_record_count, s.watermark),
        )


def _schemas(table: TableBranch, zone: tzinfo) -> _Rows:
    manager = table.schemas
    for number in manager.ids():
        schema = manager.load_schema(number)
        said = schema.to_json()
        parts = (said["fields"], said["partitionKeys"], said["primaryKeys"], said["options"])
        texts = (json.dumps(p, ensure_ascii=False, separators=(",", ":")) for p in parts)
        yield schema.id, *texts, schema.comment, wall_clock(schema.time_millis, zone, f"version {number}")


def _options(table: TableBranch, _: tzinfo) -> _Rows:
    yield from sorted(table.schemas.load_latest_schema().options.items())


def _tags(table: TableBranch, zone: tzinfo) -> _Rows:
    for tag in Tags(table).list():
        s = tag.snapshot
        retained = None if tag.retained is None else _iso_duration(tag.retained)
        made = wall_clock(s.time_millis, zone, f"tag {tag.name!r}")
        yield tag.name, s.id, s.schema_id, made, s.total_record_count, tag.created, retained


def _branches(table: TableBranch, zone: tzinfo) -> _Rows:
    made = {e.name: e.modified for e in table.store.list(f"{table.table_path}/branch")}
    for branch in Branches(table).list():
        millis = made.get(f"branch-{branch.name}")
        yield branch.name, None if millis is None else wall_clock(millis, zone, f"branch {branch.name!r}")


def _iso_duration(length: timedelta) -> str:
    """As Java writes a duration: hours, minutes and seconds, `PT36H`."""
    seconds = length.days * 86400 + length.seconds
    fraction = f"{length.microseconds / 1_000_000:.6f}".rstrip("0")[1:] if length.microseconds else ""
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    parts = (f"{hours}H" if hours else "", f"{minutes}M" if minutes else "")
    last = f"{rest}{fraction}S" if rest or fraction else ""
    return "PT" + ("".join(parts) + last or "0S")
