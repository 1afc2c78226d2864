"""Reads tables in a JVM of one zone and a session of another, and prints what came out; run in a process of its own."""

from __future__ import annotations

import json
import os
import sys


def main(zone: str, warehouse: str, tables: list[str]) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    import lakebed
    from referees.encoding import spark_rows
    from runtime.spark_settings import settings

    conf = {
        **settings(f"-Duser.timezone={zone}", time_zone="Asia/Tokyo"),
        # What a session could have set otherwise.
        "spark.sql.orc.impl": "hive",
        "spark.sql.sources.useV1SourceList": "",
        "spark.hadoop.orc.force.positional.evolution": "true",
        "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    }
    spark = SparkSession.builder.master("local[2]").config(map=conf).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    lake = lakebed.open(warehouse)
    out: dict[str, object] = {}
    for table in tables:
        name, _, where = table.partition("?")
        frame = lake.read(spark, name)
        try:
            out[table] = spark_rows((frame.where(where) if where else frame).orderBy("id"))
        except Exception as e:
            out[table] = str(e)
    sys.stdout.write(f"FOUND {json.dumps(out)}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
