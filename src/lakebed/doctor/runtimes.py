"""Check the programs and data around Lakebed: Python, Java, the Python of Spark's workers, time zones, git."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import zoneinfo
from pathlib import Path

from lakebed.catalog.time_zone import zone_of
from lakebed.doctor.installed import installed
from lakebed.doctor.report import Check, State, checked
from lakebed.errors import LakebedError, NotFoundError

_TIMEOUT = 60
#: Run by the Python of the workers: its version, and which of the modules that are named it lacks.
_LOOK = """
import json, platform, sys
from importlib.util import find_spec
print(json.dumps([platform.python_version(), [name for name in sys.argv[1:] if find_spec(name) is None]]))
"""


def check_python() -> Check:
    """The Python that this runs in, and Lakebed's version."""
    version = installed("lakebed") or "not installed"
    return Check("python", State.OK, f"{platform.python_version()} ({sys.executable}), Lakebed {version}")


def check_java(is_needed: bool) -> Check:
    """The Java that Spark would start. Without a need for it, none is no failure."""
    from lakebed.spark import session

    def look() -> str:
        where = f"JAVA_HOME is {home}" if (home := os.environ.get("JAVA_HOME")) else "JAVA_HOME is not set"
        return f"{session.check_java()} ({session.find_java()}; {where})"

    return checked("java", look, State.FAIL if is_needed else State.WARN)


def check_workers_python() -> Check:
    """Whether the Python that local workers run is of this Python's minor version, and has what they need."""
    name = "workers-python"
    from lakebed.spark.spark_errors import WORKERS
    from lakebed.spark.worker_python import NEEDED

    python = os.environ.get("PYSPARK_PYTHON")
    if not python:
        return Check(name, State.OK, f"this one, as PYSPARK_PYTHON is not set ({sys.executable})")
    remedy = f"set PYSPARK_PYTHON to {sys.executable} before Spark starts, or leave it unset"
    try:
        asked = [shutil.which(python) or python, "-c", _LOOK, *NEEDED]
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_TIMEOUT, check=True)
        version, missing = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return Check(name, State.FAIL, f"PYSPARK_PYTHON is {python}, which does not run: {error}", WORKERS, remedy)
    own = platform.python_version()
    if version.split(".")[:2] != own.split(".")[:2]:
        message = f"PYSPARK_PYTHON is {python}, Python {version}; Spark wants the minor version of this one, {own}"
        return Check(name, State.FAIL, message, WORKERS, remedy)
    if missing:
        message = f"PYSPARK_PYTHON is {python} (Python {version}), which has no {', '.join(missing)}"
        return Check(name, State.FAIL, message, WORKERS, f"{remedy}; or install lakebed[spark] there")
    return Check(name, State.OK, f"{version} (PYSPARK_PYTHON is {python})")


def check_time_zones(time_zone: str) -> Check:
    """Whether there are rules for the lake's time zone, and of which version; Spark's are those of its Java."""
    name = "time-zones"
    try:
        zone_of(time_zone)
    except LakebedError as error:
        return Check.of(name, error.diagnostics[0])
    known, java = len(zoneinfo.available_timezones()), _javas_version()
    details = (f"Java's tz database is {java}",) if java else ()
    if not known:
        problem = "there is no tz database: offsets and UTC alone are understood"
        return Check(name, State.WARN, problem, "LB3116", "pip install tzdata", details)
    return Check(name, State.OK, f"{time_zone}; {known} zones, tz database {_pythons_version()}", details=details)


def _pythons_version() -> str:
    """The version of the tz database that Python reads: the system's, else that of the package `tzdata`."""
    for directory in map(Path, zoneinfo.TZPATH):
        for file in (directory / "tzdata.zi", directory / "+VERSION"):
            if file.is_file():
                with file.open(encoding="utf-8", errors="replace") as text:
                    return text.readline().removeprefix("# version ").strip()
    return installed("tzdata") or "of an unknown version"


def _javas_version() -> str | None:
    """The version of Java's tz database; None where it cannot be told."""
    from lakebed.spark.session import find_java

    try:
        home = Path(find_java()).resolve().parents[1]
        head = (home / "lib" / "tzdb.dat").read_bytes()[:64]
    except (NotFoundError, OSError, IndexError):
        return None
    # A byte, "TZDB", how many versions, and the first; each text after its length in two bytes.
    if head[1:7] != b"\x00\x04TZDB":
        return None
    return head[11 : 11 + int.from_bytes(head[9:11])].decode("ascii", "replace")


def check_git() -> Check:
    """Whether there is a git, which `check --against git:` and `diff git:` ask."""
    found = shutil.which("git")
    if found is not None:
        return Check("git", State.OK, found)
    remedy = "install it, if manifests are to be compared with commits"
    return Check("git", State.WARN, "there is no program git", "LB7061", remedy)
