"""What the guard of a commit is shown: every snapshot that has come since, once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from format.building import Built, table_schema
from lakebed.errors import UsageError
from lakebed.format.commit import commit
from lakebed.format.snapshot import Snapshot
from lakebed.format.snapshot_change import SnapshotChange
from lakebed.testing.memory_store import MemoryStore

SCHEMA = table_schema([("v", "BIGINT")])


@pytest.mark.parametrize("after", [0, 1, 2])
@pytest.mark.parametrize("rivals", [0, 1, 3])
def test_each_snapshot_is_shown_once_the_newest_first(after: int, rivals: int) -> None:
    table = Built(MemoryStore(), SCHEMA)
    for number in range(2):
        table.append(table.new_file((), rows=1), user=f"before-{number}")
    shown: list[list[int]] = []

    def guard(snapshots: Sequence[Snapshot]) -> None:
        shown.append([s.id for s in snapshots])
        # A rival is faster after each of the first looks, once with two snapshots.
        if len(shown) <= rivals:
            for number in range(2 if len(shown) == 1 else 1):
                table.append(table.new_file((), rows=1), user=f"rival-{len(shown)}-{number}")

    made = commit(
        table.storage,
        SnapshotChange(commit_user="ours", added=(table.new_file((), rows=1),)),
        clock=lambda: 1,
        sleep=lambda _: None,
        after=after,
        guard=guard,
    )
    expected = [list(range(2, after, -1))]
    newest = 2
    for attempt in range(rivals):
        added = 2 if attempt == 0 else 1
        expected.append(list(range(newest + added, newest, -1)))
        newest += added
    assert (shown, made.id) == (expected, newest + 1)


def test_a_guard_of_a_table_without_snapshots_is_shown_none_and_can_end_the_commit() -> None:
    table = Built(MemoryStore(), SCHEMA)
    shown = []

    def guard(snapshots: Sequence[Snapshot]) -> None:
        shown.append(list(snapshots))
        raise UsageError.of("LB0000", "no")

    with pytest.raises(UsageError):
        commit(table.storage, SnapshotChange(commit_user="ours"), clock=lambda: 1, sleep=lambda _: None, guard=guard)
    assert shown == [[]]
    assert table.storage.snapshots.latest() is None
