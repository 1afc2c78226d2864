"""A table in memory whose time, commits and versions the tests command; data files are a few bytes with their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from lakebed.catalog import DataType, Field, PathFactory, TableManager, TableRef
from lakebed.catalog.paths import has_schema
from lakebed.format.commit import commit
from lakebed.format.manifest import ColumnStatistics, SimpleStats
from lakebed.format.new_files import new_append_file
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.format.table_branch import TableBranch
from lakebed.format.table_storage import TableStorage
from lakebed.lake import Lake
from lakebed.maintenance.references import References, State
from lakebed.testing.memory_store import MemoryObjectStore, MemoryStore, SimulatedCrash

TABLE = "lab.t"
ROOT = "/w/lab.db/t"
DAY = timedelta(days=1)
STORES = [MemoryStore, MemoryObjectStore]
_NUMBERS = count()


class World:
    """One table `lab.t` with one column and a lake around it."""

    def __init__(self, store: MemoryObjectStore | None = None, *, layout: str = "paimon") -> None:
        self.store = store if store is not None else MemoryStore()
        self.now = 1_700_000_000_000
        self.store.clock = self.clock
        self.lake = self.open(layout)
        if not self.lake.tables.exists(TABLE):
            self.lake.tables.create_table("lab", "t", [Field("id", DataType.INT)])

    def clock(self) -> int:
        self.now += 1
        return self.now

    def open(self, layout: str = "paimon") -> Lake:
        """What a new process sees."""
        paths = PathFactory("/w", layout, store=self.store)
        tables = TableManager(paths, self.store, self.clock)
        return Lake(tables, self.store, time_zone="UTC", clock=self.clock)

    def later(self, time: timedelta = 2 * DAY) -> None:
        self.now += time // timedelta(milliseconds=1)

    def place(self, branch: str = "main") -> TableBranch:
        ref = TableRef.parse(TABLE if branch == "main" else f"{TABLE}@branch:{branch}")
        return TableBranch.of(self.lake.tables, ref, self.clock)

    def alter(self, branch: str = "main", name: str | None = None) -> int:
        """Add a column; the id of the version that has it."""
        column = {"action": "addColumn", "fieldNames": [name or f"c{next(_NUMBERS)}"], "dataType": "INT"}
        return self.lake.tables.alter_table("lab", "t", [column], branch=branch).id

    def commit(self, branch: str = "main", *, schema_id: int | None = None, rows: int = 1) -> Snapshot:
        """Append one file of the newest version, or of an older one."""
        place = self.place(branch)
        schema = place.schemas.get_current_schema()
        name = f"data-{next(_NUMBERS)}-0.parquet"
        self.store.create_if_absent(f"{ROOT}/bucket-0/{name}", b"rows")
        types = [f.type for f in schema.fields]
        file = new_append_file(
            schema,
            (),
            file_name=name,
            size=4,
            rows=rows,
            stats=SimpleStats.of(types, [ColumnStatistics()] * len(types)),
            created=0,
        )
        if schema_id is not None:
            file = replace(file, file=replace(file.file, schema_id=schema_id))
        table = TableStorage(self.store, ROOT, place.schemas, branch)
        user = f"user-{next(_NUMBERS)}"
        return commit(table, SnapshotChange(commit_user=user, added=(file,)), clock=self.clock, sleep=lambda _: None)

    def expire(self, *numbers: int, branch: str = "main") -> None:
        """What another engine does: the snapshot files go."""
        for number in numbers:
            self.store.delete(self.place(branch).snapshots.path(number))

    def versions(self, branch: str = "main") -> list[int]:
        return self.place(branch).schemas.ids()

    def snapshots(self, branch: str = "main") -> list[int]:
        return self.place(branch).snapshots.ids()

    def branches(self) -> list[str]:
        return [b.name for b in self.lake.branches(TABLE).list()]

    def states(self) -> list[State]:
        """Every state of every branch."""
        references = References(self.place())
        return [s for branch in ("main", *references.branch_directories()) for s in references.states(branch)]

    def check_whole(self) -> None:
        """Every branch has a schema; every state has the version of each of its files, and the files."""
        references = References(self.place())
        for branch in ("main", *self.branches()):
            assert has_schema(self.store, ROOT, branch)
            ids = self.versions(branch)
            self.place(branch).schemas.get_current_schema()
            for state in references.states(branch):
                assert {r.schema_id for r in references.of_state(state)} <= set(ids), (branch, state.name)
                for name in references.statistics_files(state):
                    assert self.store.exists(f"{ROOT}/statistics/{name}")
                for meta in references.manifests_of(state):
                    for name in references.files_of(meta):
                        assert self.store.exists(f"{ROOT}/bucket-0/{name}")


def every_crash(fresh: Callable[[], World], act: Callable[[World], Any], check: Callable[[World], Any]) -> int:
    """Crash before and after each operation of `act`; returns how many operations there are."""
    step = 0
    while True:
        for after in (False, True):
            world = fresh()
            world.store.restart()
            world.store.crash_at(step, after=after)
            try:
                act(world)
            except SimulatedCrash:
                world.store.restart()
                world.lake = world.open()
                check(world)
            else:
                if step < len(world.store.operations):
                    # An operation that failed by itself, such as a look at a file that is not there, has no "after".
                    continue
                assert step > 2, "nothing was tried"
                return step
        step += 1
