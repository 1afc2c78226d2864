"""`spark.read.format("lakebed")` and `to_arrow` give the rows of `lake.read`, for generated tables of every kind.

That they do so for the tables of others, or refuse them, is told with the data source and with Arrow.
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

from lakebed.data_source.data_source import PUSHDOWN, LakebedDataSource
from read.generated_tables import TABLES, Made, Where, make
from referees.encoding import arrow_rows, spark_rows

SEEDS = (1, 2)


def source_of(made: Made) -> LakebedDataSource:
    return LakebedDataSource({"path": "db.t", "warehouse": made.lake.warehouse, "push-filters": "true"})


def from_tasks(made: Made, where: Where | None = None) -> list[Any]:
    """The rows of all tasks, as Spark's workers make them; with a filter pushed, perhaps more than it lets through."""
    source = source_of(made)
    reader = source.reader(source.schema())
    if where is not None:
        list(reader.pushFilters(where.pushed))
    batches = [batch for task in reader.partitions() for batch in reader.read(task)]
    return arrow_rows(pa.Table.from_batches(batches)) if batches else []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", TABLES)
def test_tasks_give_the_rows_of_lake_read(spark: Any, tmp_path: Path, kind: str, seed: int) -> None:
    made = make(kind, seed, tmp_path)
    frame = made.lake.read(spark, "db.t")
    rows = spark_rows(frame)
    assert source_of(made).schema() == frame.schema
    assert sorted(map(repr, from_tasks(made))) == sorted(map(repr, rows))

    def left(found: list[Any], where: Where) -> list[str]:
        return sorted(repr(row) for row in found if where.lets_through(dict(zip(frame.columns, row, strict=True))))

    arrow = made.lake.table("db.t")
    assert sorted(map(repr, arrow_rows(arrow.to_arrow()))) == sorted(map(repr, rows))
    for where in made.wheres:
        assert left(from_tasks(made, where), where) == left(rows, where), where
        assert sorted(map(repr, arrow_rows(arrow.to_arrow(where=where.text)))) == left(rows, where), where
        found = sum(batch.num_rows for batch in arrow.to_batches(columns=[], where=where.text))
        assert found == len(left(rows, where)), where


def numbered(frames: list[DataFrame]) -> list[Row]:
    """The rows of several DataFrames by one query, as texts with the number of each."""
    texts = [frame.select(F.lit(i).alias("i"), F.to_json(F.struct("*")).alias("row")) for i, frame in enumerate(frames)]
    return sorted(reduce(DataFrame.union, texts).collect())


def test_the_format_gives_the_rows_of_lake_read(spark: Any, tmp_path: Path) -> None:
    tables = [make(kind, 3, tmp_path) for kind in TABLES]
    before = spark.conf.get(PUSHDOWN)
    try:
        spark.dataSource.register(LakebedDataSource)
        spark.conf.set(PUSHDOWN, "true")
        sources = [spark.read.format("lakebed").option("warehouse", made.lake.warehouse) for made in tables]
        found = [source.load("db.t").where(made.wheres[0].text) for source, made in zip(sources, tables, strict=True)]
        rows = numbered(found)
    finally:
        spark.conf.set(PUSHDOWN, before)
    assert rows == numbered([made.lake.read(spark, "db.t", where=made.wheres[0].text) for made in tables])
    assert len({row.i for row in rows}) > len(tables) / 2
