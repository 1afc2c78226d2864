"""On a cluster: what is lost on the way is written again, and each row is in the table once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.cluster_job import ROWS
from cluster.standalone import SOURCE, Cluster, cluster

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TESTS = SOURCE.parent / "tests"


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


def run(server: str, directory: Path) -> dict[str, Any]:
    path = os.pathsep.join(map(str, (SOURCE, TESTS)))
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    job = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("cluster_job.py")), server, str(directory)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=400,
        check=False,
    )
    assert job.returncode == 0, job.stderr[-6000:]
    found: dict[str, Any] = json.loads(job.stdout.strip().splitlines()[-1])
    return found


def expected(batches: int) -> dict[str, Any]:
    """What `cluster_job.py` writes, from its description."""
    rows = [(f"p{i % 3}", i, i) for i in range(100) if i != 7]
    rows += [(f"q{i % 2}-{n}", i, i % 100) for n in range(batches) for i in range(ROWS)]
    left = [row for row in rows if not (row[0].startswith("q0") and row[2] < 50)]
    keyed = {i: i % 100 + batches - 1 for i in range(ROWS)}
    kept = [v for i, v in keyed.items() if i % 10 != 3]
    return {
        "ingested": [99, 1],
        "log": [len(left), len({row[:2] for row in left}), sum(row[2] for row in left)],
        "format": [len(left), len({row[:2] for row in left}), sum(row[2] for row in left)],
        "keyed": [len(kept), len(kept), sum(kept)],
        "deleted": [len(keyed) - len(kept), len(rows) - len(left)],
        "files": [[0, 0], [0, 0]],
    }


def test_rows_are_there_once_whatever_fails(machines: Cluster, tmp_path: Path) -> None:
    seen = run(machines.master, tmp_path)
    assert seen.pop("faults") == 3
    assert not seen.pop("connect").startswith("pyspark.sql.connect")
    assert seen == expected(3)


def test_the_same_through_a_connect_server(machines: Cluster, tmp_path: Path) -> None:
    seen = run(machines.connect_server(), tmp_path)
    assert seen.pop("faults") == 0
    assert seen.pop("connect").startswith("pyspark.sql.connect")
    assert seen == expected(1)
