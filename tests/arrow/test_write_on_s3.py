"""A task writes its files straight to S3, by its own options alone: one request a small file, and nothing else."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakebed.arrow.write_files import write_data_files
from lakebed.arrow.write_task import WriteTask
from lakebed.errors import LakebedError
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.store import open_store
from store.s3_server import S3Server

FIELDS = (DataField(0, "k", parse("INT NOT NULL")), DataField(1, "p", parse("STRING")))
ROWS = pa.RecordBatch.from_pydict({"k": pa.array([1, 2, 3], pa.int32()), "p": ["a", "b", None]})


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with S3Server() as server:
        open_store("s3://rows", storage_options=server.options)[0]._fs.mkdir("rows")
        yield server


@pytest.fixture
def task(server: S3Server) -> WriteTask:
    parts = {"id": "w", "creation_time": 0, "options": {"target-file-row-num": "1"}}
    return WriteTask(
        location="s3://rows/wh",
        table_path="s3://rows/wh/db.db/t",
        schema_id=0,
        fields=FIELDS,
        storage_options=server.options,
        **parts,
    )


def requests(server: S3Server) -> list[tuple[str, str]]:
    return [r for r in server.requests if "/db.db/" in r[1]]


def test_files_are_put_once_where_they_belong(server: S3Server, task: WriteTask) -> None:
    server.requests.clear()
    entries = write_data_files([ROWS], pickle.loads(pickle.dumps(task))).added
    paths = [f"/rows/wh/db.db/t/bucket-0/{e.file.file_name}" for e in entries]
    assert requests(server) == [("PUT", path) for path in paths]
    store = open_store("s3://rows", storage_options=server.options)[0]
    found = [pq.read_table(pa.BufferReader(store.read(f"s3:/{path}"))) for path in paths]
    assert pa.concat_tables(found).column("k").to_pylist() == [1, 2, 3]
    assert [store.size(f"s3:/{path}") for path in paths] == [e.file.file_size for e in entries]


@pytest.mark.parametrize("spoilt", [0, 1, 2])
def test_a_request_that_fails_leaves_no_file(server: S3Server, task: WriteTask, spoilt: int) -> None:
    """The last one is carried out, and its answer lost."""
    name = f"-{spoilt}.parquet"

    def verdict(environ: dict[str, str]) -> str | None:
        return "lost" if environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith(name) else None

    retries = {"config_kwargs": {"retries": {"max_attempts": 0}}}
    task = replace(task, id=f"lost{spoilt}", storage_options={**server.options, **retries})
    store = open_store("s3://rows", storage_options=server.options)[0]
    before = store.list(f"{task.table_path}/bucket-0")
    with server.spoiling(verdict), pytest.raises(LakebedError):
        write_data_files([ROWS], task)
    assert store.list(f"{task.table_path}/bucket-0") == before
