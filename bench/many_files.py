"""Turn a table of 10,000 files into a DataFrame, against `spark.read.parquet(*files)`."""

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

FILES = 10_000
THRESHOLD = "spark.sql.sources.parallelPartitionDiscovery.threshold"
SPARKS_DEFAULT = "32"
MANIFEST = """
kind: Table
version: 1
content:
  name: bench.files
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: text, type: {kind: Option, inner: String}}
"""


def build(directory: Path) -> tuple[lakebed.Lake, list[str]]:
    """A table whose one snapshot names 10,000 small files, each a copy of one Parquet file."""
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
    manifest = directory / "files.yaml"
    manifest.write_text(MANIFEST)
    lake.apply(lake.plan(manifest))
    name = TableName("bench", "files")
    root = Path(lake.tables.table_path(name))
    bucket = root / "bucket-0"
    bucket.mkdir()
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("text", pa.string())])
    first = directory / "one.parquet"
    pq.write_table(pa.table({"id": [1, 2, 3], "text": ["a", "b", None]}, schema=schema), first)
    content = first.read_bytes()
    names = [f"data-{uuid4()}-0.parquet" for _ in range(FILES)]
    for file_name in names:
        (bucket / file_name).write_bytes(content)
    schemas = lake.tables.get_schema_manager("bench", "files")
    newest = schemas.load_latest_schema()
    facts = parquet_statistics(lake.store, str(bucket / names[0]), newest.fields, newest.options)
    files = [
        new_append_file(newest, (), file_name=file_name, size=len(content), rows=3, stats=facts.stats, created=0)
        for file_name in names
    ]
    storage = TableStorage(lake.store, str(root), schemas)
    commit(storage, SnapshotChange(commit_user=f"bench-{uuid4()}", added=tuple(files)), clock=wall_clock)
    return lake, [str(bucket / n) for n in names]


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds until the DataFrame is there, and the ratios."""
    lake, files = build(directory)
    usual = spark.conf.get(THRESHOLD)
    spark.conf.set(THRESHOLD, SPARKS_DEFAULT)

    def raised() -> Any:
        spark.conf.set(THRESHOLD, "1000000")
        try:
            return spark.read.parquet(*files)
        finally:
            spark.conf.set(THRESHOLD, SPARKS_DEFAULT)

    ways: dict[str, tuple[int, Callable[[], Any]]] = {
        "lakebed": (7, lambda: lake.read(spark, "bench.files")),
        "spark, defaults": (3, lambda: spark.read.parquet(*files)),
        "spark, threshold raised": (5, raised),
    }
    medians = {}
    for name, (runs, way) in ways.items():
        way()
        times = []
        for _ in range(runs):
            started = time.perf_counter()
            frame = way()
            times.append(time.perf_counter() - started)
        medians[name] = statistics.median(times)
        if frame.count() != 3 * FILES:
            raise SystemExit(f"{name} does not see all rows")
    spark.conf.set(THRESHOLD, usual)
    return {
        "files": FILES,
        "seconds": {k: round(v, 3) for k, v in medians.items()},
        "times faster than Spark's defaults": round(medians["spark, defaults"] / medians["lakebed"], 1),
        "times faster than with the threshold raised": round(
            medians["spark, threshold raised"] / medians["lakebed"], 1
        ),
    }
