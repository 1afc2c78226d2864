"""A query of one file among 10,000 with different statistics, against a read of all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import lakebed
from lakebed.catalog import TableName
from lakebed.lake import wall_clock

FILES, ROWS, RUNS = 10_000, 3, 5
MANIFEST = """
kind: Table
version: 1
content:
  name: bench.ranges
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: text, type: {kind: Option, inner: String}}
"""


def build(directory: Path) -> lakebed.Lake:
    """A table of one snapshot; file n holds the ids from 3 n on."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from lakebed.format.commit import commit
    from lakebed.format.new_files import new_append_file
    from lakebed.format.snapshot_change import SnapshotChange
    from lakebed.format.statistics import parquet_statistics
    from lakebed.format.table_storage import TableStorage

    warehouse = directory / "warehouse"
    warehouse.mkdir(parents=True)
    lake = lakebed.open(warehouse)
    manifest = directory / "ranges.yaml"
    manifest.write_text(MANIFEST)
    lake.apply(lake.plan(manifest))
    schemas = lake.tables.get_schema_manager("bench", "ranges")
    newest = schemas.load_latest_schema()
    root = Path(lake.tables.table_path(TableName("bench", "ranges")))
    (root / "bucket-0").mkdir()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("text", pa.string())])
    files = []
    for number in range(FILES):
        path = root / "bucket-0" / f"data-{number:05}-0.parquet"
        ids = [ROWS * number + i for i in range(ROWS)]
        pq.write_table(pa.table({"id": ids, "text": ["a", "b", None]}, schema=schema), path)
        facts = parquet_statistics(lake.store, str(path), newest.fields, newest.options)
        files.append(
            new_append_file(
                newest, (), file_name=path.name, size=path.stat().st_size, rows=ROWS, stats=facts.stats, created=0
            )
        )
    storage = TableStorage(lake.store, str(root), schemas)
    commit(storage, SnapshotChange(commit_user=f"bench-{uuid4()}", added=tuple(files)), clock=wall_clock)
    return lake


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of the plan and of the query, and their ratios to those without a filter."""
    lake = build(directory)
    where = f"id = {ROWS * FILES // 2}"
    ways: dict[str, tuple[int, Callable[[], int]]] = {
        "plan without a filter": (FILES, lambda: len(lake.explain_read("bench.ranges").states[0].plan.files)),
        "plan with where=": (1, lambda: len(lake.explain_read("bench.ranges", where=where).states[0].plan.files)),
        "query with where=": (1, lambda: len(lake.read(spark, "bench.ranges", where=where).collect())),
        "query with .where()": (1, lambda: len(lake.read(spark, "bench.ranges").where(where).collect())),
        "count from metadata": (ROWS * FILES, lambda: lake.count("bench.ranges")),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(RUNS + 1):
        for name, (expected, way) in ways.items():
            started = time.perf_counter()
            found = way()
            if turn:
                times[name].append(time.perf_counter() - started)
            if found != expected:
                raise SystemExit(f"{name}: {found} instead of {expected}")
    medians = {name: statistics.median(found) for name, found in times.items()}
    return {
        "files": FILES,
        "seconds": {name: round(value, 3) for name, value in medians.items()},
        "plan with where= against one without": round(
            medians["plan with where="] / medians["plan without a filter"], 2
        ),
        "times faster than .where() after the read": round(
            medians["query with .where()"] / medians["query with where="], 1
        ),
    }
