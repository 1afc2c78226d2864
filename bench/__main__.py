"""`python -m bench [NAME...]`: run measurements, each in a process; write `results.json` and the report.

What has been measured before and is not named stays in the report. A measurement that fails, or takes longer than it
may, is told there and keeps none of the others from running. `--quick` tries all of it on small sizes, and writes
nothing; `--report` writes the report of the results that are there.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.machine import load, machine, versions
from bench.report import write_report

#: Seconds that each may take, the shortest first: what a quiet machine of two cores needs, and half as much again.
LIMITS = {
    "schema_changes": 90,
    "commands": 100,
    "pruning": 120,
    "streams": 120,
    "metadata": 140,
    "many_files": 140,
    "arrow_read": 150,
    "ingest": 160,
    "maintenance": 200,
    "commits": 220,
    "evolved_scan": 240,
    "writes": 300,
    "merge_on_read": 480,
}
#: Seconds that all of them may take: what would begin later is not run.
BUDGET = 28 * 60
RESULTS = Path(__file__).with_name("results.json")
#: Lines of what a measurement that failed said last.
LAST_LINES = 12


def measured(command: Sequence[str], result: Path, limit: float) -> dict[str, Any]:
    """What a process has found and how long it took, or why it has found nothing. It is ended after `limit` seconds."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            return {"failed": f"was ended after {limit:g} s"}
        finally:
            _end(process)
        took = round(time.monotonic() - started)
        if code == 0 and result.exists():
            return {"found": json.loads(result.read_text(encoding="utf-8")), "took": took}
        said.seek(0)
        last = said.read().decode(errors="replace").strip().splitlines()[-LAST_LINES:]
    print(*last, sep="\n", file=sys.stderr)
    return {"failed": f"ended with {code} after {took} s: {last[-1] if last else 'it said nothing'}"}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and all that it has started, the JVM among them; nothing where they have ended."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def measure(name: str, limit: float, *words: str) -> dict[str, Any]:
    """One measurement, and what it ran on; none where no time is left."""
    on = {"machine": machine(), "versions": versions(), "load before": load()}
    if limit <= 0:
        return {"failed": f"was not begun: {BUDGET // 60} minutes were over", **on}
    with tempfile.TemporaryDirectory(prefix=f"lakebed-bench-{name}-", ignore_cleanup_errors=True) as directory:
        result = Path(directory) / "result.json"
        work = Path(directory) / "work"
        work.mkdir()
        command = [sys.executable, "-m", "bench.measure", name, str(work), str(result), *words]
        return {**measured(command, result, limit), **on}


def run(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Run measurements, and write results and report after each of them."""
    results = read_results()
    started = time.monotonic()
    for name in names:
        left = BUDGET - (time.monotonic() - started)
        results[name] = measure(name, min(LIMITS[name], left))
        _tell(name, results[name])
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        write_report(results)
    return results


def read_results() -> dict[str, dict[str, Any]]:
    """What has been measured before, by name."""
    found: dict[str, dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    return {name: result for name, result in found.items() if name in LIMITS}


def _tell(name: str, found: dict[str, Any]) -> None:
    print(name, json.dumps(found.get("found", found.get("failed")), indent=2), flush=True)


def main(words: Sequence[str]) -> int:
    """Run what is named, else everything; 1 where something failed."""
    names = [word for word in words if not word.startswith("--")]
    if unknown := set(names) - set(LIMITS):
        print(f"no measurement is called {', '.join(sorted(unknown))}; there are {', '.join(LIMITS)}", file=sys.stderr)
        return 2
    chosen = [name for name in LIMITS if name in names or not names]
    if "--report" in words:
        write_report(read_results())
        return 0
    if "--quick" in words:
        found = {}
        for name in chosen:
            found[name] = measure(name, LIMITS[name], "quick")
            _tell(name, found[name])
    else:
        found = run(chosen)
    return int(any("failed" in found[name] for name in chosen))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
