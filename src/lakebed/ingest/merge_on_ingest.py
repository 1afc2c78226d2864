"""Add columns of a source that a table lacks, and widen others, before its rows are read.

Parquet files and DataFrames know their types. CSV and JSON do not: they can add columns, CSV as STRING and JSON as what
its values are, but change none. A merge is a schema version of its own, made before the run begins; it stays when the
run fails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, TypeAlias, assert_never

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed import model
from lakebed.catalog.columns import Columns
from lakebed.catalog.names import TableName
from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import UsageError
from lakebed.evolve.describe_edits import before_and_after
from lakebed.evolve.diff import diff_steps
from lakebed.evolve.diff_columns import EditKind
from lakebed.evolve.meaning import compare
from lakebed.evolve.merge_input import incoming_columns
from lakebed.evolve.merge_schema import SchemaMerge, merge_schema
from lakebed.evolve.union_schema import MergeTypes, UnionRules, merge_fields
from lakebed.format.refuse_unsupported import refuse_unwritable
from lakebed.ingest.ingest_context import IngestContext
from lakebed.ingest.run_history import MergedColumn
from lakebed.ingest.sources.json_numbers import JsonPath, number_types
from lakebed.ingest.sources.json_values import Shape, read_shape, shape_of_all
from lakebed.ingest.sources.source_files import SourceFormat
from lakebed.ingest.sources.source_parts import SourcePart
from lakebed.ingest.sources.source_types import (
    Clock,
    Entries,
    Items,
    Json,
    JsonText,
    Members,
    Plain,
    SourceType,
    Text,
    Ticks,
)
from lakebed.model import TimeUnit
from lakebed.model import types as logical
from lakebed.physical import path_text
from lakebed.physical.paimon_types import (
    STRING,
    UNASSIGNED,
    Array,
    BigInt,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Map,
    Row,
    Time,
    Timestamp,
    with_nullability,
)
from lakebed.spark.spark_errors import spark_errors

#: Whether columns of the source are merged into the table, and how; True is `add`.
MergeChoice: TypeAlias = bool | Literal["add", "widen"] | None

_UNITS = {0: TimeUnit.SECOND, 3: TimeUnit.MILLISECOND, 6: TimeUnit.MICROSECOND, 9: TimeUnit.NANOSECOND}
#: Scalars of JSON by the words of Spark, but for numbers that are not whole ones of 64 bits (see `json_numbers`).
_JSON_SCALARS: dict[str, logical.LogicalType] = {
    "BOOLEAN": logical.Bool(),
    "BIGINT": logical.Int64(),
    "STRING": logical.String(),
    "VARIANT": logical.String(),
}


def merge_types(choice: MergeChoice) -> MergeTypes | None:
    """What a choice of the caller means; None for no merge. Raises `UsageError` (LB4506) for anything else."""
    match choice:
        case None | False:
            return None
        case True | "add":
            return MergeTypes.ADD
        case "widen":
            return MergeTypes.WIDEN
        case _:
            raise UsageError.of(
                "LB4506", f"merge_schema is {choice!r}", expected="'add' or 'widen'", found=repr(choice)
            )


def merge_frame(context: IngestContext, name: TableName, frame: DataFrame, types: MergeTypes) -> TableSchema:
    """The table's schema after the columns of a DataFrame were merged into it. Raises as `merge_schema`."""
    return _merge(context, name, incoming_columns(frame), types)


def merged_columns(before: TableSchema, after: TableSchema) -> tuple[MergedColumn, ...]:
    """The columns, at every level, that a merge has added or whose types it has widened."""
    if before.id == after.id:
        return ()
    meanings = compare(before.fields, before.logical, after.fields, after.logical)
    edits = dict.fromkeys(step.edit for step in diff_steps(before, after))
    found = []
    for edit in edits:
        if edit.kind in (EditKind.ADD, EditKind.TYPE, EditKind.MEANING):
            old, new = before_and_after(edit, meanings)
            found.append(MergedColumn(path_text(edit.path), old, new or ""))
    return tuple(found)


def merge_parts(
    context: IngestContext,
    name: TableName,
    parts: Sequence[SourcePart],
    format_: SourceFormat,
    types: MergeTypes,
    known: Collection[str] = (),
) -> TableSchema:
    """The table's schema after the columns of files were merged into it; for JSON all lines are looked at.

    What folders say is text, which becomes what the table's `known` columns are, or else a column of text.

    Raises as `merge_schema`, and `UsageError` (LB4509) where types are to be widened by files that say none.
    """
    if format_ is not SourceFormat.PARQUET and types is not MergeTypes.ADD:
        raise UsageError.of(
            "LB4509",
            f"a source in {format_.value} says no types, so it cannot widen those of {name}",
            expected="merge_schema='add'",
            found=f"merge_schema={types.value!r}",
            remedy="merge only new columns (--merge-schema add), or change the type in the manifest",
            python_remedy='merge only new columns (merge_schema="add"), or change the type in the manifest',
        )
    given = [_with_folders(_columns(part, format_), part, known) for part in parts]
    return _merge(context, name, reduce(_both, given), types)


