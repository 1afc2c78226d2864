"""Read what changed between two snapshots: added rows, changelogs, or the difference of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.catalog.option_values import chosen_word
from lakebed.catalog.options import CHANGELOG_PRODUCER
from lakebed.catalog.paths import branch_root
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import NotFoundError, UnsupportedError, UsageError
from lakebed.format.blob_columns import refuse_blobs
from lakebed.format.live_files import DataFile, data_files, delta_manifests, entries_of
from lakebed.format.manifest import Kind, read_list
from lakebed.format.merge_engine import MergeEngine, merge_engine
from lakebed.format.partition import POSTPONED
from lakebed.format.refuse_unsupported import refuse_unreadable_files
from lakebed.format.row_kinds import KINDS, ROW_KIND
from lakebed.format.row_ranges import has_data_evolution
from lakebed.format.snapshot import APPEND, Snapshot, loads
from lakebed.format.table_branch import TableBranch
from lakebed.read.plan_read import readable_state
from lakebed.read.request import ReadRequest, Travel
from lakebed.read.table_state import TableState, resolve
from lakebed.spark.annotated import annotated
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.read import Executor, read_table
from lakebed.spark.row_merge.merge import merged
from lakebed.spark.spark_errors import known_failures
from lakebed.spark.sql_names import quote_name
from lakebed.store.base import Store

_MODES = ("auto", "delta", "changelog", "diff")
_OLD, _NEW, _SIDE, _PLACE = "_LAKEBED_OLD", "_LAKEBED_NEW", "_LAKEBED_SIDE", "_LAKEBED_PLACE"
_State = int | str | datetime | None


@dataclass(frozen=True, slots=True)
class ChangesAsked:
    """Between which states changes are wanted, and how; see `lakebed.Lake.read_changes`."""

    since: int | str | datetime
    until: _State
    mode: str
    row_kinds: bool


@known_failures()
def read_changes(
    spark: SparkSession, table: TableBranch, asked: ChangesAsked, request: ReadRequest, scratch: str | None = None
) -> DataFrame:
    """Build the DataFrame of the changes. Of the request it is the branch, the schema and how values come out."""
    if asked.mode not in _MODES:
        raise UsageError.of(
            "LB5595", f"there is no way {asked.mode!r} to read changes", expected=", ".join(_MODES), found=asked.mode
        )
    until = _at(asked.until, request)
    state = readable_state(table, until)
    first = _number(table, asked.since, request)
    last = 0 if state.snapshot is None else state.snapshot.id
    if first > last:
        raise UsageError.of("LB5594", f"snapshot {first} is after snapshot {last}", found=f"{first}, {last}")
    mode = _mode(asked.mode, state.schema)
    if mode == "diff":

        def read(one: ReadRequest) -> DataFrame:
            return read_table(spark, table, replace(one, schema=state.schema.id), scratch)

        since = None if first == 0 else _at(asked.since, request)
        rows = _difference(spark, state.schema, read, since, until)
    else:
        refuse_blobs(state.schema, descriptors=False)
        reader = Executor.of(spark, table, request, scratch).reader(state)
        files = _added(table.store, state, first, last, changelog=mode == "changelog")
        if not asked.row_kinds:
            one_a_key = _last_image if mode == "changelog" else _one_a_key
            return annotated(spark, one_a_key(reader, files, state.schema), state.schema)
        rows = _kinds(reader, files, state.schema)
    if asked.row_kinds:
        return rows
    kept = rows.where(F.col(ROW_KIND).isin("+I", "+U")).drop(ROW_KIND)
    return annotated(spark, kept, state.schema)


def _at(state: _State, request: ReadRequest) -> ReadRequest:
    """The request for one state."""
    branch = request.travel.branch
    match state:
        case bool():
            raise UsageError.of("LB6704", "a truth value is no state")
        case int():
            return replace(request, travel=Travel(snapshot=state, branch=branch))
        case str():
            return replace(request, travel=Travel(tag=state, branch=branch))
        case _:
            return replace(request, travel=Travel(as_of=state, branch=branch))


def _number(table: TableBranch, since: int | str | datetime, request: ReadRequest) -> int:
    """The id of the first state's snapshot. That of a number needs not be there any more."""
    if isinstance(since, int) and not isinstance(since, bool):
        return since
    found = resolve(table, replace(_at(since, request), schema="latest")).snapshot
    return 0 if found is None else found.id


