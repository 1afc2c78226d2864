"""Choose the rows that a predicate is true for, as Spark chooses them, in Arrow batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context
from decimal import Decimal as Number
from fractions import Fraction
from functools import reduce
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from lakebed.errors import UnsupportedError
from lakebed.physical.paimon_types import (
    BigInt,
    Boolean,
    DataField,
    Date,
    Decimal,
    Double,
    Float,
    Int,
    LocalZonedTimestamp,
    SmallInt,
    Time,
    Timestamp,
    TinyInt,
)
from lakebed.read.predicate import (
    And,
    Compare,
    Constant,
    IsIn,
    IsNull,
    Leaf,
    Not,
    Opaque,
    Operator,
    Or,
    Predicate,
    StartsWith,
    leaves,
)

_Column = Callable[[DataField], pa.Array]
_WHOLE = (TinyInt, SmallInt, Int, BigInt, Time)
_MICRO = 1000
_LONGS = range(-(2**63), 2**63)
_DIGITS = 38
_EXACT = Context(prec=_DIGITS)
_COMPARE: dict[Operator, Callable[[Any, Any], pa.Array]] = {
    Operator.EQUAL: pc.equal,
    Operator.NOT_EQUAL: pc.not_equal,
    Operator.LESS: pc.less,
    Operator.LESS_OR_EQUAL: pc.less_equal,
    Operator.GREATER: pc.greater,
    Operator.GREATER_OR_EQUAL: pc.greater_equal,
}


def judged_columns(predicate: Predicate) -> tuple[DataField, ...]:
    """The columns that a filter looks at. Raises UnsupportedError (LB5610) where only Spark can judge a part of it."""
    found: dict[int, DataField] = {}
    for leaf in leaves(predicate):
        if isinstance(leaf, Opaque):
            raise UnsupportedError.of(
                "LB5610",
                f"the filter is not judged without Spark: {leaf.text}",
                expected="comparisons of columns with literals, IN, IS NULL, LIKE 'abc%', joined by AND, OR and NOT",
                found=leaf.text,
                remedy="read with --engine spark",
                python_remedy="use lake.read(spark, ..., where=...), or filter the rows yourself",
            )
        found.setdefault(leaf.column.id, leaf.column)
    return tuple(found.values())


def matching_rows(predicate: Predicate, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The rows for which a predicate without `Opaque` is true; columns go by their names, with types of `row_type`."""
    names = batch.schema.names
    truths = _truths(predicate, lambda field: batch.column(names.index(field.name)))
    if isinstance(truths, pa.Scalar):
        return batch if truths.as_py() else batch.slice(0, 0)
    return batch.filter(truths)


def _truths(predicate: Predicate, column: _Column) -> pa.Array | pa.Scalar:
    """Whether it is true, false or NULL for each row, or for all."""
    match predicate:
        case Compare() | IsIn() | IsNull() | StartsWith():
            return _of_leaf(predicate, column(predicate.column))
        case Constant(value=value):
            return pa.scalar(value, pa.bool_())
        case Not(part=part):
            return pc.invert(_truths(part, column))
        case And(parts=parts):
            return reduce(pc.and_kleene, (_truths(part, column) for part in parts))
        case Or(parts=parts):
            return reduce(pc.or_kleene, (_truths(part, column) for part in parts))
        case Opaque():
            raise AssertionError("such a filter is refused before")
    assert_never(predicate)


def _of_leaf(leaf: Leaf, values: pa.Array) -> pa.Array:
    match leaf:
        case IsNull():
            return pc.is_null(values)
        case StartsWith(prefix=prefix):
            return pc.starts_with(values, pattern=prefix)
        case IsIn(column=column, values=wanted):
            return _is_in(column, values, wanted)
        case Compare(column=column, operator=operator, value=value):
            return _compared(column, values, operator, value)
    assert_never(leaf)


