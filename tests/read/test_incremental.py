"""Changes between two states: what commits added, what changelogs say, the difference; against Java where it can."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

import lakebed
from lakebed.data_source.data_source import LakebedDataSource
from lakebed.errors import LakebedError, NotFoundError, UnsupportedError, UsageError
from read.lakes import declare, empty_lake, got, manifest, put
from referees.encoding import spark_rows
from referees.java import JavaReferee

K = "{name: k, type: Int64}\n"
COLUMNS = [("k", "BIGINT NOT NULL"), ("v", "STRING"), ("kind", "STRING")]
KEYED = {"bucket": "1", "write-only": "true", "rowkind.field": "kind"}
#: Commits; a key is inserted, updated twice, deleted, and comes back.
COMMITS = (
    [(1, "a", "+I"), (2, "b", "+I"), (3, "c", "+I")],
    [(1, "a2", "+U"), (2, "b", "-D"), (4, "d", "+I")],
    [(1, "a3", "+U"), (2, "b3", "+I"), (4, "d", "-D"), (3, "c", "+U")],
)
INCREMENTAL = {"incremental-between": "1,3"}


def sorted_rows(rows: list[Any]) -> list[Any]:
    return sorted(rows, key=repr)


@pytest.fixture(scope="module")
def keyed(java: JavaReferee, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`db.plain` without and `db.logged` with a changelog, written by Java."""
    warehouse = tmp_path_factory.mktemp("keyed")
    for table, more in (("db.plain", {}), ("db.logged", {"changelog-producer": "input"})):
        java.create(warehouse, table, COLUMNS, primary_keys=["k"], options={**KEYED, **more})
        for rows in COMMITS:
            java.append(warehouse, table, rows)
    return warehouse


def test_changes_of_keys_are_what_java_reads(keyed: Path, java: JavaReferee, spark: Any) -> None:
    lake = lakebed.open(keyed)
    merged = lake.read_changes(spark, "db.plain", since=1, until=3)
    assert sorted_rows(spark_rows(merged)) == sorted_rows(java.rows(keyed, "db.plain", options=INCREMENTAL))
    logged = lake.read_changes(spark, "db.logged", since=1, until=3, row_kinds=True)
    assert logged.columns == ["rowkind", "k", "v", "kind"]
    assert sorted_rows(spark_rows(logged)) == sorted_rows([[r[2], *r] for rows in COMMITS[1:] for r in rows])
    # Java keeps the last change of each key.
    audit = java.rows(keyed, "db.logged$audit_log", options=INCREMENTAL)
    assert sorted_rows(audit) == sorted_rows([[r[2], *r] for r in {r[0]: r for c in COMMITS[1:] for r in c}.values()])
    last = lake.read_changes(spark, "db.logged", since=1, until=3)
    assert sorted_rows(spark_rows(last)) == sorted_rows(java.rows(keyed, "db.logged", options=INCREMENTAL))


def test_each_change_keeps_its_kind(keyed: Path, spark: Any) -> None:
    lake = lakebed.open(keyed)
    delta = lake.read_changes(spark, "db.plain", since=1, row_kinds=True)
    assert sorted_rows(got(delta)) == sorted_rows([(r[2], *r) for rows in COMMITS[1:] for r in rows])
    difference = lake.read_changes(spark, "db.plain", since=1, mode="diff", row_kinds=True)
    assert sorted_rows(got(difference)) == [
        *(("+U", 1, "a3", "+U"), ("+U", 2, "b3", "+I"), ("+U", 3, "c", "+U")),
        *(("-U", 1, "a", "+I"), ("-U", 2, "b", "+I"), ("-U", 3, "c", "+I")),
    ]


@pytest.mark.parametrize("table", ["db.plain", "db.logged"])
def test_a_stream_gives_the_same_changes(keyed: Path, table: str) -> None:
    """From snapshot 2 on, with and without a changelog; and after the whole state of the newest nothing is left."""

    def streamed(**options: str) -> list[list[tuple[Any, ...]]]:
        given = {"path": table, "warehouse": str(keyed), "row-kinds": "true"} | options
        source = LakebedDataSource(given)
        reader = source.streamReader(source.schema())
        start, found = reader.initialOffset(), []
        while (end := reader.latestOffset(start, ReadAllAvailable())) != start:
            batches = [batch for part in reader.partitions(start, end) for batch in reader.read(part)]
            found.append([tuple(row.values()) for batch in batches for row in batch.to_pylist()])
            start = end
        return found

    [changes] = streamed(**{"from-snapshot": "2"})
    assert sorted_rows(changes) == sorted_rows([(r[2], *r) for rows in COMMITS[1:] for r in rows])
    [whole] = streamed()
    assert sorted_rows(whole) == [("+I", 1, "a3", "+U"), ("+I", 2, "b3", "+I"), ("+I", 3, "c", "+U")]


