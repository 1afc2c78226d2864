"""Commit files to tables of more and more live files: seconds of a processor and memory, each in a process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
from bench.growth import growth
from bench.memory import peak_above, reset_peak
from lakebed.format.commit import commit
from lakebed.format.manifest import ColumnStatistics, Kind, ManifestEntry, SimpleStats
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_storage import TableStorage
from lakebed.lake import wall_clock

SIZES = (0, 10_000, 100_000, 1_000_000)
#: As many files come with one commit while a table grows.
STEP = 10_000
NEW, GONE = 10_000, 100
ROWS = 1_000


def storage_of(warehouse: Path) -> TableStorage:
    """The table of the lake."""
    table = lakebed.open(warehouse).table("bench.files")
    return TableStorage(table.store, table.table_path, table.schemas)


def entries(storage: TableStorage, numbers: Sequence[int]) -> tuple[ManifestEntry, ...]:
    """Files that are described only, each with statistics of its own."""
    schema = storage.schemas.load_latest_schema()
    types = [f.type for f in schema.fields]
    found = []
    for i in numbers:
        bounds = [ColumnStatistics(i * ROWS, (i + 1) * ROWS - 1, 0), ColumnStatistics(f"text {i}", f"text {i}x", 3)]
        name = f"data-{i:032x}-0.parquet"
        stats = SimpleStats.of(types, bounds)
        found.append(new_append_file(schema, (), file_name=name, size=12_345, rows=ROWS, stats=stats, created=0))
    return tuple(found)


def grow(storage: TableStorage, live: int, wanted: int) -> None:
    """Commit files until so many are live."""
    for first in range(live, wanted, STEP):
        added = entries(storage, range(first, first + STEP))
        commit(storage, SnapshotChange(commit_user=uuid4().hex, added=added), clock=wall_clock)


def measure(warehouse: Path, live: int, new: int, gone: int) -> dict[str, float]:
    """One commit of new files, and of files that go."""
    storage = storage_of(warehouse)
    added = entries(storage, range(live, live + new))
    # Files of all commits go.
    going = entries(storage, range(0, live, live // gone)[:gone]) if gone else ()
    deleted = tuple(replace(entry, kind=Kind.DELETE) for entry in going)
    planned = storage.snapshots.latest()
    change = SnapshotChange(commit_user=uuid4().hex, added=added, deleted=deleted, planned_on=planned)
    reset_peak()
    started, cpu = time.perf_counter(), time.process_time()
    commit(storage, change, clock=wall_clock)
    spent = time.process_time() - cpu
    return {
        "seconds": round(time.perf_counter() - started, 3),
        "CPU seconds": round(spent, 3),
        "MB above what was there": peak_above(),
    }


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """What a commit costs, by the files that are live before it."""
    del spark
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lakebed.open(warehouse).tables.create_table("bench", "files", ["id BIGINT", "text STRING"])
    storage, live = storage_of(warehouse), 0
    kinds = {f"{NEW} new files": (NEW, 0), "1 new file": (1, 0), f"{GONE} files go": (0, GONE)}
    found: dict[str, dict[str, Any]] = {kind: {} for kind in kinds}
    for size in SIZES:
        started = time.perf_counter()
        grow(storage, live, size)
        live = size
        print(f"{size} live files after {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
        for kind, (new, gone) in kinds.items():
            if size or new:
                found[kind][f"on {size}"] = _in_process(directory, warehouse, size, new, gone)
    grown = {kind: {size: by[f"on {size}"]["CPU seconds"] for size in SIZES if size} for kind, by in found.items()}
    return {
        **found,
        "growth": [growth("files", f"commit: {kind}", "CPU s", by) for kind, by in grown.items()],
    }


def _in_process(directory: Path, warehouse: Path, *numbers: int) -> dict[str, float]:
    copy = shutil.copytree(warehouse, directory / "copy")
    command = [sys.executable, "-m", "bench.commits", str(copy), *map(str, numbers)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ)).stdout
    shutil.rmtree(copy)
    found: dict[str, float] = json.loads(told)
    return found


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), *map(int, sys.argv[2:]))))
