"""Merge rows of a primary-key table whose files overlap, by the table's merge engine.

Only the sections of a `MergePlan` come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile
from lakebed.format.merge_engine import merge_rules
from lakebed.format.merge_plan import Section, split_base
from lakebed.spark.file_constants import by_number
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.row_merge.merge_by_engine import SECTION, ZERO, Merge, inserted, with_zeros, zeros
from lakebed.spark.row_merge.merge_onto_base import BaseAndDelta, DeltaFacts
from lakebed.spark.sql_names import quote_name
from lakebed.spark.value_bits import is_negative_zero

_OTHER = "_LAKEBED_OTHER_"
#: The number of a base's files: they are older than those of any delta.
_BASE = -1


def merged(reader: FileRows, sections: Sequence[Section], schema: TableSchema) -> DataFrame:
    """The merged rows of `sections` under `schema`."""
    merge = Merge(schema, merge_rules(schema))
    whole, splits = [], []
    for section in sections:
        split = split_base(section)
        if split is None:
            whole.append(section)
        else:
            splits.append(split)
    frames = [merge.of_rows(_numbered(reader, whole, schema))] if whole else []
    if splits:
        frames += _with_base(reader, splits, merge)
    return reduce(DataFrame.union, frames)


def first_rows(reader: FileRows, files: Sequence[DataFile], schema: TableSchema) -> DataFrame:
    """The first row of each key of files of a first-row table, whichever of their rows a reader sees."""
    return Merge(schema, merge_rules(schema)).of_rows(_numbered(reader, [files], schema))


def without_keys(
    rows: DataFrame, reader: FileRows, files: Sequence[DataFile], schema: TableSchema, keys: Sequence[str]
) -> DataFrame:
    """The rows whose key no row of `files` has; `keys` are their columns of the primary key."""
    if not files:
        return rows
    held = reader.read(files, schema, System.VALUE_KIND).where(inserted())
    held = held.select(*(F.col(quote_name(k)).alias(f"{_OTHER}{i}") for i, k in enumerate(schema.primary_keys)))
    # Primary keys are never NULL.
    pairs = [(F.col(quote_name(key)), F.col(f"{_OTHER}{i}")) for i, key in enumerate(keys)]
    return rows.join(held, same_key(schema, pairs), "left_anti")


def same_key(schema: TableSchema, pairs: Sequence[tuple[Column, Column]]) -> Column:
    """Whether two primary keys are the same to the format; `pairs` are their values, column by column."""
    same = [one == other for one, other in pairs]
    same += [is_negative_zero(pairs[i][0]) == is_negative_zero(pairs[i][1]) for i in with_zeros(schema)]
    return reduce(Column.__and__, same)


def key_columns(schema: TableSchema) -> list[Column]:
    """What rows of one primary key share, and no others do."""
    keys = [F.col(quote_name(key)) for key in schema.primary_keys]
    return [*keys, *(is_negative_zero(keys[i]) for i in with_zeros(schema))]


def _numbered(reader: FileRows, sections: Sequence[Sequence[DataFile]], schema: TableSchema) -> DataFrame:
    """The rows of all sections, with the number of the section and the file's place in the order of writing."""
    placed = [(number, f) for number, section in enumerate(sections) for f in section]
    # Within a bucket the lower level is the newer; files of level 0 stand in the order of their commits.
    placed.sort(key=lambda p: -p[1].meta.level)
    rows = reader.read([f for _, f in placed], schema, System.FILE, System.SEQUENCE_NUMBER, System.VALUE_KIND)
    for i in with_zeros(schema):
        # To the format 0.0 and -0.0 are two keys, to Spark they are one.
        rows = rows.withColumn(f"{ZERO}{i}", is_negative_zero(F.col(quote_name(schema.primary_keys[i]))))
    if len({number for number, _ in placed}) == 1:
        return rows.withColumn(SECTION, F.lit(placed[0][0]))
    return rows.withColumn(SECTION, by_number("int", [number for number, _ in placed])(F.col(System.FILE)))


def _with_base(reader: FileRows, splits: Sequence[tuple[Section, Section]], merge: Merge) -> list[DataFrame]:
    """The rows of bases and of the smaller deltas above them, merged in ways that do not shuffle the bases."""
    schema = merge.schema
    base = _numbered(reader, [base for base, _ in splits], schema).withColumn(System.FILE, F.lit(_BASE))
    delta = _numbered(reader, [delta for _, delta in splits], schema)
    on = (*schema.primary_keys, *zeros(schema))
    key = (SECTION, *on) if len(splits) > 1 else on
    return BaseAndDelta(merge, base, delta, key, DeltaFacts.of(reader, splits, merge)).merged()
