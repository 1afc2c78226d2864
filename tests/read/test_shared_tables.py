"""Real tables that other implementations wrote, in every state that has a right answer, read as they must be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import lakebed
from referees.corpus import SHARED, ExpectedTable
from referees.encoding import Row, spark_rows
from runtime.spark_settings import as_for_users

EXPECTED = SHARED / "tables" / "expected"
KEYS = sorted(path.stem for path in EXPECTED.glob("*.json")) or ["none"]


@pytest.mark.parametrize("key", KEYS)
def test_rows_come_out_as_expected(key: str, spark: Any, expected_tables: Callable[..., None]) -> None:
    def read(table: ExpectedTable) -> list[Row]:
        lake = lakebed.open(table.warehouse)
        return spark_rows(lake.read(spark, table.table, snapshot=table.snapshot, branch=table.branch))

    # The files of older states are among those of the newest, or are like them.
    with as_for_users(spark) if "@" not in key else nullcontext():
        expected_tables(key, read, micros=True)
