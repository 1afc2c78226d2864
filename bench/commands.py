"""Time commands as a shell starts them, each in a new process, and `import lakebed` against Python alone."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import lakebed
from bench.growth import growth

RUNS = 7
TABLES = (1, 100, 1_000)
VALIDATED = 200
TYPES = ("Int64", "String", "{kind: Option, inner: String}", "{kind: Timestamp, unit: Microsecond, timezone: UTC}")
COLUMNS = 12


def manifest(number: int) -> str:
    """A declared table of some columns, with descriptions."""
    lines = [
        f"# Table {number}.",
        "kind: Table",
        "version: 1",
        "content:",
        f"  name: bench.t{number}",
        f"  description: The table of number {number}, for the benchmark.",
        "  options:",
        "    bucket: '-1'",
        "  schema:",
        "    fields:",
    ]
    for column in range(COLUMNS):
        lines += [
            f"      - name: column_{column}",
            f"        type: {TYPES[column % len(TYPES)]}",
            "        extra:",
            f'          opendatafabric.org/description: "What column {column} holds."',
        ]
    return "\n".join(lines) + "\n"


def build(directory: Path, tables: int) -> tuple[str, str]:
    """A directory of manifests, and a warehouse in which all of them are applied."""
    root = directory / f"tables{tables}"
    (root / "manifests").mkdir(parents=True)
    (root / "warehouse").mkdir()
    for number in range(tables):
        (root / "manifests" / f"t{number}.yaml").write_text(manifest(number))
    lake = lakebed.open(root / "warehouse")
    lake.apply(lake.plan(root / "manifests"))
    return str(root / "manifests"), str(root / "warehouse")


def timed(arguments: list[str]) -> dict[str, float]:
    """Medians of a process: seconds of the clock, and of the CPU."""
    seconds, spent = [], []
    for _ in range(RUNS):
        before, started = _children(), time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=dict(os.environ))
        seconds.append(time.perf_counter() - started)
        spent.append(_children() - before)
    return {
        "seconds": round(statistics.median(seconds), 3),
        "CPU seconds": round(statistics.median(spent), 3),
    }


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(spark: Any, directory: Path) -> dict[str, Any]:
    """Medians of each command, and how a plan grows with the number of tables."""
    del spark
    lakebed_command = ["-c", "from lakebed.cli.main import main; main()"]
    built = {tables: build(directory, tables) for tables in TABLES}
    (directory / "validated").mkdir()
    for number in range(VALIDATED):
        (directory / "validated" / f"t{number}.yaml").write_text(manifest(number))
    ways = {
        "python -c pass": ["-c", "pass"],
        "import lakebed": ["-c", "import lakebed"],
        "lakebed --help": [*lakebed_command, "--help"],
        **{
            f"plan of {tables} table{'' if tables == 1 else 's'}": [
                *lakebed_command,
                "plan",
                manifests,
                "--warehouse",
                warehouse,
            ]
            for tables, (manifests, warehouse) in built.items()
        },
        f"validate of {VALIDATED} manifests": [*lakebed_command, "validate", str(directory / "validated")],
    }
    found = {name: timed(arguments) for name, arguments in ways.items()}
    imported, python = (found[name]["CPU seconds"] for name in ("import lakebed", "python -c pass"))
    plans = {n: found[f"plan of {n} table{'' if n == 1 else 's'}"]["CPU seconds"] for n in TABLES}
    return {
        "commands": found,
        "import beyond Python alone, CPU seconds": round(imported - python, 3),
        "growth": [growth("tables", "plan of unchanged manifests", "CPU s", plans)],
    }
