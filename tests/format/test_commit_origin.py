"""Snapshots say who committed them and from where, as far as it is known and wanted, and history shows it."""

from __future__ import annotations

import getpass
import os
import pickle
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakebed
from cli.command_line import CommandLine
from lakebed.format.commit_origin import GIT_COMMIT, HOST, USER, VERSION, CommitOrigin, git_commit, operation_of
from lakebed.format.commit_origin import process_origin as origin_of_process
from lakebed.format.snapshot import APPEND, OVERWRITE, Snapshot
from lakebed.render.history_text import history_text

MANIFEST = """kind: Table
version: 1
content:
  name: db.t
  schema:
    fields:
    - {name: a, type: Int32}
"""
SNAPSHOT = Snapshot(
    id=1,
    schema_id=0,
    base_manifest_list="b",
    delta_manifest_list="d",
    commit_user="0fc6bd96-0000-4000-8000-000000000000",
    commit_identifier=1,
    commit_kind=OVERWRITE,
    time_millis=0,
)


def git(directory: Path, *words: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *words], cwd=directory, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_commit_of_git_is_found_as_git_finds_it(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    (repository / "below").mkdir(parents=True)
    assert git_commit(repository) is None
    git(repository, "init", "-q", "-b", "main")
    assert git_commit(repository) is None, "there is no commit yet"
    git(repository, "commit", "-q", "--allow-empty", "-m", "one")
    first = git(repository, "rev-parse", "HEAD")
    git(repository, "worktree", "add", "-q", "-b", "side/b", str(tmp_path / "w"))
    git(tmp_path / "w", "commit", "-q", "--allow-empty", "-m", "two")
    second = git(tmp_path / "w", "rev-parse", "HEAD")
    places = {repository: first, repository / "below": first, tmp_path / "w": second}
    assert {place: git_commit(place) for place in places} == places
    git(repository, "pack-refs", "--all")
    assert {place: git_commit(place) for place in places} == places
    git(repository, "checkout", "-q", "--detach", second)
    assert git_commit(repository) == second


@given(head=st.binary(max_size=60), ref=st.binary(max_size=60))
def test_whatever_git_has_written_it_is_a_commit_or_none(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, ref: bytes
) -> None:
    place = tmp_path_factory.mktemp("r") / ".git"
    (place / "refs").mkdir(parents=True)
    for content in (head, b"ref: refs/x"):
        (place / "HEAD").write_bytes(content)
        (place / "refs" / "x").write_bytes(ref)
        found = git_commit(place.parent)
        assert found is None or len(found) in (40, 64)


def test_what_cannot_be_found_out_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    def unknown() -> str:
        raise KeyError("uid not found")

    monkeypatch.setattr(getpass, "getuser", unknown)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert origin_of_process().keys() <= {HOST, VERSION}


@pytest.fixture
def lake_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., lakebed.Lake]:
    monkeypatch.setattr(getpass, "getuser", lambda: "ann")
    monkeypatch.setattr("socket.gethostname", lambda: "build-7")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.yaml").write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "w").mkdir()

    def opened(**options: bool) -> lakebed.Lake:
        lake = lakebed.open(tmp_path / "w", **options)
        lake.apply(lake.plan(tmp_path / "t.yaml"))
        return lake

    return opened


def test_every_commit_says_who_and_from_where_unless_that_is_switched_off(
    lake_of: Callable[..., lakebed.Lake], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = lake_of().table("db.t")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "one")
    commit = git(tmp_path, "rev-parse", "HEAD")
    table.truncate(run_id="one", properties={"why": "a test"})
    lake_of().table("db.t").truncate(run_id="two")
    lake_of(record_origin=False).table("db.t").truncate(run_id="three")
    first, second, third = (s.properties or {} for s in table.history().snapshots)
    assert (first[USER], first[HOST], first[VERSION], first["why"]) == ("ann", "build-7", lakebed.__version__, "a test")
    assert (GIT_COMMIT in first, second[GIT_COMMIT]) == (False, commit)
    assert not {USER, HOST, GIT_COMMIT, VERSION} & third.keys()
    lines = str(table.history()).splitlines()[-3:]
    engine = f"Lakebed {lakebed.__version__}"
    assert lines[0].endswith(f"truncate, schema 0, ann@build-7, {engine}")
    assert lines[1].endswith(f"truncate, schema 0, ann@build-7, git {commit[:12]}, {engine}")
    assert lines[2].endswith("truncate, schema 0, Lakebed")
    (tmp_path / "lakebed.toml").write_text('warehouse = "w"\nrecord_origin = false\n', encoding="utf-8")
    command = CommandLine(capsys)
    command.ok("truncate", "db.t", "--yes", "--run-id", "four")
    told = command.json("history", "db.t")["snapshots"]
    assert [s["origin"]["user"] for s in told] == ["ann", "ann", None, None]
    assert {(s["did"], s["operation"]) for s in told} == {("truncate", told[0]["operation"])}


def test_another_process_commits_for_whoever_began(lake_of: Callable[..., lakebed.Lake]) -> None:
    for lake in (lake_of(), lake_of(record_origin=False)):
        context = lake.table("db.t")._ingest_context
        assert pickle.loads(pickle.dumps(context)).tables.origin == lake.tables.origin
    assert lake.tables.origin == {}


@pytest.mark.parametrize(
    ("parts", "engine", "did"),
    [
        ({"writer_version": "python-2.1.0-abc"}, "pypaimon 2.1.0", "overwrite"),
        ({"writer_version": "rust-0.4.0"}, "pypaimon-rust 0.4.0", "overwrite"),
        ({"writer_version": "java-1.3.1-x", "operation": "MERGE INTO"}, "Paimon Java 1.3.1", "merge into"),
        ({"writer_version": "duck"}, "duck", "overwrite"),
        ({}, None, "overwrite"),
        ({"commit_user": "lakebed-1", "commit_kind": APPEND}, "Lakebed", "append"),
        ({"properties": {"lakebed.asked": '["update", "x"]'}}, "Lakebed", "update"),
        ({"properties": {"lakebed.run-id": "1", VERSION: "3"}}, "Lakebed 3", "ingest"),
        ({"properties": {"lakebed.run-id": "1", "lakebed.rows-replayed": "4"}}, "Lakebed", "replay"),
        ({"properties": {"lakebed.asked": "[[["}}, "Lakebed", "overwrite"),
        ({"properties": {"lakebed.asked": "[1]"}}, "Lakebed", "overwrite"),
    ],
)
def test_engines_and_operations_are_told_apart(parts: dict[str, object], engine: str | None, did: str) -> None:
    snapshot = replace(SNAPSHOT, **parts)
    assert (CommitOrigin.of(snapshot).engine, operation_of(snapshot)) == (engine, did)


def test_what_a_snapshot_says_commands_no_terminal(lake_of: Callable[..., lakebed.Lake]) -> None:
    history = lake_of().table("db.t").history()
    said = replace(SNAPSHOT, properties={USER: "a\x1b[2J", "lakebed.asked": '["x\\n\\u001b[2J"]'})
    text = history_text(replace(history, snapshots=(said,)))
    assert ("\x1b" in text, len(text.splitlines())) == (False, 3)
