"""Snapshots on S3: racing writers lose nothing, and a commit whose answer was lost is not made twice."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator

import pytest

from format.building import Built, table_schema
from lakebed.format.snapshot import SnapshotManager
from lakebed.store import open_store
from lakebed.store.base import Store
from store.s3_server import S3Server, is_put

PLAIN = [("id", "INT")]
WRITERS, COMMITS = 4, 3


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with S3Server() as server:
        opened(server)._fs.mkdir("commits")  # type: ignore[attr-defined]
        yield server


@pytest.fixture
def path() -> str:
    return f"s3://commits/{uuid.uuid4().hex}/lab.db/t"


def opened(server: S3Server) -> Store:
    return open_store("s3://commits", storage_options=server.options)[0]


def test_racing_writers_lose_nothing(server: S3Server, path: str) -> None:
    schema = table_schema(PLAIN)
    Built(opened(server), schema, path=path)
    barrier = threading.Barrier(WRITERS)

    def write(number: int) -> None:
        table = Built(opened(server), schema, path=path)
        barrier.wait(60)
        for commit in range(COMMITS):
            table.append(table.new_file(name=f"data-{number}-{commit}.parquet"), user=f"writer-{number}-{commit}")

    threads = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    snapshots = SnapshotManager(opened(server), path)
    assert snapshots.ids() == list(range(1, WRITERS * COMMITS + 1))
    files = Built(opened(server), schema, path=path).plan(snapshots.latest())
    assert {f.meta.file_name for f in files} == {
        f"data-{n}-{c}.parquet" for n in range(WRITERS) for c in range(COMMITS)
    }


def test_a_commit_whose_answer_was_lost_is_made_once(server: S3Server, path: str) -> None:
    table = Built(opened(server), table_schema(PLAIN), path=path)
    lost = [True]

    def spoil(environ: dict[str, str]) -> str | None:
        if lost and is_put(environ, "snapshot/snapshot-1"):
            lost.clear()
            return "lost"
        return None

    with server.spoiling(spoil):
        assert table.append(table.new_file(), user="me").id == 1
    assert not lost, "the answer was lost"
    assert table.append(table.new_file(), user="me").id == 1
    assert SnapshotManager(table.store, path).ids() == [1]
