"""What a leaf is for one value, as Spark says it: NaN is equal to itself and greater than all else, zeros are equal."""

from __future__ import annotations

import math
import operator
from typing import Any

from lakebed.read.predicate import Compare, IsIn, IsNull, Leaf, StartsWith, Truths

_OPERATORS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def truth(leaf: Leaf, value: Any) -> Truths:
    """The one truth of a leaf for an internal value, None being NULL."""
    if isinstance(leaf, IsNull):
        return _truth(value is None)
    if value is None:
        return Truths.NULL
    if isinstance(leaf, Compare):
        return _truth(_OPERATORS[leaf.operator](_order(value), _order(leaf.value)))
    if isinstance(leaf, IsIn):
        return _truth(any(_order(value) == _order(wanted) for wanted in leaf.values))
    assert isinstance(leaf, StartsWith)
    return _truth(value.startswith(leaf.prefix))


def truths(leaf: Leaf, values: list[Any]) -> Truths:
    """All truths of a leaf over values."""
    found = Truths.NONE
    for value in values:
        found |= truth(leaf, value)
    return found


def _truth(value: bool) -> Truths:
    return Truths.TRUE if value else Truths.FALSE


def _order(value: Any) -> Any:
    if isinstance(value, float):
        return (math.isnan(value), 0.0 if math.isnan(value) else value)
    return value
