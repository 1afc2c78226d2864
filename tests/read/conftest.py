"""A session whose queries are quick, and a lake in a temporary directory."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from read.lakes import empty_lake
from runtime import spark_settings


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, which interprets its queries, and reads files row by row.

    Where files of every kind are read, tests ask for `as_for_users`.
    """
    with spark_settings.quick_queries(spark):
        yield spark


@pytest.fixture(scope="module")
def as_for_users(spark: SparkSession) -> Iterator[None]:
    """From here to the end of the module Spark compiles queries, adapts plans and reads files in batches."""
    with spark_settings.as_for_users(spark):
        yield


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    """An empty warehouse."""
    return empty_lake(tmp_path)
