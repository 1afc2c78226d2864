"""Plan, count, commit to and look for orphans in tables of many manifests: no row is read or written.

`python -m bench.metadata WAREHOUSE WORK` does one of the works once, in a process of its own, and tells what it took.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
from bench.commits import ROWS, entries, storage_of
from bench.growth import growth
from bench.memory import peak_above, reset_peak
from lakebed.format.commit import commit
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.lake import wall_clock

#: How many files each manifest names.
FILES = 100
#: How many manifests the tables have, and how many of their newest snapshots are kept.
SIZES = {100: 40, 1_000: 381}
RUNS = 3
#: A commit must not merge manifests, so that the table has as many as there were commits.
OPTIONS = {"manifest.merge-min-count": "1000000", "manifest.full-compaction-threshold-size": "1 tb"}
WORKS = ("plan", "plan of a filter", "count", "commit on top", "orphans")
#: Of the entries that a filter leaves: one.
WHERE = f"id = {ROWS * FILES // 2}"


def build(warehouse: Path, manifests: int, snapshots: int) -> None:
    """A table of so many manifests, each of one commit, of which the newest snapshots are kept."""
    warehouse.mkdir(parents=True)
    table = lakebed.open(warehouse)
    table.tables.create_table("bench", "files", ["id BIGINT", "text STRING"], options=OPTIONS)
    storage = storage_of(warehouse)
    for number in range(manifests):
        added = entries(storage, range(number * FILES, (number + 1) * FILES))
        commit(storage, SnapshotChange(commit_user=uuid4().hex, added=added), clock=wall_clock)
    # As an expiry leaves them: files that were only added stay in use.
    root = Path(storage.path) / "snapshot"
    for number in range(1, manifests - snapshots + 1):
        (root / f"snapshot-{number}").unlink()
    (root / "EARLIEST").write_text(str(manifests - snapshots + 1))


def works(warehouse: Path) -> dict[str, Callable[[], int]]:
    """What is measured; each tells a number that is checked."""
    lake = lakebed.open(warehouse)
    storage = storage_of(warehouse)

    def commit_on_top() -> int:
        added = entries(storage, [10**9])
        return commit(storage, SnapshotChange(commit_user=uuid4().hex, added=added), clock=wall_clock).id

    return {
        "plan": lambda: len(lake.explain_read("bench.files").states[0].plan.files),
        "plan of a filter": lambda: len(lake.explain_read("bench.files", where=WHERE).states[0].plan.files),
        "count": lambda: lake.count("bench.files"),
        "commit on top": commit_on_top,
        "orphans": lambda: len(lake.table("bench.files").orphan_files(min_age=timedelta(0)).files),
    }


def measure(warehouse: Path, work: str) -> dict[str, float]:
    """One work once. What it imports is imported before, by the same work on a table of two manifests."""
    with tempfile.TemporaryDirectory() as directory:
        small = Path(directory) / "small"
        build(small, 2, 1)
        works(small)[work]()
    act = works(warehouse)[work]
    reset_peak()
    started, cpu = time.perf_counter(), time.process_time()
    found = act()
    return {
        "found": found,
        "seconds": time.perf_counter() - started,
        "CPU seconds": time.process_time() - cpu,
        "MB above what was there": peak_above(),
    }


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Medians of each work by the number of manifests, and how they grow with it."""
    del spark
    found: dict[str, dict[int, dict[str, float]]] = {work: {} for work in WORKS}
    for manifests, snapshots in SIZES.items():
        warehouse = directory / f"warehouse-{manifests}"
        started = time.perf_counter()
        build(warehouse, manifests, snapshots)
        took = time.perf_counter() - started
        print(f"{manifests} manifests, {snapshots} snapshots after {took:.0f} s", file=sys.stderr, flush=True)
        expected = {
            "plan": manifests * FILES,
            "plan of a filter": 1,
            "count": manifests * FILES * ROWS,
            "commit on top": manifests + 1,
            # The base list of each snapshot that is gone, and the delta lists of those.
            "orphans": 2 * (manifests - snapshots),
        }
        for work in WORKS:
            runs = [_in_process(directory, warehouse, work) for _ in range(RUNS)]
            if any(run["found"] != expected[work] for run in runs):
                raise SystemExit(f"{work}: {runs} instead of {expected[work]}")
            found[work][manifests] = {
                key: round(statistics.median(run[key] for run in runs), 3) for key in runs[0] if key != "found"
            }
    return {
        "entries in a manifest": FILES,
        "snapshots by manifests": {str(size): number for size, number in SIZES.items()},
        "by manifests": found,
        "growth": [
            growth(
                "files",
                f"metadata: {work}",
                "CPU s",
                {n * FILES: one["CPU seconds"] for n, one in by.items()},
            )
            for work, by in found.items()
        ],
    }


def _in_process(directory: Path, warehouse: Path, work: str) -> dict[str, float]:
    copy = warehouse
    if work == "commit on top":
        copy = Path(shutil.copytree(warehouse, directory / "copy"))
    command = [sys.executable, "-m", "bench.metadata", str(copy), work]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout
    if copy != warehouse:
        shutil.rmtree(copy)
    found: dict[str, float] = json.loads(told)
    return found


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), sys.argv[2])))
