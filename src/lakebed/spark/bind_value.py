"""Bind a value that an expression uses more than once."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F


def bind_value(value: Column, use: Callable[[Column], Column]) -> Column:
    """What `use` makes of a value that stands in the plan, and is computed, once, however often it is used.

    Slower than a column of a step of its own, for values that cannot have one.
    """
    return F.get(F.transform(F.array(value), use), F.lit(0))
