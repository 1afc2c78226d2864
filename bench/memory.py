"""Tell the most memory that this process has had since a moment, and the CPU time of all, as Linux counts them."""

from __future__ import annotations

import os
from pathlib import Path

_before = 0


def reset_peak() -> None:
    """Begin to count."""
    global _before
    Path("/proc/self/clear_refs").write_text("5")
    _before = _kilobytes("VmRSS")


def peak_above() -> float:
    """Megabytes above what there was then."""
    return round((_kilobytes("VmHWM") - _before) / 1024, 1)


def _kilobytes(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def cpu_of_all() -> float:
    """CPU seconds of this process and of all that it has started, Spark's JVM and its workers among them."""
    stats: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            # It has ended meanwhile; who waited for it has its time.
            continue
        stats[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours, found = {os.getpid()}, 0
    while found != len(ours):
        found = len(ours)
        ours |= {process for process, (parent, _) in stats.items() if parent in ours}
    return sum(stats[process][1] for process in ours if process in stats) / os.sysconf("SC_CLK_TCK")
