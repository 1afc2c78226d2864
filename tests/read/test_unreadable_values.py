"""Values that the wanted type cannot hold, and columns of types that are not known: named, counted, left out."""

from __future__ import annotations

import json
import warnings
from datetime import datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from lakebed.errors import LakebedWarning, UnsupportedError
from read.foreign_files import FORMATS, put_rows


def member(name: str, kind: object) -> dict[str, object]:
    return {"name": name, "type": kind}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> lakebed.Lake:
    """A table whose texts became numbers, at every place, and one with a column of the future."""
    root = tmp_path_factory.mktemp("a b+c")
    lake = lakebed.open(root)
    row = {"type": "ROW", "fields": [member("x", "STRING"), member("y", "INT")]}
    nested = [
        member("l", {"type": "ARRAY", "element": "STRING"}),
        member("m", {"type": "MAP", "key": "STRING", "value": row}),
    ]
    columns = [member("id", "INT"), member("s", "STRING"), member("r", row), *nested, member("p", "STRING")]
    lake.tables.create_table("db", "t", columns, partition_keys=["p"])
    values = "(1, '7', 'x1', array('1', 'bad', null, 'worse'), 'no', 'p/1'), (2, 'oops', '5', null, '3', 'p/1')"
    frame = spark.sql(
        "select id, s, named_struct('x', x, 'y', 1) as r, l, map('k', named_struct('x', v, 'y', 2)) as m, p"
        f" from values {values} as t(id, s, x, l, v, p)"
    )
    assert lake.ingest(spark, "db.t", frame.coalesce(1)).rows_written == 2
    retyped = [("s",), ("r", "x"), ("l", "element"), ("m", "value", "x")]
    change = {"action": "updateColumnType", "newDataType": "INT", "keepNullability": False}
    lake.tables.alter_table("db", "t", [{**change, "fieldNames": list(path)} for path in retyped])
    assert lake.ingest(spark, "db.t", spark.sql("select 3 as id, 9 as s, 'q' as p")).rows_written == 1
    lake.tables.create_table("db", "f", ["id INT", "u INT", "v STRING", "p STRING"], partition_keys=["p"])
    assert lake.ingest(spark, "db.f", spark.sql("select 1 as id, 5 as u, 'a' as v, 'x' as p")).rows_written == 1
    from_future(root / "db.db/f/schema/schema-0", "u")
    return lake


def from_future(file: Path, *columns: str) -> None:
    """Give columns a type that only a newer engine knows."""
    content = json.loads(file.read_text())
    for field in content["fields"]:
        if field["name"] in columns:
            field["type"] = "TENSOR(3) NOT NULL"
    file.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("column", "path", "value"),
    [("s", "s", "oops"), ("r", "r.x", "x1"), ("l", "l.element", "bad"), ("m", "m.value.x", "no")],
)
def test_an_error_names_file_column_and_value(
    lake: lakebed.Lake, spark: SparkSession, column: str, path: str, value: str
) -> None:
    with pytest.raises(Exception, match="LB6901") as failure:
        lake.read(spark, "db.t").select(column).collect()
    message = str(failure.value)
    file = next((Path(lake.warehouse) / "db.db/t").glob("p=p*1/bucket-0/*.parquet"))
    for part in (f"file {file},".replace("%2F", ""), f"column {path}:", f"STRING value '{value}'", "read as INT"):
        assert part in message.replace("file:", "").replace("%2F", "")
    # A query that does not look at the column is not disturbed.
    assert lake.read(spark, "db.t").select("id").count() == 3


