"""Folders named `key=value` are columns of the source, in every format."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.errors import IngestError
from lakebed.format.partition import escape
from lakebed.ingest.sources.source_folders import folders_of, unescaped
from lakebed.model import Field, Int32, Option, String

ID = Field("id", Int32())
SITE = Field("site", Option(String()))
UNKNOWN, TWO_VALUES, DIFFERS, CAST = "LB6112", "LB6129", "LB6130", "LB6202"
#: Values, and how Hive and Spark, or Arrow, spell them in a path.
ODD = {
    "north": "north",
    "01": "01",
    "a/b:c": "a%2Fb%3Ac",
    "1+1 = 2": "1+1 %3D 2",
    "50%": "50%25",
    "%zz%": "%zz%25",
    "é": "é",
    "ü": "%C3%BC",
    "x'\"y": "x'\"y",
    None: "__HIVE_DEFAULT_PARTITION__",
}


@given(st.text())
def test_a_name_comes_back_from_what_hive_makes_of_it(text: str) -> None:
    assert unescaped(escape(text)) == text


def test_the_folders_of_a_path() -> None:
    found = folders_of("/data/env=prod/in/site=a%2Fb/=x/plain/y=/f=1.csv", "site=a%2Fb/=x/plain/y=/f=1.csv")
    assert [(f.key, f.value, f.is_below) for f in found] == [
        ("env", "prod", False),
        ("site", "a/b", True),
        ("y", "", True),
    ]
    assert [f.key for f in folders_of("s3://a=b/c=d/e.csv", "e.csv")] == ["c"]


KINDS = ["csv", "json", "document", "parquet"]
ROWS = [(1, "a", "2024-02-09"), (2, "b", "2024-02-09"), (3, "a", "never"), (4, "a", "2024-02-10")]


def written(lake: SmallLake, kind: str, name: str, rows: list[dict[str, Any]]) -> str:
    """A source file of these rows, which have the same keys."""
    match kind:
        case "csv":
            lines = [",".join(rows[0]), *(",".join(str(v) for v in row.values()) for row in rows)]
            return lake.file(f"{name}.csv", "\n".join(lines) + "\n")
        case "json":
            return lake.file(f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
        case "document":
            return lake.file(f"{name}.json", json.dumps(rows))
        case _:
            path = lake.root / f"{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(pa.Table.from_pylist(rows), path)
            return str(path)


TABLE = """
kind: Table
version: 1
content:
  name: db.t
  %s
  schema:
    fields:
    - {name: id, type: Int32}
    - {name: site, type: {kind: Option, inner: String}}
    - {name: day, type: {kind: Option, inner: Date}}
"""


def created(lake: SmallLake, kind: str) -> None:
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    read = "read: {kind: Json}" if kind == "document" else ""
    opened.apply(opened.plan(lakebed.manifest.parse_manifest(TABLE % read)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_folders_say_is_in_the_rows(lake: SmallLake, kind: str) -> None:
    created(lake, kind)
    for number, (value, text) in enumerate(ODD.items()):
        assert value is None or unescaped(text) == value
        written(lake, kind, f"in/site={text}/day=2024-01-{number + 1:02}/a", [{"id": number}])
    written(lake, kind, "in/no-folder", [{"id": 100}])
    written(lake, kind, "in/day=soon/x", [{"id": 101}])
    result = lake.ingest(str(lake.root / "in"))
    assert (result.rows_written, result.rows_quarantined) == (len(ODD) + 1, 1)
    assert lake.problems() == {("day", CAST, "soon")}
    days = [date(2024, 1, n + 1) for n in range(len(ODD))]
    assert [(r["id"], r["site"], r["day"]) for r in lake.rows(order="id")] == [
        *zip(range(len(ODD)), ODD, days, strict=True),
        (100, None, None),
    ]
    # The same file says the same however it is named; above the source only the columns of the table count.
    paths = [written(lake, kind, f"more/x=1/site=s/y=2/{n}", [{"id": 200 + n}]) for n in range(2)]
    directory = written(lake, kind, "more/x=1/site=s/z/b", [{"id": 202}]).rpartition("/")[0]
    lake.ingest([paths[0], paths[1].replace("1.", "*."), directory])
    assert [r["site"] for r in lake.rows(order="id")[-3:]] == ["s"] * 3
    assert lake.ingest(written(lake, kind, "in/site=t/b", [{"id": 300}]), folders="ignore").rows_written == 1
    assert lake.rows(order="id")[-1]["site"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_and_its_folder_agree(lake: SmallLake, kind: str) -> None:
    created(lake, kind)
    rows = [{"id": n, "site": site, "day": day} for n, site, day in ROWS]
    written(lake, kind, "in/site=a/day=2024-02-09/a", rows)
    result = lake.ingest(str(lake.root / "in"))
    assert [r["id"] for r in lake.rows()] == [1]
    assert result.rows_quarantined == 3
    assert lake.problems() == {("site", DIFFERS, "b"), ("day", CAST, "never"), ("day", DIFFERS, "2024-02-10")}


def test_json_lines_may_have_what_their_folder_says(lake: SmallLake) -> None:
    lake.create(ID, SITE)
    lines = ['{"id": 1}', '{"id": 2, "site": "a"}', '{"id": 3, "site": null}', '{"id": 4, "site": "b"}']
    lake.file("in/site=a/a.json", "\n".join(lines))
    lake.ingest(str(lake.root / "in"))
    assert [(r["id"], r["site"]) for r in lake.rows(order="id")] == [(1, "a"), (2, "a")]
    assert lake.problems() == {("site", DIFFERS, "NULL"), ("site", DIFFERS, "b")}


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_is_no_column(lake: SmallLake, kind: str) -> None:
    created(lake, kind)
    written(lake, kind, "in/sites=a/x=1/a", [{"id": 1}])
    with pytest.raises(IngestError) as error:
        lake.ingest(str(lake.root / "in"))
    assert [(d.code, d.path, d.suggestions) for d in error.value.diagnostics] == [
        (UNKNOWN, "sites", ("site",)),
        (UNKNOWN, "x", ()),
    ]
    assert lake.ingest(str(lake.root / "in"), unknown_columns="ignore", run_id="r").rows_written == 1
    result = lake.ingest(str(lake.root / "in"), merge_schema="add", again=True)
    assert (result.schema_id, result.rows_written) == (1, 1)
    assert lake.rows()[-1] == {"id": 1, "site": None, "day": None, "sites": "a", "x": "1"}


def test_required_columns_and_partition_keys_may_come_from_folders(lake: SmallLake) -> None:
    lake.create(ID, Field("site", String()), Field("n", Option(Int32())), partition_keys=["site"])
    lake.file("in/site=a b/n=007/a.csv", "id\n1\n")
    lake.file("in/site=c/n=-1/a.csv", "id\n2\n")
    lake.ingest(str(lake.root / "in"))
    assert lake.rows(order="id") == [{"id": 1, "site": "a b", "n": 7}, {"id": 2, "site": "c", "n": -1}]
    lake.file("twice/site=a/site=b/a.csv", "id\n1\n")
    with pytest.raises(IngestError) as error:
        lake.ingest(str(lake.root / "twice"))
    assert [d.code for d in error.value.diagnostics] == [TWO_VALUES]