def _merge(context: IngestContext, name: TableName, columns: Columns, types: MergeTypes) -> TableSchema:
    # A narrower source needs nothing: every value is converted to the table's type and checked.
    rules = UnionRules(types, keep_wider=True)
    merge = SchemaMerge(columns, rules, check=refuse_unwritable)
    return merge_schema(context.tables, name, merge, branch="main", clock=context.clock)


def _both(a: Columns, b: Columns) -> Columns:
    """The columns of two parts of a source: of a column that both have, the wider type."""
    rules = UnionRules(MergeTypes.WIDEN, keep_wider=True)
    fields = merge_fields(a.fields, b.fields, rules).fields
    known = {f.name for f in a.fields}
    logical_fields = tuple(f for f in (b.logical.fields if b.logical else ()) if f.name not in known)
    declared = model.Schema((a.logical.fields if a.logical else ()) + logical_fields)
    return Columns(fields, declared)


def _columns(part: SourcePart, format_: SourceFormat) -> Columns:
    match format_:
        case SourceFormat.CSV:
            names = [c.name for c in part.columns or () if c.name.strip()]
            return Columns(tuple(DataField(UNASSIGNED, n, STRING) for n in names))
        case SourceFormat.JSON:
            return incoming_columns(_json_schema(part))
        case SourceFormat.PARQUET:
            columns = tuple((c.name, c.type) for c in part.columns or ())
            return _typed(columns)
        case _:
            assert_never(format_)


def _with_folders(columns: Columns, part: SourcePart, known: Collection[str]) -> Columns:
    names = {*known, *(f.name for f in columns.fields)}
    new = tuple(DataField(UNASSIGNED, c.name, STRING) for c in part.folders if c.name not in names)
    return replace(columns, fields=(*columns.fields, *new))


def _shape(part: SourcePart) -> Shape:
    if part.shape is None:
        return Shape()
    with spark_errors():
        row = part.frame.select(part.shape.alias("shape")).agg(shape_of_all(F.col("shape"))).collect()[0]
    return read_shape(row[0])


def _json_schema(part: SourcePart) -> model.Schema:
    shape = _shape(part)
    return model.Schema(_JsonTypes(number_types(part, shape)).fields(shape, ()))


@dataclass(frozen=True, slots=True)
class _JsonTypes:
    """The types of JSON values by their shapes; `numbers` are those of places with numbers of many kinds."""

    numbers: Mapping[JsonPath, logical.LogicalType]

    def fields(self, shape: Shape, at: JsonPath) -> tuple[model.Field, ...]:
        found = ((name, self.type(inner, (*at, name))) for name, inner in shape.keys.items() if name.strip())
        return tuple(model.Field(name, logical.Option(type_)) for name, type_ in found if type_ is not None)

    def type(self, shape: Shape, at: JsonPath) -> logical.LogicalType | None:
        """The type of the values at a place; None where nothing but null was seen."""
        if shape.word == "OBJECT":
            members = self.fields(shape, at)
            return logical.Struct(members) if members else None
        if shape.word == "ARRAY":
            item = None if shape.item is None else self.type(shape.item, (*at, None))
            return None if item is None else logical.List(logical.Option(item))
        return self.numbers.get(at) or _JSON_SCALARS.get(shape.word)


def _typed(columns: Iterable[tuple[str, SourceType]]) -> Columns:
    """The columns of a source that knows its types. Times of day keep their unit."""
    found = [(name, type_, _stored(type_)) for name, type_ in columns]
    fields = tuple(DataField(UNASSIGNED, name, stored) for name, _, stored in found if stored is not None)
    clocks = tuple(
        model.Field(name, logical.Option(logical.Time(_UNITS[type_.digits])))
        for name, type_, _ in found
        if isinstance(type_, Clock)
    )
    return Columns(fields, model.Schema(clocks))


def _stored(type_: SourceType) -> DataType | None:
    """The table type of values of a source; None for `void`. Timestamps get microseconds, which can be written."""
    match type_:
        case Text() | Json() | JsonText():
            return STRING
        case Clock():
            return Time(type_.digits) if type_.digits in (0, 3) else BigInt()
        case Ticks():
            return LocalZonedTimestamp(6) if type_.zoned else Timestamp(6)
        case Plain(type=spark.NullType()):
            return None
        case Plain():
            (column,) = incoming_columns(spark.StructType([spark.StructField("c", type_.type)])).fields
            return column.type
        case Items():
            item = _stored(type_.item)
            return None if item is None else Array(item)
        case Entries():
            key, value = _stored(type_.key), _stored(type_.value)
            return None if key is None or value is None else Map(with_nullability(key, False), value)
        case Members():
            members = ((name, _stored(inner)) for name, inner in type_.fields)
            return Row(tuple(DataField(UNASSIGNED, name, inner) for name, inner in members if inner is not None))
        case _:
            assert_never(type_)
