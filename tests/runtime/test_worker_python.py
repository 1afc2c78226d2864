"""Spark's workers run another Python than the program: what needs it says so at once, the rest goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def seen(connect: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script saw, over Spark Connect, with workers that have nothing but Python."""
    directory = tmp_path_factory.mktemp("other-python")
    bare = directory / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(bare)], check=True)
    python = str(bare / "bin" / "python")
    path = os.pathsep.join(str(REPOSITORY / name) for name in ("src", "tests"))
    script = str(Path(__file__).with_name("other_python.py"))
    command = [sys.executable, script, connect, python, str(directory)]
    environment = {**os.environ, "PYTHONPATH": path}
    job = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert job.returncode == 0, job.stderr[-4000:]
    return {"python": python, **json.loads(job.stdout.strip().splitlines()[-1])}


@pytest.mark.parametrize("call", ["avro", "register", "ingest"])
def test_what_needs_workers_names_their_python_and_the_remedy(seen: dict[str, Any], call: str) -> None:
    said = seen[call]
    assert said["code"] == "LB6461"
    assert seen["python"] in said["message"]
    assert "pyarrow" in said["message"]
    assert "PYSPARK_PYTHON" in said["remedy"]


def test_a_frame_of_a_source_that_nobody_looked_at_is_told_when_it_is_ingested(seen: dict[str, Any]) -> None:
    assert seen["frame"]["code"] == "LB6461"
    assert "PYSPARK_PYTHON" in seen["frame"]["remedy"]
    assert seen["frame"]["trace"] is False


def test_what_needs_none_goes_on(seen: dict[str, Any]) -> None:
    assert seen["parquet"]["code"] is None


def test_a_server_that_does_not_reach_a_place_says_so(seen: dict[str, Any]) -> None:
    assert seen["elsewhere"]["code"] == seen["scheme"]["code"] == "LB6462"
    assert "own machine" in seen["elsewhere"]["remedy"]
    assert "hadoop-aws" in seen["scheme"]["remedy"]


def test_no_trace_of_the_server_follows_an_error(seen: dict[str, Any]) -> None:
    assert seen["job"]["code"] == "LB6118"
    assert "by design" in seen["job"]["message"]
    for call in ("avro", "register", "elsewhere", "scheme", "job"):
        assert seen[call]["trace"] is False, call
