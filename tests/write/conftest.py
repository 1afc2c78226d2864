"""A session that interprets its queries, and a lake in a temporary directory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed import open as open_lake
from runtime.spark_settings import WRITES, with_settings


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> Iterator[SparkSession]:
    with with_settings(spark, WRITES):
        yield spark


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    return open_lake(warehouse)
