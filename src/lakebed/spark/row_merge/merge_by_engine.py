"""Merge rows of the same keys by a table's merge engine, whatever files they come from.

Rows of one key are ordered by the table's sequence fields, then by the sequence number that the writer gave them;
between equal numbers the newer file wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.format.merge_engine import MergeEngine, MergeEngineRules
from lakebed.format.row_kinds import INSERTS
from lakebed.physical.paimon_types import Double, Float
from lakebed.spark.file_rows import System
from lakebed.spark.row_merge.arithmetic import refused
from lakebed.spark.row_merge.merge_versions import folded
from lakebed.spark.sql_names import quote_name

#: The number of the section of a row; `ZERO` and the place of a column of the key: whether its value is -0.0.
SECTION, ZERO = "_LAKEBED_SECTION", "_LAKEBED_ZERO_"
_PLACE = "_LAKEBED_PLACE"


def with_zeros(schema: TableSchema) -> list[int]:
    """The places of the columns of the primary key whose values Spark cannot tell apart where they are zero."""
    types = ((i, schema.field(name)) for i, name in enumerate(schema.primary_keys))
    return [i for i, field in types if field is not None and isinstance(field.type, Float | Double)]


def zeros(schema: TableSchema) -> list[str]:
    """The columns of rows that tell them apart."""
    return [f"{ZERO}{i}" for i in with_zeros(schema)]


def inserted() -> Column:
    return F.col(System.VALUE_KIND).isin(*INSERTS)


@dataclass(frozen=True, slots=True)
class Merge:
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
            return rows.where(F.when(inserted(), F.lit(True)).otherwise(refused("LB5502", message).cast("boolean")))
        return rows.where(inserted())

    def of_rows(self, rows: DataFrame) -> DataFrame:
        """One row for each key among `rows`, the table's columns of it."""
        match self.rules.engine:
            case MergeEngine.DEDUPLICATE:
                found = rows.where(inserted()) if self.rules.ignore_delete else rows
                return self.newest(found).where(inserted()).select(*self.columns())
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
        return (SECTION, *named, *zeros(self.schema))

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
