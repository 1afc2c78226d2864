"""Build the aggregate functions of the table format: how a column adds a value, and retracts it.

Each gives the new value from the one so far and the one of the next row, both of the column's type, NULL included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from lakebed.errors import LakebedError, UnsupportedError
from lakebed.format.merge_engine import Aggregate
from lakebed.spark.row_merge import arithmetic
from lakebed.spark.row_merge import nested_rows as nested
from lakebed.spark.row_merge.arithmetic import refused

#: A value so far and the next row's value, and a value from them.
Combine = Callable[[Column, Column], Column]

FIRSTS = ("first_value", "first_non_null_value")
_NO_RETRACT = {
    "max",
    "min",
    "bool_and",
    "bool_or",
    "listagg",
    "nested_partial_update",
    "merge_map_with_keytime",
    *FIRSTS,
}
_BLANK = r"\A\p{javaWhitespace}*\z"


@dataclass(frozen=True, slots=True)
class Aggregator:
    """The function of one column. The two functions that remember whether they have begun are not made by it."""

    column: str
    rule: Aggregate
    kind: T.DataType

    def __post_init__(self) -> None:
        _check(self.column, self.rule, self.kind)

    def add(self, acc: Column, value: Column) -> Column:
        """What a row of kind +I or +U makes of it."""
        return _ADD[self.rule.function](self)(acc, value)

    def add_older(self, acc: Column, value: Column) -> Column:
        """What a row makes of it that comes later and is older by its sequence group."""
        if self.rule.function == "collect":
            return self.add(acc, value)
        return self.add(value, acc)

    def retract(self, acc: Column, value: Column) -> Column:
        """What a row of kind -U or -D makes of it."""
        function = self.rule.function
        if self.rule.ignore_retract:
            return acc
        if function in _NO_RETRACT:
            return self._cannot_retract()
        return _RETRACT[function](self)(acc, value)

    def _cannot_retract(self) -> Column:
        message = f"column {self.column}: {self.rule.function} cannot take back what a delete takes away"
        return refused("LB5505", message).cast(self.kind)

    # --- the functions, each as what combines two values ----------------------------------------------------------

    def plus(self) -> Combine:
        return _of_two(lambda a, b: arithmetic.added(a, b, self.kind, self.column))

    def minus(self) -> Combine:
        def combine(acc: Column, value: Column) -> Column:
            less = arithmetic.subtracted(acc, value, self.kind, self.column)
            negative = arithmetic.negated(value, self.kind, self.column)
            return F.when(acc.isNull(), negative).when(value.isNull(), acc).otherwise(less)

        return combine

    def times(self) -> Combine:
        return _of_two(lambda a, b: arithmetic.multiplied(a, b, self.kind, self.column))

    def divide(self) -> Combine:
        return _of_two(lambda a, b: arithmetic.divided(a, b, self.kind, self.column))

    def count(self) -> Combine:
        one = F.lit(1).cast(self.kind)
        return lambda acc, value: (
            F.when(acc.isNull(), one).when(value.isNull(), acc).otherwise((acc + one).cast(self.kind))
        )

    def uncount(self) -> Combine:
        one = F.lit(1).cast(self.kind)
        return lambda acc, value: (
            F.when(acc.isNull(), one).when(value.isNull(), acc).otherwise((acc - one).cast(self.kind))
        )

    def listagg(self) -> Combine:
        delimiter = self.rule.delimiter

        def joined(acc: Column, value: Column) -> Column:
            if not self.rule.distinct:
                return F.concat(acc, F.lit(delimiter), value)
            known = _tokens(acc, delimiter)
            new = F.filter(_tokens(value, delimiter), lambda t: ~t.rlike(_BLANK) & ~F.array_contains(known, t))
            return F.array_join(F.concat(F.array(acc), F.array_distinct(new)), delimiter)

        def combine(acc: Column, value: Column) -> Column:
            return (
                F.when(value.isNull() | value.rlike(_BLANK), acc)
                .when(acc.isNull() | acc.rlike(_BLANK), value)
                .otherwise(joined(acc, value))
            )

        return combine

    def collect(self) -> Combine:
        return lambda acc, value: nested.collected(acc, value, self.rule)

    def uncollect(self) -> Combine:
        if nested.holds_map(self.kind):
            return lambda acc, value: self._cannot_retract()
        return nested.uncollected

    def merge_by_time(self) -> Combine:
        values = cast("T.StructType", cast("T.MapType", self.kind).valueType)
        time = self.rule.time_field or values.fieldNames()[-1]
        return _of_two(lambda a, b: nested.merged_by_time(a, b, time))

    def nested_update(self) -> Combine:
        kind = cast("T.ArrayType", self.kind)
        return lambda acc, value: nested.nested_updated(acc, value, kind, self.rule)

    def nested_remove(self) -> Combine:
        kind = cast("T.ArrayType", self.kind)
        if not self.rule.nested_key and nested.holds_map(kind):
            return lambda acc, value: self._cannot_retract()
        return lambda acc, value: nested.nested_removed(acc, value, kind, self.rule)

    def nested_partial_update(self) -> Combine:
        kind = cast("T.ArrayType", self.kind)
        return lambda acc, value: nested.nested_partially_updated(acc, value, kind, self.rule)


def _of_two(combine: Combine) -> Combine:
    """The one that is not NULL, or what is made of both."""
    return lambda acc, value: F.when(acc.isNull(), value).when(value.isNull(), acc).otherwise(combine(acc, value))


def _tokens(text: Column, delimiter: str) -> Column:
    quoted = "\\Q" + delimiter.replace("\\E", "\\E\\\\E\\Q") + "\\E" if delimiter else "\\s+"
    return F.split(text, quoted, -1)


_ADD: dict[str, Callable[[Aggregator], Combine]] = {
    "primary-key": lambda _: lambda acc, value: value,
    "last_value": lambda _: lambda acc, value: value,
    "last_non_null_value": lambda _: lambda acc, value: F.coalesce(value, acc),
    "sum": Aggregator.plus,
    "product": Aggregator.times,
    "count": Aggregator.count,
    "max": lambda _: _of_two(lambda a, b: F.when(a < b, b).otherwise(a)),
    "min": lambda _: _of_two(lambda a, b: F.when(a < b, a).otherwise(b)),
    "bool_and": lambda _: _of_two(lambda a, b: a & b),
    "bool_or": lambda _: _of_two(lambda a, b: a | b),
    "listagg": Aggregator.listagg,
    "collect": Aggregator.collect,
    "merge_map": lambda _: _of_two(nested.merged_maps),
    "merge_map_with_keytime": Aggregator.merge_by_time,
    "nested_update": Aggregator.nested_update,
    "nested_partial_update": Aggregator.nested_partial_update,
}
_RETRACT: dict[str, Callable[[Aggregator], Combine]] = {
    "primary-key": lambda _: lambda acc, value: value,
    "last_value": lambda of: lambda acc, value: F.lit(None).cast(of.kind),
    "last_non_null_value": lambda of: lambda acc, value: F.when(value.isNull(), acc),
    "sum": Aggregator.minus,
    "product": Aggregator.divide,
    "count": Aggregator.uncount,
    "collect": Aggregator.uncollect,
    "merge_map": lambda _: nested.without_keys,
    "nested_update": Aggregator.nested_remove,
}


def _check(column: str, rule: Aggregate, kind: T.DataType) -> None:
    """Refuse a function that is not known or does not fit the column."""
    function = rule.function
    if function not in _ADD and function not in FIRSTS:
        raise _misfit("LB5503", column, rule, f"is not computed; {len(_ADD) + len(FIRSTS)} others are")
    expected = _expected(function)
    if expected is not None and not expected[1](kind):
        raise _misfit("LB5504", column, rule, f"needs {expected[0]}, not {kind.simpleString()}")
    if (function == "sum" and not arithmetic.sum_fits(kind)) or (
        function == "product" and not arithmetic.product_fits(kind)
    ):
        raise _misfit("LB5510", column, rule, f"of {kind.simpleString()} cannot be computed exactly")
    if function == "collect" and rule.distinct and nested.holds_map(kind):
        raise _misfit("LB5504", column, rule, "with distinct needs elements that can be compared, and maps cannot")
    if function.startswith("nested_"):
        _check_nested(column, rule, cast("T.StructType", cast("T.ArrayType", kind).elementType))
    if function == "merge_map_with_keytime":
        _check_time(column, rule, cast("T.StructType", cast("T.MapType", kind).valueType))


def _expected(function: str) -> tuple[str, Callable[[T.DataType], bool]] | None:
    match function:
        case "sum" | "product":
            return "a number", lambda k: isinstance(k, T.NumericType)
        case "count":
            return "INT or BIGINT", lambda k: isinstance(k, (T.IntegerType, T.LongType))
        case "bool_and" | "bool_or":
            return "a boolean", lambda k: isinstance(k, T.BooleanType)
        case "listagg":
            return "a text", lambda k: isinstance(k, T.StringType)
        case "max" | "min":
            return "a type with an order", lambda k: isinstance(k, T.AtomicType) and not isinstance(k, T.VariantType)
        case "collect":
            return "an array", lambda k: isinstance(k, T.ArrayType)
        case "merge_map":
            return "a map", lambda k: isinstance(k, T.MapType) and not nested.holds_map(k.keyType)
        case "merge_map_with_keytime":
            return "a map of rows", lambda k: isinstance(k, T.MapType) and isinstance(k.valueType, T.StructType)
        case "nested_update" | "nested_partial_update":
            return "an array of rows", lambda k: isinstance(k, T.ArrayType) and isinstance(k.elementType, T.StructType)
    return None


def _check_nested(column: str, rule: Aggregate, element: T.StructType) -> None:
    for name in (*rule.nested_key, *rule.nested_sequence):
        if name not in element.fieldNames():
            raise _misfit("LB5509", column, rule, f"names the nested field {name!r}, which is not there")
        if nested.holds_map(element[name].dataType):
            raise _misfit("LB5504", column, rule, f"has the nested field {name!r}, which holds a map")
    if rule.function == "nested_partial_update" and not rule.nested_key:
        raise _misfit("LB5506", column, rule, "needs a nested-key")


def _check_time(column: str, rule: Aggregate, entry: T.StructType) -> None:
    time = rule.time_field or entry.fieldNames()[-1]
    if time not in entry.fieldNames():
        raise _misfit("LB5509", column, rule, f"names the field {time!r}, which is not in its rows")
    if not isinstance(entry[time].dataType, T.StringType):
        raise _misfit("LB5504", column, rule, f"needs a text as its time field {time!r}")


def _misfit(code: str, column: str, rule: Aggregate, problem: str) -> LakebedError:
    return UnsupportedError.of(
        code, f"column {column!r}: the aggregate function {rule.function} {problem}", path=column, found=rule.function
    )
