"""Rows that are counted from metadata, and the plan of the rest, are the rows of the table, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from lakebed.format.deletion_vectors import DeletionVector
from lakebed.format.live_files import DataFile
from lakebed.format.manifest import DataFileMeta
from lakebed.format.merge_plan import MergePlan
from lakebed.format.row_ranges import RangePlan
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.read import count
from lakebed.read.count import known_rows, rows_of_group
from lakebed.read.needed_files import EVERY_ROW, Parts, Plain, ReadPlan
from lakebed.read.predicate import Compare, Operator
from lakebed.testing.memory_store import MemoryStore

FILTER = Compare(DataField(0, "a", parse("INT")), Operator.EQUAL, 1)
_MOST = 6


class Vectors:
    """Deletion vectors that are read from nowhere, and which of them were."""

    def __init__(self) -> None:
        self.positions: dict[str, tuple[int, ...]] = {}
        self.read: list[str] = []

    def vector(self, name: str, positions: Sequence[int], told: bool) -> DeletionVector:
        self.positions[name] = tuple(positions)
        return DeletionVector(name, 0, None, len(positions) if told else None)

    def look(self, _store: object, vectors: Sequence[DeletionVector]) -> list[Sequence[int]]:
        self.read += [vector.path for vector in vectors]
        return [self.positions[vector.path] for vector in vectors]


def data_file(name: str, rows: int, deletions: DeletionVector | None, first: int | None = None) -> DataFile:
    meta = DataFileMeta(file_name=name, file_size=1, row_count=rows, schema_id=0, first_row_id=first)
    return DataFile(f"/t/{name}", 1, (), 0, -1, meta, deletions)


@st.composite
def files(draw: st.DrawFn, vectors: Vectors, prefix: str) -> list[tuple[DataFile, int]]:
    """Files, each with the number of rows that are left in it."""
    found = []
    for number in range(draw(st.integers(0, 4))):
        rows = draw(st.integers(0, _MOST))
        gone = draw(st.none() | st.sets(st.integers(0, rows - 1) if rows else st.nothing()).map(sorted))
        name = f"{prefix}{number}"
        vector = None if gone is None else vectors.vector(name, gone, draw(st.booleans()))
        found.append((data_file(name, rows, vector), rows - len(gone or ())))
    return found


@given(st.data(), st.sampled_from(["plain", "merge", "ranges"]))
def test_known_rows_and_the_rest_are_the_table(data: st.DataObject, kind: str) -> None:
    vectors = Vectors()
    alone = data.draw(files(vectors, "a"))
    grouped = data.draw(files(vectors, "g"))
    left = {file.path: rows for file, rows in alone}
    certain = frozenset(file.path for file, _ in alone if data.draw(st.booleans()))
    kept, group = tuple(file for file, _ in alone), tuple(file for file, _ in grouped)
    groups = (group,) if group else ()
    by_kind: dict[str, Parts] = {
        "plain": Plain(kept),
        "merge": MergePlan(kept, groups),
        "ranges": RangePlan(kept, groups),
    }
    parts = by_kind[kind]
    plan = ReadPlan(FILTER, parts, certain=certain)
    with mock.patch.object(count, "read_positions", vectors.look):
        known = known_rows(MemoryStore(), plan)
    assert type(known.rest.parts) is type(parts)
    assert known.rows + sum(left[f.path] for f in known.rest.as_they_are) == sum(left.values())
    assert known.rest.groups == plan.groups
    assert known.exact == (not known.rest.files)
    assert (known.obstacle == "") == known.exact
    # A vector is only opened where its writer did not say how many rows it deletes, and where it decides.
    untold = {f.deletions.path for f in kept if f.path in certain and f.deletions and f.deletions.cardinality is None}
    assert set(vectors.read) == untold


@given(st.data())
def test_rows_of_a_group_are_counted_once(data: st.DataObject) -> None:
    vectors, start = Vectors(), data.draw(st.integers(0, 5))
    rows = data.draw(st.integers(1, _MOST))
    gone: set[int] = set()
    group = []
    for number in range(data.draw(st.integers(1, 3))):
        deleted = data.draw(st.none() | st.sets(st.integers(0, rows - 1)).map(sorted))
        gone.update(deleted or ())
        name = f"d{number}.parquet"
        vector = None if deleted is None else vectors.vector(name, deleted, data.draw(st.booleans()))
        group.append(data_file(name, rows, vector, start))
    # Blobs of the same rows: one file of them all, or one file for each row.
    if data.draw(st.booleans()):
        group.append(data_file("all.blob", rows, None, start))
    if data.draw(st.booleans()):
        group += [data_file(f"{at}.blob", 1, None, start + at) for at in range(rows)]
    with mock.patch.object(count, "read_positions", vectors.look):
        assert rows_of_group(MemoryStore(), group) == rows - len(gone)
        known = known_rows(MemoryStore(), ReadPlan(EVERY_ROW, RangePlan((), (tuple(group),))))
    assert (known.rows, known.exact) == (rows - len(gone), True)


def test_an_obstacle_says_how_many_files_stand_in_the_way() -> None:
    one, two = data_file("1", 1, None), data_file("2", 1, None)
    known = known_rows(MemoryStore(), ReadPlan(FILTER, MergePlan((one,), ((one, two),))))
    assert known.obstacle == "of 1 file it is not known which rows match and 2 files must be merged"
