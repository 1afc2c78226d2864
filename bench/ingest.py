"""Ingest a million rows of CSV and of JSON lines, without and with bad ones, against Spark's typed read and write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lakebed
from bench.writes import COLUMNS, VALUES, interleaved

ROWS = 1_000_000
BAD_EVERY = 20
NATIVE = "k BIGINT, i INT, name STRING, x DOUBLE, at TIMESTAMP_NTZ, amount DECIMAL(18, 4)"


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median seconds of each, and the ratios."""
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    found: dict[str, Any] = {"rows": ROWS}
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
    medians = interleaved(ways)
    ratios = {name: round(medians[name] / medians["spark"], 2) for name in sources}
    return {"seconds": medians, "against spark": ratios}
