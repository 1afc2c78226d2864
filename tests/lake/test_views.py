"""Tables as temporary views, so that SQL reaches them by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.catalog import TableName
from lakebed.errors import LakebedWarning, UsageError


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    return lakebed.open(tmp_path)


def make(lake: lakebed.Lake, database: str, table: str) -> None:
    lake.tables.create_database(database, ignore_if_exists=True)
    lake.tables.create_table(database, table, [("k", "BIGINT")])


def test_every_table_is_a_view(lake: lakebed.Lake, spark: Any) -> None:
    make(lake, "nyc", "flights")
    make(lake, "nyc", "it's a`b.c")
    make(lake, "old", "flights")
    lake.ingest(spark, "nyc.flights", spark.createDataFrame([(7,)], "k bigint"))
    views = lakebed.register(spark, lake.warehouse)
    assert views == lake.views(spark)
    assert views == ("nyc.flights", "nyc.`it's a``b.c`", "old.flights")
    assert spark.sql("SELECT k FROM `nyc.flights`").collect() == [(7,)]
    assert spark.sql("SELECT k FROM `nyc.``it's a````b.c```").collect() == []
    assert lake.views(spark, "nyc") == ("flights", "it's a`b.c")
    joined = "SELECT f.k FROM flights f LEFT JOIN `it's a``b.c` c ON f.k = c.k LEFT JOIN `old.flights` o ON f.k = o.k"
    assert spark.sql(joined).collect() == [(7,)]
    for view in (*views, "flights", "it's a`b.c"):
        spark.catalog.dropTempView(view)


def test_what_would_be_one_view_is_refused(lake: lakebed.Lake, spark: Any) -> None:
    make(lake, "nyc", "t")
    make(lake, "nyc", "T")
    with pytest.raises(UsageError, match="LB5598"):
        lake.views(spark)


def test_a_table_that_cannot_be_read_is_left_out(lake: lakebed.Lake, spark: Any) -> None:
    make(lake, "nyc", "bad")
    make(lake, "nyc", "good")
    Path(lake.tables.table_path(TableName("nyc", "bad")), "schema", "schema-0").write_text("{", encoding="utf-8")
    with pytest.warns(LakebedWarning, match="LB5599"):
        assert lake.views(spark, "nyc") == ("good",)
    spark.catalog.dropTempView("good")
