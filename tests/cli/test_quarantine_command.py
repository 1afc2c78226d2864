"""`lakebed quarantine`, with the session of this process."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cli.command_line import CommandLine

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
"""


@pytest.fixture
def people(lakebed: CommandLine, warehouse: Path, here: Path) -> Path:
    (here / "people.yaml").write_text(PEOPLE, encoding="utf-8")
    (here / "a.csv").write_text("id,age,email\n1,20,a@x\n2,old,b@x\nx,3,c@x\n", encoding="utf-8")
    lakebed.ok("apply", "people.yaml", "--yes")
    return here


def test_list_and_show(lakebed: CommandLine, people: Path, spark: Any) -> None:
    assert lakebed.ok("quarantine", "list", "db.people") == "db.people has no bad rows.\n"
    hint = lakebed("ingest", "db.people", "a.csv", "--run-id", "first").out.splitlines()[-1]
    assert hint == "bad rows and their reasons: lakebed quarantine show db.people"

    head, _, line, _, end = lakebed.ok("quarantine", "list", "db.people").splitlines()
    assert head.split() == ["run", "time", "rows", "mended", "files", "problems"]
    assert re.match(r"first   \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}\+00:00 ", line), line
    assert line.endswith(" 2        0   " + str(people / "a.csv") + "   age: LB6202 (1), id: LB6202 (1)")
    assert end == "2 rows of db.people are bad still."
    (at,) = {
        json.loads(row)["ingested_at"] for row in lakebed.ok("--json", "quarantine", "show", "db.people").splitlines()
    }
    assert f" {at} " in line
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("lakebed.cli.commands.quarantine.spark_session", None)
        (run,) = lakebed.json("quarantine", "list", "db.people")["runs"]
    assert (run["rows"], run["mended"], run["kinds"][0]["column"]) == (2, 0, "age")

    shown = lakebed.ok("quarantine", "show", "db.people", "--where", "raw LIKE '%old%'").splitlines()
    assert shown[0].split()[:2] == ["problems", "raw"]
    assert shown[2].startswith('age: LB6202, expected Int32, found old   {"id":"2","age":"old","email":"***"}')
    rows = lakebed.ok("--json", "quarantine", "show", "db.people", "--code", "LB6202", "--limit", "5").splitlines()
    assert {json.loads(row)["raw"] for row in rows} == {
        '{"id":"2","age":"old","email":"***"}',
        '{"id":"x","age":"3","email":"***"}',
    }
    read = lakebed.ok("--json", "read", "db.people__quarantine", "--select", "raw, problems[0].path AS path")
    assert "***" in read
    assert "@x" not in read
    unmasked = lakebed.ok("quarantine", "show", "db.people", "--unmasked", "--run-id", "first", "--limit", "1")
    assert "@x" in unmasked
    assert unmasked.endswith("(the first row; there are more)\n")
    assert lakebed("quarantine", "show", "db.people", "--where", "nothing > 1").codes_of_text == ["LB6555"]

    chosen = ("quarantine", "replay", "db.people", "--where", "raw LIKE '%old%'", "--option", "nullValue=old")
    done = lakebed.ok(*chosen)
    assert done.startswith("db.people: 1 of 1 bad row is in the table by now (snapshot 2, schema 0, run ")
    left = lakebed.ok("quarantine", "replay", "db.people").splitlines()
    assert left == [
        "db.people: 0 of 1 bad row are in the table by now (schema 0)",
        "1 row left: id: LB6202 (1)",
    ]
    assert lakebed.ok("read", "db.people", "--count") == "2\n"

    purge = ("quarantine", "purge", "db.people")
    assert lakebed(*purge).codes_of_text == ["LB7006"]
    assert lakebed.ok(*purge, "--dry-run") == "A purge would remove 1 row of the quarantine of db.people.\n"
    assert lakebed.ok(*purge, "--yes").splitlines() == [
        "Removed 1 row of the quarantine of db.people (snapshot 3).",
        "Rows that are removed are still in snapshots 1, 2 of the quarantine.",
        "--expire takes its older snapshots away.",
    ]
