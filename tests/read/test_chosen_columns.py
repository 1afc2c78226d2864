"""`lake.read(columns=...)` gives those columns of the whole read, and does nothing for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakebed
from lakebed.errors import UsageError
from read.foreign_files import put_rows
from read.generated_tables import TABLES, make
from read.test_plans import executed
from read.test_same_rows import numbered

RENAMED = {"action": "renameColumn", "fieldNames": ["a"], "newName": "b"}
RETYPED = {"action": "updateColumnType", "fieldNames": ["v"], "newDataType": "INT"}


@pytest.fixture
def evolved(lake: lakebed.Lake) -> lakebed.Lake:
    """A column is renamed, and another one holds a text that is no number, which is its type now."""
    lake.tables.create_table("db", "t", [("k", "INT"), ("a", "INT"), ("v", "STRING")])
    put_rows(lake, "db.t", "parquet", [{"k": 1, "a": 1, "v": "x"}])
    lake.tables.alter_table("db", "t", [RENAMED, RETYPED])
    put_rows(lake, "db.t", "parquet", [{"k": 2, "b": 2, "v": 2}])
    return lake


def test_columns_are_those_of_the_whole_read(spark: Any, tmp_path: Path) -> None:
    tables = [make(kind, 3, tmp_path) for kind in TABLES]
    chosen, whole = [], []
    for number, made in enumerate(tables):
        where = made.wheres[number % len(made.wheres)].text
        names = [f.name for f in made.lake.table("db.t").schema().fields][-2:][::-1]
        chosen.append(made.lake.read(spark, "db.t", columns=names, where=where))
        frame = made.lake.read(spark, "db.t", where=where).select(*names)
        assert chosen[-1].schema == frame.schema
        whole.append(frame)
    rows = numbered(chosen)
    assert rows == numbered(whole)
    assert len({row.i for row in rows}) > len(tables) / 2


def test_versions_that_agree_share_a_scan(evolved: lakebed.Lake, spark: Any) -> None:
    assert executed(evolved.read(spark, "db.t")).count("FileScan") == 2
    assert executed(evolved.read(spark, "db.t", columns=["k"])).count("FileScan") == 1
    assert executed(evolved.read(spark, "db.t", columns=["k"], where="B = 1")).count("FileScan") == 2


def test_casts_of_other_columns_do_not_fail(evolved: lakebed.Lake, spark: Any) -> None:
    frame = evolved.read(spark, "db.t", columns=["b", "k"])
    assert frame.columns == ["b", "k"]
    assert sorted(map(tuple, frame.collect())) == [(1, 1), (2, 2)]
    assert evolved.read(spark, "db.t", columns="k", where="b = 1").collect() == [(1,)]
    assert evolved.read(spark, "db.t", columns=[]).count() == 2


def test_names_that_are_no_columns_are_refused_at_once(evolved: lakebed.Lake, spark: Any) -> None:
    with pytest.raises(UsageError) as e:
        evolved.read(spark, "db.t", columns=["a", "k", "K"])
    assert [d.code for d in e.value.diagnostics] == ["LB6463", "LB6463"]
    with pytest.raises(UsageError, match="LB6555"):
        evolved.read(spark, "db.t$files", columns=["none"])


def test_columns_of_system_tables(evolved: lakebed.Lake, spark: Any) -> None:
    assert evolved.read(spark, "db.t$files", columns=["record_count"]).collect() == [(1,), (1,)]
