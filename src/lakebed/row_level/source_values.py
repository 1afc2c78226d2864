"""Tell from the values of a merge's source which rows of the table can match.

A row of the table that matches has, in each column that has to equal one of the source, a value that the source has
there: one of a few, or one between the least and the greatest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as spark

from lakebed.catalog.table_schema import TableSchema
from lakebed.convert.scan_types import scan_type
from lakebed.physical.paimon_types import DataField
from lakebed.read import comparing
from lakebed.read.literals import Literal
from lakebed.read.plan_read import Condition
from lakebed.read.predicate import And, Constant, Operator, Predicate
from lakebed.read.pushed_filters import to_literal
from lakebed.read.where_sql import ConditionReader, has_only, parse_condition, unwrapped
from lakebed.spark.spark_errors import spark_errors
from lakebed.spark.sql_names import quote_name

#: The names of the table and of the source in a condition.
ALIASES = ("t", "s")
#: So many values of the source are told one by one; of more, what they lie between.
_FEW = 64
_INTEGERS = (spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType)
#: Types whose values are ordered in the same way by Spark and here, whatever the session says.
_ORDERED = (spark.StringType, spark.DateType, spark.BooleanType, spark.DecimalType)


@dataclass(frozen=True, slots=True)
class SourceValues:
    """The values that the source has for a column of the table: `few` of them, else those from `low` to `high`.

    NULLs are left out, since they equal nothing; `low` is None where there is nothing else.
    """

    column: DataField
    low: Any
    high: Any
    few: tuple[Any, ...] = ()

    def predicate(self) -> Predicate:
        """What is true for every row of the table that has one of the values."""
        if self.low is None:
            return Constant(False)
        text, zone = f"{self.column.name} of the source", "UTC"
        literals = [literal for value in self.few if (literal := to_literal(value)) is not None]
        if self.few and len(literals) == len(self.few):
            return comparing.is_in(self.column, literals, time_zone=zone, text=text)
        ends = (Operator.GREATER_OR_EQUAL, to_literal(self.low)), (Operator.LESS_OR_EQUAL, to_literal(self.high))
        known: list[tuple[Operator, Literal]] = [(how, end) for how, end in ends if end is not None]
        return And(tuple(comparing.compare(self.column, how, end, time_zone=zone, text=text) for how, end in known))


def matchable(values: Sequence[SourceValues], on: Condition) -> Condition:
    """What is true for every row of the table that can match a row of the source; `on` is about the table alone."""
    return lambda schema: And((on(schema), *(v.predicate() for v in values)))


def tied_columns(source: DataFrame, on: str, schema: TableSchema, *, case_sensitive: bool) -> Mapping[str, DataField]:
    """The columns of the table that equal one of the source where `on` is true, by the name of that one.

    Only those are told whose values are compared as they are.
    """
    return _tied(source, equal_columns(on, schema, source.columns, case_sensitive=case_sensitive))


def _tied(source: DataFrame, pairs: Sequence[tuple[DataField, str]]) -> Mapping[str, DataField]:
    types = {f.name: f.dataType for f in source.schema.fields}
    return {name: column for column, name in pairs if _compares(types[name], scan_type(column.type))}


def _compares(one: spark.DataType, other: spark.DataType) -> bool:
    if isinstance(one, _INTEGERS) and isinstance(other, _INTEGERS):
        return True
    return one == other and isinstance(one, _ORDERED)


def read_values(source: DataFrame, tied: Mapping[str, DataField]) -> tuple[SourceValues, ...]:
    """The values of the source for columns of the table, by at most two queries of a row each."""
    columns = [F.col(quote_name(name)) for name in tied]
    ends = [end for i, c in enumerate(columns) for end in (F.min(c), F.max(c), F.approx_count_distinct(c))]
    with spark_errors():
        found = list(source.agg(*ends).collect()[0])
        few = [i for i in range(len(columns)) if 1 < found[3 * i + 2] <= _FEW]
        sets = source.agg(*(F.collect_set(columns[i]) for i in few)).collect()[0] if few else ()
    lists = dict(zip(few, map(tuple, sets), strict=True))
    return tuple(
        SourceValues(column, found[3 * i], found[3 * i + 1], lists.get(i, ())) for i, column in enumerate(tied.values())
    )


# --- what a condition says -------------------------------------------------------------------------------------------


def equal_columns(
    sql: str, schema: TableSchema, others: Sequence[str], *, case_sensitive: bool
) -> tuple[tuple[DataField, str], ...]:
    """The columns of `schema` that equal one of `others` wherever the condition is true, each with that one.

    What is not understood says nothing.
    """
    parts = _pairs(sql, schema, others, case_sensitive=case_sensitive)
    return tuple(pair for pair in parts if pair is not None)


def equals_key(source: DataFrame, on: str, schema: TableSchema, *, case_sensitive: bool) -> bool:
    """Whether `on` is true where the primary key equals the columns of the source with its names, and only there.

    Where that is not seen, False.
    """
    parts = _pairs(on, schema, source.columns, case_sensitive=case_sensitive)
    tied = _tied(source, [pair for pair in parts if pair is not None])
    own = {name: column.name for name, column in tied.items()}
    return own == {name: name for name in schema.primary_keys} and len(parts) == len(own)


def _pairs(
    sql: str, schema: TableSchema, others: Sequence[str], *, case_sensitive: bool
) -> tuple[tuple[DataField, str] | None, ...]:
    """For each part of a condition that has to be true a column and which of `others` it equals; None for other parts.

    Empty where the condition is not understood.
    """
    from sqlglot.errors import SqlglotError

    own, theirs = ALIASES
    try:
        parsed = parse_condition(sql)
        if parsed is None:
            return ()
        tree, doubtful = parsed
        reader = ConditionReader(schema, "UTC", case_sensitive, doubtful, own)

        def pair(left: Any, right: Any) -> Iterator[tuple[DataField, str]]:
            for one, two in ((left, right), (right, left)):
                column, other = reader.column(one), reader.name(two, theirs, others)
                if column is not None and other is not None:
                    yield column, other

        return tuple(next(pair(*sides), None) if sides else None for sides in _equalities(tree))
    except (SqlglotError, RecursionError):
        return ()


def _equalities(tree: Any) -> Iterator[tuple[Any, Any] | None]:
    """Both sides of each equality that has to be true; None for another part that has to be."""
    left = [tree]
    while left:
        part = unwrapped(left.pop())
        match type(part).__name__:
            case "And":
                left += [part.expression, part.this]
            case "EQ" if has_only(part, "this", "expression"):
                yield part.this, part.expression
            case _:
                yield None
