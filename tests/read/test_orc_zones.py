"""ORC timestamps where the zones of writer, JVM and session all differ."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard

import lakebed
from read.foreign_files import put_rows
from referees.java import JavaReferee

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ZONE = "America/New_York"
#: What each compressed part of a file starts with.
ZSTD = b"\x28\xb5\x2f\xfd"
_EPOCH = datetime(1970, 1, 1)
CLOCKS = [
    *("2024-03-10T00:59:59.999999", "2024-03-10T04:00:00.000000", "2024-11-03T00:30:00.000000"),
    *("2024-11-03T01:30:00.000000", "2024-11-03T02:30:00.000000", "1970-01-01T00:00:00.000001"),
    *("1969-12-31T23:59:59.000000", "1883-11-18T11:59:00.000000", "1950-07-01T12:00:00.000000"),
    "9999-12-31T23:59:59.999999",
]
#: Clocks that New York never showed, and some that these come out as.
SKIPPED = [
    f"{clock}.000000"
    for clock in ("2024-03-10T01:30:00", "2024-03-10T02:30:00", "2024-03-10T03:30:00", "1919-03-30T02:00:00")
]
COLUMNS: list[tuple[str, Any]] = [
    ("id", "INT"),
    ("t", "TIMESTAMP(6)"),
    ("z", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ("r", {"type": "ROW", "fields": [{"name": "t", "type": "TIMESTAMP(3)"}, {"name": "d", "type": "DATE"}]}),
    ("l", {"type": "ARRAY", "element": "TIMESTAMP(6)"}),
    ("m", {"type": "MAP", "key": "TIMESTAMP(6)", "value": "TIMESTAMP(6)"}),
]
JAVA_COLUMNS = [(n, t) for n, t in COLUMNS if n in ("id", "t", "z")]
JAVA_ROWS = [
    [1, "2024-05-14T12:00:00.123456000", "2024-05-14T12:00:00.123456000Z"],
    [2, "1969-12-31T23:59:59.000000000", "1969-12-31T23:59:59.000000000Z"],
    [3, None, None],
]


def micros(clock: str) -> int:
    return (datetime.fromisoformat(clock) - _EPOCH) // timedelta(microseconds=1)


@pytest.fixture(scope="module")
def found(java: JavaReferee, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a process in New York reads: tables that PyArrow wrote, and one that Java wrote in Tokyo."""
    root = tmp_path_factory.mktemp("zones")
    lake = lakebed.open(root)
    for table in ("clocks", "plain"):
        lake.tables.create_table("db", table, COLUMNS)
        rows = []
        for i, t in enumerate(map(micros, CLOCKS)):
            late = t > micros("1900-01-01")
            inner = {"t": t // 1000 * 1000, "d": -171_664}
            rows.append({"id": i, "t": t, "z": t if late else None, "r": inner, "l": [t, None], "m": [(t, t)]})
        put_rows(lake, f"db.{table}", "orc" if table == "clocks" else "parquet", rows)
    for i, clock in enumerate(SKIPPED):
        lake.tables.create_table("db", f"skipped{i}", COLUMNS)
        put_rows(lake, f"db.skipped{i}", "orc", [{"id": 1, "l": [micros(clock)]}])
    lake.tables.create_table("db", "old", COLUMNS)
    put_rows(lake, "db.old", "orc", [{"id": 1, "z": micros("1850-01-01")}])
    with java.in_zone("Asia/Tokyo"):
        java.create(root, "db.tokyo", JAVA_COLUMNS, options={"file.format": "orc", "bucket": "-1"})
        java.append(root, "db.tokyo", JAVA_ROWS)
    [file] = root.glob("db.db/tokyo/bucket-*/*.orc")
    parts = [
        zstandard.ZstdDecompressor().decompressobj().decompress(ZSTD + p) for p in file.read_bytes().split(ZSTD)[1:]
    ]
    assert any(b"Asia/Tokyo" in part for part in parts), "the file does not say that it was written in Tokyo"
    names = ["clocks", "plain", *(f"skipped{i}" for i in range(len(SKIPPED))), "old", "tokyo"]
    asked = [f"db.{n}" for n in names] + ["db.clocks?t = timestamp_ntz'2024-03-10 04:00:00'"]
    script = Path(__file__).with_name("zones_script.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), ZONE, str(root), *asked]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert lines, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(lines[0].removeprefix("FOUND "))
    return answer


def test_wall_clocks_and_instants_are_those_of_the_file(found: dict[str, Any]) -> None:
    assert found["db.clocks"] == found["db.plain"]
    assert [row[1] for row in found["db.plain"]] == [f"{clock}000" for clock in CLOCKS]


def test_filters_mean_the_wall_clock(found: dict[str, Any]) -> None:
    (row,) = found["db.clocks?t = timestamp_ntz'2024-03-10 04:00:00'"]
    assert row[0] == 1


@pytest.mark.parametrize("number", range(len(SKIPPED)))
def test_clocks_that_cannot_be_told_are_refused(found: dict[str, Any], number: int) -> None:
    message = found[f"db.skipped{number}"]
    assert "LB5067: column l.element: the clock" in message
    assert "-Duser.timezone=UTC" in message


def test_old_instants_are_refused(found: dict[str, Any]) -> None:
    assert "LB5530: column z:" in found["db.old"]


def test_instants_in_the_form_of_another_zone(found: dict[str, Any]) -> None:
    assert found["db.tokyo"] == JAVA_ROWS
