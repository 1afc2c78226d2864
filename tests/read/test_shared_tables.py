"""Real tables that other implementations wrote, in every state that has a right answer, read as they must be."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import lakebed
from lakebed.errors import UnsupportedError
from lakebed.spark.spark_errors import spark_errors
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


#: Tables with a column that only Spark's own readers read as it is: moments and CHAR in ORC, late INT96.
REFUSED = {
    "orc__append_complex_build_in_fieldid",
    "orc__append_complex_data",
    "orc__append_with_multiple_ts_precision_and_timezone",
    "parquet__append_with_bloomfilter",
    "parquet__append_with_bsi_bitmap_bloomfilter",
}


@pytest.mark.parametrize("key", [key for key in KEYS if "@" not in key])
def test_workers_read_the_same_where_spark_has_no_connector(
    key: str, spark: Any, expected_tables: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.spark.file_rows.needs_workers", lambda *_: True)

    def read(table: ExpectedTable) -> list[Row]:
        lake = lakebed.open(table.warehouse)
        with spark_errors():
            return spark_rows(lake.read(spark, table.table, snapshot=table.snapshot, branch=table.branch))

    if key not in REFUSED:
        expected_tables(key, read, micros=True)
        return
    with pytest.raises(UnsupportedError) as refused:
        expected_tables(key, read, micros=True)
    assert refused.value.code == "LB5604"
