"""Append ever more rows in a process of its own: what its Python takes, where a task may send it next to nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lakebed
from bench.memory import peak_above, reset_peak
from lakebed.spark.session import local_session

SIZES = (1_000_000, 4_000_000)
#: With more than this of all tasks together Spark ends the job: no rows come back.
MOST_RESULTS = "1m"


def run(directory: Path, columns: Sequence[str], values: tuple[str, ...]) -> dict[str, Any]:
    """Megabytes by rows."""
    found = {}
    for rows in SIZES:
        warehouse = directory / f"rows-{rows}"
        warehouse.mkdir()
        lakebed.open(warehouse).tables.create_table("bench", "rows", columns)
        command = [sys.executable, "-m", "bench.driver_memory", str(warehouse), str(rows), *values]
        environment = {
            **os.environ,
            "PYSPARK_SUBMIT_ARGS": f"--conf spark.driver.maxResultSize={MOST_RESULTS} pyspark-shell",
        }
        told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
        found[f"{rows} rows"] = json.loads(told.strip().splitlines()[-1])
    return {"MB above what was there": found, "all results of tasks": f"at most {MOST_RESULTS}"}


def measure(warehouse: str, rows: int, values: list[str]) -> float:
    """The most that this Python takes while it appends, above what it had after a first append."""
    spark = local_session("lakebed-bench-memory", cores="2", memory="1g")
    assert spark.conf.get("spark.driver.maxResultSize") == MOST_RESULTS
    table = lakebed.open(warehouse).table("bench.rows")
    table.append(spark.range(0, 1_000, 1, 4).selectExpr(*values))
    reset_peak()
    table.append(spark.range(0, rows, 1, 4).selectExpr(*values))
    return peak_above()


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3:])))