def test_nulls_are_counted(lake: lakebed.Lake, spark: SparkSession) -> None:
    rows = sorted(lake.read(spark, "db.t", on_cast_error="null").collect(), key=lambda row: row.id)
    assert [r.s for r in rows] == [7, None, 9]
    assert [r.r and r.r.x for r in rows] == [None, 5, None]
    assert rows[0].l == [1, None, None, None]
    assert [r.m and r.m["k"].x for r in rows] == [None, 3, None]
    found = lake.cast_errors(spark, "db.t")
    assert {(r.column, r.value) for r in found.collect()} == {
        ("s", "oops"),
        ("r.x", "x1"),
        ("l.element", "bad"),
        ("l.element", "worse"),
        ("m.value.x", "no"),
    }
    assert {(r.stored_type, r.wanted_type, Path(r.file).suffix) for r in found.collect()} == {
        ("STRING", "INT", ".parquet")
    }
    assert lake.cast_errors(spark, "db.t@0").count() == 0
    assert lake.cast_errors(spark, "db.t", schema=0).columns == found.columns


def test_beside_timestamps_that_a_format_holds_in_its_own_way(tmp_path: Path, spark: SparkSession) -> None:
    lake = lakebed.open(tmp_path)
    row = {"type": "ROW", "fields": [member("x", "STRING"), member("at", "TIMESTAMP(9)"), member("c", "CHAR(3)")]}
    lake.tables.create_table("db", "t", [member("m", {"type": "MAP", "key": "TIMESTAMP(9)", "value": row})])
    micros, at = 1_700_000_000_123_456, datetime(2023, 11, 14, 22, 13, 20, 123_456)
    for format in FORMATS:
        bad = {"x": f"bad {format}", "at": micros, "c": "1"}
        put_rows(lake, "db.t", format, [{"m": [(micros, bad), (0, {"x": "7"})]}, {"m": [(0, {"x": "7"})]}])
    path = ["m", "value", "x"]
    change = {"action": "updateColumnType", "fieldNames": path, "newDataType": "INT", "keepNullability": False}
    lake.tables.alter_table("db", "t", [change])
    found = lake.cast_errors(spark, "db.t").collect()
    assert sorted(tuple(r)[1:] for r in found) == [("m.value.x", "STRING", "INT", f"bad {f}") for f in sorted(FORMATS)]
    assert all(Path(r.file).suffix == "." + r.value.removeprefix("bad ") for r in found)
    read = lake.read(spark, "db.t", on_cast_error="null").where("size(m) = 2").collect()
    assert [(r.m[at].x, r.m[at].at) for r in read] == [(None, at)] * len(FORMATS)


def test_a_column_of_the_future_is_named_and_left_out(lake: lakebed.Lake, spark: SparkSession) -> None:
    assert lake.schema("db.f").field_names == ("id", "u", "v", "p")
    with pytest.warns(LakebedWarning, match=r"LB4507.*'u'.*TENSOR\(3\)") as caught:
        frame = lake.read(spark, "db.f")
    assert [w.message.diagnostic.path for w in caught if isinstance(w.message, LakebedWarning)] == ["u"]  # type: ignore[union-attr]
    assert [tuple(r) for r in frame.where("v = 'a'").collect()] == [(1, "a", "x")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LakebedWarning)
        assert lake.read(spark, "db.f").select("p").count() == 1


def test_it_is_written_by_nobody(lake: lakebed.Lake, spark: SparkSession) -> None:
    with pytest.raises(UnsupportedError) as caught:
        lake.ingest(spark, "db.f", spark.sql("select 1 as id"))
    assert [d.path for d in caught.value.diagnostics] == ["u"]
    for change in (
        lambda: lake.tables.alter_table("db", "f", [{"action": "dropColumn", "fieldNames": ["v"]}]),
        lambda: lake.merge_schema("db.f", ["w INT"]),
        lambda: lake.tables.get_schema_manager("db", "f").create_new_schema_version(["id INT"], [], ["p"]),
    ):
        with pytest.raises(UnsupportedError) as caught:
            change()
        assert (caught.value.code, caught.value.diagnostics[0].path) == ("LB4500", "u")
    assert lake.schema("db.f").id == 0


def test_keys_of_the_future_cannot_be_left_out(tmp_path: Path, spark: SparkSession) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", ["id INT", "p INT"], partition_keys=["p"])
    from_future(tmp_path / "db.db/t/schema/schema-0", "p")
    with pytest.raises(UnsupportedError) as caught:
        lake.read(spark, "db.t")
    assert caught.value.code == "LB4507"
