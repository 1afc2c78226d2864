"""The plan of a filtered read: no row that the filter is true for is lost, whatever the table and its statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakebed.catalog.table_schema import TableSchema
from lakebed.format import binary_row
from lakebed.format.bucket_hash import bucket_of_row
from lakebed.format.live_files import DataFile, PartitionBounds, partition_types
from lakebed.format.manifest import ColumnStatistics, DataFileMeta, SimpleStats
from lakebed.format.merge_engine import MergeEngine
from lakebed.format.snapshot import Snapshot
from lakebed.physical import parse
from lakebed.physical.paimon_types import DataField
from lakebed.read import needed_files as planning
from lakebed.read.needed_files import ReadPlan, ReadState, Stage, needed_files
from lakebed.read.predicate import (
    And,
    Compare,
    Constant,
    IsIn,
    IsNull,
    Not,
    Opaque,
    Operator,
    Or,
    Predicate,
    Truths,
    possible,
)
from lakebed.testing.memory_store import MemoryStore
from read.leaf_truth import truth

Row = dict[int, Any]
COLUMNS = (
    DataField(0, "p", parse("INT")),
    DataField(1, "k", parse("INT NOT NULL")),
    DataField(2, "a", parse("INT")),
    DataField(3, "b", parse("DOUBLE")),
)
VALUES: dict[int, st.SearchStrategy[Any]] = {
    0: st.one_of(st.none(), st.integers(-1, 2)),
    1: st.integers(0, 12),
    2: st.one_of(st.none(), st.integers(-3, 3)),
    3: st.one_of(st.none(), st.sampled_from([-1.5, -0.0, 0.0, 2.0, float("nan"), float("inf")])),
}
SNAPSHOT = mock.Mock(spec=Snapshot)


def schema(**changes: Any) -> TableSchema:
    return TableSchema(0, COLUMNS, 9, (), (), **changes)


@st.composite
def predicates(draw: st.DrawFn, depth: int = 2) -> Predicate:
    if depth and draw(st.booleans()):
        parts = tuple(draw(st.lists(predicates(depth - 1), min_size=1, max_size=3)))
        return draw(st.sampled_from([And(parts), Or(parts), Not(parts[0])]))
    column = draw(st.sampled_from(COLUMNS))
    value = VALUES[column.id].filter(lambda v: v is not None)
    return draw(
        st.one_of(
            st.builds(Compare, st.just(column), st.sampled_from(Operator), value),
            st.builds(IsIn, st.just(column), st.lists(value, min_size=1, max_size=3).map(tuple)),
            st.just(IsNull(column)),
            st.sampled_from([Constant(True), Constant(False), Constant(None), Opaque("rand() > 0.5")]),
        )
    )


@dataclass(frozen=True)
class File:
    """A data file and the rows in it."""

    file: DataFile
    rows: tuple[Row, ...]


def of_row(predicate: Predicate, row: Row) -> Truths:
    return possible(predicate, lambda leaf: truth(leaf, row.get(leaf.column.id)))


def column_statistics(draw: st.DrawFn, values: Sequence[Any]) -> ColumnStatistics:
    """What a writer may say: all, bounds that are too wide, no bounds, no count; NaN left out or not."""
    known = [v for v in values if v is not None and v == v]
    nulls = draw(st.sampled_from([None, values.count(None)]))
    if not known or draw(st.booleans()):
        return ColumnStatistics(None, None, nulls)
    wide = draw(st.sampled_from([0, 1]))
    return ColumnStatistics(min(known) - wide, max(known) + wide, nulls)


@st.composite
def files(draw: st.DrawFn, *, keyed: bool = False, partitioned: bool = True) -> list[File]:
    """Files of one version; each says something true of its rows, and nothing of some columns."""
    found = []
    for number in range(draw(st.integers(0, 5))):
        partition = (draw(VALUES[0]),) if partitioned else ()
        own = [f for f in COLUMNS if f.name != "p" or not partitioned]
        rows = draw(st.lists(st.fixed_dictionaries({f.id: VALUES[f.id] for f in own}), min_size=1, max_size=4))
        if keyed:
            rows = sorted({row[1]: row for row in rows}.values(), key=lambda row: row[1])
        rows = [{**row, 0: partition[0]} if partitioned else row for row in rows]
        said = [f for f in COLUMNS if draw(st.booleans())]
        stats = SimpleStats.of([f.type for f in said], [column_statistics(draw, [r[f.id] for r in rows]) for f in said])
        key = [parse("INT")]
        meta = DataFileMeta(
            file_name=f"f{number}.parquet",
            file_size=10,
            row_count=len(rows),
            schema_id=0,
            value_stats=stats,
            value_stats_cols=tuple(f.name for f in said),
            min_key=binary_row.encode(key, [min(r[1] for r in rows)]) if keyed else binary_row.EMPTY_ROW,
            max_key=binary_row.encode(key, [max(r[1] for r in rows)]) if keyed else binary_row.EMPTY_ROW,
            min_sequence_number=number * 10,
            max_sequence_number=number * 10 + 9,
            delete_row_count=0,
        )
        found.append(File(DataFile(f"/t/f{number}.parquet", 10, partition, 0, -1, meta), tuple(rows)))
    return found


def planned(found: Sequence[File], of: TableSchema, predicate: Predicate, **asked: Any) -> ReadPlan:
    """The plan over files that a snapshot would name, one manifest a file."""

    def live(_store: Any, _path: Any, _snapshot: Any, _schema: Any, *, partition_filter: Any, manifest_filter: Any):
        return tuple(
            f.file
            for f in found
            if manifest_filter(bounds(f, of)) and (partition_filter is None or partition_filter(f.file.partition))
        )

    with mock.patch.object(planning, "plan_files", live):
        return needed_files(ReadState(MemoryStore(), "/t", SNAPSHOT, of, lambda _: of), predicate, **asked)


def bounds(file: File, of: TableSchema) -> PartitionBounds:
    assert len(partition_types(of)) == len(file.file.partition)
    partition = file.file.partition
    return PartitionBounds(partition, partition, tuple(int(v is None) for v in partition), 1)


def rows_of(found: Sequence[File], plan: ReadPlan) -> list[Row]:
    paths = {f.path for f in plan.files}
    return [row for f in found if f.file.path in paths for row in f.rows]


@given(files(), predicates())
def test_append_tables(found: list[File], predicate: Predicate):
    of = replace(schema(), partition_keys=("p",))
    plan = planned(found, of, predicate)
    kept = {f.path for f in plan.files}
    for file in found:
        truths = [of_row(predicate, row) for row in file.rows]
        if any(Truths.TRUE in t for t in truths):
            assert file.file.path in kept
        if file.file.path in plan.certain:
            assert all(t == Truths.TRUE for t in truths)
    listed = planned(found, of, predicate, list_partitions=True)
    assert {f.path for f in listed.files} == kept
    assert len(listed.dropped) + len(listed.files) == len(found)


@given(files(), predicates(), st.integers(0, 8))
def test_a_limit_leaves_enough_rows(found: list[File], predicate: Predicate, limit: int):
    of = replace(schema(), partition_keys=("p",))
    wanted = [row for f in found for row in f.rows if of_row(predicate, row) == Truths.TRUE]
    plan = planned(found, of, predicate, limit=limit)
    left = [row for row in rows_of(found, plan) if Truths.TRUE in of_row(predicate, row)]
    assert len(left) >= min(limit, len(wanted))


def merged(found: Sequence[File], engine: MergeEngine) -> list[Row]:
    """The table's rows: of each key the newest record, the first one, or the newest known values."""
    rows: dict[int, Row] = {}
    for file in found:
        for row in file.rows:
            old = rows.get(row[1])
            if old is None or engine is MergeEngine.DEDUPLICATE:
                rows[row[1]] = row
            elif engine is not MergeEngine.FIRST_ROW:
                rows[row[1]] = {i: old[i] if v is None else v for i, v in row.items()}
    return [rows[k] for k in sorted(rows)]


