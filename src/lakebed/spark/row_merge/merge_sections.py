"""Merge rows of a primary-key table whose files overlap, by the table's merge engine.

Only the sections of a `MergePlan` come here. Rows of one key are ordered by the table's sequence fields, then by the
sequence number that the writer gave them; between equal numbers the newer file wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.live_files import DataFile
from lakebed.format.merge_engine import MergeEngine, MergeEngineRules, merge_rules
from lakebed.format.merge_plan import Section, has_no_deletes, is_older, split_base
from lakebed.format.row_kinds import INSERTS
from lakebed.physical.paimon_types import Double, Float
from lakebed.spark.file_constants import by_number
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.row_merge.arithmetic import refused
from lakebed.spark.row_merge.merge_versions import folded, folded_onto
from lakebed.spark.sql_names import quote_name
from lakebed.spark.value_bits import is_negative_zero

_SECTION, _PLACE, _OTHER, _ZERO = "_LAKEBED_SECTION", "_LAKEBED_PLACE", "_LAKEBED_OTHER_", "_LAKEBED_ZERO_"
#: Up to so many rows of a delta, its keys are sent to every task instead of the base being shuffled.
_BROADCAST = 1_000_000
#: The same for whole rows, by what their files have of bytes.
_BROADCAST_BYTES = 64 << 20
#: The number of a base's files: they are older than those of any delta.
_BASE = -1


def merged(reader: FileRows, sections: Sequence[Section], schema: TableSchema) -> DataFrame:
    """The merged rows of `sections` under `schema`."""
    merge = _Merge(schema, merge_rules(schema))
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
    return _Merge(schema, merge_rules(schema)).of_rows(_numbered(reader, [files], schema))


def without_keys(
    rows: DataFrame, reader: FileRows, files: Sequence[DataFile], schema: TableSchema, keys: Sequence[str]
) -> DataFrame:
    """The rows whose key no row of `files` has; `keys` are their columns of the primary key."""
    if not files:
        return rows
    held = reader.read(files, schema, System.VALUE_KIND).where(_inserted())
    held = held.select(*(F.col(quote_name(k)).alias(f"{_OTHER}{i}") for i, k in enumerate(schema.primary_keys)))
    # Primary keys are never NULL.
    pairs = [(F.col(quote_name(key)), F.col(f"{_OTHER}{i}")) for i, key in enumerate(keys)]
    return rows.join(held, same_key(schema, pairs), "left_anti")


def same_key(schema: TableSchema, pairs: Sequence[tuple[Column, Column]]) -> Column:
    """Whether two primary keys are the same to the format; `pairs` are their values, column by column."""
    same = [one == other for one, other in pairs]
    same += [is_negative_zero(pairs[i][0]) == is_negative_zero(pairs[i][1]) for i in _with_zeros(schema)]
    return reduce(Column.__and__, same)


def key_columns(schema: TableSchema) -> list[Column]:
    """What rows of one primary key share, and no others do."""
    keys = [F.col(quote_name(key)) for key in schema.primary_keys]
    return [*keys, *(is_negative_zero(keys[i]) for i in _with_zeros(schema))]


def _numbered(reader: FileRows, sections: Sequence[Sequence[DataFile]], schema: TableSchema) -> DataFrame:
    """The rows of all sections, with the number of the section and the file's place in the order of writing."""
    placed = [(number, f) for number, section in enumerate(sections) for f in section]
    # Within a bucket the lower level is the newer; files of level 0 stand in the order of their commits.
    placed.sort(key=lambda p: -p[1].meta.level)
    rows = reader.read([f for _, f in placed], schema, System.FILE, System.SEQUENCE_NUMBER, System.VALUE_KIND)
    for i in _with_zeros(schema):
        # To the format 0.0 and -0.0 are two keys, to Spark they are one.
        rows = rows.withColumn(f"{_ZERO}{i}", is_negative_zero(F.col(quote_name(schema.primary_keys[i]))))
    if len({number for number, _ in placed}) == 1:
        return rows.withColumn(_SECTION, F.lit(placed[0][0]))
    return rows.withColumn(_SECTION, by_number("int", [number for number, _ in placed])(F.col(System.FILE)))


def _with_zeros(schema: TableSchema) -> list[int]:
    """The places of the columns of the primary key whose values Spark cannot tell apart where they are zero."""
    types = ((i, schema.field(name)) for i, name in enumerate(schema.primary_keys))
    return [i for i, field in types if field is not None and isinstance(field.type, Float | Double)]


def _zeros(schema: TableSchema) -> list[str]:
    """The columns of rows that tell them apart."""
    return [f"{_ZERO}{i}" for i in _with_zeros(schema)]


# --- a large base beneath a small delta -------------------------------------------------------------------------------


def _with_base(reader: FileRows, splits: Sequence[tuple[Section, Section]], merge: _Merge) -> list[DataFrame]:
    """The rows of a base whose keys the delta does not hold, which need no merge, and the merged rows of the others."""
    schema, rules = merge.schema, merge.rules
    base = _numbered(reader, [base for base, _ in splits], schema).withColumn(System.FILE, F.lit(_BASE))
    delta = _numbered(reader, [delta for _, delta in splits], schema)
    newest = rules.engine is MergeEngine.DEDUPLICATE
    if newest and rules.ignore_delete:
        delta = delta.where(_inserted())
    on = [*schema.primary_keys, *_zeros(schema)]
    if len(splits) > 1:
        on.insert(0, _SECTION)
    files = [f for _, files in splits for f in files]
    few = sum(f.meta.row_count for f in files) <= _BROADCAST
    # A file holds a key once.
    single = all(len(files) == 1 for _, files in splits)
    if newest and rules.order and few:
        return _newer_of_two(base, delta if single else merge.newest(delta), merge, on)
    keys = delta.select(*_named(on))
    keys = F.broadcast(keys) if few else keys
    # Primary keys are never NULL.
    untouched = base.join(keys, on, "left_anti")
    if not all(has_no_deletes(f) for files, _ in splits for f in files):
        untouched = merge.of_single_rows(untouched)
    if newest and not rules.order and all(is_older(*split) for split in splits):
        made = merge.of_single_rows(delta).select(*merge.columns()) if single else merge.of_rows(delta)
    elif merge.folds and few and sum(f.size for f in files) <= _BROADCAST_BYTES:
        key = merge.key()
        hits = base.select(*_named(key)).join(keys, on, "left_semi").select(*_named(key))
        made = folded_onto(base, delta, rules, key, hits, single=single)
    else:
        touched = base.join(keys, on, "left_semi")
        made = merge.of_rows(touched.select(*delta.columns).union(delta))
    return [untouched.select(*merge.columns()), made]


