"""What a user sees over Spark Connect whose workers run a bare Python; prints it as JSON.

`test_worker_python.py` runs it as a process, with the address of a server, that Python, and a directory for the
warehouse.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lakebed
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import LakebedError
from lakebed.spark.reach import check_reach
from lakebed.spark.spark_errors import spark_errors
from read.foreign_files import put_rows
from read.lakes import declare, manifest


def refusal(call: Callable[[], Any]) -> dict[str, Any]:
    """What of an error is seen; its code is None where there was none."""
    try:
        call()
    except LakebedError as error:
        [problem] = error.diagnostics
        printed = traceback.format_exc()
        trace = "\tat " in printed or "stacktrace" in printed or "During handling" in printed
        return {"code": problem.code, "message": problem.message, "remedy": problem.remedy, "trace": trace}
    return {"code": None}


def main(server: str, python: str, directory: Path) -> None:
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    declare(lake, manifest("{name: a, type: Int32}"))
    put_rows(lake, "db.t", "avro", [{"a": 1}])
    declare(lake, manifest("{name: a, type: Int32}").replace("db.t", "db.p"))
    put_rows(lake, "db.p", "parquet", [{"a": 1}])
    spark = SparkSession.builder.remote(server).getOrCreate()
    # For the workers of this session, as PYSPARK_PYTHON says it for those of a whole server.
    spark.conf.set("spark.sql.execution.pyspark.python", python)
    elsewhere = directory / "missing" / "a.parquet"
    seen = {
        "elsewhere": refusal(lambda: check_reach(spark, [str(elsewhere)])),
        "avro": refusal(lambda: lake.read(spark, "db.t")),
        "register": refusal(lambda: lake.register(spark)),
        "frame": refusal(lambda: lake.ingest(spark, "db.t", registered(spark, warehouse))),
        "scheme": refusal(lambda: check_reach(spark, ["s3://bucket/a.parquet"])),
        "parquet": refusal(lambda: lake.read(spark, "db.p").collect()),
        "ingest": refusal(lambda: lake.ingest(spark, "db.p", spark.createDataFrame([(2,)], "a int"))),
        "job": refusal(lambda: run_job(spark)),
    }
    print(json.dumps(seen))


def registered(spark: SparkSession, warehouse: Path) -> DataFrame:
    """A frame of the format whose source nobody has looked at."""
    spark.dataSource.register(LakebedDataSource)
    return spark.read.format("lakebed").option("warehouse", str(warehouse)).load("db.t")


def run_job(spark: SparkSession) -> None:
    """A job that fails, as it does in an ingest."""
    with spark_errors():
        spark.range(1).select(F.raise_error(F.lit("by design"))).collect()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
