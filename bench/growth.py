"""Tell how a cost grows: the exponent of a power law through measured sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def exponent(costs: Mapping[int, float]) -> float:
    """The slope of a least-squares line through the logarithms: 1 is linear in the size, 2 its square.

    `costs` are seconds, or anything else above 0, by size.
    """
    points = [(math.log(size), math.log(max(cost, 1e-4))) for size, cost in costs.items()]
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    over = sum((a - x) * (b - y) for a, b in points)
    return round(over / sum((a - x) ** 2 for a, _ in points), 2)


def growth(grown: str, what: str, unit: str, costs: Mapping[int, float]) -> dict[str, Any]:
    """How the seconds of a work grow with `grown`: rows, files, versions or columns. A report takes all of these."""
    by = {str(size): float(f"{cost:.3g}") for size, cost in costs.items()}
    return {"with": grown, "what": what, "unit": unit, "by": by, "exponent": exponent(costs)}
