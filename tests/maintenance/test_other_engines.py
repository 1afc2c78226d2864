"""Branches and tags that Lakebed makes are read and written by pypaimon, pypaimon-rust and Java."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

import lakebed
from referees.client import Referees
from referees.java import JavaReferee

TABLE = "lab.t"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, referees: Referees) -> lakebed.Lake:
    """Two snapshots under two versions; tag `one` and a retained tag; branch `b` with a life of its own."""
    lake = lakebed.open(tmp_path_factory.mktemp("warehouse"))
    lake.tables.create_table("lab", "t", [("id", "BIGINT"), ("name", "STRING")])
    referees.append(lake.warehouse, TABLE, [[1, "a"]])
    lake.tags(TABLE).create("one")
    lake.tags(TABLE).create("kept", retained=timedelta(days=3650))
    lake.branches(TABLE).create("b", tag="one")
    lake.branches(TABLE).create("empty")
    lake.tables.alter_table("lab", "t", [{"action": "renameColumn", "fieldNames": ["name"], "newName": "title"}])
    add = {"action": "addColumn", "fieldNames": ["more"], "dataType": "INT"}
    lake.tables.alter_table("lab", "t", [add], branch="b")
    referees.append(lake.warehouse, TABLE, [[2, "b"]])
    referees.append(lake.warehouse, TABLE, [[3, "c", 30]], branch="b")
    return lake


def test_tags(lake: lakebed.Lake, referees: Referees, java: JavaReferee):
    for tag in ("one", "kept"):
        assert referees.rows("pypaimon", lake.warehouse, TABLE, tag=tag) == [[1, "a"]]
        assert referees.rows("rust", lake.warehouse, TABLE, tag=tag) == [[1, "a"]]
        assert java.rows(lake.warehouse, TABLE, tag=tag) == [[1, "a"]]


def test_branches(lake: lakebed.Lake, referees: Referees, java: JavaReferee):
    expected = [[1, "a", None], [3, "c", 30]]
    assert sorted(referees.rows("pypaimon", lake.warehouse, TABLE, branch="b")) == expected
    assert sorted(java.rows(lake.warehouse, TABLE, branch="b")) == expected
    assert referees.columns(lake.warehouse, TABLE, branch="b") == [
        ("id", "BIGINT"),
        ("name", "STRING"),
        ("more", "INT"),
    ]
    assert referees.rows("pypaimon", lake.warehouse, TABLE, branch="empty") == []
    for found in (
        referees.rows("pypaimon", lake.warehouse, TABLE),
        referees.rows("rust", lake.warehouse, TABLE),
        java.rows(lake.warehouse, TABLE),
    ):
        assert sorted(found) == [[1, "a"], [2, "b"]]


def test_what_java_makes(lake: lakebed.Lake, referees: Referees, java: JavaReferee):
    """The same files: a tag and a branch that Java makes are Lakebed's byte for byte, less the order of keys."""
    found = java._table(lake.warehouse, TABLE, None, {})
    found.createTag("javas", 1)
    found.createBranch("javas", "one")
    root = Path(lake.warehouse) / "lab.db" / "t"
    ours, theirs = root / "branch" / "branch-b", root / "branch" / "branch-javas"
    for path in ("schema/schema-0", "snapshot/snapshot-1", "tag/tag-one"):
        assert json.loads((ours / path).read_text()) == json.loads((theirs / path).read_text())
    names = sorted(str(p.relative_to(theirs)) for p in theirs.rglob("*") if p.is_file() and p.name != "LATEST")
    assert [n for n in names if not n.rpartition("/")[2].startswith(".")] == [
        "schema/schema-0",
        "snapshot/snapshot-1",
        "tag/tag-one",
    ]
    assert [t.name for t in lake.tags(TABLE).list()] == ["javas", "kept", "one"]
    assert [b.name for b in lake.branches(TABLE).list()] == ["b", "empty", "javas"]
    lake.branches(TABLE).delete("javas")
    lake.tags(TABLE).delete("javas")


def test_a_table_that_was_brought_forward_and_cleaned_up(tmp_path: Path, referees: Referees, java: JavaReferee):
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("lab", "t", [("id", "BIGINT"), ("name", "STRING")])
    for name in ("x", "y"):
        lake.tables.alter_table("lab", "t", [{"action": "addColumn", "fieldNames": [name], "dataType": "INT"}])
    referees.append(lake.warehouse, TABLE, [[1, "a", 0, 0]])
    lake.branches(TABLE).create("b", snapshot=1)
    drop = {"action": "dropColumn", "fieldNames": ["x"]}
    lake.tables.alter_table("lab", "t", [drop], branch="b")
    referees.append(lake.warehouse, TABLE, [[2, "b", 1]], branch="b")
    assert lake.branches(TABLE).fast_forward("b").snapshots == (2,)
    assert lake.remove_versions(TABLE, min_age=timedelta(0)).removed == (0, 1)
    lake.branches(TABLE).delete("b")
    lake.remove_orphans(TABLE, min_age=timedelta(0))
    for found in (
        referees.rows("pypaimon", lake.warehouse, TABLE),
        referees.rows("rust", lake.warehouse, TABLE),
        java.rows(lake.warehouse, TABLE),
    ):
        assert sorted(found) == [[1, "a", 0], [2, "b", 1]]
    lake.roll_back(TABLE, snapshot=1)
    lake.remove_orphans(TABLE, min_age=timedelta(0))
    lake.roll_back(TABLE, schema=2)
    for found in (referees.rows("pypaimon", lake.warehouse, TABLE), java.rows(lake.warehouse, TABLE)):
        assert found == [[1, "a", 0, 0]]


def test_an_expired_table(tmp_path: Path, referees: Referees, java: JavaReferee):
    """What expiry leaves is read by all others, and written to; files that were removed before are gone."""
    lake = lakebed.open(tmp_path)
    lake.tables.create_table("lab", "t", [("id", "BIGINT")])
    table = lake.table(TABLE)
    for number in range(4):
        referees.append(tmp_path, TABLE, [[number]])
    lake.tags(TABLE).create("four")
    table.truncate()
    referees.append(tmp_path, TABLE, [[7]])
    found = table.expire(retain_min=1, older_than=timedelta(0))
    assert (found.snapshots, found.data_files) == ((1, 2, 3, 4, 5), 0)
    for kind in ("pypaimon", "rust"):
        assert referees.rows(kind, tmp_path, TABLE) == [[7]]
        assert sorted(referees.rows(kind, tmp_path, TABLE, tag="four")) == [[0], [1], [2], [3]]
    lake.tags(TABLE).delete("four")
    assert len(lake.remove_orphans(TABLE, min_age=timedelta(0)).files) > 4
    referees.append(tmp_path, TABLE, [[8]])
    expected = [[7], [8]]
    assert table.expire(retain_min=1, older_than=timedelta(0)).snapshots == (6,)
    for rows in (
        referees.rows("pypaimon", tmp_path, TABLE),
        referees.rows("rust", tmp_path, TABLE),
        java.rows(tmp_path, TABLE),
    ):
        assert sorted(rows) == expected
    assert len(list(tmp_path.glob("lab.db/t/bucket-*/*"))) == 2
