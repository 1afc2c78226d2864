"""`lakebed.open` and the parts of `Lake` that need no Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakebed
from lakebed.errors import ManifestError, NotFoundError, RefusedError, StalePlanError, UsageError
from lakebed.evolve import Verdict
from lakebed.manifest import dump_table, load_manifest, parse_manifest

TEXT = """\
kind: Table
version: 1
content:
  name: db.t
  schema:
    fields:
      - {name: id, type: UInt32}
      - {name: at, type: {kind: Timestamp, unit: Millisecond, timezone: Europe/Paris}}
"""


@pytest.fixture
def lake(tmp_path: Path) -> lakebed.Lake:
    (tmp_path / "warehouse").mkdir()
    return lakebed.open(tmp_path / "warehouse")


def test_opening(tmp_path: Path, lake: lakebed.Lake) -> None:
    assert lake.warehouse == str(tmp_path / "warehouse")
    assert lake.time_zone == "UTC"
    assert lake.store.list(lake.warehouse) == []
    with pytest.raises(NotFoundError):
        lakebed.open(tmp_path / "nowhere")
    for words in ({"layout": "delta"}, {"time_zone": "Mars/Olympus"}):
        with pytest.raises(UsageError):
            lakebed.open(tmp_path / "warehouse", **words)


def test_planning_takes_paths_and_loaded_manifests_alike(lake: lakebed.Lake, tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(TEXT, encoding="utf-8")
    other = parse_manifest(TEXT.replace("db.t", "db.u"))
    plans = [lake.plan(path), lake.plan(str(path)), lake.plan(load_manifest(path)), lake.plan([path])]
    assert len({str(p.to_json()) for p in plans}) == 1
    assert [t.name for t in lake.plan([path, other]).tables] == ["db.t", "db.u"]
    with pytest.raises(ManifestError) as error:
        lake.plan([path, tmp_path / "gone.yaml", load_manifest(path)])
    assert [d.code for d in error.value.diagnostics] == ["LB1001", "LB1026"]
    assert lake.tables.list_databases() == []


def test_from_a_plan_to_a_table_and_back(lake: lakebed.Lake) -> None:
    manifest = parse_manifest(TEXT)
    lake.apply(lake.plan(manifest))
    assert lake.plan(manifest).is_noop
    assert lake.schema("db.t").logical == manifest.tables[0].schema
    assert lake.infer("db.t") == parse_manifest(dump_table(lake.infer("db.t"))).tables[0]
    assert lake.plan(parse_manifest(dump_table(lake.infer("db.t")))).is_noop


def test_leave_and_staleness(lake: lakebed.Lake) -> None:
    lake.apply(lake.plan(parse_manifest(TEXT)))
    plan = lake.plan(parse_manifest(TEXT.replace("UInt32", "UInt8")))
    assert plan.worst is Verdict.BREAKING
    with pytest.raises(RefusedError):
        lake.apply(plan)
    stale = lake.plan(parse_manifest(TEXT.replace("UInt32", "UInt16")))
    lake.apply(plan, allow=plan.leave_needed())
    (again,) = lake.apply(plan, allow=plan.leave_needed()).tables
    assert (again.changed, again.already_applied) == (False, True)
    with pytest.raises(StalePlanError):
        lake.apply(stale, allow=stale.leave_needed())


def test_versions_and_history(lake: lakebed.Lake) -> None:
    lake.apply(lake.plan(parse_manifest(TEXT)))
    lake.apply(lake.plan(parse_manifest(TEXT.replace("UInt32", "UInt64"))))
    assert [lake.schema(f"db.t{v}").id for v in ("", "@0", "@1")] == [1, 0, 1]
    history = lake.history("db.t")
    assert [v.changes for v in history.versions] == [(), ("change type of id from UInt32 to UInt64",)]
    assert history.snapshots == ()
    for text in ("db.t@2", "db.t@snap:1", "db.t@tag:x", "db.t@branch:x", "db.x"):
        with pytest.raises(NotFoundError):
            lake.schema(text)
    with pytest.raises(NotFoundError):
        lake.history("db.x")


def test_the_clock_is_the_callers(tmp_path: Path) -> None:
    from lakebed.catalog import PathFactory, TableManager
    from lakebed.lake import Lake
    from lakebed.store import LocalStore

    tables = TableManager(PathFactory(str(tmp_path)), LocalStore())
    lake = Lake(tables, LocalStore(), time_zone="UTC", clock=lambda: 1234)
    lake.apply(lake.plan(parse_manifest(TEXT)))
    assert lake.schema("db.t").time_millis == 1234


def test_one_name_stands_for_itself(lake: lakebed.Lake) -> None:
    lake.apply(lake.plan(parse_manifest(TEXT)))
    breaking = parse_manifest(TEXT.replace("UInt32", "UInt8"))
    plan = lake.plan(breaking)
    (leave,) = plan.leave_needed()
    assert lake.plan(breaking, allow=leave).approvals == plan.approved(leave).approvals == (leave,)
    assert lake.apply(plan, allow=leave).tables[0].changed
    assert [table.table for table in lake.health("db.t").tables] == ["db.t"]
    assert lake.table("db.t").to_arrow(columns="id").column_names == ["id"]
