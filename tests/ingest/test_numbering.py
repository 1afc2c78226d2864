"""Offsets: in the order of files that are read in many pieces, and dense where runs go on at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from ingest.ingest_lake import SmallLake
from lakebed.model import Extra, Field, Int32, Int64
from lakebed.model.extra import SYSTEM_COLUMN

FIELDS = (Field("n", Int64(), Extra({SYSTEM_COLUMN: "offset"})), Field("id", Int32()))


def csv(start: int, stop: int) -> str:
    return "id\n" + "".join(f"{i}\n" for i in range(start, stop))


def test_files_in_many_pieces_are_numbered_in_order(lake: SmallLake, conf: Callable[[Mapping[str, str]], None]) -> None:
    lake.create(*FIELDS)
    conf({"spark.sql.files.maxPartitionBytes": "1500", "spark.sql.files.openCostInBytes": "0"})
    # The larger file is read first by Spark, and the last bytes of files go into one piece of work.
    files = [
        lake.file("small.csv", csv(0, 100)),
        lake.file("large.csv", csv(100, 2000)),
        lake.file("a.csv", csv(2000, 2300)),
    ]
    lake.ingest(files)
    assert [(r["n"], r["id"]) for r in lake.rows(order="n")] == [(i, i) for i in range(2300)]


def test_runs_at_the_same_time_leave_no_gap(lake: SmallLake) -> None:
    lake.create(*FIELDS)
    sources = [lake.file(f"{i}.csv", csv(1000 * i, 1000 * i + 50)) for i in range(4)]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lake.ingest, sources))
    assert [r.rows_written for r in results] == [50] * 4
    rows = lake.rows(order="n")
    assert [r["n"] for r in rows] == list(range(200))
    ids = [r["id"] for r in rows]
    runs = [ids[at : at + 50] for at in range(0, 200, 50)]
    assert sorted(runs) == [list(range(1000 * i, 1000 * i + 50)) for i in range(4)]
    assert len(lake.data_files()) == len(lake.files())