def _newer_of_two(base: DataFrame, delta: DataFrame, merge: _Merge, on: Sequence[str]) -> list[DataFrame]:
    """The rows of either that no newer row of the other replaces, where both hold a key once; neither is shuffled."""
    if merge.rules.ignore_delete:
        base = base.where(_inserted())
    order = (*merge.rules.order, System.SEQUENCE_NUMBER.value)
    wanted = tuple(dict.fromkeys((*on, *order)))
    other = F.broadcast(delta.select(*(F.col(quote_name(c)).alias(_OTHER + c) for c in wanted)))
    same = reduce(Column.__and__, (F.col(quote_name(k)) == F.col(quote_name(_OTHER + k)) for k in on))
    replaced = _is_newer(order, merge.rules)
    older = base.select(*_named(wanted)).join(other, same & ~replaced, "left_semi").select(*_named(on))
    left = base.join(other, same & replaced, "left_anti"), delta.join(F.broadcast(older), list(on), "left_anti")
    return [merge.of_single_rows(rows).select(*merge.columns()) for rows in left]


def _is_newer(order: Sequence[str], rules: MergeEngineRules) -> Column:
    """Whether the other row comes after this one; NULL is the oldest value of a sequence field, in both orders."""
    found = F.when(F.lit(False), True)
    for name in order:
        one, other = F.col(quote_name(name)), F.col(quote_name(_OTHER + name))
        less, more = other < one, other > one
        if rules.descending and name in rules.order:
            less, more = more, less
        found = found.when((one.isNull() & other.isNotNull()) | more, True)
        found = found.when((other.isNull() & one.isNotNull()) | less, False)
    return found.otherwise(True)


def _named(names: Sequence[str]) -> list[Column]:
    return [F.col(quote_name(n)) for n in names]


# --- the merge engines ------------------------------------------------------------------------------------------------


def _inserted() -> Column:
    return F.col(System.VALUE_KIND).isin(*INSERTS)


@dataclass(frozen=True, slots=True)
class _Merge:
    """The merge of a table's rows that have the system columns and the number of their section."""

    schema: TableSchema
    rules: MergeEngineRules

    def columns(self) -> list[Column]:
        """The table's own columns."""
        return [F.col(quote_name(f.name)) for f in self.schema.fields]

    def of_single_rows(self, rows: DataFrame) -> DataFrame:
        """Those of `rows` that are rows of the table, where no two have the same key."""
        if self.rules.engine is MergeEngine.FIRST_ROW and not self.rules.ignore_delete:
            message = "a first-row table holds a delete, and no option says what it means"
            return rows.where(F.when(_inserted(), F.lit(True)).otherwise(refused("LB5502", message).cast("boolean")))
        return rows.where(_inserted())

    def of_rows(self, rows: DataFrame) -> DataFrame:
        """One row for each key among `rows`, the table's columns of it."""
        match self.rules.engine:
            case MergeEngine.DEDUPLICATE:
                found = rows.where(_inserted()) if self.rules.ignore_delete else rows
                return self.newest(found).where(_inserted()).select(*self.columns())
            case MergeEngine.FIRST_ROW:
                oldest_first = [F.col(System.SEQUENCE_NUMBER), F.col(System.FILE)]
                return self._one_a_key(self.of_single_rows(rows), oldest_first).select(*self.columns())
            case MergeEngine.PARTIAL_UPDATE | MergeEngine.AGGREGATION:
                return folded(rows, self.rules, self.key())
        assert_never(self.rules.engine)

    @property
    def folds(self) -> bool:
        """Whether the rows of a key are folded into one, and not one of them chosen."""
        return self.rules.engine in (MergeEngine.PARTIAL_UPDATE, MergeEngine.AGGREGATION)

    def key(self) -> tuple[str, ...]:
        """The columns that rows of one key share."""
        named = dict.fromkeys((*self.schema.partition_keys, *self.schema.primary_keys))
        return (_SECTION, *named, *_zeros(self.schema))

    def newest(self, rows: DataFrame) -> DataFrame:
        """The newest row of each key, be it a delete."""
        return self._one_a_key(rows, self._newest_first())

    def _one_a_key(self, rows: DataFrame, order: Sequence[Column]) -> DataFrame:
        window = Window.partitionBy(*(F.col(quote_name(k)) for k in self.key())).orderBy(*order)
        return rows.withColumn(_PLACE, F.row_number().over(window)).where(F.col(_PLACE) == 1)

    def _newest_first(self) -> list[Column]:
        """NULL is the oldest value of a sequence field, in both orders."""
        own = [F.col(quote_name(f)) for f in self.rules.order]
        ordered = [c.asc_nulls_last() if self.rules.descending else c.desc_nulls_last() for c in own]
        return [*ordered, F.col(System.SEQUENCE_NUMBER).desc(), F.col(System.FILE).desc()]
