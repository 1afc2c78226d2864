"""Scan and aggregate 10 M rows over 5 schema versions, against the same files read raw by one Spark scan."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakebed

TABLE = "bench.events"
ROWS_PER_VERSION = 2_000_000
RUNS = 9

_HEAD = "kind: Table\nversion: 1\ncontent:\n  name: bench.events\n  schema:\n    fields:\n"
_ID = "      - {name: id, type: Int64}\n"
_A = "      - {name: a, type: Int64}\n"
_A2 = "      - {name: amount, type: Int64, extra: {lakebed.dev/renamedFrom: a}}\n"
_B = "      - {name: b, type: Int32}\n"
_B_WIDE = "      - {name: b, type: Int64}\n"
_TEXT = "      - {name: text, type: String}\n"
_C = "      - {name: c, type: Float64}\n"
_D = "      - {name: d, type: {kind: Option, inner: Int64}}\n"

#: The manifest of each version, and the rows that are written under it.
VERSIONS = (
    (_ID + _A + _B + _TEXT + _C, ("a", "cast(id % 1000 as int)", "")),
    (_ID + _A2 + _B + _TEXT + _C, ("amount", "cast(id % 1000 as int)", "")),
    (_ID + _A2 + _B_WIDE + _TEXT + _C, ("amount", "id % 1000", "")),
    (_ID + _A2 + _B_WIDE + _TEXT + _C + _D, ("amount", "id % 1000", ", id % 7 as d")),
    (_ID + _A2 + _B_WIDE + _TEXT + _D, ("amount", "id % 1000", ", id % 7 as d")),
)


def build(spark: Any, warehouse: Path) -> lakebed.Lake:
    """Write 2 M rows under each of the five versions."""
    warehouse.mkdir(parents=True)
    lake = lakebed.open(warehouse)
    for number, (fields, (amount, b, d)) in enumerate(VERSIONS):
        manifest = warehouse.parent / f"events-{number}.yaml"
        manifest.write_text(_HEAD + fields)
        plan = lake.plan(manifest)
        lake.apply(plan, allow=plan.leave_needed())
        c = "" if number == 4 else ", cast(id as double) / 3 as c"
        start = number * ROWS_PER_VERSION
        rows = spark.range(start, start + ROWS_PER_VERSION, 1, 4).selectExpr(
            "id", f"id * 3 as {amount}", f"{b} as b", "concat('text ', id % 5000) as text" + c + d
        )
        lake.ingest(spark, TABLE, rows)
    return lake


def evolved(lake: lakebed.Lake, spark: Any) -> list[Any]:
    """The query through Lakebed: five versions under the newest schema."""
    return _aggregate(lake.read(spark, TABLE))


def raw(spark: Any, files: list[str]) -> list[Any]:
    """The same query by hand: one scan of the same files that reads the same columns, renames folded by coalesce."""
    schema = "id bigint, a bigint, amount bigint, b bigint, text string, d bigint"
    frame = spark.read.schema(schema).parquet(*files)
    return _aggregate(frame.selectExpr("id", "coalesce(amount, a) as amount", "b", "text", "d"))


def _aggregate(frame: Any) -> list[Any]:
    rows: list[Any] = (
        frame.where("b >= 100")
        .groupBy("b")
        .agg({"amount": "sum", "d": "sum", "text": "max", "id": "count"})
        .selectExpr("sum(`sum(amount)`)", "sum(`sum(d)`)", "max(`max(text)`)", "sum(`count(id)`)")
        .collect()
    )
    return rows


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of both, interleaved, and their ratio."""
    lake = build(spark, directory / "warehouse")
    files = sorted(str(p) for p in (directory / "warehouse").rglob("data-*.parquet"))
    ways: dict[str, Callable[[], list[Any]]] = {
        "lakebed": lambda: evolved(lake, spark),
        "raw": lambda: raw(spark, files),
    }
    if ways["lakebed"]() != ways["raw"]():
        raise SystemExit("the two ways do not give the same answer")
    times: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(RUNS + 2):
        for name, way in ways.items():
            started = time.perf_counter()
            way()
            if number >= 2:
                times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "rows": ROWS_PER_VERSION * len(VERSIONS),
        "versions": len(VERSIONS),
        "seconds": {k: round(v, 3) for k, v in medians.items()},
        "ratio": round(medians["lakebed"] / medians["raw"], 3),
        "goal": "<= 1.10",
    }
