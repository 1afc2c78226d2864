"""Rows of a primary-key table whose files overlap: one row a key, as the table's merge engine says.

Only the sections of a `MergePlan` come here. Rows of one key are ordered by the table's sequence fields, then by the
sequence number that the writer gave them; between equal numbers the newer file wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.spark.addresses import quote_name
from lakebed.spark.file_rows import FileRows, System
from lakebed.spark.lookup import by_number
from lakebed.spark.merging.arithmetic import refused
from lakebed.spark.merging.fold import INSERTS, folded
from lakebed.table.merge_plan import Section, split_base
from lakebed.table.merge_rules import MergeEngine, MergeRules, merge_rules

_SECTION, _PLACE = "_LAKEBED_SECTION", "_LAKEBED_PLACE"
#: Up to so many rows of a delta, its keys are sent to every task instead of the base being shuffled.
_BROADCAST = 1_000_000


def merged(reader: FileRows, sections: Sequence[Section], schema: TableSchema) -> DataFrame:
    """The merged rows of `sections` under `schema`."""
    rules = merge_rules(schema)
    match rules.engine:
        case MergeEngine.DEDUPLICATE:
            return _newest(reader, sections, schema, rules)
        case MergeEngine.FIRST_ROW:
            return _first(_numbered(reader, sections, schema), schema, rules)
        case MergeEngine.PARTIAL_UPDATE | MergeEngine.AGGREGATION:
            return folded(_numbered(reader, sections, schema), rules, _key(schema))
    assert_never(rules.engine)


def _numbered(reader: FileRows, sections: Sequence[Section], schema: TableSchema) -> DataFrame:
    """The rows of all sections, with the number of the section and the file's place in the order of writing."""
    placed = [(number, f) for number, section in enumerate(sections) for f in section]
    # Within a bucket the lower level is the newer; files of level 0 stand in the order of their commits.
    placed.sort(key=lambda p: -p[1].meta.level)
    rows = reader.read([f for _, f in placed], schema, System.FILE, System.SEQUENCE_NUMBER, System.VALUE_KIND)
    if len({number for number, _ in placed}) == 1:
        return rows.withColumn(_SECTION, F.lit(placed[0][0]))
    return rows.withColumn(_SECTION, by_number("int", [number for number, _ in placed])(F.col(System.FILE)))


def _key(schema: TableSchema) -> tuple[str, ...]:
    return (_SECTION, *dict.fromkeys((*schema.partition_keys, *schema.primary_keys)))


def _columns(schema: TableSchema) -> list[Column]:
    return [F.col(quote_name(f.name)) for f in schema.fields]


def _inserted() -> Column:
    return F.col(System.VALUE_KIND).isin(*INSERTS)


def _one_a_key(rows: DataFrame, schema: TableSchema, order: Sequence[Column]) -> DataFrame:
    window = Window.partitionBy(*(F.col(quote_name(k)) for k in _key(schema))).orderBy(*order)
    return rows.withColumn(_PLACE, F.row_number().over(window)).where(F.col(_PLACE) == 1)


# --- deduplicate ------------------------------------------------------------------------------------------------------


def _newest(reader: FileRows, sections: Sequence[Section], schema: TableSchema, rules: MergeRules) -> DataFrame:
    """The newest row of each key, the cheaper way for sections that have a large base beneath a small delta."""
    based = [(section, None if rules.order else split_base(section)) for section in sections]
    whole = [section for section, split in based if split is None]
    splits = [split for _, split in based if split is not None]
    frames = [_deduplicated(_numbered(reader, whole, schema), schema, rules)] if whole else []
    if splits:
        delta = _numbered(reader, [delta for _, delta in splits], schema)
        base = _numbered(reader, [base for base, _ in splits], schema)
        keys = delta.where(_inserted()) if rules.ignore_delete else delta
        keys = keys.select(*(F.col(quote_name(k)) for k in (_SECTION, *schema.primary_keys)))
        if sum(f.meta.row_count for _, files in splits for f in files) <= _BROADCAST:
            keys = F.broadcast(keys)
        # A file holds a key once.
        plain = all(len(files) == 1 for _, files in splits)
        newest = delta.where(_inserted()).select(*_columns(schema)) if plain else _deduplicated(delta, schema, rules)
        frames += [_not_among(base, keys, schema), newest]
    return reduce(DataFrame.union, frames)


def _not_among(base: DataFrame, keys: DataFrame, schema: TableSchema) -> DataFrame:
    """The rows of the base whose keys are not among `keys`; primary keys are never NULL."""
    return base.join(keys, [_SECTION, *schema.primary_keys], "left_anti").select(*_columns(schema))


def _newest_first(rules: MergeRules) -> list[Column]:
    """NULL is the oldest value of a sequence field, in both orders."""
    own = [F.col(quote_name(f)) for f in rules.order]
    ordered = [c.asc_nulls_last() if rules.descending else c.desc_nulls_last() for c in own]
    return [*ordered, F.col(System.SEQUENCE_NUMBER).desc(), F.col(System.FILE).desc()]


def _deduplicated(rows: DataFrame, schema: TableSchema, rules: MergeRules) -> DataFrame:
    if rules.ignore_delete:
        rows = rows.where(_inserted())
    return _one_a_key(rows, schema, _newest_first(rules)).where(_inserted()).select(*_columns(schema))


# --- first row --------------------------------------------------------------------------------------------------------


def _first(rows: DataFrame, schema: TableSchema, rules: MergeRules) -> DataFrame:
    """The first row of each key."""
    if rules.ignore_delete:
        rows = rows.where(_inserted())
    else:
        message = "a first-row table holds a delete, and no option says what it means"
        rows = rows.where(F.when(_inserted(), F.lit(True)).otherwise(refused("LB5502", message).cast("boolean")))
    return _one_a_key(rows, schema, [F.col(System.SEQUENCE_NUMBER), F.col(System.FILE)]).select(*_columns(schema))
