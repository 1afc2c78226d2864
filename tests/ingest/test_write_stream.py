"""`Table.stream_writer`: each row of a stream once, across kills, replays and checkpoints that are not the newest."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import lakebed
from ingest.stream_job import stream_of
from lakebed.errors import LakebedError
from lakebed.ingest.ingest_context import IngestContext
from lakebed.model import Field, Int32, Option, String
from lakebed.store import LocalStore

TESTS = Path(__file__).parents[1]
#: What a commit writes, but for rows.
WRITTEN = ("manifest/manifest", "manifest/manifest-list", "snapshot/snapshot-1")


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    for name in ("warehouse", "in"):
        (tmp_path / name).mkdir()
    lake = lakebed.open(tmp_path / "warehouse")
    lake.tables.create_table("db", "t", [Field("a", Int32()), Field("b", Option(String()))])
    return lake


class Streamed:
    """A directory of files and a stream of them into `db.t`."""

    def __init__(self, spark: SparkSession, lake: lakebed.Lake, root: Path, **asked: Any) -> None:
        self.spark, self.lake, self.root, self.asked = spark, lake, root, asked
        self.results: list[Any] = []

    def put(self, name: str, *lines: str) -> None:
        (self.root / "in" / name).write_text("".join(f"{line}\n" for line in lines))

    def frame(self) -> DataFrame:
        return stream_of(self.spark, self.root / "in")

    def run(self, frame: DataFrame | None = None, **asked: Any) -> str | None:
        """All that is there; the code of the error where the query fails."""
        asked = {"checkpoint": str(self.root / "checkpoint"), "on_batch": self.results.append, **self.asked, **asked}
        writer = self.lake.table("db.t").stream_writer(frame or self.frame(), **asked)
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        except StreamingQueryException as error:
            return str(error).partition("error[")[2][:6] or str(error)
        return None

    def rows(self, *columns: str, table: str = "db.t") -> list[tuple[Any, ...]]:
        return sorted(tuple(r) for r in self.lake.read(self.spark, table).select(*columns).collect())

    def bad(self) -> list[str]:
        return sorted(raw for (raw,) in self.rows("raw", table="db.t__quarantine"))

    def forget_last(self) -> None:
        """What the checkpoint is where the driver dies before Spark notes that a batch is done."""
        done = self.root / "checkpoint" / "commits"
        last = max(int(p.name) for p in done.iterdir() if p.name.isdigit())
        for name in (f"{last}", f".{last}.crc"):
            (done / name).unlink(missing_ok=True)


@pytest.fixture
def streamed(spark: SparkSession, lake: lakebed.Lake, tmp_path: Path) -> Streamed:
    return Streamed(spark, lake, tmp_path)


def test_batches_that_come_again_and_checkpoints_that_are_not_the_newest(streamed: Streamed) -> None:
    put, run = streamed.put, streamed.run
    put("1.csv", "1,x", "?,y")
    assert run() is None
    shutil.copytree(streamed.root / "checkpoint", streamed.root / "copy")
    put("2.csv", "2,x")
    assert run() is None
    streamed.forget_last()
    assert run() is None
    assert [(r.rows_written, r.rows_quarantined, r.repeated) for r in streamed.results] == [
        (1, 1, False),
        (1, 0, False),
        (1, 0, True),
    ]
    assert (streamed.rows("a", "b"), len(streamed.bad())) == ([(1, "x"), (2, "x")], 1)
    newest = streamed.lake.table("db.t").snapshots.latest()
    assert newest is not None
    query = (newest.properties or {})["lakebed.query-id"]
    assert (newest.id, newest.commit_user, newest.commit_identifier) == (2, f"lakebed-{query}", 1)
    # An older copy of the checkpoint, in its place or another one, plans batch 1 anew, with more rows.
    put("3.csv", "3,x")
    assert run(checkpoint=str(streamed.root / "copy")) == "LB6482"
    shutil.rmtree(streamed.root / "checkpoint")
    assert run() == "LB6483"
    assert run(follows="another") == "LB6483"
    assert streamed.rows("a") == [(1,), (2,)]
    # Behind what is there, by the word of the caller.
    for name in ("1.csv", "2.csv"):
        (streamed.root / "in" / name).unlink()
    shutil.rmtree(streamed.root / "checkpoint")
    assert run(follows=query) is None
    put("4.csv", "4,x")
    assert run() is None
    assert streamed.rows("a") == [(1,), (2,), (3,), (4,)]


class DyingStore(LocalStore):
    """A local store, and a driver that dies as it writes a file of a kind that it has not died at before."""

    deaths: ClassVar[set[str]] = set()

    def create_if_absent(self, path: str, data: bytes) -> bool:
        kind = re.sub(r"-[0-9a-f-]{8,}.*", "", path)
        if kind not in self.deaths:
            self.deaths.add(kind)
            raise RuntimeError("dead on purpose")
        return super().create_if_absent(path, data)


def test_a_driver_that_dies_at_any_write(streamed: Streamed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each start dies at another write, of quarantine or of table, until all are through."""
    streamed.put("1.csv", "1,x", "?,y")
    own = streamed.lake.table("db.t")._ingest_context
    tables = type(own.tables)(own.tables.path_factory, DyingStore())
    dying = IngestContext(tables, own.time_zone, own.clock)
    monkeypatch.setattr(lakebed.table.Table, "_ingest_context", property(lambda _: dying))
    monkeypatch.setattr(DyingStore, "deaths", set())
    starts = 1
    while (failed := streamed.run()) is not None:
        assert "dead on purpose" in failed
        starts += 1
    kinds = {"/".join(kind.rsplit("/", 3)[-3:]) for kind in DyingStore.deaths}
    written = {f"{table}/{kind}" for table in ("t", "t__quarantine") for kind in WRITTEN}
    assert (len(DyingStore.deaths), written - kinds) == (starts - 1, set())
    assert (streamed.rows("a", "b"), len(streamed.bad())) == ([(1, "x")], 1)


