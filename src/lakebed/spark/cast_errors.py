"""List stored values that cannot be read as the type of the wanted schema, a row each.

Only files that hold a column under another type are looked at, and in them only such columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as spark_types

from lakebed.format.blob_columns import refuse_blobs
from lakebed.format.live_files import DataFile
from lakebed.format.row_ranges import stored_fields
from lakebed.format.table_branch import TableBranch
from lakebed.physical.paimon_types import Array, DataField, DataType, Map, Row, type_line
from lakebed.read.plan_read import PlannedState, branch_column, plan_read
from lakebed.read.request import ReadRequest
from lakebed.spark.casts import cast_fails
from lakebed.spark.casts.conversion import shown
from lakebed.spark.file_rows import FileRows, StoredRows
from lakebed.spark.projection import CastRules
from lakebed.spark.read import DESCRIPTOR, Executor
from lakebed.spark.spark_errors import known_failures
from lakebed.spark.sql_names import quote_name

SCHEMA = spark_types.StructType(
    [
        spark_types.StructField(name, spark_types.StringType())
        for name in ("file", "column", "stored_type", "wanted_type", "value")
    ]
)
_TEXTS = "array<struct<column:string,stored_type:string,wanted_type:string,value:string>>"


@known_failures()
def cast_errors(spark: SparkSession, table: TableBranch, request: ReadRequest, scratch: str | None = None) -> DataFrame:
    """The stored values that a read with the same arguments cannot convert, with the columns of `SCHEMA`.

    `value` is the beginning of the value as text. Rows that deletion vectors or newer rows of the same key hide are
    looked at too, for they are stored. Of a fallback branch it is the partitions that the read takes from it.
    """
    planned = plan_read(table, request)
    for one in planned.states:
        refuse_blobs(one.state.schema.fields, one.state.schema.options, descriptors=request.blobs == DESCRIPTOR)
    executor = Executor.of(spark, table, request, scratch)
    wanted = planned.main.state.schema.fields
    frames = list(_in_files(executor.reader(planned.main.state), planned.main, wanted))
    if planned.fallback is not None:
        state = planned.fallback.state
        named = [own for f in wanted if (own := branch_column(f, state.schema)) is not None]
        frames += _in_files(executor.reader(state), planned.fallback, named)
    return reduce(DataFrame.union, frames) if frames else spark.createDataFrame([], SCHEMA)


def _in_files(reader: FileRows, planned: PlannedState, fields: Sequence[DataField]) -> Iterator[DataFrame]:
    """What is found in the files of one state, of the columns `fields` of its schema."""
    schema = planned.state.schema
    wanted = [f for f in fields if f.name not in schema.partition_keys]
    doubtful: dict[tuple[int, tuple[str, ...] | None], tuple[DataField, ...]] = {}
    groups: dict[tuple[DataField, ...], list[DataFile]] = {}
    for file in planned.plan.files:
        key = file.meta.schema_id, file.meta.write_cols
        if key not in doubtful:
            doubtful[key] = _doubtful(stored_fields(reader.version, file), wanted, reader.rules)
        groups.setdefault(doubtful[key], []).append(file)
    for found, group in groups.items():
        if found:
            for stored in reader.stored(group, replace(schema, fields=found, partition_keys=())):
                yield _found(stored, found, reader.rules)


def _doubtful(stored: Sequence[DataField], wanted: Sequence[DataField], rules: CastRules) -> tuple[DataField, ...]:
    """The wanted columns that values of the stored ones may fail to become."""
    by_id = {f.id: f for f in stored}
    return tuple(f for f in wanted if f.id in by_id and any(True for _ in _failing(by_id[f.id], f, rules)))


def _found(stored: StoredRows, wanted: Sequence[DataField], rules: CastRules) -> DataFrame:
    by_id = {f.id: f for f in wanted}
    failing = [place for field in stored.fields for place in _failing(field, by_id[field.id], rules)]
    found = F.array_compact(F.concat(*failing)).alias("found")
    return stored.frame.select(F.col(StoredRows.FILE).alias("file"), found).select("file", F.inline("found"))


# Each place whose values may fail gives an array of what fails in a row, with NULL for what does not.


def _failing(stored: DataField, wanted: DataField, rules: CastRules) -> Iterator[Column]:
    return _inside(F.col(quote_name(stored.name)), stored.type, wanted.type, wanted.name, rules)


def _inside(col: Column, have: DataType, want: DataType, path: str, rules: CastRules) -> Iterator[Column]:
    match have, want:
        case Row(), Row():
            known = {f.id: f for f in have.fields}
            for member in want.fields:
                old = known.get(member.id)
                if old is not None:
                    yield from _inside(col.getField(old.name), old.type, member.type, f"{path}.{member.name}", rules)
        case Array(), Array():
            yield from _each(col, have.element, want.element, f"{path}.element", rules)
        case Map(), Map():
            yield from _each(F.map_values(col), have.value, want.value, f"{path}.value", rules)
        case _:
            fails = cast_fails(col, have, want, time_zone=rules.time_zone, column=path)
            if fails is not None:
                said = F.struct(F.lit(path), F.lit(type_line(have)), F.lit(type_line(want)), shown(col))
                yield F.array(F.when(fails, said)).cast(_TEXTS)


def _each(items: Column, have: DataType, want: DataType, path: str, rules: CastRules) -> Iterator[Column]:
    """What fails in the items of an array."""
    if not list(_inside(F.lit(None), have, want, path, rules)):
        return

    def failing(item: Column) -> Column:
        return F.concat(*_inside(item, have, want, path, rules))

    yield F.coalesce(F.flatten(F.transform(items, failing)), F.array().cast(_TEXTS))
