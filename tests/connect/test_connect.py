"""The main job over Spark Connect, in a process of its own, in a session zone that is not UTC."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark

from lakebed.format.binary_row import encode
from lakebed.format.bucket_hash import bucket_of_row
from lakebed.physical import parse


def test_ingest_and_read_over_spark_connect(connect: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    job = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("main_job.py")), connect, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
        check=False,
    )
    assert job.returncode == 0, job.stderr[-4000:]
    seen = json.loads(job.stdout.strip().splitlines()[-1])
    assert seen["type"].startswith("pyspark.sql.connect")
    assert seen["ingested"] == [[1, 1], [1, 0]]
    assert seen["rows"] == [
        ["a", 1, "2023-12-31 19:00:00.000000", 1],
        [None, 5_000_000_000, "2024-07-01 08:00:00.123456", 2],
    ]
    assert (seen["filtered"], seen["again"]) == (1, 2)
    assert seen["format"] == [[1, 1]]
    hands_over_batches = tuple(map(int, pyspark.__version__.split(".")[:2])) >= (4, 1)
    assert seen["written"] == ([[7, "2024-07-01 01:02:03"]] * 2 if hands_over_batches else "LB5608")
    assert seen["streamed"] == [[[1, 10], [2, 20]], 1]
    assert seen["numbered"] == [[0, 0, "a", 1], [1, 0, "c", 2], [2, 0, "d", 3]]
    assert seen["replayed"] == [1, 1, [[3, 4000]]]
    assert seen["changed"] == [[2, 1, 1, 1, [[0, 0], [2, 20], [3, -1], [4, 4], [6, -1]]]] * 2
    types = [parse("STRING"), parse("INT")]
    assert seen["binary"] == [
        [encode(types, key).hex().upper(), bucket_of_row(types, key, 97)] for key in (("a", 1), ("c", 2), ("d", 3))
    ]
    [[path, raw]] = seen["bad"]
    assert path == "k"
    assert "bad" in raw
    assert seen["columns"][:3] == [["p", "string"], ["key", "bigint"], ["at", "timestamp"]]
