"""Find values that several rows of a source have, in columns which declare that each row has its own.

All rows that have such a value are bad, whichever came first: nobody knows which of them is right, and rows of a
DataFrame have no order. Rows that are bad for another reason count, too. NULL is no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from lakebed.catalog.table_schema import TableSchema
from lakebed.errors import SourceMismatchError, UnsupportedError
from lakebed.ingest.columns.checkers import PROBLEM, problem
from lakebed.ingest.columns.declared_bounds import BAD_DECLARED
from lakebed.model.extra import UNIQUE
from lakebed.physical import paimon_types as physical
from lakebed.physical import path_text, type_line

REPEATED = "LB6213"
NOT_NUMBERED = "LB6143"
EXPECTED = "a value that no other row of the run has"
#: The order of rows as they are read, from before they are brought together by their values.
ROW = "row"
_NOT_COMPARED = (physical.Row, physical.Array, physical.Map, physical.Multiset, physical.Variant)
#: Which columns of a row have a value that others have, too.
TWICE = "twice"


def unique_columns(schema: TableSchema) -> tuple[int, ...]:
    """The places of the columns of which each row has its own value."""
    return tuple(i for i, field in enumerate(schema.logical.fields) if field.extra.get(UNIQUE) is True)


def check_unique(schema: TableSchema, offset: str | None) -> None:
    """Raise `UnsupportedError` (LB6143) where rows are numbered in the order that they are read in, and
    `SourceMismatchError` (LB6142) for columns whose values cannot be compared.
    """
    unique = unique_columns(schema)
    for column in (schema.fields[i] for i in unique):
        if isinstance(column.type, _NOT_COMPARED):
            raise SourceMismatchError.of(
                BAD_DECLARED,
                f"column {column.name}: {UNIQUE} cannot be used, found {type_line(column.type)}",
                path=column.name,
                expected="a column of single values",
                found=type_line(column.type),
                remedy="take the attribute out of the manifest and apply it",
            )
    if unique and offset is not None:
        name = schema.field_names[unique[0]]
        raise UnsupportedError.of(
            NOT_NUMBERED,
            f"column {name}: rows are brought together to find values that two of them have, and those of this table "
            f"are numbered in the order of the source (column {offset})",
            path=name,
            remedy=f"take {UNIQUE} out of the manifest and apply it",
        )


def value_column(index: int) -> str:
    """The name under which rows have their own value of a column; NULL where it is bad."""
    return f"u{index}"


@dataclass(frozen=True, slots=True)
class RepeatedValues:
    """The columns, by their places, of which each row has its own value; `fatal` are those of them that end the run."""

    columns: tuple[int, ...]
    fatal: frozenset[int]

    def flagged(self, rows: DataFrame) -> DataFrame:
        """The rows with `TWICE` and `ROW`; `bad`, and `fatal` where the run ends, hold for those of one value, too."""
        rows = rows.select("*", F.monotonically_increasing_id().alias(ROW))
        counted = [f"n{i}" for i in self.columns]
        for index, name in zip(self.columns, counted, strict=True):
            value = F.col(value_column(index))
            # Rows without a value are spread, each by itself.
            window = Window.partitionBy(value, F.when(value.isNull(), F.col(ROW)))
            rows = rows.select("*", F.count(F.lit(1)).over(window).alias(name))
        twice = F.array_compact(F.array(*(F.when(F.col(f"n{i}") > 1, F.lit(i)) for i in self.columns)))
        rows = rows.select("*", twice.alias(TWICE)).drop(*counted, *map(value_column, self.columns))
        bad = F.size(TWICE) > 0
        fatal = F.exists(TWICE, lambda i: i.isin(*sorted(self.fatal))) if self.fatal else F.lit(False)
        return rows.withColumns({"bad": F.col("bad") | bad, "fatal": F.col("fatal") | fatal})


def repeated_problem(index: int, path: Sequence[str], source: Column) -> Column:
    """The problems of a row, one where it has a value of this column that others have, too."""
    shown = F.coalesce(source.try_cast("string"), F.lit("NULL"))
    found = problem(F.lit(path_text(tuple(path))), REPEATED, EXPECTED, shown)
    return F.array(F.when(F.array_contains(TWICE, F.lit(index)), found).cast(PROBLEM))
