"""Ingest, evolve and read over Spark Connect; prints what it saw as JSON.

`test_connect.py` runs it as a process, with the address of a server and a directory for the warehouse.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.errors.exceptions.connect import SparkConnectException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import lakebed
from lakebed.data_source.data_source import register_source
from lakebed.data_source.read_options import Warehouse
from lakebed.model import Field, Int32, Int64, Option
from lakebed.physical import parse
from lakebed.spark.row_bytes import bucket_of, row_bytes

FIRST = """
kind: Table
version: 1
content:
  name: db.t
  partitionKeys: [p]
  schema:
    fields:
      - {name: p, type: {kind: Option, inner: String}}
      - {name: k, type: Int32}
      - {name: at, type: {kind: Timestamp, unit: Microsecond}}
      - {name: s, type: {kind: Option, inner: {kind: Struct, fields: [{name: x, type: Int32}]}}}
"""
RENAMED = "{name: key, type: Int64, extra: {lakebed.dev/renamedFrom: k}}"
RENAMED_MEMBER = "{name: y, type: Int32, extra: {lakebed.dev/renamedFrom: x}}"
SECOND = FIRST.replace("{name: k, type: Int32}", RENAMED).replace("{name: x, type: Int32}", RENAMED_MEMBER)
GOOD = '{"p":"a","k":1,"at":"2024-01-01T00:00:00","s":{"x":1}}'
BAD = '{"p":null,"k":"bad","at":"2024-01-01T00:00:00Z"}'
LATER = '{"p":null,"key":5000000000,"at":"2024-07-01 12:00:00.123456","s":{"y":2}}'

NUMBERED = """
kind: Table
version: 1
content:
  name: db.numbered
  systemColumns: kamu
  schema: {fields: [{name: city, type: String}, {name: n, type: Int32}]}
