"""A session that interprets its queries, and a lake in a temporary directory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed import open as open_lake
from row_level.changed_tables import KINDS, Changed, Make
from runtime.spark_settings import WRITES, with_settings

#: No plan adapts itself, and what is brought together is one task: a query of a few rows is done sooner.
SETTINGS = {**WRITES, "spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "1"}


@pytest.fixture(scope="module")
def spark(spark: SparkSession) -> Iterator[SparkSession]:
    with with_settings(spark, SETTINGS):
        yield spark


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    warehouse = tmp_path / "warehouse"
    warehouse.mkdir()
    return open_lake(warehouse)


@pytest.fixture(scope="session")
def templates() -> dict[str, tuple[Path, Changed]]:
    """The tables that have been made, by their kinds."""
    return {}


@pytest.fixture
def make(
    spark: SparkSession,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    templates: dict[str, tuple[Path, Changed]],
) -> Make:
    """What makes a table: the first of a kind is written, the others are copies of it."""

    def made(kind: str) -> Changed:
        if kind not in templates:
            first = tmp_path_factory.mktemp("lake")
            templates[kind] = first, Changed.made(spark, open_lake(first), kind)
        first, template = templates[kind]
        place = tmp_path / f"lake-{tuple(KINDS).index(kind)}"
        shutil.copytree(first, place)
        return Changed(spark, open_lake(place), kind, list(template.rows))

    return made
