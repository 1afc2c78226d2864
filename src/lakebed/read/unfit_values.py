"""Translate a rule for stored values into the predicate that is true for those that break it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal as Number
from typing import Any

from lakebed.catalog.table_schema import TableSchema
from lakebed.evolve.value_rules import Among, Present, Unique, ValueRule, Within
from lakebed.model import LogicalType
from lakebed.model import types as logical
from lakebed.model.value_order import order_of
from lakebed.physical import paimon_types as physical
from lakebed.physical.paimon_types import DataField
from lakebed.read.literals import Literal, LiteralKind, bind, single
from lakebed.read.plan_read import Condition
from lakebed.read.predicate import Compare, Constant, IsIn, IsNull, Not, Operator, Or, Predicate

#: So many values that break a rule are shown.
MOST_VALUES = 3
_NANOS_PER_MILLI = 1_000_000
_NANOS_DIGITS = 9


class UntoldError(Exception):
    """It is not told which rows break a rule, for the reason that is said."""


@dataclass(slots=True)
class Tally:
    """How many rows break a rule, in which files, and some of their values."""

    unfit: int = 0
    files: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)

    def add(self, file: str | None, unfit: int, values: Sequence[str]) -> None:
        """Note the rows of a part of a file."""
        self.unfit += unfit
        if unfit and file is not None and file not in self.files:
            self.files.append(file)
        fresh = [value for value in dict.fromkeys(values) if value not in self.values]
        self.values += fresh[: MOST_VALUES - len(self.values)]


def doubt(rule: ValueRule, time_zone: str) -> Condition:
    """What is true for every row that may break the rule: for no others where statistics can tell that."""
    name, *inside = rule.path

    def condition(schema: TableSchema) -> Predicate:
        column = schema.field(name)
        if column is None or (isinstance(rule.test, Unique) and rule.test.key):
            return Constant(True)
        own = None if inside else unfit(rule, column, time_zone)
        return Not(IsNull(column)) if own is None else own

    return condition


def unfit(rule: ValueRule, column: DataField, time_zone: str) -> Predicate | None:
    """What is true for the values of `column`, of the rule's type, that break it; None where no predicate says that."""

    def value(declared: Any) -> Any:
        return internal_value(declared, rule.meant, column, time_zone)

    match rule.test:
        case Present():
            return IsNull(column)
        case Within(low=low, high=high):
            return _outside(column, None if low is None else (value(low),), None if high is None else (value(high),))
        case Among(values=()):
            return Not(IsNull(column))
        case Among(values=values):
            found = tuple(map(value, values))
            return None if None in found else Not(IsIn(column, found))
        case _:
            return None


def _outside(column: DataField, low: tuple[Any] | None, high: tuple[Any] | None) -> Predicate | None:
    """NaN is greater than all else, and lies within no bounds."""
    is_floating = isinstance(column.type, physical.Float | physical.Double)
    if high is None and is_floating:
        parts = [Compare(column, Operator.GREATER, math.inf)]
    else:
        parts = [] if high is None else [Compare(column, Operator.GREATER, high[0])]
    parts += [] if low is None else [Compare(column, Operator.LESS, low[0])]
    return None if any(part.value is None for part in parts) else Or(tuple(parts))


def internal_value(declared: Any, meant: LogicalType, column: DataField, time_zone: str) -> Any:
    """The internal value that an attribute says of a column; None where there is none, or it depends on a zone."""
    match column.type:
        case physical.TinyInt() | physical.SmallInt() | physical.Int() | physical.BigInt() | physical.Time():
            return _whole(declared, meant, column)
        case physical.Decimal():
            return Number(str(declared)) if _is_number(declared) or isinstance(declared, str) else None
        case physical.Float():
            return single(str(declared)) if _is_number(declared) else None
        case physical.Double():
            return float(declared) if _is_number(declared) else None
        case physical.Boolean():
            return declared if isinstance(declared, bool) else None
        case _ if isinstance(declared, str):
            found = bind(column, Literal(LiteralKind.STRING, declared), time_zone=time_zone)
            return found.low if found is not None and found.exact else None
        case _:
            return None


def _whole(declared: Any, meant: LogicalType, column: DataField) -> int | None:
    """A number, or what counts the milliseconds or finer parts of a day for a time of day."""
    if not isinstance(meant, logical.Time):
        return int(declared) if isinstance(declared, int) and not isinstance(declared, bool) else None
    order = order_of(meant)
    rank = None if order is None else order.rank(declared)
    if rank is None:
        return None
    if isinstance(column.type, physical.Time):
        return int(rank.place) // _NANOS_PER_MILLI
    unit: int = 10 ** (_NANOS_DIGITS - meant.effective_unit.digits)
    return int(rank.place) // unit


def _is_number(declared: Any) -> bool:
    return isinstance(declared, int | float) and not isinstance(declared, bool)
