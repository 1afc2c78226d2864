"""`df.writeStream.format("lakebed")`: the rows of each batch once, by the checkpoint of the query."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark import cloudpickle
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

import lakebed
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import ConflictError, LakebedError, UnsupportedError
from lakebed.model import Field, Int64, Option, String

pytest.importorskip(
    "lakebed.data_source.batch_writer", reason="PySpark before 4.1 hands no batches to a source", exc_type=ImportError
)

from data_source.test_batch_writer import PLAIN, batch, data_on_disk, live, numbers, rows_of

__all__ = ["numbers"]


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "warehouse").mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    lake.tables.create_table("db", "u", [Field("k", Int64()), Field("v", Option(String()))])
    return lake


class Query:
    """A query as its checkpoint has it, which gives batches to writers as Spark does: each a new one, as bytes."""

    def __init__(self, lake: lakebed.Lake, checkpoint: Path, query: str = "q", **options: str) -> None:
        self.lake, self.checkpoint, self.options = lake, checkpoint, options
        (checkpoint / "offsets").mkdir(parents=True)
        (checkpoint / "metadata").write_text(json.dumps({"id": query}))

    def plan(self, number: int, planned: int) -> None:
        offsets = f'v1\n{{"batchTimestampMs":{planned}}}\n{{}}'
        (self.checkpoint / "offsets" / str(number)).write_text(offsets)

    def writer(self, overwrite: bool) -> Any:
        given = {"path": "db.u", "warehouse": self.lake.warehouse, "checkpointlocation": str(self.checkpoint)}
        writer = LakebedDataSource({**given, **self.options}).streamWriter(PLAIN, overwrite)
        return cloudpickle.loads(cloudpickle.dumps(writer))

    def put(self, number: int, tasks: Sequence[Sequence[int]], overwrite: bool = False, lost: int = 0) -> None:
        first = self.writer(overwrite)
        messages: list[Any] = [
            cloudpickle.loads(cloudpickle.dumps(first.write(iter([batch(PLAIN, [{"k": k} for k in keys])]))))
            for keys in tasks
        ]
        if lost:
            self.writer(overwrite).abort([*messages, *[None] * lost], number)
        else:
            self.writer(overwrite).commit(messages, number)

    def keys(self) -> list[int]:
        return [r["k"] for r in rows_of(self.lake, "db.u")]


def test_a_batch_is_written_once_and_an_older_checkpoint_is_refused(lake: lakebed.Lake, tmp_path: Path) -> None:
    query = Query(lake, tmp_path / "c")
    query.plan(0, 1000)
    for _ in range(2):
        query.put(0, [[1], [2]])
    assert query.keys() == [1, 2]
    snapshot = lake.table("db.u").snapshots.latest()
    assert snapshot is not None
    assert (snapshot.id, snapshot.commit_user, snapshot.commit_identifier) == (1, "lakebed-q", 0)
    query.plan(1, 2000)
    query.put(1, [[3]])
    query.plan(1, 3000)
    with pytest.raises(ConflictError, match="LB6482"):
        query.put(1, [[3], [4]])
    with pytest.raises(ConflictError, match="LB6482"):
        query.put(0, [[1], [2]])
    query.plan(2, 4000)
    query.put(2, [])
    query.put(2, [[5]], lost=1)
    assert query.keys() == [1, 2, 3]
    # What is not in the table is not there at all.
    assert data_on_disk(lake, "db.u") == len(live(lake, "db.u")) == 3


def test_a_new_checkpoint_says_whose_place_it_takes(lake: lakebed.Lake, tmp_path: Path) -> None:
    first = Query(lake, tmp_path / "c", "first")
    first.plan(0, 1000)
    first.put(0, [[1]])
    shutil.rmtree(tmp_path / "c")
    second = Query(lake, tmp_path / "c", "second")
    second.plan(0, 2000)
    with pytest.raises(ConflictError, match="follows='first'"):
        second.put(0, [[1]])
    second.options = {"follows": "first"}
    second.put(0, [[2]])
    other = Query(lake, tmp_path / "d", "other", **{"stream-name": "x"})
    other.plan(0, 3000)
    other.put(0, [[3]])
    # The stream and `stream_writer` are known to each other by the table.
    assert second.keys() == [1, 2, 3]


def test_all_rows_of_a_query_take_the_place_of_those_before(lake: lakebed.Lake, tmp_path: Path) -> None:
    query = Query(lake, tmp_path / "c")
    for number, keys in enumerate(([1, 2], [3], [])):
        query.plan(number, 1000 + number)
        query.put(number, [keys], overwrite=True)
        assert query.keys() == keys


@pytest.mark.parametrize(
    ("options", "said"), [({"run-id": "r"}, "no option 'run-id'"), ({"stream_name": "x"}, "'stream-name'")]
)
def test_other_options_are_refused(lake: lakebed.Lake, tmp_path: Path, options: dict[str, str], said: str) -> None:
    with pytest.raises(LakebedError, match="LB5600") as caught:
        Query(lake, tmp_path / "c", **options).writer(False)
    assert said in str(caught.value)
    with pytest.raises(LakebedError, match="checkpointLocation"):
        LakebedDataSource({"path": "db.u", "warehouse": lake.warehouse}).streamWriter(PLAIN, False)


def test_a_table_with_a_key_is_refused(lake: lakebed.Lake, tmp_path: Path) -> None:
    options = {"bucket": "1"}
    lake.tables.drop_table("db", "u")
    lake.tables.create_table("db", "u", [Field("k", Int64())], primary_keys=["k"], options=options)
    with pytest.raises(UnsupportedError, match="LB5608") as caught:
        Query(lake, tmp_path / "c").writer(False)
    assert "stream_writer" in str(caught.value)


def test_spark_writes_a_stream(lake: lakebed.Lake, spark: SparkSession, tmp_path: Path) -> None:
    lake.register(spark)
    source = tmp_path / "in"
    source.mkdir()
    frame = spark.readStream.schema("k bigint, v string").option("maxFilesPerTrigger", 1).csv(str(source))

    def run(**options: str) -> None:
        writer = frame.writeStream.format("lakebed").option("checkpointLocation", str(tmp_path / "c"))
        writer.options(**options).trigger(availableNow=True).start("db.u").awaitTermination()

    for number in range(2):
        (source / f"{number}.csv").write_text(f"{number},x\n")
    run()
    for name in ("1", ".1.crc"):
        (tmp_path / "c" / "commits" / name).unlink()
    run()
    assert [r["k"] for r in rows_of(lake, "db.u")] == [0, 1]
    assert len(lake.table("db.u").snapshots.ids()) == 2
    shutil.rmtree(tmp_path / "c")
    with pytest.raises(StreamingQueryException, match="LB6483"):
        run()
