"""A session that writes in plain steps and reads as it does for users, and a lake in a temporary directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from runtime.spark_settings import QUICK, WRITES, with_settings


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> Iterator[SparkSession]:
    """The rows are few: what reads them for a comparison does so `as_for_users`."""
    with with_settings(spark, {**WRITES, **QUICK, "spark.sql.shuffle.partitions": "1"}):
        yield spark


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    """An empty warehouse."""
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    return lakebed.open(warehouse)
