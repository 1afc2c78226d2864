"""What snapshots remember of runs, and when the file that saves reading them counts; no Spark is needed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from format.building import PATH, Built, table_schema
from lakebed.catalog import TableName
from lakebed.errors import ConflictError
from lakebed.ingest import run_history as runs
from lakebed.ingest import run_memory
from lakebed.ingest.run_commit import RunGuard
from lakebed.ingest.run_memory import CACHE, Leftover, RunMemory, keep_log, load_log
from lakebed.ingest.sources.source_files import SourceFile
from lakebed.testing.memory_store import MemoryStore

SCHEMA = table_schema([("v", "BIGINT")])
NAME = TableName("lab", "t")


def source(name: str, *, bad: int | None = None, content: str = "0") -> SourceFile:
    return SourceFile(f"/in/{name}", 10, content * 64, bad)


def properties(run: str, *files: SourceFile, written: int = 1, bad: int = 0, schema: int = 0, **more: str) -> Any:
    return {
        runs.RUN_ID: run,
        runs.SOURCES: json.dumps([f.to_json() for f in files]),
        runs.ROWS_WRITTEN: str(written),
        runs.ROWS_QUARANTINED: str(bad),
        runs.SCHEMA_ID: str(schema),
        **more,
    }


class World:
    """A table and its quarantine, to which runs commit by hand."""

    def __init__(self) -> None:
        store = MemoryStore()
        self.good = Built(store, SCHEMA)
        self.bad = Built(store, SCHEMA, path=f"{PATH}__quarantine")

    def commit(
        self, run: str, *files: SourceFile, user: str | None = None, to: Built | None = None, **parts: Any
    ) -> int:
        table = to or self.good
        user = runs.commit_user(run) if user is None else user
        return table.append(user=user, properties=properties(run, *files, **parts)).id

    def memory(self) -> RunMemory:
        found = RunMemory(NAME, self.good.storage, self.bad.storage)
        found.load()
        return found


def test_only_a_commit_of_the_run_itself_is_the_run() -> None:
    """Another engine may copy the properties of a snapshot, when it compacts or rewrites; its rows are no run."""
    world = World()
    world.commit("a", source("x"), user="spark-writer")
    world.good.append(user="someone", properties={"other": "1"})
    assert world.memory().ingested() == frozenset()
    number = world.commit("a", source("x"))
    assert world.memory().ingested() == {source("x").identity}
    assert load_log(world.good.storage).by_run["a"].snapshot_id == number


@pytest.mark.parametrize("enough", [1, 2, 100])
def test_a_run_is_its_first_snapshot_with_and_without_the_file(enough: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_memory, "_ENOUGH", enough)
    world = World()
    first = world.commit("a", source("x"), written=7)
    # A stream's commit of the same user, or a writer that goes by the same name.
    world.good.append(user=runs.commit_user("a"), commit_identifier=5, properties=properties("a", written=9))
    for _ in range(2):
        log = load_log(world.good.storage)
        assert (log.by_run["a"].snapshot_id, log.by_run["a"].number(runs.ROWS_WRITTEN), log.until) == (first, 7, 2)
    assert world.good.store.exists(f"{PATH}/{CACHE}") == (enough <= 2)


def _remembered(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(run_memory, "_ENOUGH", 1)
    world = World()
    world.commit("a", source("x"))
    world.commit("b", source("y"))
    world.memory()
    assert world.good.store.exists(f"{PATH}/{CACHE}")
    return world


def test_the_file_counts_only_for_the_snapshot_that_it_was_made_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a roll back the numbers of snapshots are used again: what the file says of them is of another history."""
    world = _remembered(monkeypatch)
    world.good.store.delete(f"{PATH}/snapshot/snapshot-2")
    world.good.store.replace(f"{PATH}/snapshot/LATEST", b"1")
    assert world.memory().ingested() == {source("x").identity}
    world = _remembered(monkeypatch)
    world.good.store.delete(f"{PATH}/snapshot/snapshot-2")
    world.good.store.replace(f"{PATH}/snapshot/LATEST", b"1")
    world.commit("c", source("z"))
    assert world.memory().ingested() == {source("x").identity, source("z").identity}


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 2}', b'{"format": 1, "snapshot": "x"}', b"null"])
def test_a_file_that_is_none_is_passed_over(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    world = _remembered(monkeypatch)
    world.good.store.replace(f"{PATH}/{CACHE}", content)
    assert world.memory().ingested() == {source("x").identity, source("y").identity}


def test_a_run_that_had_good_rows_is_done_when_the_table_has_it() -> None:
    world = World()
    world.commit("a", source("x", bad=2), to=world.bad, written=3, bad=2)
    world.commit("n", source("y", bad=4), to=world.bad, written=0, bad=4)
    memory = world.memory()
    assert memory.finished("a") is None
    assert memory.interrupted("a") is not None
    done = memory.finished("n")
    assert done is not None
    assert (done.repeated, done.rows_quarantined, done.snapshot_id, done.quarantine_snapshot_id) == (True, 4, None, 2)
    assert memory.interrupted("n") is None
    assert memory.ingested() == {source("y").identity}
    world.commit("a", source("x", bad=2), written=3, bad=2, **{runs.QUARANTINE_SNAPSHOT: "1"})
    memory = world.memory()
    done = memory.finished("a")
    assert done is not None
    assert (done.rows_written, done.snapshot_id, done.quarantine_snapshot_id) == (3, 1, 1)
    assert memory.ingested() == {source("x").identity, source("y").identity}


def told(leftovers: tuple[Leftover, ...]) -> list[tuple[str, int, list[str]]]:
    return [(left.record.run_id, left.rows, sorted(left.files or ())) for left in leftovers]


def test_bad_rows_that_are_in_quarantine_already_are_taken_over_once() -> None:
    x, y, z = source("x", bad=2), source("y", bad=1), source("z", bad=5)
    world = World()
    world.commit("old", x, y, to=world.bad, bad=3)
    world.commit("new", x, to=world.bad, bad=2)
    memory = world.memory()
    # The newest run that was cut off has what it has, the older one the rest.
    assert told(memory.leftovers([x, y, z], 0)) == [("new", 2, ["/in/x"]), ("old", 1, ["/in/y"])]
    assert told(memory.leftovers([y], 0)) == [("old", 1, ["/in/y"])]
    assert told(memory.leftovers([z], 0)) == []
    # Another content under the same path is another file; other rules may find other rows bad.
    assert told(memory.leftovers([source("x", content="1")], 0)) == []
    assert told(memory.leftovers([x, y], 1)) == []
    # A run that has taken over some of them has not taken the others.
    world.commit("third", x, **{runs.ADOPTED: json.dumps(["new", "old"])})
    assert told(world.memory().leftovers([x, y], 0)) == [("old", 1, ["/in/y"])]


def test_bad_rows_of_a_run_that_has_ended_are_no_leftovers() -> None:
    x = source("x", bad=2)
    world = World()
    world.commit("a", x, to=world.bad, bad=2)
    world.commit("a", x, bad=2)
    world.commit("n", x, to=world.bad, written=0, bad=2)
    assert world.memory().leftovers([x], 0) == ()


def test_where_bad_rows_are_not_counted_by_file_a_run_is_taken_over_whole_or_not() -> None:
    x, y = source("x"), source("y")
    world = World()
    world.commit("a", x, y, to=world.bad, bad=7)
    memory = world.memory()
    assert told(memory.leftovers([x, y], 0)) == [("a", 7, ["/in/x", "/in/y"])]
    assert told(memory.leftovers([x], 0)) == []
    world.commit("b", source("x", bad=2), y, to=world.bad, bad=9)
    memory = world.memory()
    assert told(memory.leftovers([x, y], 0)) == [("b", 9, ["/in/x", "/in/y"])]
    assert told(memory.leftovers([x], 0)) == [("b", 2, ["/in/x"])]
    assert told(memory.leftovers([y], 0)) == []


def _ingested(world: World) -> set[str]:
    return {identity[0].removeprefix("/in/") for identity in world.memory().ingested()}


def _without(world: World, *numbers: int) -> None:
    snapshots = world.good.storage.snapshots
    for number in numbers:
        world.good.store.delete(snapshots.path(number))
    world.good.store.replace(f"{PATH}/snapshot/LATEST", str(max(snapshots.ids())).encode())


@pytest.mark.parametrize("enough", [1, 100])
def test_runs_of_expired_snapshots_are_known_wherever_a_roll_back_comes_to(
    enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another engine may roll the table back, or a crash may end the roll back after any of its snapshots."""
    monkeypatch.setattr(run_memory, "_ENOUGH", enough)
    world = World()
    for run in "abcdef":
        world.commit(run, source(run))
    keep_log(world.good.storage)
    _without(world, 1, 2)
    assert _ingested(world) == set("abcdef")
    for newest, known in ((6, "abcde"), (5, "abcd"), (4, "abc")):
        _without(world, newest)
        assert _ingested(world) == set(known)
    world.commit("g", source("g"))
    assert _ingested(world) == set("abcg")
    world.commit("h", source("h"))
    keep_log(world.good.storage)
    _without(world, 3, 4)
    assert _ingested(world) == set("abcgh")


def test_runs_before_a_tag_are_known_when_the_table_is_rolled_back_to_it_after_expiries() -> None:
    world = World()
    snapshots, store = world.good.storage.snapshots, world.good.store
    for run in "ab":
        world.commit(run, source(run))
    tagged = store.read(snapshots.path(2))
    for run in "cdef":
        world.commit(run, source(run))
        keep_log(world.good.storage)
        _without(world, snapshots.ids()[0])
    store.create_if_absent(snapshots.path(2), tagged)
    _without(world, *range(5, 7))
    assert _ingested(world) == set("ab")


def test_a_branch_has_a_file_of_its_own() -> None:
    world = World()
    world.commit("a", source("x"))
    keep_log(world.good.storage)
    branch = replace(world.good.storage, branch="b")
    assert load_log(branch).by_run == {}
    keep_log(branch)
    world.good.store.delete(world.good.storage.snapshots.path(1))
    assert world.good.store.exists(f"{PATH}/{CACHE}")
    assert not world.good.store.exists(f"{PATH}/branch/branch-b/{CACHE}")


@pytest.mark.parametrize("where", ["table", "quarantine"])
@pytest.mark.parametrize("gone", [(), (2,), (2, 3)])
def test_a_file_that_another_run_ingested_meanwhile_is_found_though_its_snapshot_has_expired(
    gone: tuple[int, ...], where: str
) -> None:
    world = World()
    for table in (world.good, world.bad):
        world.commit("before", source("w"), to=table)
    looked = world.memory()
    guard = RunGuard("mine", (source("x"),), frozenset(), False, looked.good.until, looked.bad.until)
    table = world.good if where == "table" else world.bad
    for run, file in (("other", "x"), ("next", "y"), ("last", "z")):
        world.commit(run, source(file), to=table)
    storage = table.storage
    if gone:
        keep_log(storage)
    for number in gone:
        storage.store.delete(storage.snapshots.path(number))

    def check(checking: RunGuard) -> None:
        since = list(storage.snapshots.newest_first(after=1))
        if where == "table":
            checking.before_table(storage, since)
        else:
            checking.before_quarantine(world.good.storage, storage, since)

    with pytest.raises(ConflictError, match="LB6402"):
        check(guard)
    check(replace(guard, again=True))
    check(replace(guard, files=(source("w"),)))
