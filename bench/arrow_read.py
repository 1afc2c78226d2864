"""Read a table as Arrow batches without Spark: two columns against pypaimon, and ten rows from the shell."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench import evolved_scan
from bench.writes import REFEREES

RUNS = 7
COLUMNS = ["id", "amount"]
_SUMS = """
import sys, time
import pyarrow.compute as pc
def go():
    started = time.perf_counter()
    rows = read()
    sums = [pc.sum(rows[name]).as_py() for name in COLUMNS]
    return time.perf_counter() - started, sums
for line in sys.stdin:
    seconds, sums = go()
    print(seconds, *sums, flush=True)
"""
#: A program a way: for each line on standard input it reads, and prints the seconds and both sums.
OURS = """
import lakebed
table = lakebed.open(WAREHOUSE).table("bench.events")
def read():
    return table.to_arrow(columns=COLUMNS)
"""
THEIRS = """
from pypaimon import CatalogFactory
catalog = CatalogFactory.create({"warehouse": WAREHOUSE})
def read():
    builder = catalog.get_table("bench.events").new_read_builder().with_projection(COLUMNS)
    return builder.new_read().to_arrow(builder.new_scan().plan().splits())
"""


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of both ways, runs interleaved, and of a whole process of `lakebed read --limit 10`."""
    warehouse = str(evolved_scan.build(spark, directory / "warehouse", evolved_scan.ROWS_PER_VERSION).warehouse)
    programs = {"lakebed": (sys.executable, OURS), "pypaimon": (str(REFEREES), THEIRS)}
    started = {
        name: _start(python, f"COLUMNS, WAREHOUSE = {COLUMNS!r}, {warehouse!r}\n{text}{_SUMS}")
        for name, (python, text) in programs.items()
    }
    times: dict[str, list[float]] = {name: [] for name in started}
    for number in range(RUNS + 2):
        told = {name: _ask(process) for name, process in started.items()}
        if len({sums for _, sums in told.values()}) > 1:
            raise SystemExit(f"the two ways do not give the same answer: {told}")
        for name, (seconds, _) in told.items():
            if number >= 2:
                times[name].append(seconds)
    for process in started.values():
        process.communicate()
    medians = {name: round(statistics.median(found), 3) for name, found in times.items()}
    return {
        "rows": evolved_scan.ROWS_PER_VERSION * len(evolved_scan.VERSIONS),
        "sum of two columns, seconds": medians,
        "times faster than pypaimon": round(medians["pypaimon"] / medians["lakebed"], 2),
        "lakebed read --limit 10, seconds": _shell(warehouse, "auto"),
        "the same by Spark, seconds": _shell(warehouse, "spark", runs=2),
    }


def _start(python: str, program: str) -> subprocess.Popen[str]:
    return subprocess.Popen([python, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ask(process: subprocess.Popen[str]) -> tuple[float, str]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    seconds, _, sums = process.stdout.readline().strip().partition(" ")
    return float(seconds), sums


def _shell(warehouse: str, engine: str, runs: int = RUNS) -> float:
    words = ["--warehouse", warehouse, "read", "bench.events", "--limit", "10", "--engine", engine]
    times = []
    for _ in range(runs + 1):
        before = time.perf_counter()
        subprocess.run([sys.executable, "-m", "lakebed", *words], check=True, capture_output=True, env=os.environ)
        times.append(time.perf_counter() - before)
    return round(statistics.median(times[1:]), 2)
