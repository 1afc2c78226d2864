"""Resolve which state of a table a read means, and under which schema it is read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lakebed.catalog.names import TableName
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.catalog.time_zone import zone_of
from lakebed.errors import CorruptMetadataError, NotFoundError, UsageError
from lakebed.format.snapshot import Snapshot, SnapshotManager
from lakebed.format.table_branch import TableBranch
from lakebed.read.request import ReadRequest, SchemaChoice, Travel

#: What a snapshot has for a watermark before any is known.
_NO_WATERMARK = -(1 << 63)


@dataclass(frozen=True, slots=True)
class TableState:
    """What a read is made of: the snapshot (None where there is no data), the schema to read as, and both managers.

    `newest` is the newest schema of the branch, whatever is read.
    """

    table_path: str
    snapshot: Snapshot | None
    schema: TableSchema
    schemas: SchemaManager
    snapshots: SnapshotManager
    newest: TableSchema


def resolve(table: TableBranch, request: ReadRequest) -> TableState:
    """Find the snapshot and the schema that a read means.

    Without a schema: the travelled snapshot's own schema, else the branch's newest. Raises `NotFoundError` for a table,
    branch, snapshot, tag, time or schema version that does not exist, `UsageError` for two ways of travel at once, and
    `UnsupportedError` for a table whose rows another program keeps in files of its own.
    """
    table.tables.refuse_foreign_rows(table.name)
    travel = request.travel
    if len(travel.given) > 1:
        raise UsageError.of(
            "LB6701", f"{' and '.join(travel.given)} cannot be given together", remedy="give one of them"
        )
    branch = table if travel.branch is None else table.on(travel.branch)
    schemas, snapshots = branch.schemas, branch.snapshots
    newest = schemas.load_latest_schema()
    snapshot = _snapshot(snapshots, table.name, travel, request.time_zone)
    if snapshot is not None and snapshot.schema_id > newest.id:
        _ensure_version(schemas, snapshots, snapshot)
    chosen = _schema(schemas, newest, snapshot, travel, request.schema)
    return TableState(branch.table_path, snapshot, chosen, schemas, snapshots, newest)


def _ensure_version(schemas: SchemaManager, snapshots: SnapshotManager, snapshot: Snapshot) -> None:
    """For a snapshot of a version above the newest: another process has just made that version, or there is none."""
    if schemas.find(snapshot.schema_id) is not None:
        return
    path = snapshots.path(snapshot.id)
    there = ", ".join(map(str, schemas.ids()))
    raise CorruptMetadataError.of(
        "LB5083",
        f"{path} is of version {snapshot.schema_id} of the schema, which does not exist; there are: {there}",
        path=path,
        expected=there,
        found=str(snapshot.schema_id),
        remedy="restore the file, or that of the version, from a copy of the warehouse",
    )


def _snapshot(snapshots: SnapshotManager, name: TableName, travel: Travel, time_zone: str) -> Snapshot | None:
    if travel.snapshot is not None:
        return snapshots.load(travel.snapshot)
    if travel.tag is not None:
        return snapshots.tag(travel.tag)
    if travel.watermark is not None:
        return _at_watermark(snapshots, name, travel.watermark)
    if travel.as_of is None:
        return snapshots.latest()
    millis = epoch_millis(travel.as_of, time_zone)
    found = snapshots.at_or_before(millis)
    if found is None:
        raise NotFoundError.of(
            "LB6702",
            f"table {name} has no snapshot at or before {travel.as_of}",
            remedy="`lakebed history TABLE` lists the snapshots and their times",
            python_remedy=f"lake.history({str(name)!r}) has the snapshots and their times",
        )
    return found


def _at_watermark(snapshots: SnapshotManager, name: TableName, watermark: int) -> Snapshot:
    """The first snapshot whose watermark has reached `watermark`."""
    for number in snapshots.ids():
        snapshot = snapshots.load(number)
        if snapshot.watermark not in (None, _NO_WATERMARK) and (snapshot.watermark or 0) >= watermark:
            return snapshot
    raise NotFoundError.of(
        "LB6702",
        f"no snapshot of table {name} has reached the watermark {watermark}",
        remedy="`lakebed read 'TABLE$snapshots'` lists the snapshots and their watermarks",
        python_remedy=f"lake.inspect({f'{name}$snapshots'!r}) has the snapshots and their watermarks",
    )


def _schema(
    schemas: SchemaManager, newest: TableSchema, snapshot: Snapshot | None, travel: Travel, choice: SchemaChoice
) -> TableSchema:
    match choice:
        case None:
            own = travel.chosen and snapshot is not None
            return schemas.load_schema(snapshot.schema_id) if own and snapshot is not None else newest
        case "latest":
            return newest
        case "snapshot":
            return schemas.load_schema(snapshot.schema_id) if snapshot is not None else newest
        case int():
            return schemas.load_schema(choice)
        case _:
            raise UsageError.of(
                "LB6703",
                f"{choice!r} does not choose a schema",
                expected='a schema id, "latest" or "snapshot"',
            )


#: A number of so many digits is no 64-bit integer.
_MOST_DIGITS = 20


def epoch_millis(moment: datetime | str | int, time_zone: str) -> int:
    """Milliseconds since 1970 of an aware datetime, of ISO text (in `time_zone` where it names none), or as given."""
    if isinstance(moment, bool):
        raise UsageError.of("LB6704", "a truth value is no moment")
    if isinstance(moment, int):
        return moment
    if isinstance(moment, str):
        if moment.isascii() and moment.isdigit() and len(moment) < _MOST_DIGITS:
            return int(moment)
        try:
            parsed = datetime.fromisoformat(moment)
        except ValueError:
            raise UsageError.of(
                "LB6704",
                f"{moment!r} is no moment",
                expected="ISO text such as 2013-02-01T00:00:00, or milliseconds since 1970",
            ) from None
        moment = parsed if parsed.tzinfo else parsed.replace(tzinfo=zone_of(time_zone))
    if moment.tzinfo is None:
        raise UsageError.of(
            "LB6704", f"{moment} has no time zone", remedy="give an aware datetime, or ISO text for the lake's zone"
        )
    return int(moment.timestamp() * 1000)
