"""Several processes commit to one table on a local disk: nothing is lost and nothing is made twice."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

from format.building import Built, table_schema
from lakebed.store import LocalStore

COMMITS = 10
SCHEMA = table_schema([("v", "BIGINT")], options={"manifest.merge-min-count": "5", "commit.max-retries": "100"})


def _writer(path: str, name: str, both: Barrier) -> None:
    table = Built(LocalStore(), SCHEMA, path=path)
    both.wait(60)
    for i in range(COMMITS):
        table.append(table.new_file(name=f"{name}-{i}.parquet"), user=f"{name}-{i}", sleep=time.sleep)


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "lab.db" / "t")
    table = Built(LocalStore(), SCHEMA, path=path)
    context = multiprocessing.get_context("spawn")
    both = context.Barrier(2)
    writers = [context.Process(target=_writer, args=(path, name, both)) for name in ("a", "b")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    snapshots = table.storage.snapshots
    assert snapshots.ids() == list(range(1, 2 * COMMITS + 1))
    assert sorted(table.names()) == sorted(f"{n}-{i}.parquet" for n in ("a", "b") for i in range(COMMITS))
    found = [s.commit_user for s in snapshots.newest_first()]
    assert sorted(found) == sorted(f"{n}-{i}" for n in ("a", "b") for i in range(COMMITS))
    latest = snapshots.latest()
    assert latest is not None
    assert latest.total_record_count == 2 * COMMITS
    leftovers = [p.name for p in Path(path).rglob("*.tmp")]
    assert leftovers == []
