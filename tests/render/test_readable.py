"""`str()` of what the Python interface gives reads as on the command line; `repr()` stays exact."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakebed
from lakebed.errors import LakebedError, NotFoundError, RefusedError
from lakebed.ingest.run_history import IngestResult
from lakebed.inspection.history import History
from lakebed.render.diagnostic_text import diagnostic_text
from lakebed.render.plan_text import FrontEnd, render_applied, render_plan

MANIFEST = """\
kind: Table
version: 1
content:
  name: db.t
  primaryKeys: [id]
  schema:
    fields:
      - {name: id, type: Int64}
      - {name: note, type: {kind: Option, inner: String}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "t.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "lake").mkdir()
    return lakebed.open(tmp_path / "lake")


def test_plans_and_what_became_of_them(lake: lakebed.Lake, tmp_path: Path) -> None:
    plan = lake.plan(tmp_path / "t.yaml")
    shown, said = render_plan(plan, front_end=FrontEnd.PYTHON), list(map(str, plan.all_diagnostics))
    assert str(plan) == "\n".join([shown, *said])
    assert str(plan).startswith("db.t: new table\n")
    assert str(plan.tables[0]) == "\n".join([*shown.splitlines()[:-2], *said])
    assert repr(plan).startswith("Plan(tables=(TablePlan(")
    applied = lake.apply(plan)
    assert str(applied) == render_applied(applied)
    again = lake.plan(tmp_path / "t.yaml")
    assert str(again) == "No changes: db.t is as declared (schema 0)."
    assert str(again.tables[0]) == "db.t is as declared (schema 0)"


def test_a_plan_speaks_python_in_python(lake: lakebed.Lake, tmp_path: Path) -> None:
    lake.apply(lake.plan(tmp_path / "t.yaml"))
    dropped = "".join(line for line in MANIFEST.splitlines(keepends=True) if "note" not in line)
    (tmp_path / "t.yaml").write_text(dropped.replace("  name:", "  compatibility: ODF\n  name:"), encoding="utf-8")
    plan = lake.plan(tmp_path / "t.yaml")
    for text in (str(plan), str(plan.tables[0])):
        assert 'leave: lake.apply(plan, allow=["LB4203:note"])' in text
        assert 'leave: lake.apply(plan, allow=["LB4220:note"])' in text
        assert "--allow" not in text
    assert "approved by LB4203\n" in str(plan.approved(["LB4203"]))
    assert "leave: --allow LB4203:note" in render_plan(plan)
    assert "approved by --allow LB4203\n" in render_plan(plan.approved(["LB4203"]))


def test_a_plan_tells_in_python_what_cannot_be_written(lake: lakebed.Lake, tmp_path: Path) -> None:
    optioned = MANIFEST.replace("  primaryKeys", "  options: {bukcet: '4'}\n  primaryKeys")
    (tmp_path / "t.yaml").write_text(optioned, encoding="utf-8")
    plan = lake.plan(tmp_path / "t.yaml")
    for text in (str(plan), str(plan.tables[0])):
        assert "warning[LB5050]: Lakebed reads such a table, it cannot write it" in text
        assert "bukcet" in text
    applied = lake.apply(plan, allow=["LB4203:note"])
    assert str(applied) == "\n".join([render_applied(applied), *map(str, applied.diagnostics)])
    assert "LB4203:note" in str(applied)


def test_schemas_and_histories(lake: lakebed.Lake, tmp_path: Path) -> None:
    lake.apply(lake.plan(tmp_path / "t.yaml"))
    schema = lake.schema("db.t")
    lines = str(schema).splitlines()
    assert lines[:2] == ["schema 0", "primary keys: id"]
    assert lines[-1].split() == ["1", "note", "String", "yes"]
    assert repr(schema).startswith("TableSchema(id=0")
    history = lake.history("db.t")
    assert str(history).startswith("db.t  (times in UTC)\n")
    assert repr(history).startswith("History(name=")
    assert isinstance(history, History)


def test_an_ingest() -> None:
    result = IngestResult("db.t", "r1", 3, 5, 4, 1, 7, 8, skipped_files=("a.csv",))
    assert str(result).splitlines() == [
        "db.t: 5 rows read, 4 written, 1 quarantined (snapshot 7, schema 3, run r1)",
        "skipped a.csv: ingested before (again=True ingests it again)",
        "bad rows and their reasons: lake.read(spark, 'db.t__quarantine')",
    ]
    assert repr(result).startswith("IngestResult(table='db.t'")


class TestRemedies:
    """An error in a program speaks Python; the command line says the same in flags."""

    def test_an_approval(self, lake: lakebed.Lake, tmp_path: Path) -> None:
        lake.apply(lake.plan(tmp_path / "t.yaml"))
        (tmp_path / "t.yaml").write_text("\n".join(MANIFEST.splitlines()[:-1]) + "\n", encoding="utf-8")
        with pytest.raises(RefusedError) as caught:
            lake.apply(lake.plan(tmp_path / "t.yaml"))
        assert str(caught.value).endswith('remedy: lake.apply(plan, allow=["LB4203:note"])')
        (diagnostic,) = caught.value.diagnostics
        assert diagnostic_text(diagnostic).endswith("remedy: --allow LB4203:note")

    def test_what_is_not_there(self, lake: lakebed.Lake, tmp_path: Path) -> None:
        lake.apply(lake.plan(tmp_path / "t.yaml"))
        found: list[LakebedError] = []
        for name in ("db.t@tag:x", "db.t@branch:x"):
            with pytest.raises(NotFoundError) as caught:
                lake.schema(name)
            found.append(caught.value)
        assert [e.code for e in found] == ["LB5004", "LB3122"]
        for error in found:
            assert "remedy: lake." in str(error)
            assert "remedy: `lakebed " in diagnostic_text(error.diagnostics[0])
