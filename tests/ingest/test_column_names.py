"""Columns that a source lacks or the table does not have: what is said of them, and which were left out."""

from __future__ import annotations

import json

import pytest

import lakebed
from ingest.ingest_lake import SmallLake
from lakebed.diagnostics import Diagnostic, Severity
from lakebed.errors import IngestError
from lakebed.ingest.columns.column_names import Names, missing_column, unknown_column
from lakebed.model import Field, Int32, Option, String
from lakebed.render.ingest_text import ingest_text


def unknown(name: str, declared: list[str], beside: list[str], folders: tuple[str, ...] = ()) -> Diagnostic:
    (told,) = unknown_column(name, name, Names(beside, declared, " 'a.csv'", folders), ())
    return told


def missing(name: str, found: list[str], declared: list[str]) -> Diagnostic:
    return missing_column((name,), "Int32", Names(found, declared))


def test_a_new_name_of_a_required_column() -> None:
    lacking = missing("id", ["order_id", "n"], ["id", "n"])
    assert lacking.suggestions == ("order_id",)
    assert "`lakebed.dev/renamedFrom: id`" in (lacking.remedy or "")
    told = unknown("order_id", ["id", "n"], ["order_id", "n"])
    assert told.suggestions == ("id",)
    assert "`lakebed.dev/renamedFrom: id`" in (told.remedy or "")


def test_of_several_names_none_is_guessed() -> None:
    assert missing("id", ["x", "y"], ["id"]).suggestions == ()
    assert missing("id", ["x"], ["id", "n"]).suggestions == ()
    assert unknown("x", ["id"], ["x", "y"]).suggestions == ()
    assert "called x now" in (missing("id", ["x"], ["id"]).remedy or "")


def test_what_is_there_under_its_own_name_is_no_guess() -> None:
    assert missing("id", ["idx"], ["id", "idx"]).suggestions == ()


@pytest.mark.parametrize(("name", "same"), [("ID", "id"), (" Id", "id"), ("straße", "STRASSE")])
def test_a_name_in_another_case_is_meant_whatever_else_is_near(name: str, same: str) -> None:
    """Also where rows of JSON have both names, so that the declared one is not absent."""
    near = [f"{same}x", f"{same}_2", "n"]
    for declared in ([*near, same], [same, *near]):
        for beside in ([name], [name, same], [name, same, *near[1:]], [name, "n"]):
            for folders in ((), (name.strip(),)):
                told = unknown(name, declared, beside, folders)
                assert told.suggestions == (same,), (declared, beside, folders)
                renamed = same not in beside and name == name.strip() and not folders
                assert ("renamedFrom" in (told.remedy or "")) == renamed
        assert missing(same, [*near, name], declared).suggestions == (name,)
    assert missing("id", ["ID", "Id", "idx"], ["id"]).suggestions == ("ID", "Id")


def test_remedies_name_the_flags_and_the_arguments() -> None:
    told = unknown("a{x}", ["id"], ["a{x}", "id"])
    assert "--ignore-unknown-columns" in (told.remedy or "")
    assert 'unknown_columns="ignore"' in (told.python_remedy or "")
    blank = unknown(" a", ["id"], [" a", "id"])
    assert "--option ignoreLeadingWhiteSpace=true" in (blank.remedy or "")


def test_a_folder_that_is_no_column() -> None:
    told = unknown("month", ["amount"], ["month", "amount"], folders=("month",))
    assert "folders month=..." in told.message
    assert told.suggestions == ()
    assert unknown("month", ["months"], ["month"], folders=("month",)).suggestions == ("months",)
    assert "--ignore-folders" in (told.remedy or "")
    assert 'folders="ignore"' in (told.python_remedy or "")


def test_what_is_left_out_is_named(lake: SmallLake) -> None:
    lake.create(Field("id", Int32()), Field("name", Option(String())))
    row = {"id": 1, "other": 2, "more": 3}
    csv = lake.file("in/month=01/a.csv", "id,other,more\n1,2,3\n")
    lines = lake.file("a.jsonl", json.dumps(row) + "\n" + json.dumps({"id": 2, "later": 1}))
    frame = lake.spark.createDataFrame([(1, 2, 3)], "id int, other int, more int")
    for source, named in (
        (str(lake.root / "in"), ("other", "more", "month")),
        (lines, ("later", "more", "other")),
        (frame, ("other", "more")),
    ):
        result = lake.ingest(source, unknown_columns="ignore")
        assert sorted(result.ignored_columns) == sorted(named)
        assert sorted(result.to_json()["ignored_columns"]) == sorted(named)
        assert "left out, since the table has no such column: " in ingest_text(result)
    with pytest.raises(IngestError, match=r"lies in folders month=\.\.\."):
        lake.ingest(csv.rpartition("/month")[0], again=True)
    assert lake.ingest(lake.file("b.csv", "id\n5\n"), unknown_columns="ignore").ignored_columns == ()


def test_a_dropped_column_is_left_out_and_named(lake: SmallLake) -> None:
    opened = lakebed.open(lake.root / "warehouse", layout="paimon")
    for fields in (
        "[{name: k, type: Int32}, {name: a, type: {kind: Option, inner: Int32}}]",
        "[{name: k, type: Int32}]",
    ):
        text = f"{{kind: Table, version: 1, content: {{name: db.t, schema: {{fields: {fields}}}}}}}"
        opened.apply(opened.plan(lakebed.manifest.parse_manifest(text)), allow=["LB4203"])
    result = lake.ingest(lake.file("a.csv", "k,a\n1,2\n"), unknown_columns="ignore")
    assert (result.rows_written, result.ignored_columns) == (1, ("a",))


@pytest.mark.parametrize("content", ["", "id\n"])
def test_a_source_without_rows_is_told(lake: SmallLake, content: str) -> None:
    lake.create(Field("id", Int32()))
    path = lake.file("a.csv", content)
    (notice,) = lake.ingest(path).notices
    assert (notice.code, notice.path, notice.severity) == ("LB6138", path, Severity.NOTE)
    assert ("is empty" if not content else "has no rows") in notice.message
