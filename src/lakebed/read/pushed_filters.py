"""Convert the filters that Spark pushes down to a Python data source to a predicate.

Spark has brought their values to the column's type: an instant is a `datetime` with a zone, a wall clock one without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal as Number
from typing import TYPE_CHECKING, Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.physical.paimon_types import DataField
from lakebed.read import comparing
from lakebed.read.literals import Literal, LiteralKind, decimal_type, from_python
from lakebed.read.predicate import And, Constant, Not, Opaque, Operator, Predicate

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

_OPERATORS = {
    "EqualTo": Operator.EQUAL,
    "GreaterThan": Operator.GREATER,
    "GreaterThanOrEqual": Operator.GREATER_OR_EQUAL,
    "LessThan": Operator.LESS,
    "LessThanOrEqual": Operator.LESS_OR_EQUAL,
}
_MAX_DIGITS = 38
_LONGS = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True)
class Pushed:
    """Filters that all have to be true: `predicate` stands for all, and `understood` says of each whether it counts.

    None of them may be called handled because of it: it chooses files, and Spark has to choose the rows.
    """

    predicate: Predicate
    understood: tuple[bool, ...]


def from_filters(filters: Sequence[Filter], schema: TableSchema, *, time_zone: str) -> Pushed:
    """What pushed filters say of the columns of `schema`. A filter that is not understood is `Opaque`.

    `time_zone` is that of Spark's session. Without filters the predicate is TRUE.
    """
    parts = tuple(_predicate(f, schema, time_zone) for f in filters)
    predicate = parts[0] if len(parts) == 1 else And(parts) if parts else Constant(True)
    return Pushed(predicate, tuple(not isinstance(part, Opaque) for part in parts))


def _predicate(pushed: Any, schema: TableSchema, zone: str) -> Predicate:
    kind, said = type(pushed).__name__, repr(pushed)
    if kind == "Not":
        inner = _predicate(pushed.child, schema, zone)
        return Opaque(said) if isinstance(inner, Opaque) else Not(inner)
    column = _column(pushed, schema)
    if column is None:
        return Opaque(said)
    if kind in ("IsNull", "IsNotNull"):
        absent = comparing.is_null(column, said)
        return Not(absent) if kind == "IsNotNull" and not isinstance(absent, Opaque) else absent
    if kind == "StringStartsWith" and isinstance(pushed.value, str):
        return comparing.starts_with(column, pushed.value, said)
    if kind == "In":
        members = [to_literal(value) for value in pushed.value]
        known = [member for member in members if member is not None]
        whole = bool(members) and len(known) == len(members)
        return comparing.is_in(column, known, time_zone=zone, text=said) if whole else Opaque(said)
    value = to_literal(getattr(pushed, "value", object()))
    if value is None:
        return Opaque(said)
    if kind == "EqualNullSafe":
        return comparing.compare_null_safe(column, value, time_zone=zone, text=said)
    if kind in _OPERATORS:
        return comparing.compare(column, _OPERATORS[kind], value, time_zone=zone, text=said)
    return Opaque(said)


def _column(pushed: Any, schema: TableSchema) -> DataField | None:
    path: tuple[str, ...] = getattr(pushed, "attribute", ())
    return schema.field(path[0]) if len(path) == 1 else None


def to_literal(value: Any) -> Literal | None:
    """A value that Spark gives as a literal of its own; None where it is none that compares."""
    match value:
        case None:
            return Literal(LiteralKind.NULL, None)
        case bool():
            return Literal(LiteralKind.BOOLEAN, value)
        case int():
            return Literal(LiteralKind.INTEGER, value) if value in _LONGS else None
        case float():
            return Literal(LiteralKind.DOUBLE, value) if math.isfinite(value) else None
        case Number():
            return (
                Literal(LiteralKind.DECIMAL, value)
                if value.is_finite() and decimal_type(value)[0] <= _MAX_DIGITS
                else None
            )
        case str():
            return Literal(LiteralKind.STRING, value)
        case bytes() | bytearray():
            return Literal(LiteralKind.BINARY, bytes(value))
        case datetime():
            kind = LiteralKind.TIMESTAMP_NTZ if value.tzinfo is None else LiteralKind.TIMESTAMP
            return Literal(kind, from_python(value))
        case date():
            return Literal(LiteralKind.DATE, from_python(value))
        case _:
            return None
