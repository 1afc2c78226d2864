"""A table on S3 is written by Spark's workers, for which Spark itself needs no connector."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.data_source.data_source import LakebedDataSource, bound_source
from lakebed.data_source.read_options import Warehouse
from lakebed.model import Field, Int64, Option, String
from store.s3_server import S3Server

BUCKET = "no-connector"


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    pytest.importorskip("moto", reason="needs moto")
    s3fs = pytest.importorskip("s3fs")
    with S3Server() as server:
        s3fs.S3FileSystem(**server.options, skip_instance_cache=True).mkdir(BUCKET)
        yield server


def test_rows_are_put_once_and_nothing_is_listed_or_copied(
    spark: SparkSession, server: S3Server, tmp_path: Path
) -> None:
    lake = lakebed.open(f"s3://{BUCKET}/warehouse", storage_options=server.options)
    fields = (Field("p", String()), Field("k", Int64()), Field("v", Option(String())))
    lake.tables.create_table("db", "log", fields, partition_keys=["p"])
    lake.tables.create_table("db", "t", fields, primary_keys=["k"], options={"bucket": "2"})
    source = tmp_path / "a.csv"
    source.write_text("p,k,v\na,1,x\nb,2,\na,bad,y\n")
    log, keyed = lake.table("db.log"), lake.table("db.t")
    server.requests.clear()
    result = lake.ingest(spark, "db.log", str(source))
    assert (result.rows_written, result.rows_quarantined) == (2, 1)
    files = [(method, path) for method, path in server.requests if "/db.db/log/p=" in path]
    puts = [path for method, path in files if method == "PUT"]
    assert len(puts) == len(set(puts)) == 2
    assert {method for method, _ in files} <= {"PUT", "HEAD"}
    columns = "p string, k bigint, v string"
    keyed.append(spark.createDataFrame([("a", 1, "old"), ("b", 2, "old")], columns))
    keyed.upsert(spark.createDataFrame([("a", 1, "new"), ("c", 3, None)], columns))
    log.overwrite(spark.createDataFrame([("b", 20, "new")], columns))
    spark.dataSource.register(
        bound_source(Warehouse(lake.warehouse, storage_options=server.options), pushes_filters=False)
    )
    try:
        found = {name: spark.read.format("lakebed").load(name).collect() for name in ("db.log", "db.t")}
    finally:
        spark.dataSource.register(LakebedDataSource)
    assert sorted(map(tuple, found["db.log"])) == [("a", 1, "x"), ("b", 20, "new")]
    assert sorted(map(tuple, found["db.t"])) == [("a", 1, "new"), ("b", 2, "old"), ("c", 3, None)]
    assert log.truncate().rows_removed == 2
