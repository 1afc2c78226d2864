"""One law: the format of the files does not change the rows, for every type, every level and every schema version."""

from __future__ import annotations

from decimal import Decimal
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import lakebed
from lakebed.arrow.avro_file import avro_batches
from lakebed.errors import UnsupportedError
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from read.foreign_files import FORMATS, file_bytes, put_rows
from referees.encoding import spark_rows
from runtime.spark_settings import as_for_users

DAY = 86_400_000_000
NESTED = {
    "type": "ROW",
    "fields": [
        {"name": "a", "type": "INT"},
        {"name": "t", "type": "TIMESTAMP(6)"},
        {"name": "c", "type": "CHAR(4)"},
        {"name": "d", "type": "DATE"},
        {"name": "gone", "type": "STRING"},
    ],
}
COLUMNS: list[tuple[str, Any]] = [
    ("id", "INT"),
    ("flag", "BOOLEAN"),
    ("tiny", "TINYINT"),
    ("small", "SMALLINT"),
    ("big", "BIGINT"),
    ("f", "FLOAT"),
    ("x", "DOUBLE"),
    ("q", "DECIMAL(9, 2)"),
    ("huge", "DECIMAL(38, 10)"),
    ("c", "CHAR(5)"),
    ("v", "VARCHAR(10)"),
    ("s", "STRING"),
    ("b", "BINARY(3)"),
    ("y", "BYTES"),
    ("d", "DATE"),
    ("time", "TIME(3)"),
    ("ms", "TIMESTAMP(3)"),
    ("us", "TIMESTAMP(6)"),
    ("zms", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
    ("zus", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ("ns", "TIMESTAMP(9)"),
    ("zns", "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
    ("l", {"type": "ARRAY", "element": "TIMESTAMP(3)"}),
    ("m", {"type": "MAP", "key": "STRING", "value": NESTED}),
    ("n", {"type": "MAP", "key": "INT", "value": "DECIMAL(20, 3)"}),
    ("days", {"type": "MAP", "key": "DATE", "value": "TIMESTAMP(9) WITH LOCAL TIME ZONE"}),
    ("set", {"type": "MULTISET", "element": "STRING"}),
    ("r", NESTED),
    ("rows", {"type": "ARRAY", "element": NESTED}),
]
#: Instants of the years 1 and 9999, and wall clocks around the change of Spark's calendars for ORC and later.
FIRST, LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
INNER = {"a": 7, "t": 1_700_000_000_000_001, "c": "ab", "d": -171_664, "gone": "g"}
ROWS: list[dict[str, Any]] = [
    {"id": 0},
    {
        "id": 1,
        **{"flag": True, "tiny": -128, "small": -(2**15), "big": -(2**63), "f": float("nan"), "x": -0.0},
        **{"q": Decimal("-1234567.89"), "huge": Decimal("9999999999999999999999999999.9999999999")},
        **{"c": "ab", "v": "é列👍", "s": "", "b": b"\x00\xff\x01", "y": b"", "d": -719_162, "time": 86_399_999},
        **{"ms": 1_700_000_000_001_000, "us": 1_700_000_000_000_001, "zms": FIRST, "zus": FIRST},
        **{"ns": 1_700_000_000_000_001, "zns": 1_000_001, "l": [0, None, 1000], "m": [("k", INNER), ("", None)]},
        **{"n": [(-1, Decimal("0.001")), (2, None)], "days": [(-171_664, 1)], "set": [("x", 2), ("", 1)]},
        **{"r": INNER, "rows": [INNER, None, {}]},
    },
    {
        "id": 2,
        **{"flag": False, "tiny": 127, "small": 2**15 - 1, "big": 2**63 - 1, "f": -0.0, "x": float("inf")},
        **{"q": Decimal("0.00"), "huge": Decimal("-0.0000000001"), "c": "abcde", "v": "", "s": " a ", "b": b"abc"},
        **{"y": b"\x80" * 20, "d": 2_932_896, "time": 0, "ms": 0, "us": 1, "zms": LAST // 1000 * 1000, "zus": LAST},
        **{"ns": 0, "zns": 0, "l": [], "m": [], "n": [], "days": [], "set": [], "r": {}, "rows": []},
    },
    {
        "id": 3,
        **{"flag": None, "tiny": 0, "small": 0, "big": 0, "f": 0.1, "x": float("nan"), "q": Decimal("1.10")},
        **{"d": -141_438, "ms": -1_000_000, "us": -2_000_000, "zms": -1_000_000, "zus": -DAY, "ns": -3_000_000},
        **{"zns": -1_000_000, "days": [(-141_427, -1_000_000), (-141_428, None)]},
    },
]
#: Under the second version: names and types have moved, at the top and within.
LATER: list[dict[str, Any]] = [
    {
        "id": 4,
        **{"tiny": 2**40, "day": 19_857, "s": 5, "q": Decimal("12345678901.10"), "added": "new"},
        **{"r": {"b": 2**40, "t": 1, "c": "z", "d": 0, "late": 1.5}, "m": [("k", {"b": -1, "late": -0.0})]},
        **{"rows": [{"b": 3, "late": None}], "zns": 1_700_000_000_000_001, "us": 1_700_000_000_000_001},
    }
]
FILTERS = [
    "c = 'ab'",
    "x = 0.0",
    "x > 5",
    "day = '1582-10-04'",
    "day >= '1582-10-04' and day <= '1582-10-15'",
    "us = timestamp_ntz'2023-11-14 22:13:20.000001'",
    "ms > timestamp_ntz'2023-11-14 22:13:20.0005'",
    "zus < timestamp'0001-01-02 00:00:00Z'",
    "zns = timestamp'1970-01-01 00:00:01.000001Z'",
    "ns < timestamp_ntz'1970-01-01 00:00:00'",
    "q = 1.10",
    "tiny > 100",
    "r.c = 'ab'",
    "r.d < '1500-06-01'",
    "m['k'].b = 7",
]


def evolve(lake: lakebed.Lake, table: str) -> None:
    """Rename, widen, drop and add again, at the top and within structs."""
    inner = [
        {"action": "renameColumn", "fieldNames": ["{}", "a"], "newName": "b"},
        {"action": "updateColumnType", "fieldNames": ["{}", "b"], "newDataType": "BIGINT", "keepNullability": False},
        {"action": "dropColumn", "fieldNames": ["{}", "gone"]},
        {"action": "addColumn", "fieldNames": ["{}", "late"], "dataType": "DOUBLE"},
    ]
    paths = (["r"], ["rows", "element"], ["m", "value"])
    changes = [{**c, "fieldNames": [*path, *c["fieldNames"][1:]]} for path in paths for c in inner]
    changes += [
        {"action": "renameColumn", "fieldNames": ["d"], "newName": "day"},
        {"action": "updateColumnType", "fieldNames": ["tiny"], "newDataType": "BIGINT", "keepNullability": False},
        {"action": "updateColumnType", "fieldNames": ["q"], "newDataType": "DECIMAL(20, 2)", "keepNullability": False},
        {"action": "dropColumn", "fieldNames": ["s"]},
        {"action": "addColumn", "fieldNames": ["s"], "dataType": "INT"},
        {"action": "addColumn", "fieldNames": ["added"], "dataType": "STRING"},
    ]
    database, _, name = table.partition(".")
    lake.tables.alter_table(database, name, changes)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> lakebed.Lake:
    """The same rows in a table of each format, and the rows of a fourth table in files of all of them."""
    root = tmp_path_factory.mktemp("formats") / "w"
    root.mkdir()
    lake = lakebed.open(root)
    for table in (*FORMATS, "mixed"):
        lake.tables.create_table("db", table, COLUMNS)
        for i, row in enumerate(ROWS):
            put_rows(lake, f"db.{table}", FORMATS[i % 3] if table == "mixed" else table, [row])
        evolve(lake, f"db.{table}")
        put_rows(lake, f"db.{table}", "avro" if table == "mixed" else table, LATER)
    return lake


@pytest.fixture(scope="module")
def rows(lake: lakebed.Lake, spark: SparkSession) -> dict[str, list[Any]]:
    with as_for_users(spark):
        return {t: sorted(spark_rows(lake.read(spark, f"db.{t}")), key=lambda row: row[0]) for t in (*FORMATS, "mixed")}


@pytest.mark.parametrize("table", ["orc", "avro", "mixed"])
def test_the_format_does_not_change_the_rows(rows: dict[str, list[Any]], table: str) -> None:
    for found, expected in zip(rows[table], rows["parquet"], strict=True):
        assert repr(found) == repr(expected)


def test_the_rows_are_those_that_were_written(lake: lakebed.Lake, rows: dict[str, list[Any]]) -> None:
    names = lake.schema("db.parquet").field_names
    first, second, third, fourth, later = (dict(zip(names, row, strict=True)) for row in rows["parquet"])
    assert [v for k, v in first.items() if k != "id"] == [None] * (len(names) - 1)
    assert (second["day"], second["zus"]) == ("0001-01-01", "0001-01-01T00:00:00.000000000Z")
    assert (third["day"], third["zus"]) == ("9999-12-31", "9999-12-31T23:59:59.999999000Z")
    assert second["ns"] == second["us"] == "2023-11-14T22:13:20.000001000"
    assert second["zns"] == "1970-01-01T00:00:01.000001000Z"
    assert (fourth["day"], fourth["days"][0][0]) == ("1582-10-04", "1582-10-14")
    assert second["r"][:4] == [7, "2023-11-14T22:13:20.000001000", "ab", "1500-01-01"]
    assert (second["c"], second["tiny"], second["s"], later["s"], later["added"]) == ("ab", -128, None, 5, "new")
    assert [later["r"], later["rows"]] == [
        [2**40, "1970-01-01T00:00:00.000001000", "z", "1970-01-01", 1.5],
        [[3, None, None, None, None]],
    ]


def kept(frame: DataFrame) -> list[tuple[int, int]]:
    """Which rows which filters keep, in one query."""
    parts = [frame.where(f).select(F.lit(i).alias("i"), "id") for i, f in enumerate(FILTERS)]
    return sorted((r.i, r.id) for r in reduce(DataFrame.union, parts).collect())


def test_filters_that_reach_files_lose_no_row(lake: lakebed.Lake, spark: SparkSession) -> None:
    # What was written out as one Arrow table has no files that a filter could leave out.
    expected = kept(spark.createDataFrame(lake.read(spark, "db.parquet").toArrow()))
    assert {i for i, _ in expected} == set(range(len(FILTERS)))
    for table in ("parquet", "orc"):
        assert kept(lake.read(spark, f"db.{table}")) == expected, table


def test_other_names_and_places(lake: lakebed.Lake, spark: SparkSession, tmp_path: Path) -> None:
    lake.tables.create_table("db", "places", [("id", "INT"), ("a.b", "INT"), ("列 x", "STRING"), ("_col0", "INT")])
    outside = tmp_path / "out side+%41"
    put = [
        ("orc", {"name": "data-1.snappy.orc", "compression": "snappy"}),
        ("orc", {"name": "data-2.zlib.ORC", "compression": "zlib"}),
        ("orc", {"compression": "lz4", "directory": f"file:{outside}"}),
        ("parquet", {"name": "a b%20+é#?.zstd.Parquet", "compression": "zstd"}),
        ("parquet", {"compression": "gzip", "directory": f"file://{outside}/2"}),
        ("parquet", {"compression": "lz4", "directory": str(outside / "3")}),
        ("parquet", {"compression": "none", "name": "=x=1.parquet"}),
    ]
    for i, (format, parts) in enumerate(put):
        directory = parts.pop("directory", None)
        place = None if directory is None else str(directory)
        put_rows(
            lake,
            "db.places",
            format,
            [{"id": i, "a.b": i, "列 x": f"v{i}", "_col0": -i}],
            directory=place,
            **parts,
        )
    with as_for_users(spark):
        found = sorted(tuple(r) for r in lake.read(spark, "db.places").collect())
    assert found == [(i, i, f"v{i}", -i) for i in range(len(put))]


@pytest.mark.parametrize("codec", ["null", "deflate", "zstandard", "bzip2", "xz"])
def test_codecs_of_avro(codec: str) -> None:
    data = file_bytes("avro", [DataField(0, "x", parse("INT"))], [{"x": i} for i in range(25_000)], codec=codec)
    batches = list(avro_batches(data, pa.schema([("x", pa.int32()), ("new", pa.string())])))
    assert [b.num_rows for b in batches] == [10_000, 10_000, 5_000]
    assert [x for b in batches for x in b.column(0).to_pylist()] == list(range(25_000))
    assert batches[0].column(1).null_count == 10_000


@pytest.mark.parametrize(
    ("columns", "drop", "code"),
    [
        (["a`b INT", "id INT"], None, "LB5534"),
        ([("r", {"type": "ROW", "fields": [{"name": "`", "type": "INT"}]})], None, "LB5534"),
        (["_col1 INT", "_col0 INT"], "_col1", "LB5535"),
    ],
)
def test_names_that_spark_does_not_find_in_orc(
    spark: SparkSession, tmp_path: Path, columns: list[Any], drop: str | None, code: str
) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", columns)
    put_rows(lake, "db.t", "orc", [{}])
    if drop is not None:
        assert lake.read(spark, "db.t").count() == 1
        lake.tables.alter_table("db", "t", [{"action": "dropColumn", "fieldNames": [drop]}])
    with pytest.raises(UnsupportedError) as e:
        lake.read(spark, "db.t")
    assert e.value.code == code


def test_two_forms_of_nanoseconds_in_one_file(spark: SparkSession, tmp_path: Path) -> None:
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("db", "t", ["id INT", "a TIMESTAMP(9)", "b TIMESTAMP(9)"])
    rows = {"id": pa.array([1], pa.int32()), "a": pa.array([-1], pa.timestamp("ns"))}
    for other in ("ns", "us"):
        place = put_rows(lake, "db.t", "parquet", [{"id": 1}])
        pq.write_table(pa.table(rows | {"b": pa.array([-1], pa.timestamp(other))}), place)
        if other == "ns":
            (row,) = spark_rows(lake.read(spark, "db.t"))
            assert row == [1, *["1969-12-31T23:59:59.999999000"] * 2]
    with pytest.raises(UnsupportedError) as e:
        lake.read(spark, "db.t")
    assert e.value.code == "LB5057"
