"""Append rows against Spark's own Parquet writer, upsert against pypaimon, and tell what memory the driver needs."""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakebed
from bench import driver_memory

ROWS = 10_000_000
UPSERTED = 1_000_000
BUCKETS = 16
RUNS = 3
#: pypaimon takes half a minute each time.
PEER_RUNS = 1
PARTITIONS = 8
REFEREES = Path(__file__).parents[1] / ".venv-referees" / "bin" / "python"
COLUMNS = ("k BIGINT NOT NULL", "i INT", "name STRING", "x DOUBLE", "at TIMESTAMP(6)", "amount DECIMAL(18, 4)")
VALUES = (
    *("id as k", "cast(id % 1000 as int) as i", "concat('name-', id * 7919 % 100003) as name", "id * 0.37D as x"),
    "cast(timestamp_micros(1700000000000000 + id * 1000003) as timestamp_ntz) as at",
    "cast(id / 7 as decimal(18, 4)) as amount",
)
#: What pypaimon does, in an environment of its own: reads the same file, writes it, commits; prints seconds a run.
PEER = """
import json, sys, time
import pyarrow.parquet as pq
from pypaimon import CatalogFactory
warehouse, source, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
table = CatalogFactory.create({"warehouse": warehouse}).get_table("bench.peer")
times = []
for _ in range(runs + 1):
    started = time.perf_counter()
    builder = table.new_batch_write_builder()
    write, commit = builder.new_write(), builder.new_commit()
    write.write_arrow(pq.read_table(source))
    commit.commit(write.prepare_commit())
    write.close()
    commit.close()
    times.append(time.perf_counter() - started)
print(json.dumps(times[1:]))
"""


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of each, and the ratios."""
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    source = directory / "source"
    spark.range(0, ROWS, 1, 4).selectExpr(*VALUES, f"cast(id % {PARTITIONS} as int) as p").write.parquet(str(source))
    rows = spark.read.parquet(str(source))
    lake.tables.create_table("bench", "plain", [*COLUMNS, "p INT"])
    lake.tables.create_table("bench", "parts", [*COLUMNS, "p INT"], partition_keys=["p"])

    def native(partitioned: bool) -> None:
        target = str(directory / "native")
        if partitioned:
            rows.hint("rebalance", "p").write.mode("overwrite").partitionBy("p").parquet(target, compression="zstd")
        else:
            rows.write.mode("overwrite").parquet(target, compression="zstd")

    medians = interleaved(
        {
            "append": lambda: lake.table("bench.plain").append(rows),
            "spark": lambda: native(False),
            "append, partitioned": lambda: lake.table("bench.parts").append(rows),
            "spark, partitioned": lambda: native(True),
        }
    )
    return {
        "rows": ROWS,
        "seconds": medians,
        "append against spark": round(medians["append"] / medians["spark"], 2),
        "partitioned against spark": round(medians["append, partitioned"] / medians["spark, partitioned"], 2),
        "upsert": _upserts(spark, lake, directory),
        "memory of the driver": driver_memory.run(directory, COLUMNS, VALUES),
    }


def _upserts(spark: Any, lake: lakebed.Lake, directory: Path) -> dict[str, Any]:
    source = directory / "upserted"
    shuffled = spark.range(0, UPSERTED, 1, 1).selectExpr(f"id * 48271 % {UPSERTED} as id").selectExpr(*VALUES)
    shuffled.write.parquet(str(source))
    options = {"bucket": str(BUCKETS)}
    for name in ("keyed", "peer"):
        lake.tables.create_table("bench", name, COLUMNS, primary_keys=["k"], options=options)
    frame = spark.read.parquet(str(source))
    medians = interleaved({"lakebed": lambda: lake.table("bench.keyed").upsert(frame)})
    (file,) = source.glob("*.parquet")
    command = [str(REFEREES), "-c", PEER, str(lake.warehouse), str(file), str(PEER_RUNS)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    medians["pypaimon"] = round(statistics.median(json.loads(told.strip().splitlines()[-1])), 2)
    return {
        "rows": UPSERTED,
        "buckets": BUCKETS,
        "seconds": medians,
        "times faster than pypaimon": round(medians["pypaimon"] / medians["lakebed"], 2),
    }


def interleaved(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Median seconds of each, after one run that does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(RUNS + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if number:
                times[name].append(time.perf_counter() - started)
    return {name: round(statistics.median(found), 2) for name, found in times.items()}
