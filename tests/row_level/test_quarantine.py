"""Bad rows are listed and shown, without the personal data in them, and find their way back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakebed import Lake
from lakebed.errors import NotFoundError, UsageError
from lakebed.ingest.bad_rows_error import BadRowsError
from lakebed.row_level.quarantined_rows import RowChoice

PEOPLE = """\
kind: Table
version: 1
content:
  name: db.people
  schema:
    fields:
      - {name: id, type: Int32}
      - {name: age, type: {kind: Option, inner: Int32}}
      - {name: email, type: {kind: Option, inner: String}, extra: {lakebed.dev/personalData: true}}
      - {name: pin, type: {kind: Option, inner: Int32}, extra: {lakebed.dev/personalData: true}}
"""
ROWS = "id,age,email,pin\n1,20,a@x,7\n2,old,b@x,8\n3,old,c@x,secret\nx,30,d@x,9\n4,5,e@x,1,surplus e@x\n"


def file(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def people(lake: Lake, spark: SparkSession, tmp_path: Path) -> Lake:
    """A table of which one row is good and four are bad."""
    lake.apply(lake.plan(file(tmp_path, "people.yaml", PEOPLE)))
    lake.ingest(spark, "db.people", file(tmp_path, "email=all@x/a.csv", ROWS), run_id="first", folders="ignore")
    return lake


def told(frame: Any) -> list[tuple[Any, ...]]:
    return [(row.raw, [(p.path, p.code, p.found) for p in row.problems]) for row in frame.orderBy("raw").collect()]


def test_runs_and_rows_with_and_without_masks(people: Lake, spark: SparkSession, tmp_path: Path) -> None:
    bad = people.quarantine("db.people")
    masked_path = f"{tmp_path}/email=***/a.csv"
    (run,) = bad.list(spark)
    assert bad.list() == (run,)
    assert (run.run_id, run.files, run.file_count, run.rows, run.mended) == ("first", (masked_path,), 1, 4, 0)
    kinds = [(k.column, k.code, k.rows) for k in run.kinds]
    assert kinds == [("age", "LB6202", 2), (None, "LB6208", 1), ("id", "LB6202", 1), ("pin", "LB6202", 1)]

    masked = bad.rows(spark)
    assert {row.source_file for row in masked.collect()} == {masked_path}
    assert told(masked) == [
        ('{"id":"2","age":"old","email":"***","pin":"***"}', [("age", "LB6202", "old")]),
        ('{"id":"3","age":"old","email":"***","pin":"***"}', [("age", "LB6202", "old"), ("pin", "LB6202", "***")]),
        ('{"id":"x","age":"30","email":"***","pin":"***"}', [("id", "LB6202", "x")]),
        ('{"lakebed.dev/line":"***"}', [(None, "LB6208", "***")]),
    ]
    shown = bad.rows(spark, unmasked=True, code="LB6202", where="raw LIKE '%secret%'", run_id=["first", "second"])
    assert told(shown) == [
        ('{"id":"3","age":"old","email":"c@x","pin":"secret"}', [("age", "LB6202", "old"), ("pin", "LB6202", "secret")])
    ]
    assert told(bad.rows(spark, run_id="second")) == []


def test_errors_do_not_tell_personal_data(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    lake.apply(lake.plan(file(tmp_path, "people.yaml", PEOPLE)))
    table = lake.table("db.people")
    bad = spark.sql("SELECT 2 AS id, 'old' AS age, 'b@x' AS email, 'secret' AS pin")
    table.append(spark.sql("SELECT 1 AS id, 20 AS age, 'a@x' AS email, 7 AS pin"))
    csv = file(tmp_path, "email=all@x/a.csv", ROWS)
    for fails in (
        lambda: table.append(bad),
        lambda: lake.ingest(spark, "db.people", csv, folders="ignore", max_bad_rows=0),
        lambda: table.update(spark, where="id = 1", set={"pin": "concat(email, 'secret')"}),
        lambda: table.overwrite(spark.sql("SELECT 3 AS id, 44 AS age, 'b@x' AS email, 8 AS pin"), where="id = 1"),
    ):
        with pytest.raises(BadRowsError) as error:
            fails()
        found = "".join(f"{d} {d.path} {d.found}" for d in error.value.diagnostics)
        assert "***" in found
        assert "secret" not in found
        assert "@x" not in found


@pytest.mark.parametrize("code", ["LB9999", "LB620", "lb6202", "x"])
def test_a_code_that_there_is_not_chooses_no_rows_in_silence(code: str) -> None:
    assert RowChoice.of(None, ["LB6202", "LB6213"], None).codes == ("LB6202", "LB6213")
    with pytest.raises(UsageError) as refused:
        RowChoice.of(None, ["LB6202", code], None)
    (problem,) = refused.value.diagnostics
    assert (problem.code, problem.found) == ("LB6560", code)
    assert code == "x" or any(near.startswith("LB") for near in problem.suggestions)


def test_where_there_is_nothing_to_show(lake: Lake, spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        lake.quarantine("db.people")
    lake.apply(lake.plan(file(tmp_path, "people.yaml", PEOPLE)))
    bad = lake.quarantine("db.people")
    assert bad.list(lambda: pytest.fail("no Spark is needed")) == ()
    assert bad.rows(spark).columns[-1] == "mended_by"
    with pytest.raises(UsageError, match="LB6560"):
        bad.rows(spark, run_id=7)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="LB6560"):
        bad.purge(spark, every=True, run_id=[])
    with pytest.raises(UsageError, match="unknown_columns"):
        bad.replay(spark, unknown_columns="drop")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"(?s)LB6109.*name the table itself, db\.people$"):
        lake.quarantine("db.people__quarantine")
