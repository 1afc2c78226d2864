"""`python -m bench.measure NAME DIRECTORY RESULT [quick]`: run one measurement in this process.

Its result is written as JSON. Of `quick` runs only that they work is of interest: they
measure a hundredth of the rows and files.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

#: The measurements that start Spark in their process.
WITH_SPARK = {
    *("arrow_read", "evolved_scan", "ingest", "maintenance", "many_files"),
    *("merge_on_read", "pruning", "streams", "writes"),
}
#: The sizes of quick runs, in place of the modules' own.
QUICK: dict[str, dict[str, Any]] = {
    "arrow_read": {"RUNS": 1, "evolved_scan.ROWS_PER_VERSION": 2_000},
    "commands": {"RUNS": 1, "TABLES": (1, 10), "VALIDATED": 10},
    "commits": {"SIZES": (0, 500, 1_000), "STEP": 500, "NEW": 500},
    "evolved_scan": {"RUNS": 1, "ROWS_PER_VERSION": 2_000, "FEWER_ROWS": 1_000, "MANY": 4, "ROWS_OF_MANY": 1_000},
    "ingest": {"ROWS": 10_000, "writes.RUNS": 1},
    "maintenance": {"FILES": 200, "SNAPSHOTS": 10},
    "many_files": {"FILES": 100},
    "merge_on_read": {"SIZES": ((10_000, 3_000), (20_000, 6_000)), "RUNS": {10_000: 1, 20_000: 1}},
    "metadata": {"SIZES": {5: 3, 10: 4}, "RUNS": 1},
    "pruning": {"FILES": 100, "RUNS": 1},
    "schema_changes": {"CHANGES": 8, "RUNS": 1, "RETYPED": (10, 20), "VERSIONS": (5, 10)},
    "streams": {"BATCHES": 3, "ROWS_A_BATCH": 100, "WAITING": 10},
    "writes": {"ROWS": 20_000, "UPSERTED": 2_000, "RUNS": 1, "PEER_RUNS": 1, "driver_memory.SIZES": (1_000, 2_000)},
}


def make_quick(name: str) -> None:
    """Give the modules of a measurement small sizes."""
    for place, value in QUICK[name].items():
        module, _, constant = place.rpartition(".")
        found = importlib.import_module(f"bench.{module or name}")
        if not hasattr(found, constant):
            raise AttributeError(f"bench.{module or name} has no {constant}")
        setattr(found, constant, value)


def main(name: str, directory: str, result: str, *words: str) -> None:
    """Run the measurement in `directory`, and write its JSON to `result`."""
    if "quick" in words:
        make_quick(name)
    spark = None
    if name in WITH_SPARK:
        from lakebed.spark.session import local_session

        spark = local_session("lakebed-bench", cores="2")
    found = importlib.import_module(f"bench.{name}").run(spark, Path(directory))
    Path(result).write_text(json.dumps(found), encoding="utf-8")
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
