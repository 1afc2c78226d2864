"""What compaction leaves is read by all others, who go on writing; consumers of changes are told nothing of it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.model import Field, Int64, Option
from referees.client import Referees
from referees.java import JavaReferee

TABLE = "lab.t"


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("keyed", [True, False], ids=["key", "append"])
def test_others_read_it_and_go_on(
    spark: SparkSession, tmp_path: Path, referees: Referees, java: JavaReferee, keyed: bool, file_format: str
) -> None:
    lake = lakebed.open(tmp_path)
    keys = {"primary_keys": ["k"], "options": {"bucket": "2", "file.format": file_format}}
    parts = keys if keyed else {"options": {"file.format": file_format}}
    lake.tables.create_table("lab", "t", [Field("k", Int64()), Field("v", Option(Int64()))], **parts)
    table = lake.table(TABLE)
    rows: dict[int, int] = {}
    for step in range(3):
        new = {k if keyed else 10 * step + k: step for k in range(step, step + 4)}
        table.append(spark.createDataFrame(list(new.items()), "k bigint, v bigint"))
        rows |= new
    table.delete(spark, where="v = 0")
    rows = {k: v for k, v in rows.items() if v != 0}
    compacted = table.compact(spark, full=True)
    assert table.expire(retain_min=1, older_than=timedelta(0)).data_files > 3
    expected = sorted([k, v] for k, v in rows.items())
    assert sorted(referees.rows("pypaimon", tmp_path, TABLE)) == expected
    assert sorted(java.rows(tmp_path, TABLE)) == expected
    assert sorted(referees.rows("rust", tmp_path, TABLE)) == expected
    referees.append(tmp_path, TABLE, [[5, 50], [77, 7]])
    expected = sorted([k, v] for k, v in ({**rows, 5: 50, 77: 7} if keyed else rows).items())
    if not keyed:
        expected = sorted([*expected, [5, 50], [77, 7]])
    assert sorted(map(list, table.read(spark).collect())) == expected
    assert sorted(java.rows(tmp_path, TABLE)) == expected
    changes = table.read_changes(spark, since=compacted.snapshot_id, row_kinds=True).collect()
    assert {row["k"] for row in changes} == {5, 77}
