"""A table on S3 is written by Spark's workers, for which Spark itself needs no connector."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import lakebed
from format.every_place import EVOLVING
from lakebed import Lake
from lakebed.data_source.data_source import LakebedDataSource, bound_source
from lakebed.data_source.read_options import Warehouse
from lakebed.errors import CorruptMetadataError, NotFoundError, UnsupportedError
from lakebed.evolve.schema_changes import AddColumn, RenameColumn
from lakebed.model import Extra, Field, Int64, List, Option, String, Struct
from lakebed.model.extra import SYSTEM_COLUMN
from lakebed.physical import parse
from lakebed.physical.paimon_types import BigInt
from store.s3_server import S3Server

BUCKET = "no-connector"


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    pytest.importorskip("moto", reason="needs moto")
    s3fs = pytest.importorskip("s3fs")
    with S3Server() as server:
        s3fs.S3FileSystem(**server.options, skip_instance_cache=True).mkdir(BUCKET)
        yield server


def put(server: S3Server, name: str, data: bytes) -> str:
    """The URL of a source on the store."""
    s3fs = pytest.importorskip("s3fs")
    s3fs.S3FileSystem(**server.options, skip_instance_cache=True).pipe_file(f"{BUCKET}/{name}", data)
    return f"s3://{BUCKET}/{name}"


def test_json_lines_and_parquet_are_ingested_from_where_they_lie(spark: SparkSession, server: S3Server) -> None:
    lake = lakebed.open(f"s3://{BUCKET}/sources", storage_options=server.options)
    lake.tables.create_table("db", "t", (Field("k", Int64()), Field("v", Option(String())), Field("day", String())))
    out = io.BytesIO()
    pq.write_table(pa.table({"k": pa.array([3, 4], pa.int32()), "v": ["c", None]}), out)
    put(server, "lines/day=1/a.json.gz", gzip.compress(b'{"k": 1, "v": "a"}\n{"k": 2, "v": "\xff"}\n[]\n'))
    put(server, "files/day=2/b.parquet", out.getvalue())
    results = [lake.ingest(spark, "db.t", f"s3://{BUCKET}/{name}") for name in ("lines", "files")]
    assert [(r.rows_written, r.rows_quarantined) for r in results] == [(1, 2), (2, 0)]
    rows = [(1, "a", "1"), (3, "c", "2"), (4, None, "2")]
    assert sorted(map(tuple, lake.read(spark, "db.t").collect())) == rows
    with pytest.raises(UnsupportedError, match="LB6462"):
        lake.ingest(spark, "db.t", put(server, "in/wide.csv", b"k,v,day\n1,a,1\n"), options={"multiLine": "true"})


def test_rows_are_put_once_and_nothing_is_listed_or_copied(spark: SparkSession, server: S3Server) -> None:
    lake = lakebed.open(f"s3://{BUCKET}/warehouse", storage_options=server.options)
    fields = (Field("p", String()), Field("k", Int64()), Field("v", Option(String())))
    lake.tables.create_table("db", "log", fields, partition_keys=["p"])
    lake.tables.create_table("db", "t", fields, primary_keys=["k"], options={"bucket": "2"})
    source = put(server, "in/a.csv", b"p,k,v\na,1,x\nb,2,\na,bad,y\n")
    log, keyed = lake.table("db.log"), lake.table("db.t")
    server.requests.clear()
    result = lake.ingest(spark, "db.log", source)
    assert (result.rows_written, result.rows_quarantined) == (2, 1)
    assert [bad.source_file for bad in lake.quarantine("db.log").rows(spark).collect()] == [source]
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


@pytest.fixture(scope="module")
def far(server: S3Server) -> Lake:
    return lakebed.open(f"s3://{BUCKET}/far", storage_options=server.options)


NAMES = ("k", "p", "v", "t", "l")
COLUMNS = "k bigint, p string, v int, t timestamp_ntz, l array<struct<a: string>>"
ITEMS = Field("l", Option(List(Option(Struct((Field("a", Option(String())),))))))
FIELDS = ("k BIGINT NOT NULL", "p STRING NOT NULL", "v INT", "t TIMESTAMP(6)", ITEMS)
AT = datetime(2024, 5, 1, 12, 0, 0, 123456)
ROWS = [
    (i, "ab"[i % 2], None if i == 3 else i, AT if i % 2 else None, [(f"x{i}",), None] if i else None) for i in range(6)
]
KINDS = {"append": {}, "vectors": {"deletion-vectors.enabled": "true"}, "keyed": {"bucket": "2"}}
#: Rows by their key.
Model = dict[int, dict[str, Any]]


def plain(value: Any) -> Any:
    return [None if item is None else tuple(item) for item in value] if isinstance(value, list) else value


def check(rows: DataFrame, model: Model) -> None:
    found = sorted((tuple(plain(value) for value in row) for row in rows.collect()), key=repr)
    assert found == sorted((tuple(row[name] for name in rows.columns) for row in model.values()), key=repr)


@pytest.mark.parametrize(
    ("kind", "format"),
    [("append", "parquet"), ("append", "orc"), ("vectors", "parquet"), ("keyed", "parquet"), ("keyed", "avro")],
)
def test_rows_are_read_and_changed_without_a_connector(spark: SparkSession, far: Lake, kind: str, format: str) -> None:
    name = f"{kind}_{format}"
    # Moments in ORC are read by Spark alone.
    names = [name for name in NAMES if format != "orc" or name != "t"]
    fields = [FIELDS[NAMES.index(name)] for name in names]
    keys = ["p", "k"] if kind == "keyed" else []
    options = {"file.format": format, **KINDS[kind]}
    far.tables.create_table("db", name, fields, primary_keys=keys, partition_keys=["p"], options=options)
    table = far.table(f"db.{name}")
    table.append(spark.createDataFrame(ROWS, COLUMNS).select(*names).coalesce(1))
    model: Model = {row[0]: dict(zip(NAMES, row, strict=True)) for row in ROWS}
    check(table.read(spark), model)
    assert table.count(spark=spark, where="v > 2") == 2

    assert table.update(spark, set={"v": "v + 10"}, where="k IN (1, 2)").rows_updated == 2
    assert table.delete(spark, where="v = 12 OR k = 5").rows_deleted == 2
    model[1]["v"] = 11
    del model[2], model[5]
    source = spark.createDataFrame([(1, "b", 7), (9, "a", 9)], "k bigint, p string, v int")
    merge = table.merge(spark, source, on="t.p = s.p AND t.k = s.k").when_matched_update()
    merged = merge.when_not_matched_insert().execute()
    assert (merged.rows_updated, merged.rows_inserted) == (1, 1)
    model[1]["v"] = 7
    model[9] = {"k": 9, "p": "a", "v": 9, "t": None, "l": None}
    # Columns of old files are found by their ids.
    far.tables.alter_table("db", name, [RenameColumn(("v",), "w"), AddColumn(("n",), BigInt())])
    check(table.read(spark), {k: {**row, "w": row["v"], "n": None} for k, row in model.items()})


def test_rows_are_numbered_without_a_connector(spark: SparkSession, far: Lake, tmp_path: Path) -> None:
    fields = (Field("n", Int64(), Extra({SYSTEM_COLUMN: "offset"})), Field("s", String()))
    far.tables.create_table("db", "numbered", fields)
    for run, text in enumerate("ab"):
        (tmp_path / f"{text}.csv").write_text("s\n" + f"{text}\n" * 3)
        far.ingest(spark, "db.numbered", str(tmp_path / f"{text}.csv"))
        assert far.count("db.numbered") == 3 * (run + 1)
    rows = sorted(map(tuple, far.read(spark, "db.numbered").collect()))
    assert rows == [(i, "aaabbb"[i]) for i in range(6)]
    assert far.orphan_files("db.numbered", min_age=timedelta(0)).files == ()


def test_blobs_are_written_and_read_without_a_connector(spark: SparkSession, far: Lake) -> None:
    far.tables.create_table("db", "blobs", [("k", parse("BIGINT")), ("x", parse("BLOB"))], options=EVOLVING)
    table = far.table("db.blobs")
    large = "cast(repeat('x', 9000000) AS binary)"
    rows = spark.sql(f"SELECT * FROM VALUES (1L, X'01'), (2L, null), (3L, {large}) AS t(k, x)").coalesce(1)
    assert table.append(rows).files_added == 2
    assert sorted(map(tuple, table.read(spark).collect())) == sorted(map(tuple, rows.collect()))
    places = table.read(spark, blobs="descriptor").where("k < 3")
    assert sorted(map(tuple, far.fetch_blobs(places, "x").collect())) == [(1, b"\1"), (2, None)]


def test_what_only_spark_reads_is_told_before_a_job(spark: SparkSession, far: Lake) -> None:
    far.tables.create_table("db", "moments", [FIELDS[0], FIELDS[3]], options={"file.format": "orc"})
    table = far.table("db.moments")
    table.append(spark.createDataFrame([(1, AT)], "k bigint, t timestamp_ntz"))
    with pytest.raises(UnsupportedError) as refused:
        table.read(spark)
    [problem] = refused.value.diagnostics
    assert problem.code == "LB5604"
    assert "connector" in (problem.remedy or "")
    assert table.count(spark=spark) == 1


@pytest.mark.parametrize("place", ["far", "near"])
def test_a_count_says_which_file_is_damaged_or_not_there(
    spark: SparkSession, far: Lake, tmp_path: Path, place: str
) -> None:
    lake, format = (far, "parquet") if place == "far" else (lakebed.open(tmp_path), "avro")
    lake.tables.create_table("db", "broken", [FIELDS[0], FIELDS[2]], options={"file.format": format})
    table = lake.table("db.broken")
    table.append(spark.createDataFrame([(1, 2), (2, 5)], "k bigint, v int").coalesce(1))
    [file] = [entry.name for entry in table.store.list(f"{table.table_path}/bucket-0") if format in entry.name]
    path = f"{table.table_path}/bucket-0/{file}"
    table.store.replace(path, table.store.read(path)[:-9])
    with pytest.raises(CorruptMetadataError, match=path) as refused:
        table.count(spark=spark, where="v > 3")
    assert refused.value.__suppress_context__
    if place == "far":
        table.store.delete(path)
        with pytest.raises(NotFoundError, match=path):
            table.count(spark=spark, where="v > 3")