@pytest.mark.parametrize("engine", [MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW, MergeEngine.PARTIAL_UPDATE])
@given(found=files(keyed=True, partitioned=False), predicate=predicates())
def test_a_merge_does_not_bring_old_rows_back(engine: MergeEngine, found: list[File], predicate: Predicate):
    if engine is MergeEngine.FIRST_ROW:
        # Only what is compacted is visible there.
        found = [replace(f, file=replace(f.file, meta=replace(f.file.meta, level=1))) for f in found[:1]]
    options = {"merge-engine": engine.value, "bucket": "1"}
    of = replace(schema(), primary_keys=("k",), options=options)
    plan = planned(found, of, predicate)
    paths = {f.path for f in plan.files}
    kept = [f for f in found if f.file.path in paths]

    def wanted(rows: list[Row]) -> list[Row]:
        return [row for row in rows if of_row(predicate, row) & Truths.TRUE]

    assert list(map(repr, wanted(merged(kept, engine)))) == list(map(repr, wanted(merged(found, engine))))


FUNCTIONS = ("default", "mod", "hive")


@given(
    st.lists(st.integers(0, 200), min_size=1, max_size=30), st.integers(1, 7), st.sampled_from(FUNCTIONS), predicates()
)
def test_buckets(keys: list[int], total: int, function: str, predicate: Predicate):
    of = replace(schema(), primary_keys=("k",), options={"bucket": str(total), "bucket-function.type": function})
    by_bucket: dict[int, list[int]] = {}
    for key in sorted(set(keys)):
        by_bucket.setdefault(bucket_of_row([parse("INT")], [key], total, function), []).append(key)
    found = []
    for bucket, own in by_bucket.items():
        meta = DataFileMeta(file_name=f"b{bucket}.parquet", file_size=1, row_count=len(own), schema_id=0, level=1)
        file = DataFile(f"/t/b{bucket}.parquet", 1, (), bucket, total, replace(meta, delete_row_count=0))
        found.append(File(file, tuple({0: None, 1: key, 2: None, 3: None} for key in own)))
    plan = planned(found, of, predicate)
    kept = {f.path for f in plan.files}
    for file in found:
        if any(Truths.TRUE in of_row(predicate, row) for row in file.rows):
            assert file.file.path in kept


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_key_is_looked_up_in_its_bucket(function: str):
    of = replace(schema(), primary_keys=("k",), options={"bucket": "5", "bucket-function.type": function})
    metas = [
        DataFileMeta(file_name=f"b{b}", file_size=1, row_count=1, schema_id=0, level=1, delete_row_count=0)
        for b in range(5)
    ]
    found = [File(DataFile(f"/t/{m.file_name}", 1, (), b, 5, m), ()) for b, m in enumerate(metas)]
    plan = planned(found, of, Compare(COLUMNS[1], Operator.EQUAL, 7))
    assert [f.bucket for f in plan.files] == [bucket_of_row([parse("INT")], [7], 5, function)]
    assert {d.stage for d in plan.dropped} == {Stage.BUCKET}
    unknown = [replace(f, file=replace(f.file, total_buckets=-1)) for f in found]
    assert len(planned(unknown, of, Compare(COLUMNS[1], Operator.EQUAL, 7)).files) == 5