def _mode(mode: str, schema: TableSchema) -> str:
    producer = chosen_word(schema.options, CHANGELOG_PRODUCER)
    if mode == "auto":
        mode = "delta" if producer == "none" else "changelog"
    if mode == "changelog" and producer == "none":
        raise UnsupportedError.of("LB5596", "the table has no changelog: changelog-producer is not set")
    if mode == "delta" and schema.primary_keys and merge_engine(schema) is MergeEngine.FIRST_ROW:
        raise UnsupportedError.of("LB5596", "a commit to a first-row table holds rows that the table does not take")
    if mode == "delta" and schema.primary_keys and schema.bucket == POSTPONED:
        raise UnsupportedError.of("LB5596", "what a commit adds to a postponed bucket is not visible before compaction")
    if mode == "delta" and has_data_evolution(schema):
        raise UnsupportedError.of("LB5596", "a commit to a table with data evolution may hold some columns of a row")
    return mode


# --- what commits added -----------------------------------------------------------------------------------------------


def _added(store: Store, state: TableState, first: int, last: int, *, changelog: bool) -> tuple[DataFile, ...]:
    """The files of the commits after `first` up to `last`, oldest first."""
    found: list[DataFile] = []
    for number in range(first + 1, last + 1):
        snapshot = _snapshot(store, state, number, changelog=changelog)
        if changelog:
            listed = snapshot.changelog_manifest_list
            size = snapshot.changelog_manifest_list_size
            metas = [] if listed is None else read_list(store, state.table_path, listed, size)
        else:
            # Compactions and overwrites of the same rows are no new rows.
            metas = delta_manifests(store, state.table_path, snapshot) if snapshot.commit_kind == APPEND else []
        entries = [e for e in entries_of(store, state.table_path, metas) if e.kind == Kind.ADD]
        refuse_unreadable_files(e.file for e in entries)
        found += data_files(state.table_path, state.schema, entries)
    return tuple(found)


def _snapshot(store: Store, state: TableState, number: int, *, changelog: bool) -> Snapshot:
    """A snapshot, or the changelog that outlives it."""
    try:
        return state.snapshots.load(number)
    except NotFoundError as error:
        if changelog:
            path = f"{branch_root(state.table_path, state.snapshots.branch)}/changelog/changelog-{number}"
            if store.exists(path):
                return loads(store.read(path), source=path, expected_id=number)
        raise NotFoundError.of(
            "LB5593",
            f"the changes of snapshot {number} are gone: {error.diagnostics[0].message}",
            found=str(number),
            remedy=f'begin at snapshot {number} or later, or compare two states with mode="diff"',
        ) from None


