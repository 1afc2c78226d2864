"""Overwrites with a filter: which rows go and come, in one snapshot, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakebed import Lake
from lakebed.errors import UnsupportedError, UsageError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Field, Int64, Option, String
from lakebed.row_level.row_target import Start
from lakebed.spark.table_writer import TableWriter
from row_level.changed_tables import COLUMNS, FEW_KINDS, Changed, Make, Row


def frame(spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
    return spark.createDataFrame([tuple(r[c] for c in COLUMNS) for r in rows], "k bigint, p string, n int, s string")


def row(k: int, p: str, n: int | None, s: str | None = None) -> Row:
    return {"k": k, "p": p, "n": n, "s": s}


def put(made: Changed, rows: Sequence[Row]) -> None:
    """Rows that take the place of those with their keys, where there are keys."""
    keys = {r["k"] for r in rows} if "key" in made.kind else set()
    made.rows = [r for r in made.rows if r["k"] not in keys] + list(rows)


@pytest.mark.parametrize("kind", [*FEW_KINDS, "partitions, avro", "key in partitions, avro"])
def test_rows_take_the_place_of_those_that_a_filter_is_true_for(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    table = made.table
    # Rows of keys that go, that stay away, and that are new; one row more with a key of another filter.
    new = [row(2, "a", 9), row(30, "a", 2, "x"), row(4, "a", 4, "y")]
    before = table.snapshots.latest()
    result = table.overwrite(frame(spark, new), where="p = 'a' AND (n > 1 OR n IS NULL)")
    gone = made.delete(lambda r: r["p"] == "a" and (r["n"] is None or r["n"] > 1))
    put(made, new)
    assert (result.operation, result.rows_deleted, result.rows_inserted) == ("overwrite", gone, 3)
    after = table.snapshots.latest()
    assert before is not None
    assert after is not None
    assert (after.id, after.operation) == (before.id + 1, "WRITE")
    made.check()

    # No row comes: those of the filter go all the same. None goes: the rows come.
    assert table.overwrite(frame(spark, []), where="k >= 20 AND n = 1").rows_deleted == made.delete(
        lambda r: r["k"] >= 20 and r["n"] == 1
    )
    assert table.overwrite(frame(spark, [row(77, "b", 7)]), where="k BETWEEN 70 AND 79").rows_deleted == 0
    put(made, [row(77, "b", 7)])
    made.check()
    assert {Path(path).name for f in made.files() for path in f.paths} <= made.on_disk()


@pytest.mark.parametrize("kind", ["partitions, avro", "key in partitions, avro"])
def test_a_filter_on_partitions_takes_files_away_unread(
    spark: SparkSession, make: Make, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(kind)
    table, before = made.table, len(made.files())
    with monkeypatch.context() as patch:
        patch.setattr(Start, "placed", None)
        result = table.overwrite(frame(spark, [row(1, "b", 1), row(99, "b", None)]), where="p LIKE 'b%' AND p <> 'c'")
    assert (result.rows_deleted, result.rows_inserted) == (made.delete(lambda r: r["p"] == "b"), 2)
    assert (result.partitions, result.rows_by_kind) == (("p=b",), {"+I": 2})
    assert len(made.files()) == before - 3 + result.files_added
    assert not any(f.meta.delete_row_count for f in made.files())
    made.rows += [row(1, "b", 1), row(99, "b", None)]
    made.check()


def test_a_row_that_the_filter_is_not_true_for_ends_it(spark: SparkSession, make: Make) -> None:
    for kind in ("append", "key in partitions, avro"):
        made = make(kind)
        before = made.on_disk()
        # NULL is not true either.
        for bad in (row(4, "b", 1), row(5, "a", None)):
            with pytest.raises(BadRowsError, match="1 of 2 rows") as caught:
                made.table.overwrite(frame(spark, [row(2, "a", 1), bad]), where="p = 'a' AND n < 3")
            assert caught.value.code == "LB6570"
            assert f'"k":"{bad["k"]}"' in str(caught.value.diagnostics[0].found)
        with pytest.raises(BadRowsError, match="the only row is bad"):
            made.table.overwrite(spark.sql("SELECT 'x' AS k, 'a' AS p"), where="p = 'a'")
        assert made.on_disk() == before
        made.check()


def test_a_row_that_is_older_than_the_one_that_goes_is_refused(spark: SparkSession, make: Make) -> None:
    made = make("key")
    assert next(r for r in made.rows if r["k"] == 4)["n"] == 4
    before = made.on_disk()
    with pytest.raises(UsageError, match="1 rows would be older, by n") as caught:
        made.table.overwrite(frame(spark, [row(4, "a", 1), row(2, "a", 2)]), where="p = 'a'")
    assert caught.value.code == "LB6551"
    assert made.on_disk() == before
    made.check()


@pytest.mark.parametrize("kind", ["append", "vectors", "key in partitions, avro"])
def test_rows_that_others_add_meanwhile_go_too(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = make(kind)
    real, commits = TableWriter.commit, list[int]()

    def commit(self: TableWriter, *parts: Any) -> Any:
        commits.append(1)
        if len(commits) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(TableWriter, "commit", real)
                made.append([row(40, "a", 100)])
        if len(commits) == 2:
            with monkeypatch.context() as patch:
                patch.setattr(TableWriter, "commit", real)
                made.append([row(41, "c", 1)])  # no file that the filter could be true for
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    where = "p = 'a'" if "key" in kind else "p = 'a' AND n >= 100"
    result = made.table.overwrite(frame(spark, [row(50, "a", 100)]), where=where)
    gone = made.delete(lambda r: r["p"] == "a" and ("key" in kind or (r["n"] or 0) >= 100))
    made.rows.append(row(50, "a", 100))
    assert (result.rows_deleted, len(commits)) == (gone, 2)
    made.check()
    assert {Path(path).name for f in made.files() for path in f.paths} <= made.on_disk()


def test_a_run_is_done_once(spark: SparkSession, make: Make) -> None:
    made, new = make("partitions, avro"), [row(70, "a", 1)]
    first = made.table.overwrite(frame(spark, new), where="p = 'a' AND n = 1", run_id="r")
    again = made.table.overwrite(frame(spark, new), where="p = 'a' AND n = 1", run_id="r")
    assert again.to_json() == {**first.to_json(), "repeated": True}
    with pytest.raises(UsageError, match="has made snapshot"):
        made.table.overwrite(frame(spark, new), whole=True, run_id="r")


def test_files_take_the_place_of_rows(spark: SparkSession, make: Make, tmp_path: Path) -> None:
    made = make("key")
    source = tmp_path / "rows.csv"
    source.write_text("k,p,n,s\n2,a,9,\n60,a,1,z\n")
    result = made.table.overwrite_from(spark, source, where="p = 'a'")
    assert result.rows_deleted == made.delete(lambda r: r["p"] == "a")
    made.rows += [row(2, "a", 9), row(60, "a", 1, "z")]
    made.check()
    source.write_text("k,p,n,s\n2,b,9,\n")
    with pytest.raises(BadRowsError, match="outside of the filter"):
        made.table.overwrite_from(spark, source, where="p = 'a'")


def test_what_is_not_said_is_refused(spark: SparkSession, lake: Lake) -> None:
    lake.tables.create_table("db", "t", (Field("k", Int64()), Field("v", Option(String()))), partition_keys=["k"])
    table, some = lake.table("db.t"), spark.range(1).withColumnRenamed("id", "k")
    for said in ({"whole": True}, {"partitions": "k=1"}, {"partitions": "k=1", "whole": True}):
        with pytest.raises(UsageError, match=r"and (a filter|the whole)") as caught:
            table.overwrite(some, **{"where": "k = 1", **said})
        assert caught.value.code == "LB5104"
    with pytest.raises(UsageError) as caught:
        table.overwrite(some, where=" ")
    assert caught.value.code == "LB6544"
    lake.tables.create_table("db", "u", (Field("k", Int64()),), options={"row-tracking.enabled": "true"})
    with pytest.raises(UnsupportedError) as refused:
        lake.table("db.u").overwrite(some, where="k = 1")
    assert refused.value.code == "LB5060"


def test_numbered_rows_take_no_others_place(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    manifest = tmp_path / "t.yaml"
    manifest.write_text(
        "kind: Table\nversion: 1\ncontent:\n  name: db.t\n  systemColumns: {profile: kamu, eventTimeColumn: day}\n"
        "  schema: {fields: [{name: day, type: Date}]}\n"
    )
    lake.apply(lake.plan(manifest))
    with pytest.raises(UnsupportedError, match="are numbered by column 'offset'") as caught:
        lake.table("db.t").overwrite(spark.sql("SELECT DATE'2024-01-01' AS day"), where="day > DATE'2023-01-01'")
    assert caught.value.code == "LB6571"
