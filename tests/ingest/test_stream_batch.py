"""Batches of a stream that is killed, and given older and new checkpoints: each row once, or a refusal."""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from format.building import PATH, Built, table_schema
from lakebed.catalog import TableName
from lakebed.errors import ConflictError, LakebedError, UnsupportedError
from lakebed.ingest import run_history as runs
from lakebed.ingest import run_memory
from lakebed.ingest.run_commit import RunGuard
from lakebed.ingest.run_memory import CACHE, RunMemory, keep_log, load_log
from lakebed.ingest.sources.source_listing import LOCAL
from lakebed.ingest.stream_batch import StreamBatch
from lakebed.ingest.stream_checkpoint import PlannedBatch, StreamCheckpoint
from lakebed.testing.memory_store import MemoryStore

SCHEMA = table_schema([("v", "BIGINT")])
NAME = TableName("lab", "t")
RUNS = ("whole", "before", "between", "after")


@dataclass
class Checkpoint:
    """What Spark keeps: the offsets of each batch, the last of which may not be done. `begin` is where it began."""

    query: str
    begin: int = 0
    follows: str | None = None
    offsets: list[tuple[int, int, int]] = field(default_factory=list)
    done: int = 0


class KilledError(Exception):
    """The driver is gone."""


class Stream:
    """A source of rows 0, 1, 2 and so on, of which the odd ones are bad, and the stream of them into a table."""

    def __init__(self) -> None:
        store = MemoryStore()
        time = itertools.count(1_700_000_000_000)
        self.good = Built(store, SCHEMA, time=time)
        self.bad = Built(store, SCHEMA, path=f"{PATH}__quarantine", time=time)
        self.queries = (f"q{number}" for number in itertools.count())
        self.checkpoint = Checkpoint(next(self.queries))
        self.copies: list[Checkpoint] = []
        self.rows = 0
        self.written: dict[str, list[int]] = {"good": [], "bad": []}
        #: Whether another checkpoint was put in the place of the newest one, and whether another engine has removed
        #: snapshots. After one of them a batch may be refused; after both nothing is left that could tell.
        self.is_replaced = self.is_forgotten = False

    def run(self, dies: str) -> None:
        """One batch, as Spark does it."""
        known = self.checkpoint
        if len(known.offsets) == known.done:
            start = known.offsets[-1][1] if known.offsets else known.begin
            known.offsets.append((start, self.rows, self.good.clock()))
        start, end, planned = known.offsets[known.done]
        digest = f"{start}-{end}-{planned}"
        batch = StreamBatch("lab.t", "s", PlannedBatch(known.query, known.done, digest, planned), known.follows)
        self.write(batch, range(start, end), dies)
        if dies == "after":
            raise KilledError
        known.done += 1

    def write(self, batch: StreamBatch, rows: range, dies: str) -> None:
        memory = RunMemory(NAME, self.good.storage, self.bad.storage)
        memory.load()
        batch.check(memory.records())
        if memory.finished(batch.run_id) is not None:
            return
        batch.check_new(memory.good, memory.bad)
        good, bad = [r for r in rows if r % 2 == 0], [r for r in rows if r % 2]
        guard = RunGuard(batch.run_id, (), frozenset(), False, memory.good.until, memory.bad.until, batch)
        counts = runs.RunCounts(len(good), len(bad))
        said = {**runs.run_properties(batch.run_id, 0, (), counts, attempt="a"), **batch.properties}
        if dies == "before":
            raise KilledError
        change = batch.change(said)
        told = {"user": change.commit_user, "commit_identifier": change.commit_identifier, "properties": said}
        if bad and memory.interrupted(batch.run_id) is None:
            before = partial(guard.before_quarantine, self.good.storage, self.bad.storage)
            guard.check_committed(self.bad.append(after=memory.bad.until, guard=before, **told))
            self.written["bad"] += bad
        if dies == "between":
            raise KilledError
        if good:
            before_table = partial(guard.before_table, self.good.storage)
            guard.check_committed(self.good.append(after=memory.good.until, guard=before_table, **told))
            self.written["good"] += good

    def expire(self, table: Built, *, ours: bool) -> None:
        """Only the newest snapshot stays; another engine leaves no word of the others."""
        if ours:
            keep_log(table.storage)
        self.is_forgotten |= not ours
        for number in table.storage.snapshots.ids()[:-1]:
            table.store.delete(f"{table.path}/snapshot/snapshot-{number}")


Step = tuple[str, Any]
#: Half of the steps are batches: with so many new rows, and most often to their end.
RUN = st.tuples(st.just("run"), st.tuples(st.integers(0, 3), st.sampled_from(("whole", "whole", *RUNS))))
OTHER: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.sampled_from(["copy", "restore", "others", "forget"]), st.none()),
    st.tuples(st.just("expire"), st.booleans()),
    st.tuples(st.just("anew"), st.booleans()),
)
#: What a law over random steps meets seldom.
RESTORED = [*[("run", (2, "whole"))] * 2, ("copy", None), *[("run", (2, "whole"))] * 2, ("restore", None)]
FORGOTTEN = [("run", (2, "whole")), ("run", (2, "after")), ("others", None), ("expire", False)]
#: All batches but the last are forgotten, and the snapshots of all are gone.
EXPIRED = [("others", None), ("expire", True), ("others", None), ("expire", True)]
CUT_OFF = [("run", (2, "whole")), ("run", (2, "between")), *EXPIRED]


