"""A small lake to ingest into, and settings of the session for one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from ingest.ingest_lake import SmallLake
from runtime.spark_settings import INTERPRETED, WRITES, with_settings


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, which interprets its queries.

    Where values are judged, or read from Parquet, tests ask for `generated_code`.
    """
    with with_settings(spark, WRITES):
        yield spark


@pytest.fixture(scope="module")
def generated_code(spark: SparkSession) -> Iterator[None]:
    """From here to the end of the module Spark compiles queries and reads files in batches, as it does for users."""
    with with_settings(spark, dict.fromkeys(INTERPRETED)):
        yield


@pytest.fixture
def lake(tmp_path: Path, spark: SparkSession) -> SmallLake:
    return SmallLake(tmp_path, spark)


@pytest.fixture
def lake_in(tmp_path: Path, spark: SparkSession) -> Callable[[str], SmallLake]:
    """`lake_in(zone)`: a lake of another time zone."""
    return lambda zone: SmallLake(tmp_path, spark, zone)


@pytest.fixture
def conf(spark: SparkSession) -> Iterator[Callable[[Mapping[str, str]], None]]:
    """`conf({key: value})`: settings of the session, for one test."""
    changed: dict[str, str | None] = {}

    def set_(settings: Mapping[str, str]) -> None:
        for key, value in settings.items():
            changed.setdefault(key, spark.conf.get(key, None))
            spark.conf.set(key, value)

    yield set_
    for key, value in changed.items():
        if value is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, value)
