"""The quarantine is an ordinary table: other readers see which rows were bad, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from interop.agreement import READERS, declare, rows
from interop.declared import decimal, field, list_of, manifest, option, struct
from referees.client import Referees
from referees.comparison import assert_same_rows
from referees.java import JavaReferee

TABLE, QUARANTINE = "db.t", "db.t__quarantine"
LINES = (
    '{"id": 1, "n": 5, "price": "1.25", "items": [{"k": "a"}]}',
    '{"id": 2, "n": 300, "price": "1.25"}',
    '{"id": 3, "n": null, "price": "x", "items": [{"k": "a"}, {"k": null}]}',
    '{"id": 4, "n": 5, "price": "1.255"}',
    "not JSON 列",
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> lakebed.Lake:
    """Four bad rows under two versions of the schema."""
    root: Path = tmp_path_factory.mktemp("quarantine")
    (root / "warehouse").mkdir()
    lake = lakebed.open(root / "warehouse")
    fields = (
        field("id", "Int64"),
        field("n", "UInt8"),
        field("price", option(decimal(9, 2))),
        field("items", option(list_of(struct(field("k", "String"))))),
    )
    declare(lake, manifest(fields, name=TABLE))
    source = root / "rows.json"
    source.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    result = lake.ingest(spark, TABLE, source)
    assert (result.rows_written, result.rows_quarantined) == (1, 4)
    declare(lake, manifest((*fields, field("more", option("Date"))), name=TABLE))
    result = lake.ingest(spark, TABLE, spark.createDataFrame([(5, -1, "1999-99-99")], "id long, n int, more string"))
    assert (result.rows_written, result.rows_quarantined) == (0, 1)
    return lake


def test_readers_see_the_bad_rows_and_the_reasons(
    lake: lakebed.Lake, spark: SparkSession, referees: Referees, java: JavaReferee
) -> None:
    columns = referees.columns(lake.warehouse, QUARANTINE)
    names = [name for name, _ in columns]
    expected = rows(lake, spark, QUARANTINE)
    problems = {
        (row[names.index("schema_id")], *problem[:2]) for row in expected for problem in row[names.index("problems")]
    }
    assert problems == {
        (0, "n", "LB6203"),
        (0, "n", "LB6201"),
        (0, "price", "LB6202"),
        (0, "items[1].k", "LB6201"),
        (0, "price", "LB6204"),
        (0, None, "LB6208"),
        (1, "n", "LB6203"),
        (1, "more", "LB6202"),
    }
    for reader in READERS:
        assert_same_rows(expected, referees.rows(reader, lake.warehouse, QUARANTINE), columns)
        asked = ["schema_id", "=", 1]
        assert len(referees.rows(reader, lake.warehouse, QUARANTINE, filter=asked, columns=["raw"])) == 1
    assert_same_rows(expected, java.rows(lake.warehouse, QUARANTINE), columns)
