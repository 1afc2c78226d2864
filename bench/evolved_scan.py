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

C = "cast(id as double) / 3 as c"
D = "id % 7 as d"

#: The manifest of each version, and the rows that are written under it.
VERSIONS = (
    (_ID + _A + _B + _TEXT + _C, ("a", "cast(id % 1000 as int)", (C,))),
    (_ID + _A2 + _B + _TEXT + _C, ("amount", "cast(id % 1000 as int)", (C,))),
    (_ID + _A2 + _B_WIDE + _TEXT + _C, ("amount", "id % 1000", (C,))),
    (_ID + _A2 + _B_WIDE + _TEXT + _C + _D, ("amount", "id % 1000", (C, D))),
    (_ID + _A2 + _B_WIDE + _TEXT + _D, ("amount", "id % 1000", (D,))),
)


def build(spark: Any, warehouse: Path) -> lakebed.Lake:
    """Write 2 M rows under each of the five versions."""
    warehouse.mkdir(parents=True)
    lake = lakebed.open(warehouse)
    for number, (fields, (amount, b, more)) in enumerate(VERSIONS):
        manifest = warehouse.parent / f"events-{number}.yaml"
        manifest.write_text(_HEAD + fields)
        plan = lake.plan(manifest)
        lake.apply(plan, allow=plan.leave_needed())
        columns = ["id", f"id * 3 as {amount}", f"{b} as b", "concat('text ', id % 5000) as text", *more]
        start = number * ROWS_PER_VERSION
        rows = spark.range(start, start + ROWS_PER_VERSION, 1, 4).selectExpr(*columns)
        lake.ingest(spark, TABLE, rows)
    return lake


Query = Callable[[Any], list[Any]]


def evolved_columns(frame: Any) -> list[Any]:
    """A query over a renamed, a widened and an added column."""
    return list(
        frame.where("b >= 100")
        .groupBy("b")
        .agg({"amount": "sum", "d": "sum", "text": "max", "id": "count"})
        .selectExpr("sum(`sum(amount)`)", "sum(`sum(d)`)", "max(`max(text)`)", "sum(`count(id)`)")
        .collect()
    )


def unchanged_columns(frame: Any) -> list[Any]:
    """A query over columns that all versions have in common."""
    return list(
        frame.where("text > 'text 2'").groupBy("text").agg({"id": "sum"}).selectExpr("sum(`sum(id)`)").collect()
    )


def raw_for_evolved(spark: Any, files: list[str]) -> Any:
    """One scan of the same files for the columns under all their names; the rename is folded by hand."""
    schema = "id bigint, a bigint, amount bigint, b bigint, text string, d bigint"
    frame = spark.read.schema(schema).parquet(*files)
    return frame.selectExpr("id", "coalesce(amount, a) as amount", "b", "text", "d")


def raw_for_unchanged(spark: Any, files: list[str]) -> Any:
    """One scan of the same files for the two columns."""
    return spark.read.schema("id bigint, text string").parquet(*files)


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of both ways for both queries, runs interleaved, and the ratios."""
    lake = build(spark, directory / "warehouse")
    files = sorted(str(p) for p in (directory / "warehouse").rglob("data-*.parquet"))
    results: dict[str, Any] = {"rows": ROWS_PER_VERSION * len(VERSIONS), "versions": len(VERSIONS), "goal": "<= 1.10"}
    for name, query, raw in (
        ("evolved columns", evolved_columns, raw_for_evolved),
        ("unchanged columns", unchanged_columns, raw_for_unchanged),
    ):
        results[name] = _compare(query, lambda: lake.read(spark, TABLE), lambda raw=raw: raw(spark, files))
    return results


def _compare(query: Query, lakebed_frame: Callable[[], Any], raw_frame: Callable[[], Any]) -> dict[str, Any]:
    frames = {"lakebed": lakebed_frame, "raw": raw_frame}
    if query(lakebed_frame()) != query(raw_frame()):
        raise SystemExit("the two ways do not give the same answer")
    times: dict[str, list[float]] = {name: [] for name in frames}
    for number in range(RUNS + 2):
        for name, frame in frames.items():
            started = time.perf_counter()
            query(frame())
            if number >= 2:
                times[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(values) for name, values in times.items()}
    return {
        "seconds": {k: round(v, 3) for k, v in medians.items()},
        "ratio": round(medians["lakebed"] / medians["raw"], 3),
    }