def do(stream: Stream, step: Step) -> None:
    what, how = step
    match what:
        case "run":
            more, dies = how
            stream.rows += more
            stream.run(dies)
        case "copy":
            stream.copies.append(copy.deepcopy(stream.checkpoint))
        case "restore" if stream.copies and not stream.is_forgotten:
            stream.is_replaced = True
            stream.checkpoint = copy.deepcopy(stream.copies[-1])
        case "others":
            for table in (stream.good, stream.bad):
                table.append(table.new_file())
        case "forget":
            # Whoever wrote the file may have been another one; what snapshots say is as good while they are there.
            ids = stream.good.storage.snapshots.ids()
            if ids[:1] == [1]:
                stream.good.store.delete(f"{PATH}/{CACHE}")
        case "expire" if how or not stream.is_replaced:
            stream.expire(stream.good, ours=how)
            if how:
                stream.expire(stream.bad, ours=how)
        case "anew" if not stream.is_forgotten:
            stream.is_replaced = True
            # Where all that is planned is done, a source may go on behind it.
            begun = stream.checkpoint
            is_done = len(begun.offsets) == begun.done and begun.done > 0
            behind = how and is_done
            end = begun.offsets[-1][1] if behind else 0
            stream.checkpoint = Checkpoint(next(stream.queries), end, begun.query if behind else None)


@settings(max_examples=200)
@example([*RESTORED, *[("run", (2, "whole"))] * 4], 100)
@example([*RESTORED, *EXPIRED, *[("run", (2, "whole"))] * 4], 1)
@example([*FORGOTTEN, *[("run", (2, "whole"))] * 2], 100)
@example([*CUT_OFF, *[("run", (2, "whole"))] * 2], 1)
@example([("run", (2, "whole")), ("run", (2, "after")), *EXPIRED, ("run", (1, "whole"))], 1)
@given(st.lists(st.one_of(RUN, OTHER), max_size=25), st.sampled_from([1, 3, 100]))
def test_each_row_is_written_once_or_the_batch_is_refused(steps: list[Step], enough: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_memory, "_ENOUGH", enough)
        stream = Stream()
        for step in steps:
            refusal = None
            try:
                do(stream, step)
            except KilledError:
                continue
            except ConflictError as error:
                refusal = error.code
            assert refusal in (None, "LB6482", "LB6483", "LB6484")
            assert refusal is None or stream.is_replaced or stream.is_forgotten
        for kind, odd in (("good", 0), ("bad", 1)):
            found = stream.written[kind]
            assert found == [r for r in range(found[-1] + 1 if found else 0) if r % 2 == odd], kind


def test_what_is_kept_of_a_stream_does_not_grow_with_its_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_memory, "_ENOUGH", 1)
    stream = Stream()
    for _ in range(30):
        stream.rows += 2
        stream.run("whole")
        stream.expire(stream.good, ours=True)
    # Before each expiry there are two snapshots, and the last batch before them.
    assert len(load_log(stream.good.storage).by_run) <= 3
    memory = RunMemory(NAME, stream.good.storage, stream.bad.storage)
    memory.load()
    assert len(memory.bad.by_run) == 30
    assert memory.unfinished() == frozenset()


def test_another_checkpoint_that_comes_first_is_a_conflict() -> None:
    """Two drivers go on from copies of one checkpoint: what the second one has read is not taken for written."""
    stream = Stream()
    stream.rows = 2
    stream.run("whole")
    memory = RunMemory(NAME, stream.good.storage, stream.bad.storage)
    memory.load()
    mine = StreamBatch("lab.t", "s", PlannedBatch("q0", 1, "mine", stream.good.clock()))
    stream.rows = 8
    stream.run("whole")
    guard = RunGuard(mine.run_id, (), frozenset(), False, memory.good.until, memory.bad.until, mine)
    change = mine.change(mine.properties)
    found = stream.good.append(user=change.commit_user, commit_identifier=1, after=memory.good.until)
    assert found.id == 2
    with pytest.raises(ConflictError, match="older than the table"):
        guard.check_committed(found)
    with pytest.raises(ConflictError, match="older than the table"):
        guard.before_table(stream.good.storage, [found])


@pytest.mark.parametrize(
    ("metadata", "offsets"),
    [(None, "v1\n{}"), ("{}", 'v1\n{"batchTimestampMs":1}'), ('{"id":"q"}', "v1"), ('{"id":"q"}', None)],
)
def test_a_checkpoint_that_says_too_little_is_named(tmp_path: Any, metadata: str | None, offsets: str | None) -> None:
    (tmp_path / "offsets").mkdir()
    for name, content in (("metadata", metadata), ("offsets/7", offsets)):
        if content is not None:
            (tmp_path / name).write_text(content)
    with pytest.raises(UnsupportedError) as caught:
        StreamCheckpoint.of(str(tmp_path), LOCAL).batch(7)
    assert caught.value.code == "LB6485"
    assert str(tmp_path) in str(caught.value)


def test_errors_say_how_to_go_on() -> None:
    stream = Stream()
    stream.rows = 2
    stream.run("whole")
    stream.checkpoint = Checkpoint("other")
    with pytest.raises(LakebedError, match="follows='q0'"):
        stream.run("whole")
