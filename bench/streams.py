"""Write a stream of small batches by the ways into a table, against `foreachBatch` that writes Parquet; and plan the
reading of many commits that wait.

`python -m bench.streams 10000` only plans that many.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.datasource import ReadAllAvailable

import lakebed
from bench.maintenance import build, timed
from bench.writes import COLUMNS, VALUES
from lakebed.data_source.data_source import LakebedDataSource

BATCHES = 20
ROWS_A_BATCH = 10_000
#: Commits of one file each that wait for a stream.
WAITING = 1_000


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median milliseconds a batch, as Spark tells them, of each way; the first batch of a query does not count."""
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    lake.register(spark)
    source = str(directory / "source")
    rows = spark.range(0, BATCHES * ROWS_A_BATCH, 1, BATCHES).selectExpr(*VALUES)
    rows.write.parquet(source)
    stream = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(source)
    for table in ("plain", "format", "keyed"):
        keys = {"primary_keys": ["k"], "options": {"bucket": "2"}} if table == "keyed" else {}
        lake.tables.create_table("bench", table, COLUMNS, **keys)
    numbers = count()

    def checkpoint() -> str:
        return str(directory / f"checkpoint-{next(numbers)}")

    def parquet(frame: Any, number: int) -> None:
        frame.write.mode("append").parquet(str(directory / "parquet"), compression="zstd")

    def written_by(table: str) -> Any:
        place = checkpoint()
        return lake.table(f"bench.{table}").stream_writer(stream, place, name=place)

    def by_format() -> Any:
        options = {"checkpointLocation": checkpoint(), "path": "bench.format"}
        return stream.writeStream.format("lakebed").options(**options)

    ways: dict[str, Callable[[], Any]] = {
        "foreachBatch parquet": lambda: stream.writeStream.foreachBatch(parquet).option(
            "checkpointLocation", checkpoint()
        ),
        "stream_writer": lambda: written_by("plain"),
        "stream_writer, keyed": lambda: written_by("keyed"),
        "format lakebed": by_format,
    }
    medians = {name: round(_milliseconds(way), 1) for name, way in ways.items()}
    base = medians["foreachBatch parquet"]
    over = {name: round(value - base, 1) for name, value in medians.items() if value != base}
    waiting = directory / "waiting"
    waiting.mkdir()
    return {
        "batches": BATCHES,
        "rows a batch": ROWS_A_BATCH,
        "milliseconds a batch": medians,
        "more": over,
        "waiting": plan_waiting(waiting, WAITING),
    }


def plan_waiting(directory: Path, commits: int) -> dict[str, Any]:
    """What it takes to plan one batch of all commits that wait, and a batch of the first hundred files."""
    build(directory, commits, commits)
    found: dict[str, Any] = {"commits": commits}
    for name, limits in (("all", {}), ("100 files", {"max-files-per-trigger": "100"})):
        given = {"path": "bench.files", "warehouse": str(directory / "warehouse"), "from-snapshot": "1", **limits}
        source = LakebedDataSource(given)
        reader: Any = source.streamReader(source.schema())
        start = reader.initialOffset()
        limit = reader.getDefaultReadLimit() if limits else ReadAllAvailable()
        end, found[f"{name}: admitted"] = timed(lambda r=reader, s=start, m=limit: r.latestOffset(s, m))
        _, found[f"{name}: planned"] = timed(lambda r=reader, s=start, e=end: r.partitions(s, e))
    both = found["all: admitted"], found["all: planned"]
    found["a commit"] = {
        "CPU milliseconds": round(sum(one["CPU seconds of the driver's Python"] for one in both) / commits * 1000, 2),
        "KB": round(sum(one["MB above what was there"] for one in both) / commits * 1024, 2),
    }
    return found


def _milliseconds(way: Callable[[], Any]) -> float:
    """Of the batches of a second query, when everything is warm."""
    for _ in range(2):
        query = way().trigger(availableNow=True).start()
        query.awaitTermination()
    told = [p.durationMs["triggerExecution"] for p in query.recentProgress if p.numInputRows]
    return statistics.median(told[1:])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        print(json.dumps(plan_waiting(Path(temporary), *map(int, sys.argv[1:])), indent=2))