def _kinds(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    """Every row of the files, with its kind; rows of append tables are inserts."""
    own = [F.col(quote_name(f.name)) for f in schema.fields]
    if not schema.primary_keys:
        return reader.read(files, schema).select(F.lit(KINDS[0]).alias(ROW_KIND), *own)
    rows = reader.read(files, schema, System.VALUE_KIND)
    names = F.array(*map(F.lit, KINDS))
    kind = F.element_at(names, F.col(System.VALUE_KIND).cast("int") + F.lit(1))
    return rows.select(kind.alias(ROW_KIND), *own)


def _one_a_key(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    if not schema.primary_keys or not files:
        return reader.read(files, schema)
    buckets: dict[object, list[DataFile]] = {}
    for file in files:
        # All are level 0 to the merge: the order of their commits says which is newer.
        buckets.setdefault((file.partition, file.bucket), []).append(replace(file, meta=replace(file.meta, level=0)))
    return merged(reader, [tuple(b) for b in buckets.values()], schema)


def _last_image(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    """What a changelog says last of each key, where that is no delete. Files stand in the order of the changes."""
    rows = reader.read(files, schema, System.FILE, System.SEQUENCE_NUMBER, System.VALUE_KIND)
    kind = F.col(System.VALUE_KIND)
    keys = (F.col(quote_name(k)) for k in schema.primary_keys)
    newest = Window.partitionBy(*keys).orderBy(F.col(System.FILE).desc(), F.col(System.SEQUENCE_NUMBER).desc())
    # A before-image is never the last word, and may have the number of the image after it.
    last = rows.where(kind != F.lit(KINDS.index("-U"))).withColumn(_PLACE, F.row_number().over(newest))
    kept = last.where((F.col(_PLACE) == 1) & (kind != F.lit(KINDS.index("-D"))))
    return kept.select(*_columns(schema))


# --- the difference of two states -------------------------------------------------------------------------------------


def _difference(
    spark: SparkSession,
    schema: TableSchema,
    read: Callable[[ReadRequest], DataFrame],
    since: ReadRequest | None,
    until: ReadRequest,
) -> DataFrame:
    """Rows of one state that the other has not; with keys, those whose other columns differ are updates."""
    new = read(until)
    old = spark.createDataFrame([], new.schema) if since is None else read(since)
    if any(map(_holds_map, (f.dataType for f in new.schema.fields))):
        raise UnsupportedError.of("LB5597", "a column holds maps, which cannot be compared")
    if not schema.primary_keys:
        parts = (new.exceptAll(old), "+I"), (old.exceptAll(new), "-D")
        return reduce(DataFrame.union, (r.select(F.lit(k).alias(ROW_KIND), *_columns(schema)) for r, k in parts))
    return _by_key(old, new, schema)


def _holds_map(type_: spark_types.DataType) -> bool:
    match type_:
        case spark_types.MapType() | spark_types.VariantType():
            return True
        case spark_types.ArrayType():
            return _holds_map(type_.elementType)
        case spark_types.StructType():
            return any(_holds_map(f.dataType) for f in type_.fields)
        case _:
            return False


def _by_key(old: DataFrame, new: DataFrame, schema: TableSchema) -> DataFrame:
    def side(rows: DataFrame, name: str) -> DataFrame:
        whole = F.struct(*_columns(schema)).alias(name)
        keys = (F.col(quote_name(k)).alias(f"{name}_{i}") for i, k in enumerate(schema.primary_keys))
        return rows.select(whole, *keys)

    same = [F.col(f"{_OLD}_{i}") == F.col(f"{_NEW}_{i}") for i, _ in enumerate(schema.primary_keys)]
    both = side(old, _OLD).join(side(new, _NEW), reduce(Column.__and__, same), "full_outer")
    before, after = F.col(_OLD), F.col(_NEW)
    changed = both.where(~before.eqNullSafe(after))

    def row(kind: str, values: Column) -> Column:
        return F.struct(F.lit(kind).alias(ROW_KIND), values.alias(_SIDE))

    rows = (
        F.when(before.isNull(), F.array(row("+I", after)))
        .when(after.isNull(), F.array(row("-D", before)))
        .otherwise(F.array(row("-U", before), row("+U", after)))
    )
    flat = changed.select(F.explode(rows).alias(_SIDE)).select(f"{_SIDE}.{ROW_KIND}", f"{_SIDE}.{_SIDE}")
    return flat.select(ROW_KIND, *(F.col(_SIDE).getField(f.name).alias(f.name) for f in schema.fields))


def _columns(schema: TableSchema) -> Iterator[Column]:
    return (F.col(quote_name(f.name)) for f in schema.fields)