"""


def changed_rows(spark: SparkSession, lake: lakebed.Lake) -> list[list[object]]:
    """What a delete, an update and a merge say, and the rows that are left, of tables with and without a key."""
    told: list[list[object]] = []
    keyed = {"primary_keys": ["k"], "options": {"dynamic-bucket.target-row-num": "3"}}
    kinds: dict[str, dict[str, Any]] = {"plain": {}, "keyed": keyed}
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    for name, parts in kinds.items():
        lake.tables.create_table("db", name, (Field("k", Int64()), Field("v", Option(Int32()))), **parts)
        lake.ingest(spark, f"db.{name}", spark.range(6).selectExpr("id AS k", "cast(id AS int) AS v"))
        table = lake.table(f"db.{name}")
        deleted = table.delete(spark, where="v % 4 = 1").rows_deleted
        updated = table.update(spark, where="k = 2", set={"v": "v * 10"}).rows_updated
        source = spark.range(3, 8, 3).selectExpr("id AS k", "-1 AS v")
        merge = table.merge(spark, source, on="t.k = s.k").when_matched_update().when_not_matched_insert()
        merged = merge.execute()
        rows = sorted(list(row) for row in table.read(spark).collect())
        told.append([deleted, updated, merged.rows_updated, merged.rows_inserted, rows])
    return told


def replayed_rows(spark: SparkSession, lake: lakebed.Lake) -> list[object]:
    """What a replay of the bad row of a table with numbered records says, and the row."""
    done = lake.quarantine("db.numbered").replay(spark, options={"groupingSeparator": "_"})
    rows = lake.read(spark, "db.numbered").where("city = 'b'").select("offset", "n").collect()
    return [done.rows_chosen, done.rows_replayed, [list(row) for row in rows]]


def written_rows(spark: SparkSession, lake: lakebed.Lake) -> list[list[Any]] | str:
    """The rows that `df.write.format("lakebed")` has written, or the code by which it is refused."""
    lake.tables.create_table("db", "written", ["k BIGINT NOT NULL", "at TIMESTAMP(6)"])
    for mode in ("overwrite", "append"):
        rows = spark.sql("SELECT timestamp_ntz'2024-07-01 01:02:03' AS at, 7 AS k")
        try:
            rows.write.format("lakebed").mode(mode).save("db.written")
        except SparkConnectException as error:
            return "LB5608" if "LB5608" in str(error) else str(error)
    written = lake.read(spark, "db.written").selectExpr("k", "cast(at AS string)")
    return [list(row) for row in written.collect()]


def streamed_rows(spark: SparkSession, lake: lakebed.Lake, directory: Path) -> list[Any]:
    """The rows, good and bad, of a stream of two files; the server's Python writes them."""
    lake.tables.create_table("db", "streamed", [Field("k", Int64()), Field("v", Option(Int32()))])
    for name, text in (("a.csv", "1,10\nx,1\n"), ("b.csv", "2,20\n")):
        (directory / "stream").mkdir(exist_ok=True)
        (directory / "stream" / name).write_text(text)
    stream = spark.readStream.schema("k string, v string").csv(str(directory / "stream"))
    for _ in range(2):
        writer = lake.table("db.streamed").stream_writer(stream, str(directory / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        for name in ("0", ".0.crc"):
            (directory / "checkpoint" / "commits" / name).unlink()
    rows = sorted(list(row) for row in lake.read(spark, "db.streamed").collect())
    return [rows, lake.read(spark, "db.streamed__quarantine").count()]


def main(server: str, directory: Path) -> None:
    spark = SparkSession.builder.remote(server).getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    manifest = directory / "t.yaml"
    results = []
    for text, rows in ((FIRST, [GOOD, BAD]), (SECOND, [LATER])):
        manifest.write_text(text)
        lake.apply(lake.plan(manifest))
        source = directory / f"{len(results)}.jsonl"
        source.write_text("\n".join(rows) + "\n")
        results.append(lake.ingest(spark, "db.t", str(source)).to_json())
    manifest.write_text(NUMBERED)
    lake.apply(lake.plan(manifest))
    for name, rows in (("0.csv", ["city,n", "a,1", "b,4_000", '"c",2']), ("n=3/1.csv", ["city", "d"])):
        source = directory / name
        source.parent.mkdir(exist_ok=True)
        source.write_text("\n".join(rows) + "\n")
        lake.ingest(spark, "db.numbered", str(source))
    numbered = lake.read(spark, "db.numbered").select("offset", "op", "city", "n").orderBy("offset")
    key, types = [numbered["city"], numbered["n"]], [parse("STRING"), parse("INT")]
    binary = numbered.select(F.hex(row_bytes(key, types, prefix=True)), bucket_of(key, types, 97, "default"))
    frame = lake.read(spark, "db.t")
    shown = "date_format(at, 'yyyy-MM-dd HH:mm:ss.SSSSSS') as at"
    seen = frame.selectExpr("p", "key", shown, "s.y as y").orderBy("key")
    bad = lake.read(spark, "db.t__quarantine").selectExpr("problems[0].path", "raw")
    changed = changed_rows(spark, lake)
    register_source(spark, Warehouse(lake.warehouse))
    by_format = spark.read.format("lakebed").schema("key BIGINT, s STRUCT<y: INT>").load("db.t")
    print(
        json.dumps(
            {
                "format": [[row.key, row.s.y] for row in by_format.where("key = 1").collect()],
                "written": written_rows(spark, lake),
                "changed": changed,
                "streamed": streamed_rows(spark, lake, directory),
                "type": type(spark).__module__,
                "ingested": [[r["rows_written"], r["rows_quarantined"]] for r in results],
                "rows": [list(row) for row in seen.collect()],
                "filtered": frame.where("key > 1 and p is null").count(),
                "again": frame.count(),
                "bad": [list(row) for row in bad.collect()],
                "columns": frame.dtypes,
                "binary": [list(row) for row in binary.collect()],
                "numbered": [list(row) for row in numbered.collect()],
                "replayed": replayed_rows(spark, lake),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
