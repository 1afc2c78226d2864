"""Compact a table of 10,000 files, and expire its 1,000 snapshots: against plain Spark, and against bare deletes.

`python -m bench.maintenance 1000 100` is the same with fewer files and snapshots.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

import lakebed
from bench.memory import cpu_of_all, peak_above, reset_peak
from lakebed.format.commit import commit
from lakebed.format.live_files import plan_files
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.statistics import parquet_statistics
from lakebed.format.table_storage import TableStorage
from lakebed.lake import wall_clock
from lakebed.spark.session import local_session
from lakebed.table import Table

FILES, SNAPSHOTS, ROWS = 10_000, 1_000, 1_000
ALL = "CPU seconds of all processes"


def build(directory: Path, files: int, snapshots: int) -> Table:
    """A table to which each snapshot has added as many small files."""
    (directory / "warehouse").mkdir()
    lake = lakebed.open(directory / "warehouse")
    # The commits of this process are within an hour; what keeps snapshots is asked for.
    lake.tables.create_table("bench", "files", ["id BIGINT", "text STRING"])
    table = lake.table("bench.files")
    storage = TableStorage(table.store, table.table_path, table.schemas)
    bucket = Path(table.table_path) / "bucket-0"
    bucket.mkdir()
    one = directory / "one.parquet"
    numbers = range(ROWS)
    pq.write_table(pa.table({"id": pa.array(numbers), "text": [f"text {i}" for i in numbers]}), one)
    content, schema = one.read_bytes(), storage.schemas.load_latest_schema()
    stats = parquet_statistics(table.store, str(one), schema.fields, schema.options).stats
    for _ in range(snapshots):
        names = [f"data-{uuid4()}-0.parquet" for _ in range(files // snapshots)]
        for name in names:
            (bucket / name).write_bytes(content)
        added = [
            new_append_file(schema, (), file_name=n, size=len(content), rows=ROWS, stats=stats, created=0)
            for n in names
        ]
        commit(storage, SnapshotChange(commit_user=uuid4().hex, added=tuple(added)), clock=wall_clock)
    return table


def timed(act: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What an act gives, and what it took of this process and of all that it has started."""
    reset_peak()
    started, cpu, every = time.perf_counter(), time.process_time(), cpu_of_all()
    found = act()
    spent = time.process_time() - cpu
    return found, {
        "seconds": round(time.perf_counter() - started, 2),
        ALL: round(cpu_of_all() - every, 2),
        "CPU seconds of the driver's Python": round(spent, 2),
        "MB above what was there": peak_above(),
    }


def rewrite(spark: Any, paths: list[str], target: Path, count: int) -> None:
    """The rows of files in as many large ones, by Spark alone."""
    spark.conf.set("spark.sql.sources.parallelPartitionDiscovery.threshold", "1000000")
    try:
        spark.read.parquet(*paths).coalesce(count).write.parquet(str(target))
    finally:
        spark.conf.unset("spark.sql.sources.parallelPartitionDiscovery.threshold")


def delete_bare(directory: Path, sizes: list[int]) -> None:
    """Delete files of these sizes, whose paths are known."""
    for number in range(len(sizes)):
        os.unlink(directory / str(number))


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """The measurement at its full size."""
    return measure(spark, directory, FILES, SNAPSHOTS)


def measure(spark: Any, directory: Path, files: int, snapshots: int) -> dict[str, Any]:
    """What a compaction and an expiry take, and what the peers take."""
    started = time.perf_counter()
    table = build(directory, files, snapshots)
    print(f"{snapshots} snapshots after {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
    newest = table.snapshots.latest()
    assert newest is not None
    paths = [f.path for f in plan_files(table.store, table.table_path, newest, table.schema())]
    # What is read and written first also starts the workers and compiles.
    warm = directory / "warm"
    warm.mkdir()
    small = build(warm, 400, 4)
    small.compact(spark)
    rewrite(spark, [str(p) for p in Path(small.table_path).glob("bucket-0/*.parquet")], warm / "plain", 1)
    looked, look = timed(lambda: table.compact(spark, dry_run=True))
    compacted, compact = timed(lambda: table.compact(spark))
    assert compacted.files_removed == looked.files_removed == len(paths)
    # As many tasks write as many files.
    _, plain = timed(lambda: rewrite(spark, paths, directory / "plain", compacted.files_added))
    planned, plan = timed(lambda: table.expire(retain_min=1, older_than=timedelta(0), dry_run=True))
    root = Path(table.table_path)
    before = {p: p.stat().st_size for p in root.rglob("*") if p.is_file()}
    expired, expire = timed(lambda: table.expire(retain_min=1, older_than=timedelta(0)))
    gone = [size for path, size in before.items() if not path.exists()]
    assert (expired.data_files, len(expired.snapshots)) == (len(paths), snapshots), planned
    bare = directory / "bare"
    bare.mkdir()
    for number, size in enumerate(gone):
        (bare / str(number)).write_bytes(bytes(size))
    _, deleted = timed(lambda: delete_bare(bare, gone))
    return {
        "files": len(paths),
        "snapshots": snapshots,
        "compact, only looked": look,
        "compact": compact,
        "plain Spark rewrites the same rows": plain,
        "compact by plain Spark, CPU": round(compact[ALL] / plain[ALL], 2),
        "expire, only looked": plan,
        "expire": expire,
        f"delete {len(gone)} files bare": deleted,
        "expire, CPU milliseconds a snapshot": round(expire[ALL] / snapshots * 1000, 2),
        "expire by bare deletes, CPU": round(expire[ALL] / max(deleted[ALL], 0.01), 1),
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        session = local_session("lakebed-bench", cores="2")
        print(json.dumps(measure(session, Path(temporary), *map(int, sys.argv[1:])), indent=2))
        session.stop()
