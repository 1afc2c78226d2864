"""Updates: which rows change, to what, what is checked, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakebed import Lake
from lakebed.errors import IngestError, LakebedError, UsageError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.model import Field, Int64, Option, String
from lakebed.spark.table_writer import TableWriter
from row_level.changed_tables import FEW_KINDS, Make, Row


def later(row: Row) -> Row:
    return {"s": f"{row['s'] or 'none'}!", "n": None if row["n"] is None else row["n"] + 1}


@pytest.mark.parametrize("kind", FEW_KINDS)
def test_rows_that_a_filter_is_true_for_get_new_values(spark: SparkSession, make: Make, kind: str) -> None:
    made = make(kind)
    values = {"s": "coalesce(s, 'none') || '!'", "n": F.col("n") + 1}
    # `n` is what the filter asks for, too: it is asked once.
    result = made.table.update(spark, where="n < 3 AND k % 2 = 1 OR k = 2", set=values)
    changed = made.update(lambda r: ((r["n"] is not None and r["n"] < 3) and r["k"] % 2 == 1) or r["k"] == 2, later)
    assert (result.operation, result.rows_updated, result.rows_deleted) == ("update", changed, 0)
    made.check()
    if "key" in kind:
        assert result.rows_by_kind == {"+U": changed}
    elif "partitions" in kind:
        # A row may come into another partition.
        moved = made.table.update(spark, where="k IN (3, 4)", set={"p": "upper(p)"})
        made.update(lambda r: r["k"] in (3, 4), lambda r: {"p": r["p"].upper()})
        assert moved.rows_updated == 2
        made.check()
    live = {Path(path).name for file in made.files() for path in file.paths}
    assert live <= made.on_disk()


def test_a_filter_that_says_something_else_each_time_loses_no_row(spark: SparkSession, make: Make) -> None:
    made = make("vectors")
    result = made.table.update(spark, where="rand() < 0.5", set={"s": "uuid()"})
    rows = made.table.read(spark).collect()
    assert sorted(row.k for row in rows) == sorted(row["k"] for row in made.rows)
    old = {row["k"]: row["s"] for row in made.rows}
    assert sum(row.s != old[row.k] for row in rows) == result.rows_updated


def test_one_bad_value_ends_the_call(spark: SparkSession, make: Make) -> None:
    for kind in ("append", "key"):
        made = make(kind)
        before = made.on_disk()
        for values, problem in (
            ({"n": "if(k = 4, 3000000000, n)"}, "1 of 22 rows"),
            (
                {"s": "upper(s)", "p" if kind == "append" else "n": "if(k < 6, NULL, 'x')"},
                "6 of 22 rows" if kind == "append" else "of 22 rows",
            ),
        ):
            with pytest.raises(BadRowsError, match=problem):
                made.table.update(spark, where="k >= 0", set=values)
        with pytest.raises(IngestError):
            made.table.update(spark, where="k >= 0", set={"n": "array(1)"})
        assert made.on_disk() == before
        made.check()


def test_a_row_that_others_delete_meanwhile_does_not_come_back(
    spark: SparkSession, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make("vectors")
    real, raced = TableWriter.commit, list[str]()

    def commit(self: TableWriter, *parts: Any) -> Any:
        if not raced:
            raced.append("other")
            with monkeypatch.context() as patch:
                patch.setattr(TableWriter, "commit", real)
                made.table.delete(spark, where="k = 21")
        return real(self, *parts)

    monkeypatch.setattr(TableWriter, "commit", commit)
    # All rows of a file: it goes as a whole, and a vector that has grown meanwhile with it.
    result = made.table.update(spark, where="k >= 20", set={"s": "'new'"})
    made.delete(lambda r: r["k"] == 21)
    assert result.rows_updated == made.update(lambda r: r["k"] >= 20, lambda _: {"s": "new"})
    made.check()


def test_a_sequence_field_does_not_go_back(spark: SparkSession, make: Make) -> None:
    made = make("key")
    with pytest.raises(UsageError, match="would be older, by n"):
        made.table.update(spark, where="n = 2", set={"n": "NULL"})
    with pytest.raises(UsageError, match="2 rows would be older"):
        made.table.update(spark, where="n = 2 AND k < 15", set={"n": "n - 1"})
    assert made.table.update(spark, where="n = 2 AND k < 10", set={"n": "2"}).rows_updated == 1
    made.check()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({}, "sets no column"),
        ({"ss": "1"}, "'ss' cannot be set: it is no column"),
        ({"s.x": "1"}, "it is a part of column 's', which is set as a whole"),
        ({"k": "1"}, "'k' cannot be set: it belongs to the key"),
        ({"s": 1}, "is no expression: 1"),
    ],
)
def test_what_cannot_be_set(spark: SparkSession, make: Make, values: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=text) as caught:
        make("key").table.update(spark, where="k = 1", set=values)
    assert caught.value.code == "LB6549"


def test_engines_that_merge_values_are_refused(spark: SparkSession, lake: Lake) -> None:
    fields = (Field("k", Int64()), Field("v", Option(String())))
    options = {"bucket": "1", "merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"}
    lake.tables.create_table("db", "t", fields, primary_keys=["k"], options=options)
    lake.ingest(spark, "db.t", spark.sql("SELECT id AS k, 'x' AS v FROM range(3)"))
    table = lake.table("db.t")
    with pytest.raises(LakebedError) as caught:
        table.update(spark, where="k = 1", set={"v": "NULL"})
    assert caught.value.code == "LB6550"
    assert table.delete(spark, where="k = 1").rows_deleted == 1
    assert sorted(row.k for row in table.read(spark).collect()) == [0, 2]
