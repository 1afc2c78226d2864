"""Walk through the main job once: declare, plan, apply, ingest, evolve, ingest more, read, correct."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import lakebed
from lakebed.demo import flights as source
from lakebed.demo.corrections import TABLE as ARRIVALS
from lakebed.demo.corrections import correct_arrivals
from lakebed.diagnostics import Severity
from lakebed.render.history_text import history_text
from lakebed.render.plan_text import render_plan
from lakebed.render.rows import rows_text
from lakebed.spark.session import local_session

TABLE = "nyc.flights"

#: Before this month: the manifest that is applied, and the breaking changes that it is allowed to make.
MANIFESTS = {
    1: ("01-first.yaml", ()),
    3: ("02-rename-and-widen.yaml", ()),
    4: ("03-nested.yaml", ()),
    6: ("04-relax-and-drop.yaml", ("minute",)),
    8: ("05-reorder-and-annotate.yaml", ()),
    10: ("06-minute-returns.yaml", ()),
}

QUERY = """
    select month, count(*) as flights, sum(distance) as miles, sum(arr_delay) as arr_delay,
           sum(departure_delay) as departure_delay, count(minute) as minutes, count(aircraft) as aircraft
    from flights group by month order by month
"""


def main() -> int:
    """Run the demo; 0 when every number agrees with the source."""
    parser = argparse.ArgumentParser(prog="python -m lakebed.demo", description=__doc__)
    parser.add_argument(
        "--warehouse", default="demo-warehouse", help="directory of the warehouse (default: %(default)s)"
    )
    warehouse = Path(parser.parse_args().warehouse)
    started = time.monotonic()
    warehouse.mkdir(parents=True, exist_ok=True)
    lake = lakebed.open(warehouse)
    for table in (TABLE, ARRIVALS):
        if lake.tables.exists(table):
            lake.tables.drop_table(*table.split("."))
    _title("The flights that left New York in 2013, month by month, under a schema that changes")
    months = source.load()
    spark = local_session("lakebed-demo", cores="2")
    written = quarantined = 0
    with tempfile.TemporaryDirectory(prefix="lakebed-demo-") as directory:
        for month in range(1, 13):
            if month in MANIFESTS:
                _evolve(lake, *MANIFESTS[month])
            path = source.write_month(month, months.rows[month], Path(directory))
            result = lake.ingest(spark, TABLE, str(path), options={"nullValue": "NA"} if month <= 3 else None)
            written += result.rows_written
            quarantined += result.rows_quarantined
            print(
                f"  {path.name:<20} {result.rows_read:>7,} rows read  {result.rows_written:>7,} written  "
                f"{result.rows_quarantined:>5,} quarantined  snapshot {result.snapshot_id} schema {result.schema_id}"
            )
    _title("lakebed history nyc.flights")
    print(history_text(lake.history(TABLE), lake.time_zone))
    _title("Why rows went to quarantine")
    _show_quarantine(lake, spark)
    _title("All months under the newest schema")
    lake.read(spark, TABLE).createOrReplaceTempView("flights")
    frame = spark.sql(QUERY)
    rows = frame.collect()
    print(rows_text(frame.columns, rows))
    _title("Late corrections: an upsert and a delete on a table with a primary key, read by snapshot")
    corrected = correct_arrivals(lake, spark, months.expected.values())
    _title("Checks")
    good = _check(months, rows, written, quarantined)
    print(f"arrivals of three snapshots against the source: {_word(corrected)}")
    good = good and corrected
    spark.stop()
    print(f"\n{'All checks hold' if good else 'A CHECK FAILED'} after {time.monotonic() - started:.0f} s.")
    command = os.path.relpath(Path(sys.executable).with_name("lakebed"))
    print(f"The warehouse is {warehouse}: try `{command} --warehouse {warehouse} show {TABLE}`.")
    return 0 if good else 1


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def _evolve(lake: lakebed.Lake, manifest: str, droppable: tuple[str, ...]) -> None:
    """Plan the manifest, show the plan, apply it; drops of `droppable` columns are allowed by their code."""
    _title(f"lakebed apply {manifest}")
    plan = lake.plan(Path(str(files("lakebed.demo").joinpath("manifests", manifest))))
    print(render_plan(plan))
    for diagnostic in plan.all_diagnostics:
        if diagnostic.severity is not Severity.ERROR:
            print(diagnostic)
    allow = [c for c in plan.leave_needed() if c.partition(":")[2] in droppable]
    if allow:
        print(f"  (with {' '.join(f'--allow {a}' for a in allow)})")
    lake.apply(plan, allow=allow)
    print()


def _show_quarantine(lake: lakebed.Lake, spark: Any) -> None:
    bad = lake.read(spark, f"{TABLE}__quarantine")
    reasons = bad.selectExpr("explode(problems) as p", "schema_id").selectExpr(
        "schema_id", "p.path", "p.code", "p.expected", "coalesce(p.found, 'NULL') as found"
    )
    frame = reasons.groupBy("schema_id", "path", "code", "expected", "found").count().orderBy("schema_id", "path")
    print(rows_text(frame.columns, frame.collect()))


def _check(months: source.Months, rows: list[Any], written: int, quarantined: int) -> bool:
    spoiled = sum(map(len, source.SPOILED.values()))
    total = source.ROWS + spoiled
    good = written + quarantined == total
    copies = f"{source.ROWS:,} and {spoiled} spoiled copies"
    print(f"{written:,} written + {quarantined:,} quarantined = {total:,} ({copies}): {_word(good)}")
    bad = sum(e.bad for e in months.expected.values())
    print(f"{bad:,} rows of the source do not fit the schema of their month: {_word(bad == quarantined)}")
    good = good and bad == quarantined
    for row in rows:
        e = months.expected[row.month]
        wanted = (e.rows, e.distance, e.arr_delay, e.departure_delay, e.minutes, e.aircraft)
        got = (row.flights, row.miles, row.arr_delay, row.departure_delay, row.minutes, row.aircraft)
        if wanted != got:
            good = False
            print(f"month {row.month}: the source says {wanted}, the table says {got}: WRONG")
    same = len(rows) == 12
    print(f"counts and sums of {len(rows)} months against the source: {_word(good and same)}")
    return good and same


def _word(good: bool) -> str:
    return "ok" if good else "WRONG"


if __name__ == "__main__":
    sys.exit(main())
