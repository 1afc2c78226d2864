"""Say what a measurement ran on and with which versions, without the name of the machine."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("pyspark", "pyarrow", "numpy")


def machine() -> str:
    """Cores that this process may use, memory and processor."""
    cores = len(os.sched_getaffinity(0))
    memory = _told("/proc/meminfo", "MemTotal").split()[0]
    processor = _told("/proc/cpuinfo", "model name") or platform.machine()
    return f"{cores} cores, {int(memory) / 2**20:.0f} GB, {processor}"


def versions() -> dict[str, str]:
    """Python's and those of the packages that do the work."""
    return {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def load() -> float:
    """How many processes have been running or waiting for a core in the last minute: what else is going on."""
    return round(os.getloadavg()[0], 1)


def _told(path: str, key: str) -> str:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
