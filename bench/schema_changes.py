"""Change the schema of a wide table, one version a change, against pypaimon; plan changes of very many columns."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import lakebed
from bench.growth import growth
from bench.writes import REFEREES

COLUMNS, CHANGES, RUNS = 200, 200, 3
RETYPED = (1_000, 3_000, 10_000)
#: How many versions a table has when its next changes are timed.
VERSIONS = (100, 300, 1_000)
#: Rounds of four changes that are timed on top of them.
TIMED = 10
#: What pypaimon does, in an environment of its own: the same changes of the same columns; prints seconds.
PEER = """
import sys, time
import pyarrow as pa
from pypaimon import CatalogFactory, Schema
from pypaimon.schema import schema_change as sc
from pypaimon.schema.data_types import AtomicType
warehouse, columns, changes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
catalog = CatalogFactory.create({"warehouse": warehouse})
catalog.create_database("peer", True)
fields = [pa.field(f"c{i}", pa.int64()) for i in range(columns)]
catalog.create_table("peer.wide", Schema.from_pyarrow_schema(pa.schema(fields)), False)
started = time.perf_counter()
for i in range(changes // 4):
    for change in (
        sc.AddColumn(["new"], AtomicType("INT"), None, None),
        sc.RenameColumn(["new"], f"renamed{i}"),
        sc.UpdateColumnType([f"renamed{i}"], AtomicType("BIGINT"), False),
        sc.DropColumn([f"renamed{i}"]),
    ):
        catalog.alter_table("peer.wide", [change], False)
print(time.perf_counter() - started)
"""


def changes(number: int) -> list[dict[str, Any]]:
    """Four changes, after which the columns are what they were."""
    name = f"renamed{number}"
    return [
        {"action": "addColumn", "fieldNames": ["new"], "dataType": "INT"},
        {"action": "renameColumn", "fieldNames": ["new"], "newName": name},
        {"action": "updateColumnType", "fieldNames": [name], "newDataType": "BIGINT", "keepNullability": False},
        {"action": "dropColumn", "fieldNames": [name]},
    ]


def change(lake: lakebed.Lake, table: str) -> None:
    """Make a table of many columns and change it, one version a change."""
    lake.tables.create_table("bench", table, [f"c{i} BIGINT" for i in range(COLUMNS)])
    for number in range(CHANGES // 4):
        _change_four(lake, table, number)


def manifest(columns: int, type_: str) -> str:
    """A declared table of columns of one type."""
    head = f"kind: Table\nversion: 1\ncontent:\n  name: bench.wide{columns}\n  schema:\n    fields:\n"
    return head + "".join(f"      - {{name: c{i}, type: {{kind: Option, inner: {type_}}}}}\n" for i in range(columns))


def retype(directory: Path, lake: lakebed.Lake, columns: int) -> Callable[[], Any]:
    """A plan that widens all columns of a table, from a manifest that is loaded already."""
    file = directory / f"wide{columns}.yaml"
    file.write_text(manifest(columns, "Int32"))
    lake.apply(lake.plan(file))
    file.write_text(manifest(columns, "Int64"))
    declared = lakebed.load_manifest(file)
    return lambda: lake.plan(declared)


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Changes a second, and seconds of plans."""
    del spark
    warehouse = directory / "warehouse"
    warehouse.mkdir()
    lake = lakebed.open(warehouse)
    command = [str(REFEREES), "-c", PEER]
    ours, peers = [], []
    for number in range(RUNS):
        started = time.perf_counter()
        change(lake, f"wide{number}")
        ours.append(time.perf_counter() - started)
        arguments = [str(directory / f"peer{number}"), str(COLUMNS), str(CHANGES)]
        told = subprocess.run(command + arguments, capture_output=True, text=True, check=True).stdout
        peers.append(float(told.split()[-1]))
    lakes, pypaimons = (round(CHANGES / statistics.median(found)) for found in (ours, peers))
    on_top = by_versions(lake)
    plans = {columns: _median(retype(directory, lake, columns), columns) for columns in RETYPED}
    return {
        "columns": COLUMNS,
        "changes a second": {"lakebed": lakes, "pypaimon": pypaimons},
        "times faster than pypaimon": round(lakes / pypaimons, 2),
        "plan that widens so many columns, CPU seconds": plans,
        "a change on top of so many versions, CPU milliseconds": on_top,
        "growth": [
            growth("columns", "plan that widens all of them", "CPU s", plans),
            growth("versions", "one more, 200 columns", "CPU s", {n: found / 1000 for n, found in on_top.items()}),
        ],
    }


def by_versions(lake: lakebed.Lake) -> dict[int, float]:
    """CPU milliseconds of a change, by the versions that there are before."""
    lake.tables.create_table("bench", "old", [f"c{i} BIGINT" for i in range(COLUMNS)])
    found, rounds = {}, count()
    for wanted in VERSIONS:
        while 4 * next(rounds) < wanted:
            _change_four(lake, "old", 0)
        started = time.process_time()
        for _ in range(TIMED):
            _change_four(lake, "old", next(rounds))
        found[wanted] = round((time.process_time() - started) / (4 * TIMED) * 1000, 2)
    return found


def _change_four(lake: lakebed.Lake, table: str, number: int) -> None:
    for one in changes(number):
        lake.tables.alter_table("bench", table, [one])


def _median(plan: Callable[[], Any], columns: int) -> float:
    spent = []
    for _ in range(RUNS):
        started = time.process_time()
        (found,) = plan().tables
        spent.append(time.process_time() - started)
        if len(found.changes) != columns:
            raise SystemExit(f"{len(found.changes)} changes of {columns} columns")
    return round(statistics.median(spent), 2)
