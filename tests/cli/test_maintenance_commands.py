"""`tag`, `branch`, `rollback`, `versions` and `orphans`: what they say, in text and JSON, and when they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakebed as library
from cli.command_line import CommandLine, on_terminal
from maintenance.worlds import World


@pytest.fixture
def table(warehouse: Path) -> Path:
    """`lab.t` on disk: versions 0 to 3, snapshots 1 (schema 1) and 2 (schema 3)."""
    world = World()
    world.alter(name="a")
    world.commit()
    world.alter(name="b")
    world.alter(name="c")
    world.commit()
    for path, data in world.store.snapshot().items():
        target = warehouse / path.removeprefix("/w/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return warehouse / "lab.db" / "t"


def test_tags_and_branches(lakebed: CommandLine, table: Path):
    assert lakebed.ok("tag", "list", "lab.t") == "lab.t has no tags.\n"
    assert lakebed.ok("branch", "list", "lab.t") == "lab.t has no branches.\n"
    made = lakebed.ok("tag", "create", "lab.t", "one", "--snapshot", "1", "--retain", "90d")
    assert made == "Tagged snapshot 1 of lab.t as one.\n"
    assert lakebed.json("tag", "create", "lab.t", "two")["tag"]["snapshot"] == 2
    head, _, one, two = lakebed.ok("tag", "list", "lab.t").splitlines()
    assert head.split() == ["tag", "snapshot", "schema", "rows", "committed", "(UTC)", "kept", "for"]
    assert (one.split()[:4], one.split()[-2:]) == (["one", "1", "1", "1"], ["90", "days"])
    assert two.split()[:4] == ["two", "2", "3", "2"]
    listed = lakebed.json("tag", "list", "lab.t")["tags"]
    assert [(t["name"], t["retained_seconds"]) for t in listed] == [("one", 7_776_000.0), ("two", None)]
    assert "with the rows of snapshot 1" in lakebed.ok("branch", "create", "lab.t", "dev", "--tag", "one")
    assert "without rows" in lakebed.ok("branch", "create", "lab.t", "bare")
    assert lakebed.json("branch", "list", "lab.t")["branches"] == [
        {"name": "bare", "schema_id": 3, "first_snapshot": None, "latest_snapshot": None},
        {"name": "dev", "schema_id": 1, "first_snapshot": 1, "latest_snapshot": 1},
    ]
    assert "schema 1" in lakebed.ok("show", "lab.t@branch:dev").splitlines()[0]
    refused = lakebed("branch", "fast-forward", "lab.t", "dev")
    assert (refused.code, "snapshot 2, which the branch has not" in refused.err) == (11, True)
    assert "Roll the table back to snapshot 1 and then to schema 1" in refused.err
    assert lakebed("tag", "delete", "lab.t", "one", "--yes").code == 11
    assert lakebed("branch", "delete", "lab.t", "dev").code == 2
    assert lakebed.ok("branch", "delete", "lab.t", "dev", "--yes") == "Deleted branch dev of lab.t.\n"
    assert lakebed.ok("tag", "delete", "lab.t", "one", "--yes") == "Deleted tag one of lab.t, of snapshot 1.\n"
    assert not (table / "branch" / "branch-dev").exists()


def test_rollback_and_fast_forward(lakebed: CommandLine, table: Path):
    refused = lakebed("rollback", "lab.t", "--to", "2")
    assert refused.code == 11
    assert "schema 3 is needed by snapshot 2; manifest manifest-" in refused.err
    lakebed.ok("branch", "create", "lab.t", "dev", "--snapshot", "2")
    lakebed.ok("tag", "create", "lab.t", "two")
    assert lakebed("rollback", "lab.t", "--to", "snap:1", "--yes").code == 11
    lakebed.ok("branch", "delete", "lab.t", "dev", "--yes")
    dry = lakebed.ok("rollback", "lab.t", "--to", "snap:1", "--delete-tags", "--dry-run")
    assert dry == "Rolling lab.t back to snapshot 1 removes snapshot 2, tags dev, two.\n"
    assert lakebed("rollback", "lab.t", "--to", "snap:1", "--delete-tags").code == 2
    result = lakebed.json("rollback", "lab.t", "--to", "snap:1", "--delete-tags", "--yes")
    assert result == {
        "table": "lab.t",
        "branch": "main",
        "target": "snapshot 1",
        "done": True,
        "removed": {"versions": [], "snapshots": [2], "tags": ["dev", "two"], "changelogs": []},
    }
    done = lakebed.ok("rollback", "lab.t", "--to", "1", "--yes")
    assert done == "lab.t is at schema 1 again. Removed: schemas 2, 3.\n"
    assert lakebed.ok("rollback", "lab.t", "--to", "1", "--yes") == "lab.t is at schema 1 already.\n"
    assert lakebed("rollback", "lab.t", "--to", "branch:x").code == 2
    assert lakebed("rollback", "lab.t@snap:1", "--to", "0").code == 2
    lakebed.ok("branch", "create", "lab.t", "dev", "--snapshot", "1")
    assert lakebed.ok("branch", "fast-forward", "lab.t", "dev") == "lab.t is where branch dev is already.\n"


def test_versions(lakebed: CommandLine, table: Path):
    # The world's clock stands in 2023, so that everything is old.
    before = sorted(p.name for p in (table / "schema").iterdir())
    assert lakebed.ok("versions", "lab.t").splitlines()[2:] == [
        "     0   nothing: can be removed",
        "     1   snapshot 1; 1 manifest; 1 data file",
        "     2   nothing: can be removed",
        "     3   snapshot 2; 1 manifest; 1 data file; the newest version",
        "",
        "2 of 4 versions can be removed; --remove does it.",
    ]
    assert lakebed("versions", "lab.t", "--remove").code == 2
    assert sorted(p.name for p in (table / "schema").iterdir()) == before
    assert lakebed.ok("versions", "lab.t", "--min-age", "3000d").endswith("No version can be removed.\n")
    assert lakebed("versions", "lab.t", "--min-age", "soon").code == 2
    result = lakebed.json("versions", "lab.t", "--remove", "--yes")
    assert (result["removed"], result["put_back"]) == ([0, 2], [])
    assert [v["unused"] for v in result["versions"]] == [True, False, True, False]
    assert sorted(p.name for p in (table / "schema").iterdir()) == ["schema-1", "schema-3"]
    code, screen = on_terminal("versions", "lab.t", columns=60)
    assert code == 0
    assert max(map(len, screen.splitlines())) <= 60


def test_orphans_of_the_warehouse(lakebed: CommandLine, table: Path, here: Path):
    run = f".lakebed-scratch/lakebed-{'0' * 32}/_spark_metadata/0"
    (here / "warehouse" / run).parent.mkdir(parents=True)
    (here / "warehouse" / run).write_bytes(b"x" * 2048)
    none = "No file of the warehouse beside its tables that is older than 1 day is without use."
    assert lakebed.ok("orphans") == f"{none} 1 younger file may be of a commit that is under way.\n"
    assert lakebed.ok("orphans", "--min-age", "0s").splitlines() == [
        f"   2.0 KiB  {run}",
        "",
        "Nothing refers to 1 file, 2.0 KiB; --remove removes them.",
    ]
    assert lakebed.json("orphans", "--min-age", "0s")["table"] is None
    assert lakebed("orphans", "--min-age", "0s", "--remove").code == 2
    assert lakebed.ok("orphans", "--min-age", "0s", "--remove", "--yes") == "Removed 1 file, 2.0 KiB.\n"
    assert not (here / "warehouse" / ".lakebed-scratch").exists()


def test_orphans(lakebed: CommandLine, table: Path):
    (table / "bucket-0" / "data-lost.parquet").write_bytes(b"x" * 2048)
    young = lakebed.ok("orphans", "lab.t")
    assert young.startswith("No file of lab.t that is older than 1 day is without use. 1 younger file may be")
    assert lakebed.ok("orphans", "lab.t", "--min-age", "0s").splitlines() == [
        "   2.0 KiB  bucket-0/data-lost.parquet",
        "",
        "Nothing refers to 1 file, 2.0 KiB; --remove removes them.",
    ]
    assert lakebed("orphans", "lab.t", "--min-age", "0s", "--remove").code == 2
    assert lakebed.ok("orphans", "lab.t", "--min-age", "0s", "--remove", "--yes") == "Removed 1 file, 2.0 KiB.\n"
    assert not (table / "bucket-0" / "data-lost.parquet").exists()
    assert len(library.open(table.parent.parent).history("lab.t").snapshots) == 2


def test_they_ask_on_a_terminal(lakebed: CommandLine, table: Path):
    lakebed.ok("tag", "create", "lab.t", "one")
    code, screen = on_terminal("tag", "delete", "lab.t", "one", answers={"[y/N]": "n\n"})
    assert (code, "Delete tag one of lab.t, of snapshot 2? [y/N]" in screen) == (1, True)
    code, screen = on_terminal("tag", "delete", "lab.t", "one", answers={"[y/N]": "y\n"})
    assert (code, "Deleted tag one" in screen) == (0, True)


def test_a_plan_for_a_branch(lakebed: CommandLine, table: Path, here: Path):
    (here / "t.yaml").write_text(
        "kind: Table\nversion: 1\ncontent:\n  name: lab.t\n  schema:\n    fields:\n"
        + "".join(f"      - {{name: {n}, type: {{kind: Option, inner: Int32}}}}\n" for n in ("id", "a", "b", "c", "d")),
        encoding="utf-8",
    )
    lakebed.ok("branch", "create", "lab.t", "dev")
    assert "lab.t@branch:dev" in lakebed.ok("plan", "t.yaml", "--branch", "dev", "--out", "plan.json")
    assert lakebed("apply", "plan.json", "--branch", "dev", "--yes").code == 2
    assert lakebed.ok("apply", "plan.json", "--yes").startswith("lab.t@branch:dev: ")
    assert "schema 4" in lakebed.ok("show", "lab.t@branch:dev")
    assert "schema 3" in lakebed.ok("show", "lab.t")
    assert lakebed("plan", "t.yaml", "--branch", "none").code == 1
