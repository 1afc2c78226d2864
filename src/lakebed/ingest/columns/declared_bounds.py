"""Check values against the least and the greatest one that their column declares.

Bounds are values of the column's type, so that 0.1 in a Float32 is compared as a Float32. NaN lies between no bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

from lakebed.catalog.node import Node
from lakebed.diagnostics import Diagnostic
from lakebed.ingest.columns.values import Fault
from lakebed.model.extra import ENUM, MAXIMUM, MINIMUM
from lakebed.model.value_order import order_of
from lakebed.physical import paimon_types as physical
from lakebed.physical import path_text

BELOW = "LB6211"
ABOVE = "LB6212"
BAD_DECLARED = "LB6142"

Rule = Callable[[Column], tuple[Fault, str]]


def bound_rules(node: Node, value_of: Callable[[str], Column]) -> Iterator[Rule]:
    """The rules for the values of a column; `value_of` makes a value of the column's type of the text of a bound."""
    low, high = node.extra.get(MINIMUM), node.extra.get(MAXIMUM)
    has_nan = isinstance(node.stored, (physical.Float, physical.Double))

    def outside(v: Column, is_outside: Column) -> Column:
        return is_outside | F.isnan(v) if has_nan else is_outside

    if low is not None:
        least = value_of(str(low))
        yield lambda v: (Fault(BELOW, outside(v, v < least)), f"{low} or more")
    if high is not None:
        greatest = value_of(str(high))
        yield lambda v: (Fault(ABOVE, outside(v, v > greatest)), f"{high} or less")


def bad_declared_values(node: Node) -> Iterator[Diagnostic]:
    """What is wrong with the values that a column declares; in manifests it is found before, in other forms not."""
    order, listed = order_of(node.meant), node.extra.get(ENUM)
    declared = [(ENUM, value) for value in (listed if isinstance(listed, list) else ()) if value is not None]
    bounds = [(key, value) for key in (MINIMUM, MAXIMUM) if (value := node.extra.get(key)) is not None]
    if order is None:
        yield from (_problem(node, key, value, "columns of numbers, dates and times") for key, value in bounds)
        return
    for key, value in (*declared, *bounds):
        rank = order.rank(value)
        if rank is None:
            yield _problem(node, key, value, order.expected)
        elif rank.scale == "instant" and isinstance(node.stored, physical.Timestamp):
            yield _problem(node, key, value, "a timestamp without an offset, as the column has none")


def _problem(node: Node, key: str, value: Any, expected: str) -> Diagnostic:
    name = path_text(node.path)
    return Diagnostic(
        BAD_DECLARED,
        f"column {name}: {key} cannot be used, found {value!r}",
        path=name,
        expected=expected,
        found=repr(value),
        remedy="change the attribute in the manifest and apply it",
    )