@st.composite
def ranges(draw: st.DrawFn) -> list[File]:
    """Groups of files that hold parts of the same rows: `rows` are the whole rows, the same for all of a group."""
    found: list[File] = []
    start = 0
    for group in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 3))
        parts = [
            tuple(f for f in COLUMNS if draw(st.booleans())) or COLUMNS[:1] for _ in range(draw(st.integers(1, 3)))
        ]
        whole: list[Row] = [dict.fromkeys(VALUES) for _ in range(count)]
        made = []
        for part, fields in enumerate(parts):
            columns = {f.id: draw(st.lists(VALUES[f.id], min_size=count, max_size=count)) for f in fields}
            for i, values in columns.items():
                for row, value in zip(whole, values, strict=True):
                    row[i] = value
            said = [f for f in fields if draw(st.booleans())]
            stats = SimpleStats.of([f.type for f in said], [column_statistics(draw, columns[f.id]) for f in said])
            meta = DataFileMeta(
                file_name=f"g{group}p{part}.parquet",
                file_size=1,
                row_count=count,
                schema_id=0,
                value_stats=stats,
                value_stats_cols=tuple(f.name for f in said),
                write_cols=tuple(f.name for f in fields),
                first_row_id=start,
                max_sequence_number=part,
            )
            made.append(DataFile(f"/t/{meta.file_name}", 1, (), 0, -1, meta))
        found += [File(file, tuple(whole)) for file in made]
        start += count
    return found


@given(ranges(), predicates())
def test_parts_of_rows_stay_together(found: list[File], predicate: Predicate):
    of = replace(schema(), options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"})
    plan = planned(found, of, predicate)
    kept = {f.path for f in plan.files}
    by_group: dict[int, list[File]] = {}
    for file in found:
        by_group.setdefault(file.file.meta.first_row_id or 0, []).append(file)
    for group in by_group.values():
        together = {f.file.path in kept for f in group}
        assert len(together) == 1
        if any(Truths.TRUE in of_row(predicate, row) for row in group[0].rows):
            assert together == {True}
        for file in group:
            if file.file.path in plan.certain:
                assert all(of_row(predicate, row) == Truths.TRUE for row in file.rows)


def test_an_index_has_no_say_about_partition_keys():
    """Rows have the manifest's value, whatever the file holds under the name."""
    index = mock.Mock(evidence=lambda leaf: Truths.FALSE, truths=lambda predicate, deleted: Truths.ANY)
    meta = DataFileMeta(file_name="f.parquet", file_size=10, row_count=3, schema_id=0)
    found = [File(DataFile("/t/f.parquet", 10, (1,), 0, -1, meta), ())]
    of = replace(schema(), partition_keys=("p",))
    other = Or((Compare(COLUMNS[2], Operator.EQUAL, 5), Compare(COLUMNS[0], Operator.EQUAL, 1)))
    with mock.patch.object(planning, "file_index", return_value=index):
        assert planned(found, of, other).certain == {"/t/f.parquet"}
        assert not planned(found, of, Compare(COLUMNS[2], Operator.EQUAL, 5)).files
