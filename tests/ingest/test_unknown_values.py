"""Rows with values for columns that the table does not have, which go to quarantine where the run says so."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ingest.ingest_lake import SmallLake
from lakebed.catalog import TableName
from lakebed.errors import UsageError
from lakebed.format.table_branch import TableBranch
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.ingest.ingest import read_files
from lakebed.model import Field, Int32, List, Map, Option, String, Struct
from lakebed.row_level.quarantine_rows import Quarantine

NO_COLUMN = "LB6214"
INNER = Struct((Field("a", Option(Int32())),))
ID, NESTED = Field("id", Int32()), Field("s", Option(List(INNER)))


def quarantined(lake: SmallLake, source: Any, **parts: Any) -> tuple[int, int]:
    result = lake.ingest(source, unknown_columns="quarantine", **parts)
    assert result.ignored_columns == ()
    return result.rows_written, result.rows_quarantined


def test_rows_of_every_source_wait_for_their_column(lake: SmallLake) -> None:
    """NULL is no value. When the columns are declared, a replay ingests the rows with the values."""
    lake.create(ID, NESTED)
    lines = [
        '{"id": 1, "s": [{"a": 1, "b": null}], "tag": null}',
        '{"id": 2, "tag": "json"}',
        '{"id": 3, "s": [{"a": 1}, {"b": 7}]}',
        '{"id": "x", "s": [{"b": 8}], "a.b": {"c": 1}}',
    ]
    assert quarantined(lake, lake.file("a.json", "\n".join(lines))) == (1, 3)
    assert quarantined(lake, lake.file("a.csv", 'id,tag\n11,\n12,csv\n13,""\n')) == (1, 2)
    items = pa.array([[{"a": 1, "b": None}], [{"a": 1, "b": 9}], []])
    tags = pa.array([None, None, "parquet"])
    parquet = pa.table({"id": pa.array([21, 22, 23], pa.int32()), "s": items, "tag": tags})
    assert quarantined(lake, lake.parquet("a.parquet", parquet)) == (1, 2)
    assert quarantined(lake, lake.spark.sql("SELECT 31 AS id, 'frame' AS tag UNION ALL SELECT 32, NULL")) == (1, 1)
    lake.file("in/tag=folder/b.csv", "id\n41\n")
    assert quarantined(lake, str(lake.root / "in")) == (0, 1)
    assert lake.problems() == {
        ("tag", NO_COLUMN, "json"),
        ("s[1].b", NO_COLUMN, "7"),
        ("id", "LB6202", "x"),
        ("s[0].b", NO_COLUMN, "8"),
        ("`a.b`", NO_COLUMN, '{"c":1}'),
        ("tag", NO_COLUMN, "csv"),
        ("tag", NO_COLUMN, ""),
        ("s[0].b", NO_COLUMN, "9"),
        ("tag", NO_COLUMN, "parquet"),
        ("tag", NO_COLUMN, "frame"),
        ("tag", NO_COLUMN, "folder"),
    }
    quarantine = Quarantine.of(lake.context, "db.t")
    assert quarantine.replay(lake.spark, dry_run=True).rows_left == 9
    wider = Struct((*INNER.fields, Field("b", Option(Int32()))))
    fields = [ID, Field("s", Option(List(wider))), Field("tag", Option(String()))]
    lake.tables.get_schema_manager("db", "t").create_new_schema_version(fields, (), ())
    done = quarantine.replay(lake.spark)
    assert (done.rows_replayed, done.rows_left) == (8, 1)
    found = {row["id"]: (row.get("tag"), [i.get("b") for i in row.get("s") or ()]) for row in lake.rows()}
    assert found == {
        **{1: (None, [None]), 2: ("json", []), 3: (None, [None, 7]), 11: (None, []), 12: ("csv", []), 13: ("", [])},
        **{21: (None, [None]), 22: (None, [9]), 23: ("parquet", []), 31: ("frame", []), 32: (None, [])},
        41: ("folder", []),
    }


def test_such_a_row_is_bad_as_others_are(lake: SmallLake) -> None:
    """In a map, in JSON that a text of CSV holds; and where bad values become NULL, or end the run."""
    lake.create(ID, Field("m", Option(Map(String(), INNER))))
    csv = lake.file("a.csv", 'id,m,more\n1,"{""k"": {""b"": 1}}",\n2,,2\n')
    with pytest.raises(BadRowsError):
        quarantined(lake, csv, on_bad_rows="fail")
    looked = lake.ingest(csv, unknown_columns="quarantine", dry_run=True)
    assert {(d.path, d.code) for d in looked.problems} == {("m[].b", NO_COLUMN), ("more", NO_COLUMN)}
    assert quarantined(lake, csv, on_bad_rows="null") == (1, 1)
    assert lake.problems() == {("more", NO_COLUMN, "2")}


def test_writes_without_a_quarantine_refuse_it(lake: SmallLake) -> None:
    lake.create(ID)
    table = TableBranch(lake.tables, TableName.parse("db.t"))
    with pytest.raises(UsageError, match="LB6109"):
        read_files(lake.context, lake.spark, table, "a.csv", {"unknown_columns": "quarantine"})
