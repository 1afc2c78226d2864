from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakebed.errors import NotFoundError, StalePlanError
from lakebed.evolve import Plan
from maintenance.worlds import ROOT, TABLE, World

MANIFEST = """\
kind: Table
version: 1
content:
  name: lab.t
  schema:
    fields:
      - {name: id, type: {kind: Option, inner: Int32}}
      - {name: more, type: {kind: Option, inner: Int32}}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "t.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    return path


def test_a_plan_for_a_branch_changes_the_branch_alone(manifest: Path):
    world = World()
    world.lake.branches(TABLE).create("b")
    plan = Plan.from_json(json.loads(json.dumps(world.lake.plan(manifest, branch="b").to_json())))
    assert [t.name for t in plan.tables] == ["lab.t@branch:b"]
    before = {p: d for p, d in world.store.snapshot().items() if "/branch/" not in p}
    (applied,) = world.lake.apply(plan).tables
    assert (applied.name, applied.schema_id, applied.changed) == ("lab.t@branch:b", 1, True)
    assert world.lake.schema(f"{TABLE}@branch:b").field_names == ("id", "more")
    assert {p: d for p, d in world.store.snapshot().items() if "/branch/" not in p} == before
    assert world.lake.plan(manifest, branch="b").is_noop
    assert not world.lake.plan(manifest).is_noop
    assert not world.lake.plan(manifest, branch="main").is_noop


def test_it_is_stale_when_the_branch_moved_or_went(manifest: Path):
    world = World()
    branches = world.lake.branches(TABLE)
    branches.create("b")
    plan = world.lake.plan(manifest, branch="b")
    world.alter()
    world.alter("b")
    with pytest.raises(StalePlanError):
        world.lake.apply(plan)
    branches.delete("b")
    with pytest.raises(StalePlanError) as gone:
        world.lake.apply(plan)
    assert "is gone" in str(gone.value)
    with pytest.raises(NotFoundError):
        world.lake.plan(manifest, branch="b")
    assert not any(path.startswith(f"{ROOT}/branch/") for path in world.store.snapshot())


def test_guards_look_at_the_rows_of_the_branch(manifest: Path):
    """`bucket` cannot change once there are rows: there are some in the table and none in the branch."""
    world = World()
    world.commit()
    world.lake.branches(TABLE).create("b")
    manifest.write_text(MANIFEST.replace("  name: lab.t\n", "  name: lab.t\n  options: {bucket: 2, bucket-key: id}\n"))
    assert world.lake.plan(manifest).is_forbidden
    assert not world.lake.plan(manifest, branch="b").is_forbidden


def drift_of(world: World, manifest: Path, table: str = TABLE, **branch: str) -> tuple[int, int] | None:
    """The version that `apply` made last and the newest, where the plan would undo what came after it."""
    text = MANIFEST.replace("lab.t", table)
    manifest.write_text(text, encoding="utf-8")
    (plan,) = world.lake.plan(manifest, **branch).tables
    return None if plan.drift is None else (plan.drift.applied, plan.drift.last)


def test_what_was_made_outside_of_apply_is_known_on_a_branch_and_of_a_renamed_table(manifest: Path):
    world = World()
    world.lake.apply(world.lake.plan(manifest))
    assert drift_of(world, manifest) is None
    world.alter(name="theirs")
    assert drift_of(world, manifest) == (1, 2)
    world.lake.branches(TABLE).create("b")
    world.alter("b", name="more_of_theirs")
    assert drift_of(world, manifest, branch="b") == (1, 3)
    assert drift_of(world, manifest) == (1, 2)
    world.lake.tables.rename_table(TABLE, "lab.other")
    assert drift_of(world, manifest, "lab.other") == (1, 2)
    assert drift_of(world, manifest, "lab.other", branch="b") == (1, 3)


def test_a_rollback_takes_what_others_made_away_and_numbers_come_again(manifest: Path):
    world = World()
    world.lake.apply(world.lake.plan(manifest))
    world.alter(name="theirs")
    world.lake.roll_back(TABLE, schema=1)
    assert drift_of(world, manifest) is None
    assert world.lake.plan(manifest).is_noop
    world.alter(name="again")
    assert drift_of(world, manifest) == (1, 2)
    # Before the first version that apply made nobody can tell.
    world.lake.roll_back(TABLE, schema=0)
    world.alter(name="more_again")
    assert drift_of(world, manifest) is None


def test_a_table_that_others_made_anew_has_no_past(manifest: Path):
    world = World()
    world.lake.apply(world.lake.plan(manifest))
    options = {**world.lake.schema(TABLE).options}
    world.lake.tables.drop_table("lab", "t")
    world.lake.tables.create_table("lab", "t", ["id INT", "theirs INT"], options=options)
    assert world.lake.schema(TABLE).options["lakebed.schema"] == options["lakebed.schema"]
    assert drift_of(world, manifest) is None
