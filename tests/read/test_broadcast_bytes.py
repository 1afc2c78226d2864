"""How much may be sent to every task: a share of the least memory that has to hold it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakebed.spark.row_merge.merge_onto_base import broadcast_bytes

GIB = 1 << 30


def session(**settings: str) -> Any:
    named = {f"spark.{key.replace('_', '.')}": value for key, value in settings.items()}
    return cast("Any", SimpleNamespace(conf=SimpleNamespace(get=lambda key, default=None: named.get(key, default))))


@pytest.mark.parametrize(
    ("settings", "memory"),
    [
        ({}, GIB),
        ({"driver_memory": "2g"}, GIB),
        ({"master": "local[2]", "driver_memory": "2g"}, 2 * GIB),
        ({"master": "local[2]", "driver_memory": "1536m", "executor_memory": "1g"}, GIB * 3 // 2),
        ({"master": "yarn", "driver_memory": "8g", "executor_memory": "4GB"}, 4 * GIB),
        ({"master": "yarn", "driver_memory": "512", "executor_memory": "1t"}, GIB // 2),
        ({"driver_memory": "a lot"}, 0),
    ],
)
def test_the_least_memory_counts(settings: dict[str, str], memory: int) -> None:
    assert broadcast_bytes(session(**settings)) == memory // 6
