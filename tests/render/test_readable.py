"""`str()` of what the Python interface gives reads as on the command line; `repr()` stays exact."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import lakebed
from lakebed import DataType, Field, PathFactory, TableManager
from lakebed.catalog import TableName
from lakebed.errors import LakebedError, NotFoundError, RefusedError
from lakebed.ingest.run_history import IngestResult
from lakebed.inspection.history import History
from lakebed.maintenance.fast_forward import FastForward
from lakebed.migration import migrate, plan_migration
from lakebed.render.diagnostic_text import diagnostic_text
from lakebed.render.maintenance_text import orphans_text, versions_text
from lakebed.render.migration_text import render_migration
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
    optioned = MANIFEST.replace("  primaryKeys", "  options: {bukcet: '4', bucket: '-2'}\n  primaryKeys")
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


def test_maintenance_and_migrations_speak_python(lake: lakebed.Lake, tmp_path: Path) -> None:
    lake.apply(lake.plan(tmp_path / "t.yaml"))
    lake.tables.alter_table("db", "t", [{"action": "setOption", "key": "x", "value": "1"}])
    leftover = tmp_path / "lake/db.db/t/manifest/manifest-1-0"
    leftover.parent.mkdir()
    leftover.write_text("left")
    now = timedelta(0)
    unused, orphans = lake.unused_versions("db.t", min_age=now), lake.orphan_files("db.t", min_age=now)
    assert str(orphans).endswith("Nothing refers to 1 file, 4 B; lake.remove_orphans removes them.")
    assert orphans_text(orphans, command_line=True).endswith("; --remove removes them.")
    assert str(lake.remove_orphans("db.t", min_age=now)) == "Removed 1 file, 4 B."
    gone = replace(unused, versions=(replace(unused.versions[0], reasons=()), *unused.versions[1:]))
    assert str(gone).endswith("1 of 2 versions can be removed; lake.remove_versions does it.")
    assert versions_text(gone, command_line=True).endswith("; --remove does it.")
    assert str(lake.roll_back("db.t", schema=1)) == "db.t is at schema 1 already."
    assert str(FastForward(orphans.name or TableName("a", "b"), "b", (1,), (), ())).endswith("it gained schema 1.")
    for found in (orphans, unused, lake.roll_back("db.t", schema=1)):
        assert repr(found).startswith(f"{type(found).__name__}(name=")


def test_a_migration_asks_as_a_program_answers(tmp_path: Path) -> None:
    (tmp_path / "mini").mkdir()
    tables = TableManager(PathFactory(tmp_path / "mini", "mini"))
    columns = [Field("id", DataType.INT, nullable=False), Field("town", DataType.STRING)]
    tables.create_table("shop", "users", columns, ["id"])
    columns[1] = Field("city", DataType.STRING)
    tables.get_schema_manager("shop", "users").create_new_schema_version(columns, ["id"], [])
    plan = plan_migration(tmp_path / "mini", tmp_path / "paimon")
    (question,) = plan.tables[0].questions
    assert f"  renames=['{question}'] if it is, else no_renames=['{question}']\n" in str(plan)
    assert "--rename" not in str(plan)
    assert "--rename shop.users:1:town=city if it is, else --no-rename" in render_migration(plan)
    again = plan_migration(tmp_path / "mini", tmp_path / "paimon", renames=[str(question)])
    assert str(migrate(again)) == "shop.users: migrated, 2 versions, now at schema 1"


def test_an_ingest() -> None:
    result = IngestResult("db.t", "r1", 3, 5, 4, 1, 7, 8, skipped_files=("a.csv",))
    assert str(result).splitlines() == [
        "db.t: 5 rows read, 4 written, 1 quarantined (snapshot 7, schema 3, run r1)",
        "skipped a.csv: ingested before (again=True ingests it again)",
        "bad rows and their reasons: lake.quarantine('db.t').rows(spark)",
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
