"""Runs beside each other, and runs that were cut off: no file twice, no bad row twice, no run for two sources."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ingest.ingest_lake import SmallLake
from lakebed.errors import ConflictError, UsageError
from lakebed.format.commit import commit
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.ingest import run_memory
from lakebed.model import Extra, Field, Int32, Int64, String
from lakebed.store import LocalStore

ID = Field("id", Int32())


class Rival(LocalStore):
    """A local store in which, right before a file under `place` is published the first time, somebody else acts."""

    def __init__(self, place: str, act: Callable[[], object]) -> None:
        self.place, self.act = place, act
        self.acted = False

    def create_if_absent(self, path: str, data: bytes) -> bool:
        if self.place in path and not self.acted:
            self.acted = True
            self.act()
        return super().create_if_absent(path, data)


@pytest.mark.parametrize("place", ["/t/snapshot/snapshot-", "/t__quarantine/snapshot/snapshot-"])
def test_two_runs_that_share_a_file(lake: SmallLake, place: str) -> None:
    lake.create(ID)
    a, b = lake.file("a.csv", "id\n1\n"), lake.file("b.csv", "id\n2\nx\n")
    with pytest.raises(ConflictError) as error:
        lake.with_store(Rival(place, lambda: lake.ingest(a, run_id="other"))).ingest([a, b])
    assert (error.value.code, error.value.diagnostics[0].path) == ("LB6402", a)
    assert [r["id"] for r in lake.rows()] == [1]
    again = lake.ingest([a, b])
    assert again.skipped_files == (a,)
    assert [r["id"] for r in lake.rows(order="id")] == [1, 2]
    assert len(lake.bad()) == 1
    assert len(lake.data_files()) == len(lake.files())


@pytest.mark.parametrize("again", [False, True])
def test_a_run_that_was_cut_off_and_is_repeated_with_another_file(lake: SmallLake, again: bool) -> None:
    lake.create(ID)
    a, b = lake.file("a.csv", "id\n1\nx\n"), lake.file("b.csv", "id\n2\ny\nz\n")

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        lake.with_store(Rival("/t/snapshot/snapshot-", stop)).ingest(a, again=again)
    assert "run_id=" in error.value.__notes__[0]
    result = lake.ingest([a, b], again=again)
    assert (result.rows_written, result.rows_quarantined) == (2, 3)
    assert sorted(r["raw"] for r in lake.bad()) == ['{"id":"x"}', '{"id":"y"}', '{"id":"z"}']
    if again:
        assert lake.ingest([a, b], again=True).rows_quarantined == 3
        assert len(lake.bad()) == 6


def test_a_run_id_stands_for_one_source(lake: SmallLake) -> None:
    lake.create(ID)
    a, b = lake.file("a.csv", "id\n1\n"), lake.file("b.csv", "id\n2\n")
    first = lake.ingest(a, run_id="r")
    assert not first.repeated
    assert lake.ingest(a, run_id="r").repeated
    for other in (b, [a, b], lake.spark.createDataFrame([(1,)], "id int")):
        with pytest.raises(UsageError) as error:
            lake.ingest(other, run_id="r")
        assert error.value.code == "LB6400"
    lake.ingest(b)
    with pytest.raises(UsageError):
        lake.ingest(b, run_id="r")
    (lake.root / "a.csv").unlink()
    assert lake.ingest(a, run_id="r").repeated


def test_memory_of_many_runs_is_put_together(lake: SmallLake, monkeypatch: pytest.MonkeyPatch) -> None:
    lake.create(ID)
    path = lake.file("a.csv", "id\n1\n")
    lake.ingest(path)
    storage = lake.context.storage(run_memory.TableName.parse("db.t"))
    for i in range(40):
        commit(storage, SnapshotChange(commit_user=f"u{i}"), clock=lambda: 1, after=1)
    full = run_memory.load_log(storage)
    assert (lake.path() / run_memory.CACHE).exists()
    loaded: list[int] = []
    manager = type(storage.snapshots)
    load = manager.load
    monkeypatch.setattr(manager, "load", lambda self, n: loaded.append(n) or load(self, n))
    assert run_memory.load_log(storage) == full
    assert loaded == [41]
    # A snapshot that is another one by now takes the memory with it.
    (lake.path() / "snapshot" / "snapshot-41").unlink()
    assert run_memory.load_log(storage).until == 40
    assert lake.ingest(path).skipped_files == (path,)


SYSTEM = (
    Field("offset", Int64(), Extra({"lakebed.dev/systemColumn": "offset"})),
    ID,
    Field("name", String()),
)


def test_offsets_of_runs_that_race_have_no_gaps(lake: SmallLake) -> None:
    lake.create(*SYSTEM, partition_keys=["name"])
    a = lake.file("a.csv", "id,name\n1,a\n2,b\nx,b\n3,a\n")
    b = lake.file("b.csv", "id,name\n4,a\n5,c\n")
    lake.with_store(Rival("/t/snapshot/snapshot-", lambda: lake.ingest(b))).ingest(a)
    assert [(r["offset"], r["id"]) for r in lake.rows(order="offset")] == [(0, 4), (1, 5), (2, 1), (3, 2), (4, 3)]
    lake.ingest(lake.file("c.csv", "name,id\nz,9\n"))
    assert lake.rows(order="offset")[-1]["offset"] == 5
    assert [s.properties["lakebed.next-offset"] for s in lake.snapshots()] == ["2", "5", "6"]
    assert len(lake.data_files()) == len(lake.files())
