"""Random lives of a table: whatever is done in whatever order, every state keeps its files and schema versions."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from lakebed.errors import AlreadyExistsError, LakebedError, NotFoundError, RefusedError
from lakebed.maintenance.references import References
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore
from maintenance.worlds import TABLE, World

NAMES = st.sampled_from(["a", "b"])
BRANCHES = st.sampled_from(["main", "main", "a", "b"])
NUMBERS = st.integers(0, 6)


def _never() -> NoReturn:
    raise AssertionError("Spark was asked for")


class Life(RuleBasedStateMachine):
    kind: type[MemoryObjectStore] = MemoryStore

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.kind())

    def where(self, branch: str) -> str:
        return TABLE if branch == "main" else f"{TABLE}@branch:{branch}"

    @rule(branch=BRANCHES)
    def alter(self, branch: str) -> None:
        with suppress(NotFoundError):
            self.world.alter(branch)

    @rule(branch=BRANCHES, back=st.integers(0, 2))
    def commit(self, branch: str, back: int) -> None:
        """Under the newest version or, as a slow writer, under one before it."""
        with suppress(NotFoundError):
            ids = self.world.versions(branch)
            self.world.commit(branch, schema_id=ids[-min(back + 1, len(ids))])

    @rule(branch=BRANCHES, name=NAMES)
    def tag(self, branch: str, name: str) -> None:
        with suppress(NotFoundError, AlreadyExistsError):
            self.world.lake.tags(self.where(branch)).create(name)

    @rule(branch=BRANCHES, name=NAMES)
    def untag(self, branch: str, name: str) -> None:
        with suppress(NotFoundError, RefusedError):
            self.world.lake.tags(self.where(branch)).delete(name)

    @rule(name=NAMES, tag=st.none() | NAMES)
    def branch(self, name: str, tag: str | None) -> None:
        with suppress(NotFoundError, AlreadyExistsError):
            self.world.lake.branches(TABLE).create(name, tag=tag)

    @rule(name=NAMES)
    def delete_branch(self, name: str) -> None:
        with suppress(NotFoundError):
            self.world.lake.branches(TABLE).delete(name)

    @rule(name=NAMES)
    def fast_forward(self, name: str) -> None:
        before = {s.snapshot for s in self.world.states() if s.branch == "main"}
        with suppress(NotFoundError, RefusedError):
            self.world.lake.branches(TABLE).fast_forward(name)
            theirs, ours = self.world.place(name).snapshots, self.world.place().snapshots
            assert ours.latest() == theirs.latest()
        assert before <= {s.snapshot for s in self.world.states() if s.branch == "main"}

    @rule(branch=BRANCHES)
    def expire_the_first(self, branch: str) -> None:
        with suppress(NotFoundError):
            ids = self.world.snapshots(branch)
            if len(ids) > 1:
                self.world.expire(ids[0], branch=branch)

    @rule(branch=BRANCHES)
    def analyze(self, branch: str) -> None:
        """Rows are counted by metadata alone."""
        with suppress(NotFoundError):
            self.world.lake.table(self.where(branch)).analyze(_never)

    @rule(branch=BRANCHES, least=st.integers(1, 3))
    def expire(self, branch: str, least: int) -> None:
        with suppress(NotFoundError):
            self.world.lake.table(self.where(branch)).expire(retain_min=least, older_than=timedelta(0))

    @rule(branch=BRANCHES, number=NUMBERS)
    def roll_the_schema_back(self, branch: str, number: int) -> None:
        with suppress(NotFoundError, RefusedError):
            self.world.lake.roll_back(self.where(branch), schema=number)
            assert self.world.versions(branch)[-1] == number

    @rule(branch=BRANCHES, number=NUMBERS, delete_tags=st.booleans())
    def roll_the_rows_back(self, branch: str, number: int, delete_tags: bool) -> None:
        with suppress(NotFoundError, RefusedError):
            self.world.lake.roll_back(self.where(branch), snapshot=number, delete_tags=delete_tags)
            assert self.world.snapshots(branch)[-1] == number

    @rule(branch=BRANCHES, age=st.sampled_from([0, 1]))
    def remove_versions(self, branch: str, age: int) -> None:
        with suppress(NotFoundError):
            newest = self.world.place(branch).schemas.load_latest_schema()
            self.world.lake.remove_versions(self.where(branch), min_age=timedelta(days=age))
            assert self.world.place(branch).schemas.load_latest_schema() == newest

    @rule(age=st.sampled_from([0, 1]))
    def remove_orphans(self, age: int) -> None:
        self.world.lake.remove_orphans(TABLE, min_age=timedelta(days=age))
        if age == 0:
            references = References(self.world.place())
            named = {n for s in self.world.states() for m in references.manifests_of(s) for n in references.files_of(m)}
            there = {p.rpartition("/")[2] for p in self.world.store.snapshot() if p.endswith(".parquet")}
            assert there == named

    @rule()
    def wait(self) -> None:
        self.world.later()

    @invariant()
    def everything_is_whole(self) -> None:
        self.world.check_whole()
        assert self.world.lake.tables.get_table_metadata("lab", "t").current_schema_id == self.world.versions()[-1]

    def teardown(self) -> None:
        for branch in ("main", *self.world.branches()):
            try:
                self.world.commit(branch)
            except LakebedError as error:
                raise AssertionError(f"{branch} cannot be written any more") from error
        self.world.check_whole()


class LifeOnAnObjectStore(Life):
    kind = MemoryObjectStore


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestLifeOnAnObjectStore = LifeOnAnObjectStore.TestCase
TestLifeOnAnObjectStore.settings = settings(max_examples=20, stateful_step_count=30, deadline=None)
