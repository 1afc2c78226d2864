"""Ingest a million rows of CSV and of JSON lines, without and with bad ones, against Spark's typed read and write."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakebed

ROWS = 1_000_000
RUNS = 3
BAD_EVERY = 20
COLUMNS = ("k BIGINT NOT NULL", "i INT", "name STRING", "x DOUBLE", "at TIMESTAMP(6)", "amount DECIMAL(18, 4)")
NATIVE = "k BIGINT, i INT, name STRING, x DOUBLE, at TIMESTAMP_NTZ, amount DECIMAL(18, 4)"
VALUES = (
    *("id as k", "cast(id % 1000 as int) as i", "concat('name-', id * 7919 % 100003) as name", "id * 0.37D as x"),
    "cast(timestamp_micros(1700000000000000 + id * 1000003) as timestamp_ntz) as at",
    "cast(id / 7 as decimal(18, 4)) as amount",
)


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of each, and the ratios."""
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    found: dict[str, Any] = {"rows": ROWS, "goal": "at most 1.6, with 5 % bad rows 2.2"}
    for kind, options in (("csv", {"header": "true"}), ("json", {})):
        found[kind] = _measure(spark, lake, directory, kind, options)
    return found


def _measure(spark: Any, lake: lakebed.Lake, directory: Path, kind: str, options: dict[str, str]) -> dict[str, Any]:
    rows = spark.range(0, ROWS, 1, 2).selectExpr(*VALUES)
    some_bad = rows.selectExpr("k", f"if(k % {BAD_EVERY} = 0, 'none', cast(i as string)) as i", *rows.columns[2:])
    sources = {name: str(directory / f"{name}.{kind}") for name in ("clean", "bad")}
    for name, frame in (("clean", rows), ("bad", some_bad)):
        frame.write.options(**options).format(kind).save(sources[name])
        lake.tables.create_table("bench", f"{kind}_{name}", COLUMNS)
    reader = spark.read.schema(NATIVE).options(**options).format(kind)

    def native() -> None:
        frame = reader.load(sources["clean"])
        frame.write.mode("overwrite").parquet(str(directory / "native"), compression="zstd")

    def ingest(name: str) -> None:
        lake.ingest(spark, f"bench.{kind}_{name}", sources[name], again=True)

    ways = {"spark": native, "clean": lambda: ingest("clean"), "bad": lambda: ingest("bad")}
    medians = _interleaved(ways)
    ratios = {name: round(medians[name] / medians["spark"], 2) for name in sources}
    return {"seconds": medians, "against spark": ratios}


def _interleaved(ways: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Median seconds of each, after one run that does not count."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(RUNS + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if number:
                times[name].append(time.perf_counter() - started)
    return {name: round(statistics.median(found), 2) for name, found in times.items()}
