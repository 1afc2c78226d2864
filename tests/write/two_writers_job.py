"""Write two tables step by step, as one of two Spark applications that do so at once; say what was acknowledged.

`test_two_applications.py` runs it as a process, whose answers are lines of JSON: to a step and a number the snapshot
that was made, None where others were first; to `read` the rows that it sees; to `end` what it has counted.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

from pyspark.sql import SparkSession

import lakebed
from lakebed.errors import ConflictError
from lakebed.format import commit
from lakebed.row_level import row_level_commit
from runtime import spark_settings

#: How often a race for the next snapshot was lost, and how often rows that a change was about had changed.
COUNTS: Counter[str] = Counter()
SHAPE = "k string, v int"


def count_retries() -> None:
    """Count what the writes do on their way to an acknowledgement."""
    make, attempt = commit._Attempts.make, row_level_commit._Call.attempt

    def made(self: Any, *arguments: Any) -> Any:
        found = make(self, *arguments)
        COUNTS["lost races"] += found is None
        return found

    def attempted(self: Any, **arguments: Any) -> Any:
        try:
            return attempt(self, **arguments)
        except ConflictError:
            COUNTS["changes made again"] += 1
            raise

    commit._Attempts.make = made  # type: ignore[method-assign]
    row_level_commit._Call.attempt = attempted  # type: ignore[method-assign]


def main(name: str, warehouse: str) -> None:
    settings = {**spark_settings.settings(), **spark_settings.WRITES, **spark_settings.QUICK}
    settings |= {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "1"}
    spark = SparkSession.builder.master("local[1]").appName(name).config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    count_retries()
    lake = lakebed.open(warehouse)
    tell("ready")
    while (line := input()) != "end":
        tell(read(spark, lake) if line == "read" else write(spark, lake, name, *map(int, line.split())))
    tell(COUNTS)
    spark.stop()


def tell(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


def read(spark: SparkSession, lake: lakebed.Lake) -> dict[str, list[list[Any]]]:
    return {table: [list(row) for row in lake.read(spark, table).collect()] for table in ("db.log", "db.keyed")}


def write(spark: SparkSession, lake: lakebed.Lake, name: str, step: int, number: int) -> int | None:
    """Rows of this writer, rows that both write, or a count that both raise."""
    log, keyed, user = lake.table("db.log"), lake.table("db.keyed"), f"{name}-{number}"
    rise: dict[str, Any] = {"where": "k = 'count'", "set": {"v": "v + 1"}, "commit_user": user}
    try:
        match step:
            case 0:
                own = spark.createDataFrame([(user, number), (f"{user}!", number)], SHAPE)
                result = log.append(own, commit_user=user)
            case 1:
                both = spark.createDataFrame([(user, number), ("both", both_value(name, number))], SHAPE)
                result = keyed.upsert(both, commit_user=user)
            case 2:
                result = log.update(spark, **rise)
            case _:
                result = keyed.update(spark, **rise)
    except ConflictError:
        COUNTS["refused"] += 1
        return None
    return result.snapshot_id


def both_value(name: str, number: int) -> int:
    """A value that no other write has."""
    return number * 2 + (name == "a")


if __name__ == "__main__":
    main(*sys.argv[1:])