def test_a_changelog_outlives_its_snapshot(keyed: Path, spark: Any) -> None:
    lake = lakebed.open(keyed)
    root = Path(lake.tables.table_path("db.logged"))
    before = got(lake.read_changes(spark, "db.logged", since=0, until=3, row_kinds=True))
    assert len(before) == sum(map(len, COMMITS))
    (root / "changelog").mkdir()
    for number in (1, 2):
        (root / "snapshot" / f"snapshot-{number}").rename(root / "changelog" / f"changelog-{number}")
    assert got(lake.read_changes(spark, "db.logged", since=0, until=3, row_kinds=True)) == before
    with pytest.raises(NotFoundError, match="LB5593"):
        lake.read_changes(spark, "db.logged", since=0, mode="delta")


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory, spark: Any) -> lakebed.Lake:
    """Snapshots 1 and 2 under schema 0 (k, a), snapshot 3 under schema 1 (k, z): a renamed and widened."""
    lake = empty_lake(tmp_path_factory.mktemp("evolved"))
    declare(lake, manifest(K + "{name: a, type: Int32}"))
    put(lake, spark, [(1, 10)], "k bigint, a int")
    put(lake, spark, [(2, 20)], "k bigint, a int")
    declare(lake, manifest(K + "{name: z, type: Int64, extra: {lakebed.dev/renamedFrom: a}}"))
    put(lake, spark, [(3, 30)], "k bigint, z bigint")
    return lake


def test_states_of_an_append_table(evolved: lakebed.Lake, spark: Any) -> None:
    now = evolved.read_changes(spark, "db.t", since=1)
    assert (now.columns, got(now)) == (["k", "z"], [(2, 20), (3, 30)])
    then = evolved.read_changes(spark, "db.t", since=1, until=3, schema=0)
    assert (then.columns, got(then)) == (["k", "a"], [(2, 20), (3, 30)])
    evolved.tags("db.t").create("two", snapshot=2)
    assert got(evolved.read_changes(spark, "db.t", since="two", row_kinds=True)) == [("+I", 3, 30)]
    assert got(evolved.read_changes(spark, "db.t", since=0, until="two")) == [(1, 10), (2, 20)]
    moment = datetime.fromtimestamp(evolved.history("db.t").snapshots[1].time_millis / 1000, UTC)
    assert got(evolved.read_changes(spark, "db.t", since=moment)) == [(3, 30)]
    assert got(evolved.read_changes(spark, "db.t", since=3)) == []
    assert sorted_rows(got(evolved.read_changes(spark, "db.t", since=1, mode="diff", row_kinds=True))) == [
        ("+I", 2, 20),
        ("+I", 3, 30),
    ]


def test_what_cannot_be_told_is_said(evolved: lakebed.Lake, spark: Any, tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], type[LakebedError]]] = [
        ({"since": 3, "until": 1}, UsageError),
        ({"since": 1, "mode": "changes"}, UsageError),
        ({"since": 1, "mode": "changelog"}, UnsupportedError),
        ({"since": "none"}, NotFoundError),
        ({"since": 1, "until": 9}, NotFoundError),
        ({"since": True}, UsageError),
    ]
    for arguments, error in cases:
        with pytest.raises(error):
            evolved.read_changes(spark, "db.t", **arguments)
    expired = lakebed.open(shutil.copytree(evolved.warehouse, tmp_path / "expired"))
    Path(expired.tables.table_path("db.t"), "snapshot", "snapshot-1").unlink()
    assert got(expired.read_changes(spark, "db.t", since=1)) == [(2, 20), (3, 30)]
    with pytest.raises(NotFoundError, match="LB5593"):
        expired.read_changes(spark, "db.t", since=0)
    Path(expired.tables.table_path("db.t"), "snapshot", "snapshot-2").unlink()
    with pytest.raises(NotFoundError, match="begin at snapshot 2 or later"):
        expired.read_changes(spark, "db.t", since=0)
    assert got(expired.read_changes(spark, "db.t", since=2)) == [(3, 30)]
