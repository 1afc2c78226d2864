"""What is said of files that were ingested before: read otherwise, or ingested once more."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.ingest_lake import SmallLake
from lakebed.diagnostics import Severity
from lakebed.ingest.ingest import IngestResult
from lakebed.ingest.run_history import READ_AS
from lakebed.ingest.sources.declared_source import declared_read, declared_source
from lakebed.model import Field, Int32, Option, String

OTHERWISE, TWICE, ALL_BAD = "LB6134", "LB6135", "LB6137"


def said(result: IngestResult) -> list[tuple[str, str | None]]:
    assert all(n.severity is Severity.WARNING and n.remedy for n in result.notices)
    return [(n.code, n.path) for n in result.notices]


def test_files_that_are_read_otherwise_are_told_and_never_doubled(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    first, second = lake.file("a.csv", "id,name\n1,NA\n"), lake.file("b.csv", "id,name\n2,NA\nx,NA\n")
    bad = lake.file("c.csv", "id,name\nx,NA\n")
    assert said(lake.ingest([first, second])) == []
    assert said(lake.ingest(bad, options={"nullValue": "-"})) == [(ALL_BAD, "db.t")]
    assert said(lake.ingest([first, second])) == []
    result = lake.ingest([first, second, bad], options={"nullValue": "NA"})
    assert (result.rows_read, len(result.skipped_files)) == (0, 3)
    assert said(result) == [(OTHERWISE, first)]
    assert "'a.csv' and 2 more" in result.notices[0].message.replace(str(lake.root) + "/", "")
    # Once more: the good rows are there twice, and that is said; there were none of `c.csv`.
    result = lake.ingest([second, bad], options={"nullValue": "NA"}, again=True)
    assert said(result) == [(TWICE, second)]
    assert result.to_json()["notices"][0]["code"] == TWICE
    assert [r["id"] for r in lake.rows(order="id")] == [1, 2, 2]
    # Whatever way a file was read in, there is nothing to say of it that way.
    assert said(lake.ingest([second, bad], options={"nullvalue": "NA"})) == []
    assert said(lake.ingest(second)) == []
    assert said(lake.ingest(bad)) == [(OTHERWISE, bad)]
    assert said(lake.ingest(bad, folders="ignore", options={"nullValue": "NA"})) == [(OTHERWISE, bad)]
    assert said(lake.ingest(bad, options={"nullValue": "NA"}, again=True)) == [(ALL_BAD, "db.t")]


def test_runs_keep_how_they_read(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()))
    lake.ingest(lake.file("a.csv", "id\n1\nx\n"))
    schema = lake.tables.get_schema_manager("db", "t").load_latest_schema()
    expected = declared_source(declared_read(schema), ["a.csv"], None, None).digest(folders=True)
    for table in ("db.t", "db.t__quarantine"):
        assert [(s.properties or {})[READ_AS] for s in lake.snapshots(table)] == [expected]


@pytest.mark.parametrize(
    ("options", "same"),
    [
        ({"SEP": ";", "header": True}, True),
        ({"delimiter": ";", "header": "true"}, True),
        ({"sep": ";"}, False),
        ({"sep": ",", "header": True}, False),
    ],
)
def test_options_that_are_the_same(lake: SmallLake, options: dict[str, Any], same: bool) -> None:
    lake.create(Field("id", Int32()))
    schema = lake.tables.get_schema_manager("db", "t").load_latest_schema()
    first = declared_source(declared_read(schema), ["a.csv"], None, {"sep": ";", "header": True})
    other = declared_source(declared_read(schema), ["a.csv"], None, options)
    assert (first.digest(folders=True) == other.digest(folders=True)) is same
    assert first.digest(folders=True) != first.digest(folders=False)
    assert first.digest(folders=True) != declared_source(declared_read(schema), ["a"], "json", {}).digest(folders=True)
