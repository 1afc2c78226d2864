"""System columns of Open Data Fabric: what is put in, in which order, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError

MANIFEST = """
kind: Table
version: 1
content:
  name: db.t
  systemColumns: {profile: %s, eventTimeColumn: day}
  schema:
    fields:
    - {name: day, type: Date}
    - {name: city, type: String}
"""


def made(profile: str, root: Path, spark: SparkSession) -> SmallLake:
    small = SmallLake(root, spark)
    lake = lakebed.open(root / "warehouse", layout="paimon")
    path = root / "t.yaml"
    path.write_text(MANIFEST % profile)
    lake.apply(lake.plan(path))
    assert not lake.plan(path).tables[0].changes
    assert not lake.plan(lakebed.manifest.Manifest((lake.infer("db.t"),))).tables[0].changes
    return small


@pytest.fixture(params=["kamu", "spec"])
def odf(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> SmallLake:
    return made(request.param, tmp_path, spark)


def test_records_are_numbered_in_the_order_of_the_source(odf: SmallLake) -> None:
    files = [
        odf.file("b.csv", "city,day\nb1,2024-01-02\nb2,\n,\n"),
        odf.file("a.csv", 'day,city\n2024-01-01,"a1"\n'),
        odf.file("c.csv", "city\nc1\n"),
    ]
    result = odf.ingest(files)
    assert (result.rows_written, result.rows_quarantined) == (4, 1)
    odf.ingest(odf.spark.range(50, numPartitions=3).selectExpr("concat('d', id) AS city", "cast(0 AS tinyint) AS op"))
    rows = odf.rows(order="offset")
    assert [r["offset"] for r in rows] == list(range(54))
    assert [r["city"] for r in rows] == ["b1", "b2", "a1", "c1", *(f"d{i}" for i in range(50))]
    assert {r["op"] for r in rows} == {0}
    now = datetime(2023, 11, 14, tzinfo=UTC).date()
    assert [r["day"] for r in rows[:4]] == [date(2024, 1, 2), now, date(2024, 1, 1), now]
    assert {r["system_time"].date() for r in rows} == {now}
    assert len({r["system_time"] for r in rows}) == 2


def test_operations_are_known_and_corrections_come_in_pairs(odf: SmallLake) -> None:
    good = "op,city\n0,a\n2,a\n3,b\n1,b\n7,c\n2,d\n3,e\n"
    result = odf.ingest(odf.file("good.csv", good))
    assert (result.rows_written, result.rows_quarantined) == (6, 1)
    assert odf.problems() == {("op", "LB6206", "7")}
    with pytest.raises(IngestError) as error:
        odf.ingest(odf.file("bad.csv", "op,city\n2,a\n"))
    assert {d.code for d in error.value.diagnostics} == {"LB6431"}
    assert len(odf.snapshots()) == 1
    assert len(odf.data_files()) == len(odf.files())


def test_corrections_that_are_no_pairs(tmp_path: Path, spark: SparkSession) -> None:
    """The profiles differ in the types of the columns only: one is enough."""
    odf = made("kamu", tmp_path, spark)
    for rows in ("3,a", "2,a\n0,b\n3,a", "3,b\n2,a", "2,a\n2,b\n3,c", "2,a\n9,x\n3,"):
        with pytest.raises(IngestError) as error:
            odf.ingest(odf.file("bad.csv", f"op,city\n{rows}\n"))
        assert {d.code for d in error.value.diagnostics} == {"LB6431"}
    assert odf.data_files() == set()


@pytest.mark.parametrize("name", ["a.csv", "a.json"])
def test_a_source_does_not_say_offsets(odf: SmallLake, name: str) -> None:
    text = "city,offset,system_time\na,1,2\n" if name == "a.csv" else '{"city":"a","offset":1,"system_time":2}\n'
    with pytest.raises(IngestError) as error:
        odf.ingest(odf.file(name, text))
    assert {(d.code, d.path) for d in error.value.diagnostics} == {("LB6430", "offset"), ("LB6430", "system_time")}
