"""Sources as the manifest declares them: formats, options, columns, and what a command says instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import ManifestError

TABLE = """
kind: Table
version: 1
content:
  name: db.t
  read: %s
  schema: {fields: [{name: id, type: Int32}, {name: name, type: {kind: Option, inner: String}}]}
"""
DATASET = """
kind: DatasetSnapshot
version: 1
content:
  name: db.t
  kind: Root
  metadata:
  - {kind: SetVocab, offsetColumn: n}
  - kind: SetDataSchema
    schema:
      fields:
      - {name: n, type: Int64}
      - {name: id, type: Int32}
      - {name: name, type: {kind: Option, inner: String}}
  - {kind: AddPushSource, sourceName: default, read: {kind: csv, separator: ";", ddlSchema: [name STRING, id INT]}}
"""


def applied(root: Path, spark: SparkSession, text: str) -> SmallLake:
    small = SmallLake(root, spark)
    lake = lakebed.open(root / "warehouse", layout="paimon")
    path = root / "t.yaml"
    path.write_text(text)
    lake.apply(lake.plan(path))
    assert not lake.plan(path).tables[0].changes
    written = lakebed.manifest.dump_table(lake.infer("db.t"))
    assert not lake.plan(lakebed.manifest.parse_manifest(written)).tables[0].changes
    return small


@pytest.mark.parametrize(
    ("read", "name", "text"),
    [
        (
            '{kind: Csv, separator: ";", schema: {fields: [{name: name, type: String}, {name: id, type: Int64}]}}',
            "a.txt",
            "a;1\nb;2\n",
        ),
        ("{kind: csv, header: true, nullValue: NA, encoding: latin1}", "a.dat", "id,name\n1,a\n2,b\n"),
        (
            "{kind: NdJson, ddlSchema: [id INT, name STRING]}",
            "a.csv",
            '{"id":1,"name":"a","z":0}\n{"id":2,"name":"b"}\n',
        ),
        ("{format: CSV, options: {sep: '|'}}", "a.csv", "id|name\n1|a\n2|b\n"),
    ],
)
def test_the_table_says_how_it_is_read(tmp_path: Path, spark: SparkSession, read: str, name: str, text: str) -> None:
    lake = applied(tmp_path, spark, TABLE % read)
    lake.ingest(lake.file(name, text))
    assert [(r["id"], r["name"]) for r in lake.rows(order="id")] == [(1, "a"), (2, "b")]
    lake.ingest(lake.file("b.json", '{"id": 3}\n'), format="json")


def test_a_source_of_a_dataset(tmp_path: Path, spark: SparkSession) -> None:
    lake = applied(tmp_path, spark, DATASET)
    lake.ingest(lake.file("a.txt", "a;1\nb;2\n"))
    assert lake.rows(order="id") == [{"n": 0, "id": 1, "name": "a"}, {"n": 1, "id": 2, "name": "b"}]


def test_a_change_of_the_source_is_planned(tmp_path: Path, spark: SparkSession) -> None:
    applied(tmp_path, spark, TABLE % "{kind: Csv}")
    lake = lakebed.open(tmp_path / "warehouse")
    plan = lake.plan(lakebed.manifest.parse_manifest(TABLE % "{kind: Csv, header: true}"))
    (change,) = plan.tables[0].changes
    assert (str(change.kind), change.name, str(change.verdict)) == ("annotation", "lakebed.dev/read", "safe")


@pytest.mark.parametrize(
    ("read", "code"),
    [
        ("{kind: Csv, schema: {fields: []}, ddlSchema: [id INT]}", "LB6440"),
        ("{kind: GeoJson}", "LB6441"),
        ("{format: xml}", "LB6442"),
        ("{kind: Csv, inferSchema: true}", "LB6443"),
        ('{kind: Csv, dateFormat: "%Y"}', "LB6443"),
        ("{kind: Csv, seperator: x}", "LB1041"),
        ("{kind: Csv, ddlSchema: [id INTERVAL]}", "LB2202"),
    ],
)
def test_what_cannot_be_declared(tmp_path: Path, read: str, code: str) -> None:
    with pytest.raises(ManifestError) as error:
        lakebed.open(tmp_path, layout="paimon").plan(lakebed.manifest.parse_manifest(TABLE % read))
    assert code in [d.code for d in error.value.diagnostics]
    assert all(d.position is not None for d in error.value.diagnostics)
