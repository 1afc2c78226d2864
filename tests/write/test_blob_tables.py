"""Tables with columns of blobs, and others with data evolution: rows are appended and overwritten, for every reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

from format.every_place import EVOLVING
from lakebed import Lake
from lakebed.errors import UnsupportedError, WriteError
from lakebed.physical import parse
from lakebed.table import Table
from referees.client import Referees
from referees.encoding import spark_rows

COLUMNS: dict[str, Any] = {
    "p": "STRING",
    "id": "BIGINT",
    "x": "BLOB",
    "xs": {"type": "ARRAY", "element": "BLOB"},
    "xm": {"type": "MAP", "key": "DECIMAL(20, 2)", "value": "BLOB"},
}


@pytest.fixture
def table(lake: Lake) -> Table:
    fields = [(name, parse(type_)) for name, type_ in COLUMNS.items()]
    options = EVOLVING | {"blob.target-file-size": "200 b"}
    lake.tables.create_table("lab", "t", fields, partition_keys=["p"], options=options)
    return lake.table("lab.t")


def frame(spark: SparkSession, *ids: int) -> DataFrame:
    """Rows of which every fifth has no value, and every seventh an empty one; even ids are of partition `u`."""
    return spark.createDataFrame([(i,) for i in ids], "id bigint").selectExpr(
        "if(id % 2 = 0, 'u', 'v') AS p",
        "id",
        "if(id % 5 = 0, null, if(id % 7 = 0, X'', encode(repeat(id, 20), 'utf-8'))) AS x",
        "if(id % 5 = 1, null, array(X'', null, encode(id, 'utf-8'))) AS xs",
        "map(cast(id + 0.25 AS decimal(20, 2)), X'01', cast(-1 AS decimal(20, 2)), null) AS xm",
    )


def rows_of(frame: DataFrame) -> list[Any]:
    return sorted(spark_rows(frame), key=str)


def test_rows_with_blobs_are_read_by_every_reader(
    spark: SparkSession, lake: Lake, table: Table, referees: Referees
) -> None:
    root = Path(lake.warehouse)
    result = table.append(frame(spark, *range(20)))
    assert (result.rows_by_kind, result.rows_removed) == ({"+I": 20}, 0)
    again = table.append(frame(spark, *range(20, 24)), run_id="r")
    assert table.append(frame(spark, 99), run_id="r").snapshot_id == again.snapshot_id
    replaced = table.overwrite(frame(spark, 31, 33))
    assert (replaced.rows_by_kind, replaced.rows_removed) == ({"+I": 2}, 12)
    wanted = rows_of(frame(spark, *range(0, 24, 2), 31, 33))
    read = spark_rows(table.read(spark, metadata_columns=["_ROW_ID", "_SEQUENCE_NUMBER"]))
    assert sorted((row[:-2] for row in read), key=str) == wanted
    ids = {row[-2]: row[-1] for row in read}
    assert len(ids) == table.count() == 14
    assert {number for row, number in ids.items() if row >= 24} == {3}
    for reader in ("pypaimon", "rust"):
        assert sorted(referees.rows(reader, root, "lab.t"), key=str) == wanted
    # What another writes onto our files is read, and ours onto its.
    updates = [{"columns": ["_ROW_ID", "x"], "rows": [[min(ids), "hex:99"]]}]
    referees.change_rows(root, "lab.t", updates)
    table.append(frame(spark, 41))
    rows = rows_of(table.read(spark))
    assert sorted(referees.rows("pypaimon", root, "lab.t"), key=str) == rows
    assert [row[2] for row in rows if row[2] == "hex:99"] == ["hex:99"]
    assert len(rows) == 15


def test_blobs_from_files(spark: SparkSession, lake: Lake, table: Table, tmp_path: Path) -> None:
    rows = frame(spark, *range(8)).cache()
    pq.write_table(rows.toArrow(), tmp_path / "rows.parquet")
    lake.ingest(spark, "lab.t", str(tmp_path / "rows.parquet"))
    (tmp_path / "rows.json").write_text('{"p": "w", "id": 9, "x": "AAH/"}\n{"p": "w", "id": 8, "x": "?"}\n')
    result = lake.ingest(spark, "lab.t", str(tmp_path / "rows.json"))
    assert (result.rows_written, result.rows_quarantined) == (1, 1)
    assert rows_of(table.read(spark)) == sorted([*rows_of(rows), ["w", 9, "hex:0001ff", None, None]], key=str)


def test_what_cannot_be_done_with_blobs_is_refused(spark: SparkSession, lake: Lake, table: Table) -> None:
    table.append(frame(spark, 1, 2))
    one = [("id", parse("BIGINT")), ("x", parse("BLOB"))]
    lake.tables.create_table("lab", "s", one, options=EVOLVING)
    other = lake.table("lab.s")
    other.append(spark.sql("SELECT 1L AS id, X'01' AS x"))
    described = other.read(spark, blobs="descriptor")
    with pytest.raises(WriteError, match="column x") as caught:
        other.append(described)
    assert caught.value.code == "LB6508"
    assert other.append(lake.fetch_blobs(described, "x")).rows_added == 1
    assert other.count() == 2
    changes = {
        "delete": lambda: table.delete(spark, where="id = 1"),
        "update": lambda: table.update(spark, where="id = 1", set={"id": "2"}),
        "compact": lambda: table.compact(spark),
        "merge": lambda: table.merge(spark, frame(spark, 1), on="t.id = s.id").when_matched_delete().execute(),
    }
    for name, change in changes.items():
        with pytest.raises(UnsupportedError) as refused:
            change()
        assert refused.value.code == "LB5060", name
    snapshot = table.snapshots.latest()
    assert snapshot is not None
    assert snapshot.id == 1


def test_parts_of_rows_in_tables_without_blobs(spark: SparkSession, lake: Lake, referees: Referees) -> None:
    lake.tables.create_table("lab", "e", [("k", parse("BIGINT")), ("v", parse("STRING"))], options=EVOLVING)
    table, root = lake.table("lab.e"), Path(lake.warehouse)
    table.append(spark.createDataFrame([(1, "a"), (2, "b")], "k bigint, v string").coalesce(1))
    referees.change_rows(root, "lab.e", [{"columns": ["_ROW_ID", "v"], "rows": [[1, "B"]]}])
    table.append(spark.createDataFrame([(3, "c")], "k bigint, v string"))
    assert rows_of(table.read(spark)) == [[1, "a"], [2, "B"], [3, "c"]]
    for reader in ("pypaimon", "rust"):
        assert sorted(referees.rows(reader, root, "lab.e")) == [[1, "a"], [2, "B"], [3, "c"]]
    assert table.overwrite(spark.createDataFrame([(4, "d")], "k bigint, v string")).rows_removed == 3
    assert table.count() == 1