@pytest.mark.slow
def test_a_driver_that_is_killed(streamed: Streamed, lake: lakebed.Lake, tmp_path: Path) -> None:
    """SIGKILL between the quarantine and the table, and again behind the next commit: no row is lost or doubled."""
    for number in range(1, 4):
        streamed.put(f"{number}.csv", f"{number},x", f"?{number},y")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(TESTS.parent / "src"), str(TESTS)))}
    for number, when in ((2, "early"), (3, "late")):
        job = [sys.executable, "-m", "ingest.stream_job", str(tmp_path), str(number), when]
        died = subprocess.run(job, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert died.returncode == -signal.SIGKILL, died.stderr[-2000:]
    assert streamed.run() is None
    assert streamed.rows("a", "b") == [(1, "x"), (2, "x"), (3, "x")]
    assert len(streamed.bad()) == 3


def test_upserts_changes_and_a_schema_that_changes_between_batches(streamed: Streamed) -> None:
    tables = streamed.lake.tables
    tables.drop_table("db", "t")
    options = {"bucket": "2"}
    fields = [Field("a", Int32()), Field("b", Option(String()))]
    tables.create_table("db", "t", fields, primary_keys=["a"], options=options)
    shape = "a string, b string, what string"
    frame: Callable[[str], DataFrame] = lambda s: streamed.spark.readStream.schema(s).csv(str(streamed.root / "in"))  # noqa: E731
    streamed.put("1.csv", "1,x,+I", "2,x,+I", "2,y,-U", "2,z,+U", "?,x,+I")
    assert streamed.run(frame(shape), row_kinds="what") is None
    tables.get_schema_manager("db", "t").create_new_schema_version([*fields, Field("c", Option(Int32()))], ["a"], ())
    streamed.put("2.csv", "1,x,-D,7", "3,w,+I,8")
    assert streamed.run(frame(f"{shape}, c string"), row_kinds="what") is None
    assert streamed.rows("a", "b", "c") == [(2, "z", None), (3, "w", 8)]
    assert len(streamed.bad()) == 1
    # A column that the table has not ends the query, is left out, or comes into the table.
    streamed.put("3.csv", "4,v,+I,9,more")
    wider = frame(f"{shape}, c string, d string").drop("what")
    assert streamed.run(wider) == "LB6112"
    assert streamed.run(wider, unknown_columns="ignore") is None
    streamed.put("4.csv", "5,v,+I,9,more")
    assert streamed.run(wider, merge_schema="add") is None
    assert streamed.rows("a", "d")[-2:] == [(4, None), (5, "more")]


def test_streams_into_one_table_have_names(streamed: Streamed) -> None:
    """Two streams go on side by side; two checkpoints under one name do not."""
    streamed.put("1.csv", "1,x")
    for name in ("p", "q"):
        assert streamed.run(checkpoint=str(streamed.root / name), name=name) is None
    assert streamed.rows("a") == [(1,), (1,)]
    assert streamed.run(checkpoint=str(streamed.root / "r"), name="q") == "LB6483"
    # A checkpoint that moves is the same one.
    (streamed.root / "p").rename(streamed.root / "s")
    assert streamed.run(checkpoint=str(streamed.root / "s"), name="s") is None
    assert streamed.rows("a") == [(1,), (1,)]


def test_a_query_that_keeps_state_goes_on_behind_a_batch_that_came_again(streamed: Streamed) -> None:
    streamed.put("1.csv", "1,x", "1,y")
    count = streamed.frame().groupBy("a").count().selectExpr("a", "cast(count as string) as b")

    def run() -> None:
        writer = streamed.lake.table("db.t").stream_writer(count, str(streamed.root / "checkpoint"))
        writer.outputMode("update").trigger(availableNow=True).start().awaitTermination()

    run()
    streamed.forget_last()
    for path in (streamed.root / "checkpoint" / "state").rglob("1.delta"):
        path.unlink()
    run()
    streamed.put("2.csv", "1,z")
    run()
    assert streamed.rows("a", "b") == [(1, "2"), (1, "3")]


def test_what_makes_no_sense_is_told_before_the_query_starts(streamed: Streamed) -> None:
    table, frame = streamed.lake.table("db.t"), streamed.frame()
    still = streamed.spark.createDataFrame([(1, "x")], "a int, b string")

    def code(rows: DataFrame, checkpoint: Any = "c", **asked: Any) -> str:
        with pytest.raises(LakebedError) as caught:
            table.stream_writer(rows, checkpoint, **asked)
        return caught.value.code

    assert code(still) == "LB6109"
    assert code(frame, " ") == code(frame, None) == code(frame, name=" ") == "LB6109"
    assert code(frame, max_bad_rows=-1) == code(frame, unknown_columns="keep") == "LB6109"
    assert code(frame, row_kinds="what") == "LB6109"
    assert code(frame, order_by="zz") != ""
    with pytest.raises(LakebedError, match="missing"):
        streamed.lake.table("db.missing").stream_writer(frame, "c")
    # Another checkpoint than the one that was said.
    streamed.put("1.csv", "1,x")
    other = table.stream_writer(frame, str(streamed.root / "checkpoint"))
    query = other.option("checkpointLocation", str(streamed.root / "other")).trigger(availableNow=True).start()
    with pytest.raises(StreamingQueryException, match="LB6485"):
        query.awaitTermination()
    assert streamed.rows("a") == []


def test_two_streams_at_once_into_a_table_with_a_key(streamed: Streamed) -> None:
    """Who loses the race numbers its rows anew; every batch of both is there."""
    streamed.lake.tables.create_table(
        "db", "keyed", [Field("a", Int32()), Field("b", Option(String()))], primary_keys=["a"], options={"bucket": "1"}
    )
    for number in range(2):
        streamed.put(f"{number}.csv", f"{number},x", "9,y")
    table = streamed.lake.table("db.keyed")
    queries = [
        table.stream_writer(streamed.frame().selectExpr(f"a * {factor} AS a", "b"), str(streamed.root / f"c{factor}"))
        .trigger(availableNow=True)
        .start()
        for factor in (10, 100)
    ]
    for query in queries:
        query.awaitTermination()
    assert streamed.rows("a", table="db.keyed") == [(0,), (10,), (90,), (100,), (900,)]
    users = [s.commit_user for s in table.snapshots.newest_first()]
    assert sorted(map(users.count, set(users))) == [2, 2]


def test_a_table_that_follows_another_one(streamed: Streamed) -> None:
    """A stream of a changelog, all in one batch, makes a copy: changes of a key come in their order."""
    pytest.importorskip("pyspark.sql.streaming.datasource", reason="PySpark before 4.2 limits no stream in Python")
    options = {"bucket": "2", "changelog-producer": "input"}
    fields = [Field("a", Int32()), Field("b", Option(String()))]
    for name in ("first", "copy"):
        streamed.lake.tables.create_table("db", name, fields, primary_keys=["a"], options=options)
    first = streamed.lake.table("db.first")
    shape = "a int, b string, what string"
    for number in range(4):
        rows = [(key, f"{number}-{key}", "-D" if key % 3 == number else "+I") for key in range(6)]
        first.upsert(streamed.spark.createDataFrame(rows, shape), row_kinds="what")
        if number == 1:
            wider = [*fields, Field("c", Option(Int32()))]
            first.schemas.create_new_schema_version(wider, ["a"], ())
    streamed.lake.register(streamed.spark)
    changes = streamed.spark.readStream.format("lakebed").options(**{"row-kinds": "true", "from-snapshot": "1"})
    writer = streamed.lake.table("db.copy").stream_writer(
        changes.load("db.first").drop("c"), str(streamed.root / "copied"), row_kinds="rowkind"
    )
    writer.trigger(availableNow=True).start().awaitTermination()
    copied = streamed.rows("a", "b", table="db.copy")
    assert copied == streamed.rows("a", "b", table="db.first")
    assert len(copied) > 3
