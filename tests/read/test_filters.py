"""Filters that Spark would compare wrongly with the files, and sessions whose settings would lose rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import lakebed
from lakebed.errors import UsageError
from lakebed.spark import scan
from read.lakes import declare, got, manifest, put, put_file

pytestmark = pytest.mark.usefixtures("as_for_users")

MILLIS = "{kind: Timestamp, unit: Millisecond}"
WALL = "extra: {paimon.apache.org/type: TIMESTAMP(3)}"
NOON = datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC)
WALL_NOON = NOON.replace(tzinfo=None)
NAN = float("nan")


def keys(frame: Any, condition: str) -> list[int]:
    """The keys of the rows that a filter keeps."""
    return [row[0] for row in got(frame.where(condition).select("k"))]


def pushed(frame: Any) -> str:
    """The part of the plan that says which filters the scans got."""
    plan = str(frame._jdf.queryExecution().executedPlan().toString())
    return plan[plan.index("PushedFilters:") :]


@pytest.fixture
def setting(spark: Any) -> Iterator[Any]:
    """Sets a setting of the session until the test ends."""
    names = []

    def change(name: str, value: str) -> None:
        names.append(name)
        spark.conf.set(name, value)

    yield change
    for name in names:
        spark.conf.unset(name)


def test_finer_literals_on_millisecond_timestamps(lake: lakebed.Lake, spark: Any) -> None:
    inner = f"{{kind: Struct, fields: [{{name: 't`1', type: {MILLIS}}}, {{name: n, type: {MILLIS}, {WALL}}}]}}"
    members = f"{{name: t, type: {MILLIS}}}, {{name: x, type: Int32}}, {{name: in, type: {inner}}}"
    fields = "{name: k, type: Int64}\n{name: t, type: " + MILLIS + "}\n{name: s, type: {kind: Struct, fields: [%s]}}"
    declare(lake, manifest(fields % members))
    schema = "k bigint, t timestamp, s struct<t:timestamp,x:int,in:struct<`t``1`:timestamp,n:timestamp_ntz>>"
    put(lake, spark, [(1, NOON, (NOON, 7, (NOON, WALL_NOON)))], schema)
    declare(lake, manifest(fields % f"{members}, {{name: y, type: {{kind: Option, inner: Int32}}}}"))
    frame = lake.read(spark, "db.t")
    for column in ("t", "s.t", "s.in.`t``1`"):
        assert keys(frame, f"{column} < timestamp'2020-01-01 12:00:00.000001Z'") == [1]
        assert keys(frame, f"{column} != timestamp'2020-01-01 12:00:00.0009Z'") == [1]
    assert keys(frame, "s.in.n < timestamp_ntz'2020-01-01 12:00:00.000001'") == [1]
    assert keys(frame, "s.x = 7 and s.y is null") == [1]


def test_other_members_of_a_struct_are_still_compared_with_the_files(lake: lakebed.Lake, spark: Any) -> None:
    members = f"{{name: t, type: {MILLIS}}}, {{name: x, type: Int32}}, {{name: f, type: Float64}}"
    declare(lake, manifest(f"{{name: k, type: Int64}}\n{{name: s, type: {{kind: Struct, fields: [{members}]}}}}"))
    put(lake, spark, [(1, (NOON, 7, 0.5))], "k bigint, s struct<t:timestamp,x:int,f:double>")
    frame = lake.read(spark, "db.t")
    assert "EqualTo(s.x,7)" in pushed(frame.where("s.x = 7 and s.f = 0.5D"))
    assert "s.f,0.5" not in pushed(frame.where("s.x = 7 and s.f = 0.5D"))
    assert "ReadSchema: struct<s:struct<x:int>>" in pushed(frame.selectExpr("s.x"))
    assert keys(frame, "s.x = 7 and s.f = 0.5D") == [1]


@pytest.mark.parametrize(("declared", "type_"), [("Float64", "double"), ("Float32", "float")])
def test_zeros_of_both_signs_are_equal(lake: lakebed.Lake, spark: Any, declared: str, type_: str) -> None:
    declare(lake, manifest(f"{{name: k, type: Int64}}\n{{name: x, type: {declared}}}"))
    put(lake, spark, [(1, -0.0), (2, -0.0)], f"k bigint, x {type_}")
    put(lake, spark, [(3, 0.0), (4, 0.0)], f"k bigint, x {type_}")
    declare(lake, manifest("{name: k, type: Int64}\n{name: x, type: Float64}"))
    frame = lake.read(spark, "db.t")
    for condition in ("x = 0", "x = double('-0.0')", "x >= 0", "x <= double('-0.0')", "x in (0, 7)"):
        assert keys(frame, condition) == [1, 2, 3, 4], condition
    assert [str(row[1]) for row in got(frame)] == ["-0.0", "-0.0", "0.0", "0.0"]


def test_nan_is_the_largest_number_whoever_wrote_it(lake: lakebed.Lake, spark: Any) -> None:
    declare(lake, manifest("{name: k, type: Int64}\n{name: x, type: Float64}\n{name: y, type: Float32}"))
    floats = pa.array([1.0, NAN], pa.float32())
    put_file(lake, pa.table({"k": [1, 2], "x": pa.array([1.0, NAN]), "y": floats}))
    frame = lake.read(spark, "db.t")
    for column in "xy":
        assert keys(frame, f"{column} > 5") == [2]
        assert keys(frame, f"{column} != 1") == [2]
        assert keys(frame, f"{column} = double('NaN')") == [2]


@pytest.mark.parametrize("ignores_logs", ["false", "true"])
@pytest.mark.parametrize("name", ["spark.sql.files.ignoreMissingFiles", "spark.sql.files.ignoreCorruptFiles"])
def test_a_file_that_is_missing_or_broken_is_an_error(
    lake: lakebed.Lake, spark: Any, setting: Any, name: str, ignores_logs: str
) -> None:
    declare(lake, manifest("{name: k, type: Int64}"))
    put(lake, spark, [(1,)], "k bigint")
    (file,) = Path(lake.warehouse).rglob("data-*.parquet")
    if "Missing" in name:
        file.unlink()
    else:
        file.write_bytes(b"PAR1" + bytes(file.stat().st_size - 4))
    setting(name, "true")
    setting("spark.sql.streaming.fileStreamSink.ignoreMetadata", ignores_logs)
    with pytest.raises(Exception, match=r"FAILED_READ_FILE|PATH_NOT_FOUND|CANNOT_READ_FILE"):
        lake.read(spark, "db.t").collect()


def test_old_days_are_those_that_were_written(lake: lakebed.Lake, spark: Any, setting: Any) -> None:
    declare(lake, manifest("{name: k, type: Int64}\n{name: d, type: Date}\n{name: t, type: Timestamp}"))
    instant = pa.array([datetime.datetime(1500, 1, 1)], pa.timestamp("us", "UTC"))
    put_file(lake, pa.table({"k": [1], "d": [datetime.date(1500, 1, 1)], "t": instant}))
    for mode in ("LEGACY", "EXCEPTION"):
        setting("spark.sql.parquet.datetimeRebaseModeInRead", mode)
        (row,) = lake.read(spark, "db.t").selectExpr("string(d)", "string(t)").collect()
        assert tuple(row) == ("1500-01-01", "1500-01-01 00:00:00")


@pytest.mark.parametrize("prefix", ["a=b+c d%-", "é", "x@&,;"])
def test_partitions_are_found_by_any_name_of_a_file(lake: lakebed.Lake, spark: Any, setting: Any, prefix: str) -> None:
    options = f"  partitionKeys: [p]\n  options: {{data-file.prefix: '{prefix}'}}\n"
    declare(lake, manifest("{name: k, type: Int64}\n{name: p, type: String}", keys=options))
    put(lake, spark, [(1, "x"), (2, "y")], "k bigint, p string")
    assert got(lake.read(spark, "db.t")) == [(1, "x"), (2, "y")]
    setting("spark.sql.streaming.fileStreamSink.ignoreMetadata", "true")
    assert not scan.log_is_usable(spark)
    assert got(lake.read(spark, "db.t")) == [(1, "x"), (2, "y")]


@pytest.mark.parametrize("where", ["nope = 1", "k = = 1", "k", "max(k) = 1", "k > no_such(1)"])
def test_a_filter_that_spark_does_not_understand_is_told_by_its_code(spark: Any, tmp_path: Path, where: str) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", ["k INT", "n BIGINT"])
    lake.table("db.t").append(spark.sql("SELECT 1 AS k, 2L AS n"))
    for read in (
        lambda: lake.read(spark, "db.t", where=where),
        lambda: lake.count("db.t", where=where, spark=spark),
        lambda: lake.read(spark, "db.t$snapshots", where=where.replace("k", "snapshot_id")),
    ):
        with pytest.raises(UsageError) as caught:
            read()
        assert caught.value.code == "LB6555"
