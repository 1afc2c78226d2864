"""Write a stream of small batches by the ways into a table, against `foreachBatch` that writes Parquet."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import lakebed
from bench.writes import COLUMNS, VALUES

BATCHES = 20
ROWS_A_BATCH = 10_000


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Median milliseconds a batch, as Spark tells them, of each way; the first batch of a query does not count."""
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    lake.register(spark)
    source = str(directory / "source")
    rows = spark.range(0, BATCHES * ROWS_A_BATCH, 1, BATCHES).selectExpr(*VALUES)
    rows.write.parquet(source)
    stream = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1).parquet(source)
    for table in ("plain", "format", "keyed"):
        keys = {"primary_keys": ["k"], "options": {"bucket": "2"}} if table == "keyed" else {}
        lake.tables.create_table("bench", table, COLUMNS, **keys)
    numbers = count()

    def checkpoint() -> str:
        return str(directory / f"checkpoint-{next(numbers)}")

    def parquet(frame: Any, number: int) -> None:
        frame.write.mode("append").parquet(str(directory / "parquet"), compression="zstd")

    def written_by(table: str) -> Any:
        place = checkpoint()
        return lake.table(f"bench.{table}").stream_writer(stream, place, name=place)

    def by_format() -> Any:
        options = {"checkpointLocation": checkpoint(), "path": "bench.format"}
        return stream.writeStream.format("lakebed").options(**options)

    ways: dict[str, Callable[[], Any]] = {
        "foreachBatch parquet": lambda: stream.writeStream.foreachBatch(parquet).option(
            "checkpointLocation", checkpoint()
        ),
        "stream_writer": lambda: written_by("plain"),
        "stream_writer, keyed": lambda: written_by("keyed"),
        "format lakebed": by_format,
    }
    medians = {name: round(_milliseconds(way), 1) for name, way in ways.items()}
    base = medians["foreachBatch parquet"]
    over = {name: round(value - base, 1) for name, value in medians.items() if value != base}
    return {"batches": BATCHES, "rows a batch": ROWS_A_BATCH, "milliseconds a batch": medians, "more": over}


def _milliseconds(way: Callable[[], Any]) -> float:
    """Of the batches of a second query, when everything is warm."""
    for _ in range(2):
        query = way().trigger(availableNow=True).start()
        query.awaitTermination()
    told = [p.durationMs["triggerExecution"] for p in query.recentProgress if p.numInputRows]
    return statistics.median(told[1:])
