"""What Java Paimon writes in each format is read as the rows that it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import lakebed
from referees.encoding import spark_rows
from referees.java import JavaReferee

pytestmark = pytest.mark.usefixtures("as_for_users")

COLUMNS: list[tuple[str, Any]] = [
    *(("id", "INT"), ("d", "DATE"), ("t", "TIMESTAMP(6)"), ("z", "TIMESTAMP(6) WITH LOCAL TIME ZONE")),
    *(("c", "CHAR(5)"), ("v", "VARCHAR(3)"), ("time", "TIME(3)"), ("tiny", "TINYINT"), ("q", "DECIMAL(38, 4)")),
    *(("x", "DOUBLE"), ("f", "FLOAT"), ("a", {"type": "ARRAY", "element": "TIMESTAMP(3)"})),
    ("m", {"type": "MAP", "key": "INT", "value": "STRING"}),
    ("r", {"type": "ROW", "fields": [{"name": "c", "type": "CHAR(4)"}, {"name": "d", "type": "DATE"}]}),
]
#: A commit each: CHAR is padded in ORC, so that a file of nothing but `ab` is left out by a filter that reaches it.
COMMITS = [
    [
        *(1, "1500-01-01", "1969-12-31T23:59:59.000000000", "2024-05-14T12:00:00.123456000Z"),
        *("ab", "abc", "10:11:12.013000", -3, "123.4500", -0.0, "NaN"),
        *(None, [[1, "x"]], ["ab", "0001-01-01"]),
    ],
    [
        *(2, "1582-10-04", "2024-05-14T12:00:00.123456000", "1969-12-31T23:59:59.000000000Z"),
        *("abcde", "", "00:00:00", 3, "-0.0001", "NaN", -0.0),
        *(["2024-05-14T12:00:00.123000000"], [], ["", "1582-10-15"]),
    ],
    [3, *[None] * (len(COLUMNS) - 1)],
]
FILTERS = {
    "c = 'ab'": [1],
    "c = 'abcde'": [2],
    "c < 'abc'": [1],
    "r.c = 'ab'": [1],
    "d = '1500-01-01'": [1],
    "d > '1500-01-01'": [2],
    "r.d < '1582-10-15'": [1],
    "x = 0": [1],
    "x > 1": [2],
    "q < 0": [2],
    "t < timestamp_ntz'1970-01-01 00:00:00'": [1],
    "z = timestamp'2024-05-14 12:00:00.123456Z'": [1],
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory, java: JavaReferee) -> Path:
    root = tmp_path_factory.mktemp("java")
    for format in ("orc", "avro", "parquet"):
        options = {"file.format": format, "bucket": "-1"}
        java.create(root, f"db.{format}", COLUMNS, options=options)
        for row in COMMITS:
            java.append(root, f"db.{format}", [row])
    return root


@pytest.mark.parametrize("format", ["orc", "avro", "parquet"])
def test_rows_and_filters(warehouse: Path, spark: SparkSession, format: str) -> None:
    lake = lakebed.open(warehouse)
    frame = lake.read(spark, f"db.{format}")
    place = [n for n, _ in COLUMNS].index("time")
    found = sorted(spark_rows(frame), key=lambda row: row[0])
    expected = [[*row] for row in COMMITS]
    for row, millis in zip(expected, (36_672_013, 0, None), strict=True):
        row[place] = millis
    assert repr(found) == repr(expected)
    query = " union all ".join(f"select {i} as i, id from {{frame}} where {f}" for i, f in enumerate(FILTERS))
    kept = [(r.i, r.id) for r in spark.sql(query, frame=frame).collect()]
    assert sorted(kept) == [(i, id_) for i, ids in enumerate(FILTERS.values()) for id_ in ids]
