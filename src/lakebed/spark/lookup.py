"""Constants by number: what the driver knows of each file, as a column."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F


def by_number(element: str, values: Sequence[Any]) -> Callable[[Column], Column]:
    """The value of a number, counted from 0. `values` are JSON values of the Spark type `element`."""
    table = F.from_json(F.lit(json.dumps(values)), f"array<{element}>")
    return lambda number: F.element_at(table, number + F.lit(1))