def _compared(column: DataField, values: pa.Array, operator: Operator, value: Any) -> pa.Array:
    match column.type:
        case Float() | Double():
            return _floats_compared(values, operator, float(value))
        case Boolean():
            return _COMPARE[operator](values.cast(pa.int8()), pa.scalar(int(value), pa.int8()))
        case type_ if isinstance(type_, (*_WHOLE, Date, Timestamp, LocalZonedTimestamp, Decimal)):
            numbers, per_unit = _numbers(column, values)
            return _numbers_compared(numbers, operator, Fraction(value) * per_unit)
        case _:
            return _COMPARE[operator](values, pa.scalar(value, values.type))


def _floats_compared(values: pa.Array, operator: Operator, value: float) -> pa.Array:
    """NaN is equal to itself and greater than all else; literals are never NaN."""
    numbers = values.cast(pa.float64())
    found = _COMPARE[operator](numbers, pa.scalar(value, pa.float64()))
    above = operator in (Operator.GREATER, Operator.GREATER_OR_EQUAL)
    return pc.or_(found, pc.is_nan(numbers)) if above else found


def _numbers(column: DataField, values: pa.Array) -> tuple[pa.Array, Fraction]:
    """The values as whole numbers, and what a literal is multiplied with to be compared with them.

    Whole numbers are int64, or decimals whose place is moved to the end.
    """
    match column.type:
        case Decimal(scale=scale):
            return values.cast(pa.decimal128(_DIGITS, scale)), Fraction(10**scale)
        case Timestamp() | LocalZonedTimestamp():
            # Literals are nanoseconds, rows have microseconds.
            return values.cast(pa.int64()), Fraction(1, _MICRO)
        case Date():
            return values.cast(pa.int32()).cast(pa.int64()), Fraction(1)
        case _:
            return values.cast(pa.int64()), Fraction(1)


def _numbers_compared(numbers: pa.Array, operator: Operator, value: Fraction) -> pa.Array:
    below = math.floor(value)
    if below != value:
        # Between two numbers: what is not above the lower one is below.
        match operator:
            case Operator.EQUAL | Operator.NOT_EQUAL:
                return _all(numbers, operator is Operator.NOT_EQUAL)
            case Operator.LESS | Operator.LESS_OR_EQUAL:
                operator = Operator.LESS_OR_EQUAL
            case _:
                operator = Operator.GREATER
    literal = _literal(below, numbers.type)
    if literal is None:
        smaller = below > 0
        lower = operator in (Operator.LESS, Operator.LESS_OR_EQUAL)
        equal = operator in (Operator.EQUAL, Operator.NOT_EQUAL)
        return _all(numbers, operator is Operator.NOT_EQUAL if equal else smaller is lower)
    return _COMPARE[operator](numbers, literal)


def _literal(number: int, type_: pa.DataType) -> pa.Scalar | None:
    """A number of `_numbers` as a scalar of their type; None where none of them is as great."""
    if pa.types.is_decimal(type_):
        fits = abs(number) < 10**_DIGITS
        return pa.scalar(Number(number).scaleb(-type_.scale, _EXACT), type_) if fits else None
    return pa.scalar(number, type_) if number in _LONGS else None


def _all(values: pa.Array, truth: bool) -> pa.Array:
    """The same for all rows, but NULL where the value is."""
    return pc.if_else(pc.is_valid(values), pa.scalar(truth), pa.scalar(None, pa.bool_()))


def _is_in(column: DataField, values: pa.Array, wanted: tuple[Any, ...]) -> pa.Array:
    """NULL where the value is; no NULL is wanted."""
    match column.type:
        case Float() | Double():
            # Zero has no sign in a comparison.
            values = pc.add(values.cast(pa.float64()), 0.0)
            among = pa.array([float(w) + 0.0 for w in wanted], pa.float64())
        case type_ if isinstance(type_, (*_WHOLE, Date, Timestamp, LocalZonedTimestamp, Decimal)):
            values, per_unit = _numbers(column, values)
            exact = (Fraction(w) * per_unit for w in wanted)
            found = (_literal(int(w), values.type) for w in exact if w.denominator == 1)
            among = pa.array([w.as_py() for w in found if w is not None], values.type)
        case _:
            among = pa.array(wanted, values.type)
    return pc.if_else(pc.is_valid(values), pc.is_in(values, value_set=among), pa.scalar(None, pa.bool_()))
