"""Real tables that Java Paimon wrote, read as they must be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import lakebed
from referees.corpus import ExpectedTable
from referees.encoding import Row, spark_rows

KEYS = [
    "parquet__append_with_bitmap",
    "parquet__append_with_bitmap_no_embedding",
    "parquet__append_with_bitmap_v1",
    "parquet__append_with_bloomfilter",
    "parquet__append_with_bsi_bitmap_bloomfilter",
    "parquet__append_table_with_alter_table",
    "parquet__append_table_with_alter_table@1",
    "parquet__append_table_with_alter_table@2",
    "parquet__append_table_alter_table_with_cast@1",
    "parquet__append_table_alter_table_with_cast@2",
    "parquet__append_with_cast_timestamp",
    "java__e_parquet",
    "java__n_parquet",
]


@pytest.mark.parametrize("key", KEYS)
def test_rows_come_out_as_expected(key: str, spark: Any, expected_tables: Callable[..., None]) -> None:
    def read(table: ExpectedTable) -> list[Row]:
        lake = lakebed.open(table.warehouse)
        return spark_rows(lake.read(spark, table.table, snapshot=table.snapshot, branch=table.branch))

    expected_tables(key, read, micros=True)
