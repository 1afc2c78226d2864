"""Reading a table as a DataFrame under one schema, whatever schema each file was written under.

Metadata is read here, in Python: the snapshot, its manifests, the schema versions that its files name. Rows are
Spark's: files are grouped by what has to be done to them (`projection.layout`), each group is one native scan, and the
groups are unioned. Filters and column pruning reach the scans, since a projection is plain expressions over columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from lakebed.catalog.names import TableName
from lakebed.catalog.schema_manager import SchemaManager
from lakebed.catalog.table_manager import TableManager
from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.spark import column_metadata, scan_schema
from lakebed.errors import NotFoundError, UnsupportedError, UsageError
from lakebed.physical.types import Array, DataField, DataType, Map, Multiset, Row
from lakebed.spark.addresses import quote_name
from lakebed.spark.partitions import partition_columns
from lakebed.spark.projection import CastRules, layout, project
from lakebed.spark.pushdown import shielded
from lakebed.spark.scan import ScanFile, Scratch, choose_scratch, scan_parquet
from lakebed.store.base import Store
from lakebed.table.scan import DataFile, plan_files
from lakebed.table.snapshot import Snapshot, SnapshotManager
from lakebed.table.support import refuse_nanosecond_files, refuse_unreadable

SchemaChoice = int | Literal["latest", "snapshot"] | None


@dataclass(frozen=True, slots=True)
class Travel:
    """Which state of the table: at most one of the first three, on a branch (None is main)."""

    snapshot: int | None = None
    tag: str | None = None
    as_of: datetime | str | int | None = None
    branch: str | None = None

    @property
    def chosen(self) -> bool:
        """Whether a state other than the newest is asked for."""
        return not (self.snapshot is None and self.tag is None and self.as_of is None)


@dataclass(frozen=True, slots=True)
class TableState:
    """What a read is made of: the snapshot (None where there is no data), the schema to read as, and both managers."""

    table_path: str
    snapshot: Snapshot | None
    schema: TableSchema
    schemas: SchemaManager
    snapshots: SnapshotManager


def resolve(
    tables: TableManager, store: Store, name: TableName, travel: Travel, schema: SchemaChoice, time_zone: str
) -> TableState:
    """Find the snapshot and the schema that a read means.

    Without `schema`: the travelled snapshot's own schema, else the branch's newest. Raises `NotFoundError` for a table,
    branch, snapshot, tag, time or schema version that does not exist, `UsageError` for two ways of travel at once.
    """
    given = [k for k in ("snapshot", "tag", "as_of") if getattr(travel, k) is not None]
    if len(given) > 1:
        raise UsageError.of("LB6701", f"{' and '.join(given)} cannot be given together", remedy="give one of them")
    branch = travel.branch or "main"
    schemas = tables.get_schema_manager(name.database, name.table, branch=branch)
    newest = schemas.load_latest_schema()
    path = tables.table_path(name)
    snapshots = SnapshotManager(store, path, branch=branch)
    snapshot = _snapshot(snapshots, name, travel, time_zone)
    chosen = _schema(schemas, newest, snapshot, travel, schema)
    return TableState(path, snapshot, chosen, schemas, snapshots)


def _snapshot(snapshots: SnapshotManager, name: TableName, travel: Travel, time_zone: str) -> Snapshot | None:
    if travel.snapshot is not None:
        return snapshots.load(travel.snapshot)
    if travel.tag is not None:
        return snapshots.tag(travel.tag)
    if travel.as_of is None:
        return snapshots.latest()
    millis = epoch_millis(travel.as_of, time_zone)
    found = snapshots.at_or_before(millis)
    if found is None:
        raise NotFoundError.of(
            "LB6702",
            f"table {name} has no snapshot at or before {travel.as_of}",
            remedy="`lakebed history TABLE` lists the snapshots and their times",
        )
    return found


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


def epoch_millis(moment: datetime | str | int, time_zone: str) -> int:
    """Milliseconds since 1970 of an aware datetime, of ISO text (in `time_zone` where it names none), or as given."""
    if isinstance(moment, bool):
        raise UsageError.of("LB6704", "a truth value is no moment")
    if isinstance(moment, int):
        return moment
    if isinstance(moment, str):
        if moment.isascii() and moment.isdigit():
            return int(moment)
        try:
            parsed = datetime.fromisoformat(moment)
        except ValueError:
            raise UsageError.of(
                "LB6704",
                f"{moment!r} is no moment",
                expected="ISO text such as 2013-02-01T00:00:00, or milliseconds since 1970",
            ) from None
        moment = parsed if parsed.tzinfo else parsed.replace(tzinfo=ZoneInfo(time_zone))
    if moment.tzinfo is None:
        raise UsageError.of(
            "LB6704", f"{moment} has no time zone", remedy="give an aware datetime, or ISO text for the lake's zone"
        )
    return int(moment.timestamp() * 1000)


def read_state(
    spark: SparkSession, state: TableState, files: Sequence[DataFile], rules: CastRules, scratch: Scratch
) -> DataFrame:
    """The rows of `files` under `state.schema`, as one DataFrame with the schema's annotations on its columns."""
    schema = state.schema
    _check_case(spark, schema)
    groups: dict[tuple[DataField, ...], list[DataFile]] = {}
    layouts: dict[int, tuple[DataField, ...]] = {}
    partition_ids = {f.id for f in schema.fields if f.name in schema.partition_keys}
    wanted = [f for f in schema.fields if f.id not in partition_ids]
    for file in files:
        version = file.meta.schema_id
        if version not in layouts:
            layouts[version] = _layout(spark, state.schemas.load_schema(version), wanted, partition_ids)
        groups.setdefault(layouts[version], []).append(file)
    frames = [_scan_group(spark, schema, stored, group, rules, scratch) for stored, group in groups.items()]
    if not frames:
        frames = [spark.createDataFrame([], scan_schema(schema.fields))]
    return reduce(DataFrame.union, frames).select(*_annotated(schema))


