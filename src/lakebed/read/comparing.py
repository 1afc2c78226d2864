"""Build predicates of one column and literals, for SQL text and for filters that Spark pushes down."""

from __future__ import annotations

from collections.abc import Sequence

from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField
from lakebed.read.literals import Bound, Literal, LiteralKind, bind, bind_all
from lakebed.read.predicate import (
    And,
    Compare,
    Constant,
    IsIn,
    IsNull,
    Not,
    Opaque,
    Operator,
    Or,
    Predicate,
    StartsWith,
)

_NESTED = (
    *(physical.Array, physical.Map, physical.Multiset, physical.Row, physical.Vector),
    *(physical.Variant, physical.Blob, physical.Geometry, physical.Geography, physical.Unknown),
)


def compare(column: DataField, operator: Operator, literal: Literal, *, time_zone: str, text: str) -> Predicate:
    """`column operator literal`, which is written `text`."""
    if literal.kind is LiteralKind.NULL:
        return Constant(None)
    bound = bind(column, literal, time_zone=time_zone)
    return Opaque(text) if bound is None else _bound(column, operator, bound, text)


def compare_null_safe(column: DataField, literal: Literal, *, time_zone: str, text: str) -> Predicate:
    """`column <=> literal`: never NULL."""
    if literal.kind is LiteralKind.NULL:
        return is_null(column, text)
    equal = compare(column, Operator.EQUAL, literal, time_zone=time_zone, text=text)
    return equal if isinstance(equal, Opaque) else And((Not(IsNull(column)), equal))


def is_in(column: DataField, literals: Sequence[Literal], *, time_zone: str, text: str) -> Predicate:
    """`column IN (literals)`: NULL where it is not found and one of the literals is NULL."""
    some = [literal for literal in literals if literal.kind is not LiteralKind.NULL]
    bounds = bind_all(column, some, time_zone=time_zone)
    if bounds is None:
        return Opaque(text)
    exact = tuple(dict.fromkeys(bound.low for bound in bounds if bound.exact))
    parts: list[Predicate] = [IsIn(column, exact)] if exact else []
    parts += [_bound(column, Operator.EQUAL, bound, text) for bound in bounds if not bound.exact]
    if len(some) < len(literals):
        parts.append(Constant(None))
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def is_null(column: DataField, text: str) -> Predicate:
    """`column IS NULL`; what metadata say of nested columns is not relied on."""
    return Opaque(text) if isinstance(column.type, _NESTED) else IsNull(column)


def is_truth(column: DataField, truth: bool, text: str) -> Predicate:
    """`column IS TRUE` or `IS FALSE`: never NULL."""
    if not isinstance(column.type, physical.Boolean):
        return Opaque(text)
    return And((Not(IsNull(column)), Compare(column, Operator.EQUAL, truth)))


def starts_with(column: DataField, prefix: str, text: str) -> Predicate:
    """`startswith(column, prefix)`."""
    is_text = isinstance(column.type, (physical.Char, physical.VarChar))
    return StartsWith(column, prefix) if is_text else Opaque(text)


def _bound(column: DataField, operator: Operator, bound: Bound, text: str) -> Predicate:
    if bound.exact:
        return Compare(column, operator, bound.low)
    least, most = (
        Compare(column, Operator.GREATER_OR_EQUAL, bound.low),
        Compare(column, Operator.LESS_OR_EQUAL, bound.high),
    )
    near = And((least, most, Opaque(text)))
    match operator:
        case Operator.EQUAL:
            return near
        case Operator.NOT_EQUAL:
            return Not(near)
        case Operator.LESS | Operator.LESS_OR_EQUAL:
            return Or((Compare(column, Operator.LESS, bound.low), And((most, Opaque(text)))))
        case Operator.GREATER | Operator.GREATER_OR_EQUAL:
            return Or((Compare(column, Operator.GREATER, bound.high), And((least, Opaque(text)))))
