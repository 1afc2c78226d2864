"""Define predicates, and evaluate which truths are possible where only some facts are known.

A predicate is true, false or NULL for a row, as in SQL. Of a file it is not known which of its rows hold what, so that
a *set* of truths is worked out: all those that some row of the file may give. The set may be too large and is never too
small; a file is needed as long as TRUE is in it, and all of its rows fit where nothing else is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from functools import reduce
from typing import Any, TypeAlias, assert_never

from lakebed.physical.paimon_types import DataField


class Truths(IntFlag):
    """What a predicate may be, for the rows of a file."""

    NONE = 0
    TRUE = 1
    FALSE = 2
    NULL = 4
    ANY = TRUE | FALSE | NULL


#: Whether TRUE is among some truths, by their number: this is asked of each file, and of a flag it takes long.
CAN_BE_TRUE = tuple(Truths.TRUE in Truths(number) for number in range(Truths.ANY + 1))


class Operator(StrEnum):
    """How a column is compared, as SQL writes it."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="


@dataclass(frozen=True, slots=True)
class Compare:
    """`column operator value`; NULL where the column is.

    The value is no NULL. It compares with the column's internal values (see `lakebed.format.binary_row`) in Python as
    SQL compares them: a number with numbers, whatever their types.
    """

    column: DataField
    operator: Operator
    value: Any


@dataclass(frozen=True, slots=True)
class IsIn:
    """`column IN (values)`, none of them NULL; NULL where the column is."""

    column: DataField
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class IsNull:
    """`column IS NULL`; never NULL."""

    column: DataField


@dataclass(frozen=True, slots=True)
class StartsWith:
    """`column LIKE 'prefix%'` of a column of texts; NULL where the column is."""

    column: DataField
    prefix: str


@dataclass(frozen=True, slots=True)
class Constant:
    """The same for every row: `None` is NULL."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Opaque:
    """What only Spark can judge; `text` is the SQL."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """`NOT part`."""

    part: Predicate


@dataclass(frozen=True, slots=True)
class And:
    """All of `parts`, at least one."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Any of `parts`, at least one."""

    parts: tuple[Predicate, ...]


Leaf: TypeAlias = Compare | IsIn | IsNull | StartsWith
Predicate: TypeAlias = Leaf | Constant | Opaque | Not | And | Or

#: What is known: the truths that are possible for a leaf.
Evidence: TypeAlias = Callable[[Leaf], Truths]


def possible(predicate: Predicate, evidence: Evidence) -> Truths:
    """The truths that are possible for `predicate`, by what is possible for its leaves."""
    match predicate:
        case Compare() | IsIn() | IsNull() | StartsWith():
            return evidence(predicate)
        case Constant(value=value):
            return Truths.NULL if value is None else Truths.TRUE if value else Truths.FALSE
        case Opaque():
            return Truths.ANY
        case Not(part=part):
            return _negated(possible(part, evidence))
        case And(parts=parts):
            return reduce(_both, (possible(part, evidence) for part in parts))
        case Or(parts=parts):
            return _negated(reduce(_both, (_negated(possible(part, evidence)) for part in parts)))
    assert_never(predicate)


def _negated(truths: Truths) -> Truths:
    out = truths & Truths.NULL
    if Truths.TRUE in truths:
        out |= Truths.FALSE
    if Truths.FALSE in truths:
        out |= Truths.TRUE
    return out


def _both(left: Truths, right: Truths) -> Truths:
    """What a conjunction may be, its sides taken as independent."""
    out = (left | right) & Truths.FALSE
    if Truths.TRUE in left and Truths.TRUE in right:
        out |= Truths.TRUE
    null_left, null_right = Truths.NULL in left, Truths.NULL in right
    if (null_left and right & ~Truths.FALSE) or (null_right and left & ~Truths.FALSE):
        out |= Truths.NULL
    return out


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """The parts that all have to be true, as far as they can be told apart."""
    if not isinstance(predicate, And):
        return (predicate,)
    return tuple(found for part in predicate.parts for found in conjuncts(part))


def leaves(predicate: Predicate) -> Iterator[Leaf | Opaque]:
    """All comparisons inside, and what cannot be judged, from left to right."""
    match predicate:
        case Compare() | IsIn() | IsNull() | StartsWith() | Opaque():
            yield predicate
        case Not(part=part):
            yield from leaves(part)
        case And(parts=parts) | Or(parts=parts):
            for part in parts:
                yield from leaves(part)
        case Constant():
            pass
        case _:
            assert_never(predicate)


def together(*evidences: Evidence) -> Evidence:
    """What all of them leave open for a leaf."""

    def evidence(leaf: Leaf) -> Truths:
        found = Truths.ANY
        for one in evidences:
            found &= one(leaf)
        return found

    return evidence


def conjuncts_over(predicate: Predicate, ids: Collection[int]) -> tuple[Predicate, ...]:
    """The conjuncts that speak of the columns of these field ids alone."""
    return tuple(part for part in conjuncts(predicate) if _speaks_of(part, ids))


def _speaks_of(part: Predicate, ids: Collection[int]) -> bool:
    columns = [getattr(leaf, "column", None) for leaf in leaves(part)]
    return bool(columns) and all(column is not None and column.id in ids for column in columns)