def _layout(
    spark: SparkSession, written: TableSchema, wanted: Iterable[DataField], partition_ids: set[int]
) -> tuple[DataField, ...]:
    """What has to be read from files of the version `written`; never nothing, so that rows are counted."""
    _check_case(spark, written)
    found = layout(written.fields, wanted)
    if found:
        return found
    others = [f for f in written.fields if f.id not in partition_ids] or list(written.fields)
    flat = [f for f in others if not isinstance(f.type, (Row, Array, Map, Multiset))]
    return layout(flat[:1] or others[:1], flat[:1] or others[:1])


def _scan_group(
    spark: SparkSession,
    schema: TableSchema,
    stored: tuple[DataField, ...],
    files: Sequence[DataFile],
    rules: CastRules,
    scratch: Scratch,
) -> DataFrame:
    partitions = list(dict.fromkeys(f.partition for f in files))
    ordinals = {p: i for i, p in enumerate(partitions)}
    scan_files = [ScanFile(f.path, f.size, ordinals[f.partition]) for f in files]
    frame, ordinal = scan_parquet(spark, scan_schema(stored), scan_files, scratch)
    keys = [_key_field(schema, k) for k in schema.partition_keys]
    constants = dict(
        zip((k.id for k in keys), partition_columns([k.type for k in keys], partitions, ordinal), strict=True)
    )
    by_id = {f.id: f for f in stored}
    columns = []
    for field in schema.fields:
        if field.id in constants:
            value = constants[field.id]
        else:
            old = by_id.get(field.id)
            scanned = None if old is None else shielded(F.col(quote_name(old.name)), old.type)
            value = project(field, old, scanned, rules)
        columns.append(value.alias(field.name))
    return frame.select(*columns)


def _key_field(schema: TableSchema, key: str) -> DataField:
    field = schema.field(key)
    if field is None:
        raise UnsupportedError.of("LB6705", f"partition key {key!r} is not a column of schema {schema.id}", path=key)
    return field


def _annotated(schema: TableSchema) -> list[Column]:
    logical = {f.name: f for f in schema.logical.fields}
    return [F.col(quote_name(f.name)).alias(f.name, metadata=column_metadata(logical[f.name])) for f in schema.fields]


def _check_case(spark: SparkSession, schema: TableSchema) -> None:
    """Names that differ only in case need a session that tells them apart."""
    if (spark.conf.get("spark.sql.caseSensitive", "false") or "false").lower() == "true":
        return
    for names, path in _sibling_names(schema.fields, ""):
        folded: dict[str, str] = {}
        for name in names:
            other = folded.setdefault(name.casefold(), name)
            if other != name:
                raise UnsupportedError.of(
                    "LB6706",
                    f"columns {path + other!r} and {path + name!r} of schema {schema.id} differ only in case",
                    path=path + name,
                    remedy="set spark.sql.caseSensitive=true in the Spark session",
                )


def _sibling_names(fields: Sequence[DataField], path: str) -> Iterable[tuple[list[str], str]]:
    yield [f.name for f in fields], path
    for field in fields:
        for inner in _rows_inside(field.type):
            yield from _sibling_names(inner.fields, f"{path}{field.name}.")


def _rows_inside(type_: DataType) -> Iterable[Row]:
    match type_:
        case Row():
            yield type_
        case Array() | Multiset():
            yield from _rows_inside(type_.element)
        case Map():
            yield from _rows_inside(type_.key)
            yield from _rows_inside(type_.value)
        case _:
            return


def read_table(
    spark: SparkSession,
    tables: TableManager,
    store: Store,
    name: TableName,
    travel: Travel,
    schema: SchemaChoice,
    *,
    rules: CastRules,
    scratch: str | None = None,
    partition_filter: Callable[[tuple[Any, ...]], bool] | None = None,
) -> DataFrame:
    """Resolve, plan and build the DataFrame; see `lakebed.Lake.read` for the parameters."""
    state = resolve(tables, store, name, travel, schema, rules.time_zone)
    refuse_unreadable(state.schema)
    files: Sequence[DataFile] = ()
    if state.snapshot is not None:
        files = plan_files(store, state.table_path, state.snapshot, state.schema, partition_filter=partition_filter)
        refuse_nanosecond_files(store, files, state.schemas.load_schema)
    place = choose_scratch(spark, store, tables.path_factory.warehouse, scratch)
    return read_state(spark, state, files, rules, place)
