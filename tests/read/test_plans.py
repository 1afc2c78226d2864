"""What Spark is asked to do: one scan a layout, filters and columns pushed into the scans, partitions pruned."""

from __future__ import annotations

import re
from typing import Any

import pytest

import lakebed
from lakebed.spark import scan
from lakebed.spark.scan import Scratch
from lakebed.store import LocalStore
from lakebed.testing.memory_store import MemoryStore
from read.lakes import declare, empty_lake, got, manifest, put

V0 = """{name: k, type: Int64}
{name: a, type: Int32}
{name: s, type: {kind: Struct, fields: [{name: x, type: Int32}, {name: y, type: String}]}}"""
V1 = V0.replace("{name: a, type: Int32}", "{name: z, type: Int64, extra: {lakebed.dev/renamedFrom: a}}")
ROW = "k bigint, {} {}, s struct<x:int,y:string>"


def executed(frame: Any) -> str:
    """The executed plan as text."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


def files_read(frame: Any) -> int:
    """How many files the scans of a query opened; the query must not have run before."""
    frame.collect()
    found = 0
    left = [frame._jdf.queryExecution().executedPlan()]
    while left:
        node = left.pop()
        if node.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
            left.append(node.executedPlan())
        if node.metrics().contains("numFiles"):
            found += node.metrics().apply("numFiles").value()
        children = node.children()
        left += [children.apply(i) for i in range(children.size())]
    return found


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> lakebed.Lake:
    """Two files of an older version, two of the newest, and a version between that changes no column."""
    lake = empty_lake(tmp_path_factory.mktemp("evolved"))
    declare(lake, manifest(V0))
    put(lake, spark, [(1, 10, (1, "one"))], ROW.format("a", "int"))
    declare(lake, manifest(V0 + "\n{name: extra, type: {kind: Option, inner: String}}"))
    declare(lake, manifest(V0))
    put(lake, spark, [(2, 20, (2, "two"))], ROW.format("a", "int"))
    declare(lake, manifest(V1))
    put(lake, spark, [(3, 5_000_000_000, (3, "three"))], ROW.format("z", "bigint"))
    put(lake, spark, [(4, 40, (4, "four"))], ROW.format("z", "bigint"))
    return lake


def test_one_scan_for_each_layout(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t")
    assert executed(frame).count("FileScan") == 2
    assert [row[:2] for row in got(frame)] == [(1, 10), (2, 20), (3, 5_000_000_000), (4, 40)]


def test_filters_reach_the_scans_under_the_names_of_the_files(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t").where("z > 15")
    pushed = re.findall(r"PushedFilters: \[(.*?)\]", executed(frame))
    assert sorted(pushed) == ["IsNotNull(a), GreaterThan(a,15)", "IsNotNull(z), GreaterThan(z,15)"]
    assert [row[0] for row in got(frame)] == [2, 3, 4]


def test_a_literal_beyond_the_older_type_keeps_its_meaning(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t")
    assert [row[0] for row in got(frame.where("z < 4999999999"))] == [1, 2, 4]
    assert [row[0] for row in got(frame.where("z = 5000000000"))] == [3]


def test_only_the_columns_of_the_query_are_read(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t").selectExpr("s.y")
    assert re.findall(r"ReadSchema: (\S+)", executed(frame)) == ["struct<s:struct<y:string>>"] * 2


def test_counting_reads_no_column(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t").groupBy().count()
    assert "ReadSchema: struct<>" in executed(frame)
    assert frame.collect()[0][0] == 4


@pytest.fixture(scope="module")
def partitioned(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> lakebed.Lake:
    """Files of two layouts in three partitions, one of them NULL."""
    lake = empty_lake(tmp_path_factory.mktemp("partitioned"))
    keys = "  partitionKeys: [p]\n"
    p = "{name: p, type: {kind: Option, inner: String}}\n"
    declare(lake, manifest(p + "{name: k, type: Int64}\n{name: a, type: Int32}", keys=keys))
    put(lake, spark, [("x", 1, 1), ("y/=", 2, 2), (None, 3, 3)], "p string, k bigint, a int")
    declare(lake, manifest(p + "{name: k, type: Int64}\n{name: a, type: Int64}", keys=keys))
    put(lake, spark, [("x", 4, 4), ("", 5, 5)], "p string, k bigint, a bigint")
    return lake


@pytest.mark.parametrize(
    ("condition", "keys", "files"),
    [
        ("p = 'x'", [1, 4], 2),
        ("p = 'y/='", [2], 1),
        ("p is null", [3], 1),
        ("p = ''", [5], 1),
        ("p in ('x', 'y/=') and a > 1", [2, 4], 3),
        ("p = 'none'", [], 0),
        ("a > 3", [4, 5], 5),
    ],
)
def test_partitions_are_pruned_by_the_manifests(
    partitioned: lakebed.Lake, spark: Any, condition: str, keys: list[int], files: int
) -> None:
    frame = partitioned.read(spark, "db.t").where(condition).select("k", "p")
    assert files_read(frame) == files
    assert [row[0] for row in got(frame)] == keys


def test_a_session_that_ignores_sink_logs_reads_the_same(partitioned: lakebed.Lake, spark: Any) -> None:
    wanted = got(partitioned.read(spark, "db.t").select("k", "p", "a"))
    setting = "spark.sql.streaming.fileStreamSink.ignoreMetadata"
    spark.conf.set(setting, "true")
    try:
        assert not scan.log_is_usable(spark)
        frame = partitioned.read(spark, "db.t").select("k", "p", "a")
        assert got(frame) == wanted
        assert [row[0] for row in got(frame.where("p is null"))] == [3]
    finally:
        spark.conf.unset(setting)


@pytest.mark.parametrize("store", [LocalStore(), MemoryStore()])
def test_an_own_scratch_directory_goes_with_its_last_list(tmp_path: Any, store: Any) -> None:
    own = Scratch(store, f"{tmp_path}/.lakebed-scratch", is_own=True)
    first, second = f"{own.directory}/lakebed-1", f"{own.directory}/lakebed-2"
    own.publish(first, b"v1")
    own.publish(second, b"v1")
    own.remove(first)
    assert store.read(f"{second}/_spark_metadata/0") == b"v1"
    own.remove(second)
    assert store.list(str(tmp_path)) == []
    # The caller's own directory stays.
    given = Scratch(store, f"{tmp_path}/given")
    store.make_directory(given.directory)
    given.publish(f"{given.directory}/x", b"v1")
    given.remove(f"{given.directory}/x")
    assert store.list(given.directory) == []
    store.remove_directory(given.directory)


def test_no_scratch_is_left(partitioned: lakebed.Lake, spark: Any, tmp_path: Any) -> None:
    scratch = tmp_path / "a b%20[c]{d}"
    scratch.mkdir()
    frame = partitioned.read(spark, "db.t", scratch=str(scratch))
    assert list(scratch.iterdir()) == []
    assert frame.count() == 5
