"""Batches of rows on their way to the workers are bounded by rows, and worth their costs once they are there."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from threading import Barrier, Thread

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakebed import Lake
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Binary, Field, Int32, Int64, List, Option, String, Struct
from lakebed.physical import DataField
from lakebed.physical.paimon_types import Array, BigInt, DataType, Map, Row, VarBinary, VarChar, Variant
from lakebed.spark.arrow_batches import bounded_by_rows, gathered, needs_count
from lakebed.spark.write_rows import write_rows
from runtime.spark_settings import with_settings

ROWS, BYTES = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.arrow.maxBytesPerBatch"


def settings(spark: SparkSession) -> tuple[str | None, str | None]:
    return spark.conf.get(ROWS, None), spark.conf.get(BYTES, None)


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """A session of its own, whose settings nobody else has."""
    return spark.newSession()


def test_batches_are_bounded_by_rows_inside_and_by_bytes_again_outside(session: SparkSession) -> None:
    before = settings(session)
    with bounded_by_rows(session, counts_bytes=False):
        assert settings(session) == ("2048", str(2**31 - 1))
        with bounded_by_rows(session, counts_bytes=False):
            pass
        assert settings(session) == ("2048", str(2**31 - 1))
    assert settings(session) == before
    with pytest.raises(ZeroDivisionError), bounded_by_rows(session, counts_bytes=False):
        raise ZeroDivisionError
    assert settings(session) == before == (None, None)
    with bounded_by_rows(session, counts_bytes=True):
        assert settings(session) == before


@pytest.mark.parametrize(
    ("type_", "counted"),
    [
        (BigInt(), False),
        (VarChar(2**31 - 1), False),
        (Row((DataField(1, "a", VarChar(9)),)), False),
        (Array(BigInt()), False),
        (Map(BigInt(), BigInt()), False),
        (VarBinary(10), True),
        (Array(VarBinary(10)), True),
        (Array(VarChar(9)), True),
        (Array(Array(BigInt())), True),
        (Map(VarChar(9), BigInt()), True),
        (Array(Row((DataField(1, "a", VarChar(9)),))), True),
        (Row((DataField(1, "a", Variant()),)), True),
    ],
)
def test_bytes_are_counted_where_values_may_have_any_size(type_: DataType, counted: bool) -> None:
    assert needs_count([DataField(0, "k", BigInt()), DataField(9, "v", type_)]) is counted


@pytest.mark.parametrize("keyed", [False, True])
def test_large_rows_are_written_again_with_their_bytes_counted(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch, keyed: bool
) -> None:
    monkeypatch.setattr("lakebed.spark.arrow_batches._LARGE_ROW", 1000)
    columns = ("k BIGINT NOT NULL", "p INT NOT NULL", "t STRING", Field("l", Option(List(Option(Int32())))))
    keys, options = (["p", "k"], {"bucket": "2"}) if keyed else ([], {})
    lake.tables.create_table("db", "t", columns, primary_keys=keys, partition_keys=["p"], options=options)
    table = lake.table("db.t")
    small = spark.range(0, 20, 1, 2).selectExpr("id AS k", "cast(id % 2 AS int) AS p", "'x' AS t", "array(1) AS l")
    texts = small.withColumn("t", F.when(F.col("k") == 13, F.repeat(F.lit("x"), F.lit(1001))).otherwise(F.col("t")))
    items = small.withColumn("l", F.when(F.col("k") == 7, F.sequence(F.lit(1), F.lit(99))).otherwise(F.col("l")))
    bad = texts.withColumn("k", F.when(F.col("k") == 4, F.lit("no number")).otherwise(F.col("k").cast("string")))
    assert table.append(texts).rows_by_kind == {"+I": 20}
    assert table.overwrite(items).rows_added == 20
    ingested = lake.ingest(spark, "db.t", bad)
    assert (ingested.rows_read, ingested.rows_written, ingested.rows_quarantined) == (20, 19, 1)
    assert table.delete(spark, where="true").rows_deleted == (20 if keyed else 39)
    table.append(texts)
    assert table.update(spark, set={"t": "concat(t, 'y')"}, where="k > 11").rows_updated == 8
    replaced = table.overwrite(texts.where("k > 11"), where="k > 11")
    assert (replaced.rows_deleted, replaced.rows_inserted) == (8, 8)
    with pytest.raises(BadRowsError):
        table.append(bad)
    found = sorted((row.k, row.p, row.t, row.l) for row in table.read(spark).collect())
    assert found == sorted((row.k, row.p, row.t, row.l) for row in texts.collect())
    # What the jobs wrote that were given up is gone.
    assert table.orphan_files(min_age=timedelta(0)).files == ()
    assert settings(spark) == (None, None)


@pytest.mark.parametrize(("own", "inside"), [("100", "100"), ("10000", "2048"), ("0", "2048"), ("-1", "2048")])
def test_fewer_rows_are_what_a_session_says(session: SparkSession, own: str, inside: str) -> None:
    with with_settings(session, {ROWS: own}):
        with bounded_by_rows(session, counts_bytes=False):
            assert settings(session) == (inside, str(2**31 - 1))
        assert settings(session) == (own, None)


def test_a_session_that_says_how_many_bytes_is_left_as_it_is(session: SparkSession) -> None:
    with with_settings(session, {BYTES: "1048576"}):
        with bounded_by_rows(session, counts_bytes=False):
            assert settings(session) == (None, "1048576")
        assert settings(session) == (None, "1048576")


def test_writers_beside_each_other_put_back_what_was_there(session: SparkSession) -> None:
    both_in = Barrier(2)

    def write() -> None:
        for _ in range(20):
            both_in.wait()
            with bounded_by_rows(session, counts_bytes=False):
                pass

    threads = [Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert settings(session) == (None, None)


def test_what_one_writer_needs_no_other_takes_away(session: SparkSession) -> None:
    bounded = ("2048", str(2**31 - 1))
    first, second = bounded_by_rows(session, counts_bytes=False), bounded_by_rows(session, counts_bytes=False)
    with first:
        with bounded_by_rows(session, counts_bytes=True):
            assert settings(session) == (None, None)
        assert settings(session) == bounded
        second.__enter__()
    assert settings(session) == bounded
    second.__exit__(None, None, None)
    assert settings(session) == (None, None)


def test_what_is_set_meanwhile_stays(session: SparkSession) -> None:
    with bounded_by_rows(session, counts_bytes=False):
        session.conf.set(ROWS, "7")
        session.conf.set(BYTES, "1m")
    assert settings(session) == ("7", "1m")


def test_a_session_that_counts_bytes_writes_large_rows_at_once(
    spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakebed.spark.arrow_batches._LARGE_ROW", 10)
    jobs = list[bool]()
    monkeypatch.setattr(
        "lakebed.spark.table_writer.write_rows",
        lambda *given, **how: jobs.append(bool(how)) or write_rows(*given, **how),
    )
    lake.tables.create_table("db", "t", ("t STRING",))
    rows = spark.sql("SELECT repeat('x', 99) AS t")
    with with_settings(spark, {BYTES: "64m"}):
        lake.table("db.t").append(rows)
    assert jobs == [False]
    lake.table("db.t").append(rows)
    assert jobs == [False, False, True]


@given(sizes=st.lists(st.integers(0, 5000), max_size=12), wide=st.booleans())
def test_gathered_batches_have_the_same_rows_and_are_bounded(sizes: list[int], wide: bool) -> None:
    text = "x" * (10_000 if wide else 1)
    batches = [
        pa.record_batch({"n": pa.array(range(n), pa.int64()), "t": pa.repeat(pa.scalar(text), n)}) for n in sizes
    ]
    made = list(gathered(batches))
    assert [n for batch in made for n in batch.column("n").to_pylist()] == [n for size in sizes for n in range(size)]
    assert all(batch.num_rows for batch in made)
    largest = max((batch.nbytes for batch in batches), default=0)
    assert all(batch.num_rows <= 8191 + 5000 and batch.nbytes <= (16 << 20) + 1.1 * largest for batch in made)
    # No two that stand beside each other would have fitted into one.
    for one, other in pairwise(made):
        assert one.num_rows >= 8192 or one.nbytes >= 15 << 20, (one.num_rows, other.num_rows)


def test_rows_of_many_batches_are_written(spark: SparkSession, lake: Lake) -> None:
    columns = (
        Field("k", Int64()),
        Field("t", Option(String())),
        Field("l", Option(List(Option(Int32())))),
        Field("s", Option(Struct((Field("a", Option(String())),)))),
    )
    lake.tables.create_table("db", "t", columns)
    lake.tables.create_table("db", "b", (*columns, Field("b", Binary())))
    frame = spark.range(0, 3000, 1, 1).select(
        F.col("id").alias("k"),
        F.when(F.col("id") % 3 > 0, F.repeat(F.lit("ä"), F.col("id").cast("int") % 7)).alias("t"),
        F.when(F.col("id") % 5 > 0, F.sequence(F.lit(0), F.col("id").cast("int") % 4)).alias("l"),
        F.when(F.col("id") % 2 > 0, F.struct(F.col("id").cast("string").alias("a"))).alias("s"),
    )
    for name, rows in (("db.t", frame), ("db.b", frame.withColumn("b", F.col("k").cast("string").cast("binary")))):
        assert lake.table(name).append(rows).rows_added == 3000
        read = lake.table(name).read(spark)
        assert read.exceptAll(rows.select(*read.columns)).count() == 0
    assert settings(spark)[1] is None
