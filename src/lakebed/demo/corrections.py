"""Write late corrections of flights: an upsert and a delete, after which each snapshot has what it had."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from pyspark.sql import SparkSession

import lakebed
from lakebed.demo.flights import Expected
from lakebed.render.plan_text import render_plan
from lakebed.render.rows import rows_text
from lakebed.render.write_text import write_text

TABLE = "nyc.arrivals"
#: How many minutes the flights of the first of each month turn out to have come later.
LATER = 5.0


def correct_arrivals(lake: lakebed.Lake, spark: SparkSession, months: Iterable[Expected]) -> bool:
    """Fill the table from the view `flights`, correct it, and tell what each snapshot says; whether all is right."""
    plan = lake.plan(Path(str(files("lakebed.demo").joinpath("manifests", "07-arrivals.yaml"))))
    print(render_plan(plan))
    lake.apply(plan)
    arrivals = lake.table(TABLE)
    reported = spark.sql("select time_hour, carrier, flight, origin, arr_delay from flights")
    first = arrivals.append(reported)
    late = f"select time_hour, carrier, flight, origin, arr_delay + {LATER} as arr_delay from flights"
    second = arrivals.upsert(spark.sql(f"{late} where day = 1 and arr_delay is not null"))
    third = arrivals.delete(spark, where="arr_delay is null")
    print("\n".join(map(write_text, (first, second, third))) + "\n")
    found = []
    for what, result in (("as reported", first), ("corrected", second), ("without cancelled flights", third)):
        rows = arrivals.read(spark, snapshot=result.snapshot_id)
        seen = rows.selectExpr("count(*) as flights", "sum(arr_delay) as arr_delay").collect()[0]
        found.append((result.snapshot_id, what, seen.flights, seen.arr_delay))
    print(rows_text(["snapshot", "what", "flights", "arr_delay"], found))
    expected = list(months)
    flights, delay = sum(e.rows for e in expected), sum(e.arr_delay for e in expected)
    corrected = delay + LATER * sum(e.corrected for e in expected)
    left = flights - sum(e.cancelled for e in expected)
    return [row[2:] for row in found] == [(flights, delay), (flights, corrected), (left, corrected)]
