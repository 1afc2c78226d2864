"""`python -m bench [NAME...]`: run the measurements, print them, and write them to `bench/results.json`."""

from __future__ import annotations

import json
import platform
import sys
import tempfile
from pathlib import Path

import pyspark

from bench import (
    arrow_read,
    commands,
    commits,
    evolved_scan,
    ingest,
    maintenance,
    many_files,
    merge_on_read,
    metadata,
    pruning,
    schema_changes,
    streams,
    writes,
)
from lakebed.spark.session import local_session

MEASUREMENTS = {
    "arrow_read": arrow_read.run,
    "commands": commands.run,
    "commits": commits.run,
    "evolved_scan": evolved_scan.run,
    "ingest": ingest.run,
    "maintenance": maintenance.run,
    "many_files": many_files.run,
    "merge_on_read": merge_on_read.run,
    "metadata": metadata.run,
    "pruning": pruning.run,
    "schema_changes": schema_changes.run,
    "streams": streams.run,
    "writes": writes.run,
}
#: Those that need no Spark.
PLAIN = {"commands", "commits", "metadata", "schema_changes"}


def main(names: list[str]) -> None:
    """Each measurement in a directory of its own that is deleted afterwards, all in one Spark session."""
    needs_spark = not names or not PLAIN.issuperset(names)
    spark = local_session("lakebed-bench", cores="2") if needs_spark else None
    results: dict[str, object] = {
        "python": platform.python_version(),
        "pyspark": pyspark.__version__,
        "machine": platform.machine(),
        "cores": 2,
    }
    for name in names or MEASUREMENTS:
        with tempfile.TemporaryDirectory(prefix=f"lakebed-bench-{name}-") as directory:
            results[name] = MEASUREMENTS[name](spark, Path(directory))
            print(name, json.dumps(results[name], indent=2), flush=True)
    Path(__file__).with_name("results.json").write_text(json.dumps(results, indent=2) + "\n")
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
