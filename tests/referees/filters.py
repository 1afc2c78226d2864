"""Filters in one JSON form that all referees understand.

`[column, operator]`, `[column, operator, value]`, `["and", filter, ...]` or `["or", filter, ...]`. The operators are
those of `METHODS`; the value of `in` and `not in` is a list, of `between` a pair. Values are in the rows' encoding.
Only top-level columns can be named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Filter = Sequence[Any]

METHODS = {
    "=": "equal",
    "!=": "notEqual",
    "<": "lessThan",
    "<=": "lessOrEqual",
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "is null": "isNull",
    "is not null": "isNotNull",
    "in": "in",
    "not in": "notIn",
    "between": "between",
    "starts with": "startsWith",
    "ends with": "endsWith",
    "contains": "contains",
}
"""Operators with the name that all three implementations have for them."""


def build(
    condition: Filter, leaf: Callable[[str, str, list[Any]], Any], combine: Callable[[str, list[Any]], Any]
) -> Any:
    """Folds a filter: `leaf(column, method, values)` and `combine("and" | "or", parts)` make the engine's own."""
    head, *rest = condition
    if head in {"and", "or"} and all(isinstance(part, list | tuple) for part in rest):
        return combine(head, [build(part, leaf, combine) for part in rest])
    operator, *values = rest
    if operator in {"in", "not in", "between"}:
        (values,) = values
    return leaf(head, METHODS[operator], list(values))
